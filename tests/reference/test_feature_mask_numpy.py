"""The layer against the paper's equations (3) to (5), written in NumPy as they stand there."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import FeatureMask
from featuremask.networks import GatedNetwork

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

ROWS, FEATURES, UNITS = 7, 5, 4
SCALES = {"sum": 1.0, "mean": float(FEATURES), 3.5: 3.5}


class Weights(NamedTuple):
    """The paper's four parameters, with the shapes it gives them."""

    w1: Array  # (E, D)
    b1: Array  # (E,)
    w2: Array  # (D, E)
    b2: Array  # (D,)


def gate_with_random_biases(**words: Any) -> FeatureMask:
    gate = FeatureMask(FEATURES, mask_units=UNITS, dtype=torch.float64, **words)
    for parameter in gate.parameters():
        nn.init.normal_(parameter)
    return gate


def weights_of(gate: FeatureMask) -> Weights:
    return Weights(*(parameter.detach().numpy() for parameter in gate.parameters()))


def rows_and_upstream() -> tuple[torch.Tensor, torch.Tensor]:
    shape = (ROWS, FEATURES)
    return torch.randn(shape, dtype=torch.float64), torch.randn(shape, dtype=torch.float64)


def z_of_each_row(x: Array, w: Weights) -> Array:
    """Equation (3)."""
    return np.array([w.w2 @ np.tanh(w.w1 @ x_i + w.b1) + w.b2 for x_i in x])


def z_bar_of(z: Array) -> Array:
    """Equation (4)."""
    return sum(z) / len(z)


def softmax(z: Array) -> Array:
    """Equation (5)."""
    return np.exp(z) / sum(np.exp(z))


def gradients_by_hand(x: Array, w: Weights, scale: float, upstream: Array) -> tuple[Weights, Array]:
    """Equations (5), (4), (3), backwards: of the four parameters, and of the input."""
    m = softmax(z_bar_of(z_of_each_row(x, w)))
    d_m = scale * sum(u_i * x_i for u_i, x_i in zip(upstream, x, strict=True))
    d_z_bar = m * (d_m - m @ d_m)
    d = Weights(*(np.zeros_like(parameter) for parameter in w))
    d_x = np.zeros_like(x)
    for i, x_i in enumerate(x):
        d_z_i = d_z_bar / len(x)
        h = np.tanh(w.w1 @ x_i + w.b1)
        d_a = (w.w2.T @ d_z_i) * (1.0 - h**2)
        d.w2[:] += np.outer(d_z_i, h)
        d.b2[:] += d_z_i
        d.w1[:] += np.outer(d_a, x_i)
        d.b1[:] += d_a
        d_x[i] = scale * m * upstream[i] + w.w1.T @ d_a
    return d, d_x


def test_logits_are_the_mean_of_equation_3(gap: Gap) -> None:
    gate, (x, _) = gate_with_random_biases(), rows_and_upstream()
    assert gap(gate.logits(x), z_bar_of(z_of_each_row(x.numpy(), weights_of(gate)))) < 1e-12


def test_mask_is_equation_5(gap: Gap) -> None:
    gate, (x, _) = gate_with_random_biases(), rows_and_upstream()
    expected = softmax(z_bar_of(z_of_each_row(x.numpy(), weights_of(gate))))
    assert gap(gate.mask(x), expected) < 1e-12


@pytest.mark.parametrize("scale", SCALES)
def test_output_is_each_row_times_scale_times_mask(scale: Any, gap: Gap) -> None:
    gate, (x, _) = gate_with_random_biases(scale=scale), rows_and_upstream()
    m = softmax(z_bar_of(z_of_each_row(x.numpy(), weights_of(gate))))
    assert gap(gate(x), [SCALES[scale] * m * x_i for x_i in x.numpy()]) < 1e-12


@pytest.mark.parametrize("scale", SCALES)
def test_gradients_are_those_derived_by_hand(scale: Any, gap: Gap) -> None:
    gate, (x, upstream) = gate_with_random_biases(scale=scale), rows_and_upstream()
    x.requires_grad_()
    gate(x).backward(upstream)
    expected, expected_x = gradients_by_hand(
        x.detach().numpy(), weights_of(gate), SCALES[scale], upstream.numpy()
    )
    for parameter, by_hand in zip(gate.parameters(), expected, strict=True):
        assert gap(parameter.grad, by_hand) < 1e-12
    assert gap(x.grad, expected_x) < 1e-12


