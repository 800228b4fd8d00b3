"""Evaluation mode: the stored mask, the running mean before it, and the batch mode."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from featuremask import FeatureMask
from featuremask.exceptions import FeatureMaskWarning, InputError

Gap = Callable[[Any, Any], float]

KINDS = pytest.mark.parametrize(
    "words",
    [
        {},
        {"attenuation": False},
        {"normalization": False},
        {"attenuation": False, "normalization": False},
        {"scale": "mean", "must_keep": [0], "feature_groups": "aabcdefg"},
    ],
    ids=str,
)


def layer(**words: Any) -> FeatureMask:
    return FeatureMask(8, mask_units=16, dtype=torch.float64, **words)


def rows(n: int) -> Tensor:
    return torch.randn(n, 8, dtype=torch.float64)


@KINDS
def test_a_frozen_gate_ignores_the_batch_mates_of_a_row(words: dict[str, Any]) -> None:
    gate, x = layer(**words), rows(10)
    gate.freeze(gate.statistic(rows(30)))
    gate.eval()
    assert torch.equal(gate(x), torch.cat([gate(row) for row in x.split(1)]))


@KINDS
def test_the_stored_mask_is_that_of_the_data_frozen_at(words: dict[str, Any], gap: Gap) -> None:
    gate, x = layer(**words), rows(30)
    gate.freeze(gate.statistic(x))
    gate.eval()
    whole = gate.train().multiplier(x)
    if whole.ndim == 2:  # without attenuation, the mean of the masks of the rows
        whole = whole.mean(0)
    assert gap(gate.eval().multiplier(rows(3)), whole) < 1e-12


@KINDS
def test_freezing_from_a_loader_is_freezing_at_all_its_rows(
    words: dict[str, Any], gap: Gap
) -> None:
    gate, x = layer(**words), rows(23)
    expected = gate.statistic(x)
    labeled = DataLoader(TensorDataset(x, torch.zeros(23)), batch_size=5)
    for loader in (x.split([20, 3]), [(part, 0) for part in x.split(6)], labeled):
        assert gap(gate.freeze_from(loader), expected) < 1e-12
    gate.freeze(expected)
    assert gap(gate.stored_logits, gate.importance(expected).scores) < 1e-12 or words.get(
        "must_keep"
    )


def test_positions_count_when_sequences_differ_in_length(gap: Gap) -> None:
    gate = layer()
    short, long = rows(2).reshape(1, 2, 8), rows(30).reshape(3, 10, 8)
    every_position = torch.cat([short.flatten(0, 1), long.flatten(0, 1)])
    assert gap(gate.freeze_from([short, long]), gate.statistic(every_position)) < 1e-12


class WithDropout(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(8, 8), nn.Dropout(0.5), nn.BatchNorm1d(8))


def test_freezing_from_a_loader_evaluates_the_transformation(gap: Gap) -> None:
    gate, x = layer(transformation=WithDropout().double()), rows(12)
    found = gate.freeze_from([x])
    assert gate.training
    assert gate.transformation[1].training
    assert gap(found, gate.eval().statistic(x)) < 1e-12


def test_a_failing_loader_leaves_the_mode_as_it_was() -> None:
    gate = layer()
    with pytest.raises(InputError, match="must have sizes"):
        gate.freeze_from([torch.zeros(3, 7)])
    assert gate.transformation.training
    assert not gate.is_frozen


def test_a_frozen_gate_still_trains_on_the_mask_of_the_batch(gap: Gap) -> None:
    gate, x = layer(), rows(10)
    gate.freeze(gate.statistic(rows(30)))
    assert gap(gate(x), x * gate.logits(x).softmax(0)) < 1e-12


def test_freezing_again_replaces_the_mask(gap: Gap) -> None:
    gate, x = layer(), rows(10)
    gate.freeze(gate.statistic(rows(30)))
    gate.freeze(gate.statistic(x))
    assert gap(gate.eval().mask(rows(2)), gate.logits(x).softmax(0)) < 1e-12


def test_logits_are_those_of_the_batch_in_every_mode() -> None:
    gate, x = layer(), rows(10)
    expected = gate.logits(x)
    gate.freeze(gate.statistic(rows(30)))
    assert torch.equal(gate.eval().logits(x), expected)


def test_a_stored_mask_passes_gradients_to_the_input_alone() -> None:
    gate, x = layer(), rows(10).requires_grad_()
    gate.freeze_from([x])
    gate.eval()(x).sum().backward()
    assert torch.equal(x.grad, gate.mask(x).expand(10, 8))
    assert all(parameter.grad is None for parameter in gate.parameters())


@pytest.mark.parametrize("verb", ["freeze", "importance"])
def test_verbs_that_need_a_statistic_say_so(verb: str) -> None:
    with pytest.raises(InputError, match=f"{verb} needs the statistic of the training rows"):
        getattr(layer(), verb)(None)


def test_an_empty_loader_is_refused() -> None:
    with pytest.raises(InputError, match="at least one batch; the loader gave none"):
        layer().freeze_from([])


# ---- never frozen ------------------------------------------------------------------------------


def test_a_gate_never_frozen_warns_once() -> None:
    gate, x = layer(), rows(10)
    gate(x)
    gate.eval()
    with pytest.warns(FeatureMaskWarning, match="never frozen.*Call freeze_from"):
        gate(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gate(x)


def test_the_warning_points_at_the_caller() -> None:
    gate = layer().eval()
    with pytest.warns(FeatureMaskWarning, match="never frozen") as caught:
        gate.mask(rows(2))
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
@KINDS
def test_after_one_batch_the_running_mask_is_that_of_the_batch(
    words: dict[str, Any], gap: Gap
) -> None:
    gate, x = layer(**words), rows(10)
    gate(x)
    running = gate.eval().multiplier(rows(3))
    gate.freeze(gate.statistic(x))
    assert gap(running, gate.multiplier(rows(3))) < 1e-12


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
def test_the_running_code_is_a_mean_that_forgets_old_batches(gap: Gap) -> None:
    gate, batches = layer(), [rows(6) for _ in range(25)]
    codes = [gate.statistic(batch) for batch in batches]
    for batch in batches[:10]:
        gate(batch)
    assert gap(gate.running_code, torch.stack(codes[:10]).mean(0)) < 1e-12
    expected = gate.running_code.clone()
    for batch, code in zip(batches[10:], codes[10:], strict=True):
        gate(batch)
        expected = 0.9 * expected + 0.1 * code
    assert gap(gate.running_code, expected) < 1e-12
    assert gate.running_steps == 25
    mask = gate.transformation.decode(expected).softmax(0)
    assert gap(gate.eval().mask(rows(2)), mask) < 1e-12


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
def test_without_any_training_the_batch_itself_serves(gap: Gap) -> None:
    gate, x = layer(), rows(10)
    assert gap(gate.eval()(x), gate.train()(x)) < 1e-12


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
def test_only_training_batches_are_tracked() -> None:
    gate, x = layer(), rows(10)
    gate.mask(x)
    gate.logits(x)
    gate.statistic(x)
    gate.eval()(x)
    assert gate.running_steps == 0
    assert not gate.running_code.any()
    gate.train()(x)
    assert gate.running_steps == 1
    assert not gate.running_code.requires_grad


# ---- the batch mode ----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"attenuation": False}], ids=str)
def test_batch_inference_uses_the_mask_of_the_batch_at_hand(words: dict[str, Any]) -> None:
    gate, x = layer(inference="batch", **words), rows(10)
    gate.freeze(gate.statistic(rows(30)))
    trained = gate(x)
    assert gate.running_steps == 1
    assert torch.equal(gate.eval()(x), trained)
    assert gate.running_steps == 1


def test_batch_inference_needs_no_freezing_and_does_not_warn() -> None:
    gate = layer(inference="batch").eval()
    assert gate(rows(3)).isfinite().all()
