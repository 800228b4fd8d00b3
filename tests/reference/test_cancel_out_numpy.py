"""CancelOut against its formulas, written in NumPy as they stand in publication and codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import CancelOutGate

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

D = 5


def gate_with_random_weights(**words: Any) -> CancelOutGate:
    gate = CancelOutGate(D, dtype=torch.float64, **words)
    nn.init.normal_(gate.weight)
    return gate


def sigmoid(w: Array) -> Array:
    return 1 / (1 + np.exp(-w))


def softmax(w: Array) -> Array:
    return np.exp(w) / np.sum(np.exp(w))


def variance(w: Array) -> float:
    return np.sum((w - np.mean(w)) ** 2) / (len(w) - 1)


def variance_gradient(w: Array) -> Array:
    return 2 * (w - np.mean(w)) / (len(w) - 1)


PENALTIES: dict[str, tuple[Callable[[Array], float], Callable[[Array], Array]]] = {
    "paper": (
        lambda w: -0.2 * variance(w / D) + 0.1 * np.sum(np.abs(w / D)),
        lambda w: -0.2 * variance_gradient(w / D) / D + 0.1 * np.sign(w) / D,
    ),
    "torch": (
        lambda w: 0.001 * np.sum(sigmoid(w)) - 0.001 * variance(w),
        lambda w: 0.001 * sigmoid(w) * (1 - sigmoid(w)) - 0.001 * variance_gradient(w),
    ),
    "keras": (
        lambda w: 0.002 * np.sum(np.abs(w)) + 0.001 * np.sqrt(np.sum(w**2)),
        lambda w: 0.002 * np.sign(w) + 0.001 * w / np.sqrt(np.sum(w**2)),
    ),
}
"""Each published penalty with its published coefficients, and its gradient."""


@pytest.mark.parametrize("activation", [sigmoid, softmax], ids=["sigmoid", "softmax"])
def test_rows_are_multiplied_by_the_activation(
    activation: Callable[[Array], Array], gap: Gap
) -> None:
    gate = gate_with_random_weights(activation=activation.__name__)
    x, upstream = torch.randn(7, D).double(), torch.randn(7, D).double()
    output = gate(x)
    output.backward(upstream)
    a = activation(gate.weight.detach().numpy())
    d_a = np.sum(upstream.numpy() * x.numpy(), axis=0)
    by_hand = {"sigmoid": d_a * a * (1 - a), "softmax": a * (d_a - a @ d_a)}
    assert gap(output, a * x.numpy()) < 1e-12
    assert gap(gate.weight.grad, by_hand[activation.__name__]) < 1e-12


@pytest.mark.parametrize("form", PENALTIES)
def test_penalty_and_gradient_are_the_published_ones(form: str, gap: Gap) -> None:
    gate = gate_with_random_weights(penalty=form)
    penalty = gate.penalty(nn.Identity())
    penalty.backward()
    value, gradient = PENALTIES[form]
    w = gate.weight.detach().numpy()
    assert gap(penalty, value(w)) < 1e-12
    assert gap(gate.weight.grad, gradient(w)) < 1e-12


def test_scores_are_the_weights_and_shares_the_gates(gap: Gap) -> None:
    gate = gate_with_random_weights()
    importance = gate.importance(None)
    assert gap(importance.scores, gate.weight) < 1e-12
    assert gap(importance.shares, sigmoid(gate.weight.detach().numpy())) < 1e-12