def test_the_gradients_of_the_last_bias_sum_to_zero() -> None:
    gate, (x, upstream) = gate_with_random_biases(), rows_and_upstream()
    gate(x).backward(upstream)
    *_, last_bias = gate.parameters()
    assert abs(float(last_bias.grad.sum())) < 1e-12 * float(last_bias.grad.abs().max())


def test_deeper_transformations_repeat_the_hidden_layer(gap: Gap) -> None:
    gate, (x, _) = gate_with_random_biases(depth=3), rows_and_upstream()
    *hidden, w, b = (parameter.detach().numpy() for parameter in gate.parameters())
    code = x.numpy().T
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        code = np.tanh(weight @ code + bias[:, None])
    assert len(hidden) == 6
    assert gap(gate.logits(x), z_bar_of((w @ code + b[:, None]).T)) < 1e-12


def test_ablations_are_those_of_table_4(gap: Gap) -> None:
    x, _ = rows_and_upstream()
    rows = x.numpy()

    def z_without(**words: bool) -> tuple[FeatureMask, Array]:
        gate = gate_with_random_biases(**words)
        return gate, z_of_each_row(rows, weights_of(gate))

    gate, z = z_without(attenuation=False)
    assert gap(gate(x), [softmax(z_i) * x_i for z_i, x_i in zip(z, rows, strict=True)]) < 1e-12
    gate, z = z_without(normalization=False)
    assert gap(gate(x), [z_bar_of(z) * x_i for x_i in rows]) < 1e-12
    gate, z = z_without(attenuation=False, normalization=False)
    assert gap(gate(x), z * rows) < 1e-12


def test_ablations_are_scored_as_they_multiply(gap: Gap) -> None:
    x, _ = rows_and_upstream()
    gate = gate_with_random_biases(attenuation=False)
    z = z_of_each_row(x.numpy(), weights_of(gate))
    scores = gate.importance(gate.statistic(x)).scores
    assert gap(scores, np.log(z_bar_of([softmax(z_i) for z_i in z]))) < 1e-12
    for attenuation in (True, False):
        gate = gate_with_random_biases(attenuation=attenuation, normalization=False)
        z = z_of_each_row(x.numpy(), weights_of(gate))
        assert gap(gate.importance(gate.statistic(x)).scores, z_bar_of(z)) < 1e-12


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"attenuation": False},
        {"normalization": False},
        {"attenuation": False, "normalization": False},
        {"depth": 2, "activation": "sigmoid", "scale": "mean"},
        {"feature_groups": "aabcc", "must_keep": [3]},
    ],
    ids=str,
)
def test_gradcheck_passes(words: dict[str, Any]) -> None:
    gate = gate_with_random_biases(**words)
    x, _ = rows_and_upstream()
    weight = torch.rand(ROWS, dtype=torch.float64)
    names = [name for name, _ in gate.named_parameters()]

    def gated(x: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(
            gate, dict(zip(names, parameters, strict=True)), (x, weight)
        )

    assert torch.autograd.gradcheck(gated, (x.requires_grad_(), *gate.parameters()))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_folding_the_mask_changes_neither_output_nor_gradients(
    dtype: torch.dtype, tolerance: float, weighted: bool, gap: Gap
) -> None:
    gate = FeatureMask(30, mask_units=16, scale="mean", dtype=dtype)
    network = nn.Sequential(nn.Linear(30, 12), nn.LeakyReLU(0.2), nn.Linear(12, 3)).to(dtype)
    x, upstream = torch.randn(20, 30, dtype=dtype), torch.randn(20, 3, dtype=dtype)
    weight = torch.rand(20, dtype=dtype) if weighted else None

    def output_and_gradients(fold: bool) -> list[torch.Tensor]:
        model = GatedNetwork(gate, network, fold=fold)
        rows = x.clone().requires_grad_()
        output = model(rows, weight)
        gradients = torch.autograd.grad(output, [rows, *model.parameters()], upstream)
        return [output, *gradients]

    for folded, multiplied in zip(
        output_and_gradients(True), output_and_gradients(False), strict=True
    ):
        assert gap(folded, multiplied) < tolerance


def test_folded_network_is_the_paper_then_a_dense_layer(gap: Gap) -> None:
    gate, (x, _) = gate_with_random_biases(), rows_and_upstream()
    dense = nn.Linear(FEATURES, 3).double()
    v, c = dense.weight.detach().numpy(), dense.bias.detach().numpy()
    m = softmax(z_bar_of(z_of_each_row(x.numpy(), weights_of(gate))))
    assert gap(GatedNetwork(gate, dense)(x), [v @ (m * x_i) + c for x_i in x.numpy()]) < 1e-12
