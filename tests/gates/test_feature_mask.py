"""The layer as its documentation describes it: parameters, mask, scale, arguments, errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from featuremask import FeatureMask
from featuremask.exceptions import InputError

Gap = Callable[[Any, Any], float]


@pytest.mark.parametrize("n_features", [1, 3, 784, 5000])
def test_it_has_four_parameters_in_the_orientation_of_linear_layers(n_features: int) -> None:
    gate = FeatureMask(n_features)
    shapes = [tuple(parameter.shape) for parameter in gate.parameters()]
    assert shapes == [(128, n_features), (128,), (n_features, 128), (n_features,)]
    assert not any(isinstance(parameter, UninitializedParameter) for parameter in gate.parameters())


def test_the_hidden_width_is_an_argument() -> None:
    shapes = [tuple(p.shape) for p in FeatureMask(6, mask_units=9).parameters()]
    assert shapes == [(9, 6), (9,), (6, 9), (6,)]


@pytest.mark.parametrize("scale", ["sum", "mean", 5, 0.25])
def test_output_in_training_is_input_times_scale_times_mask(scale: Any, gap: Gap) -> None:
    gate, x = FeatureMask(20, scale=scale, dtype=torch.float64), torch.randn(8, 20).double()
    factor = {"sum": 1.0, "mean": 20.0}.get(scale, scale)
    assert gap(gate(x), x * factor * gate.mask(x)) < 1e-12


@pytest.mark.parametrize("scale", ["sum", "mean", 7.5])
def test_mask_is_positive_and_sums_to_one_whatever_the_scale(scale: Any, gap: Gap) -> None:
    mask = FeatureMask(50, scale=scale, dtype=torch.float64).mask(torch.randn(9, 50).double())
    assert mask.shape == (50,)
    assert (mask > 0).all()
    assert gap(mask.sum(), 1.0) < 1e-12


@pytest.mark.parametrize(("scale", "total"), [("sum", 1.0), ("mean", 50.0), (3, 3.0)])
def test_multiplier_sums_to_the_scale(scale: Any, total: float, gap: Gap) -> None:
    gate = FeatureMask(50, scale=scale, dtype=torch.float64)
    multiplier = gate.multiplier(torch.randn(9, 50).double())
    assert gap(multiplier.sum(), total) < 1e-12


@pytest.mark.parametrize("attenuation", [True, False])
def test_scale_holds_without_normalization_too(attenuation: bool, gap: Gap) -> None:
    words: dict[str, Any] = {"attenuation": attenuation, "normalization": False}
    one, x = FeatureMask(9, **words), torch.randn(5, 9)
    scaled = FeatureMask(9, scale=4.0, **words)
    scaled.load_state_dict(one.state_dict())
    assert gap(scaled(x), 4.0 * one(x)) < 1e-6
    assert gap(scaled.mask(x), one.mask(x)) < 1e-6


def test_scale_mean_averages_one_over_groups(gap: Gap) -> None:
    gate = FeatureMask(6, scale="mean", feature_groups="aabbbc")
    x = torch.randn(4, 6)
    assert gap(gate.multiplier(x)[[0, 2, 5]].mean(), 1.0) < 1e-6


@pytest.mark.parametrize("depth", range(1, 7))
def test_depth_counts_hidden_layers(depth: int) -> None:
    gate = FeatureMask(10, depth=depth, mask_units=8)
    shapes = [tuple(p.shape) for p in gate.parameters() if p.ndim == 2]
    assert shapes == [(8, 10), *[(8, 8)] * (depth - 1), (10, 8)]
    gate(torch.randn(5, 10)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in gate.parameters())


def test_a_single_feature_passes_whole() -> None:
    x = torch.randn(6, 1)
    assert torch.equal(FeatureMask(1)(x), x)


def test_a_single_row_is_enough(gap: Gap) -> None:
    assert gap(FeatureMask(4).mask(torch.randn(1, 4)).sum(), 1.0) < 1e-6


def test_mask_of_equal_weights_is_exactly_uniform() -> None:
    mask = FeatureMask(16, init="ones").mask(torch.randn(5, 16))
    assert torch.equal(mask, torch.full((16,), 1 / 16))


def test_mask_starts_nearly_flat_so_that_no_feature_starts_ahead() -> None:
    x = (torch.rand(64, 784) < 0.2) * torch.rand(64, 784)
    for init in ("xavier", "authors"):
        mask = FeatureMask(784, init=init).mask(x)
        assert mask.max() < 2 * mask.min()


def test_saturated_masks_still_rank_by_logits() -> None:
    gate = FeatureMask(3, mask_units=1)
    with torch.no_grad():
        gate.transformation.output.bias.copy_(torch.tensor([-300.0, 500.0, -200.0]))
    x = torch.zeros(2, 3)
    assert gate.mask(x).tolist() == [0.0, 1.0, 0.0]
    assert gate.importance(gate.statistic(x)).scores.argsort().tolist() == [0, 2, 1]


@pytest.mark.parametrize("words", [{}, {"attenuation": False}, {"scale": "mean"}], ids=str)
def test_shares_are_non_negative_amounts_that_sum_to_one(words: dict[str, Any], gap: Gap) -> None:
    gate = FeatureMask(12, dtype=torch.float64, **words)
    importance = gate.importance(gate.statistic(torch.randn(10, 12).double()))
    assert (importance.shares >= 0).all()
    assert gap(importance.shares.sum(), 1.0) < 1e-12
    assert importance.shares.argsort().equal(importance.scores.argsort())


def test_nothing_is_added_to_the_loss() -> None:
    assert FeatureMask(4).penalty(nn.Linear(4, 2)) is None


def test_weight_decay_should_leave_alone_all_of_the_gate() -> None:
    gate = FeatureMask(4, depth=2)
    named = {id(parameter) for parameter in gate.no_decay_parameters()}
    assert named == {id(parameter) for parameter in gate.parameters()}


def test_fixed_weights_need_no_gradient() -> None:
    gate = FeatureMask(4).requires_grad_(False)
    assert not gate(torch.randn(3, 4)).requires_grad


def test_rows_of_weight_two_count_as_two_rows(gap: Gap) -> None:
    gate = FeatureMask(9, dtype=torch.float64)
    x = torch.randn(6, 9, dtype=torch.float64)
    times = torch.tensor([1, 2, 3, 1, 0, 2])
    repeated = x.repeat_interleave(times, dim=0)
    assert gap(gate.logits(x, times.double()), gate.logits(repeated)) < 1e-12
    assert gap(gate.mask(x, times.double()), gate.mask(repeated)) < 1e-12
    assert gap(gate.statistic(x, times.double()), gate.statistic(repeated)) < 1e-12
    gated = gate(x, times.double()).repeat_interleave(times, dim=0)
    assert gap(gated, gate(repeated)) < 1e-12


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.float16])
def test_weights_of_another_dtype_are_welcome(dtype: torch.dtype, gap: Gap) -> None:
    gate, x = FeatureMask(5), torch.randn(3, 5)
    weight = torch.tensor([1, 2, 4])
    assert gap(gate(x, weight.to(dtype)), gate(x, weight.float())) < 1e-6


def test_without_attenuation_the_running_mean_counts_weights(gap: Gap) -> None:
    x, times = torch.randn(4, 5), torch.tensor([1, 3, 0, 2])
    weighted, repeated = (FeatureMask(5, attenuation=False) for _ in range(2))
    repeated.load_state_dict(weighted.state_dict())
    weighted(x, times.float())
    repeated(x.repeat_interleave(times, dim=0))
    assert gap(weighted.running_code, repeated.running_code) < 1e-6


def test_an_integer_of_numpy_is_a_number_of_features() -> None:
    assert FeatureMask(np.int64(4)).n_entries == 4


def test_repr_names_the_sizes() -> None:
    assert "n_entries=12, scale=12" in repr(FeatureMask((3, 4), scale="mean"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_features": 0}, "n_features must be a positive integer or a tuple of them; got 0"),
        ({"n_features": 2.5}, "n_features must be a positive integer.*got 2.5"),
        ({"n_features": None}, "n_features must be a positive integer.*got None"),
        ({"n_features": ()}, r"n_features must be a positive integer.*got \(\)"),
        ({"n_features": (3, -1)}, r"n_features must be a positive integer.*got \(3, -1\)"),
        ({"dims": (1, 2)}, r"dims must name one axis for each size.*got \(1, 2\)"),
        ({"n_features": (2, 2), "dims": (1, 1)}, "dims must name one axis for each size"),
        ({"dims": 0}, r"axis 0 holds the rows; got \(0,\)"),
        ({"mask_units": 0}, "mask_units must be a positive integer; got 0"),
        ({"mask_units": 2.5}, "mask_units must be a positive integer; got 2.5"),
        ({"depth": 0}, "depth must be a positive number of hidden layers; got 0"),
        ({"depth": 1.5}, "depth must be a positive number of hidden layers; got 1.5"),
        ({"activation": "swish"}, "activation must be one of .*'tanh'.*; got 'swish'"),
        ({"init": "kaiming"}, "init must be one of .*'authors'.*; got 'kaiming'"),
        ({"scale": "max"}, 'scale must be "sum", "mean" or a positive number; got \'max\''),
        ({"scale": 0}, "scale must be .* a positive number; got 0"),
        ({"scale": float("inf")}, "scale must be .* a positive number; got inf"),
        ({"scale": float("nan")}, "scale must be .* a positive number; got nan"),
        ({"scale": True}, "scale must be .* a positive number; got True"),
        ({"feature_groups": "abc"}, "one label for each of the 5 features; got 3 labels"),
        ({"must_keep": [5]}, "must_keep holds indices of features, 0 to 4; got 5"),
        ({"must_keep": [-1]}, "must_keep holds indices of features, 0 to 4; got -1"),
        ({"takes": ()}, r"takes must be the growing number.*got \(\)"),
        ({"takes": (3, 2)}, r"takes must be the growing number.*got \(3, 2\)"),
        ({"takes": (-1, 2)}, r"takes must be the growing number.*got \(-1, 2\)"),
        ({"inference": "running"}, 'inference must be "frozen" or "batch"; got \'running\''),
    ],
    ids=str,
)
def test_bad_arguments_are_named(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureMask(**{"n_features": 5, **words})


@pytest.mark.parametrize("shape", [(), (5,), (4, 6), (5, 4), (2, 5, 3)], ids=str)
def test_an_input_of_another_width_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"sizes \(5,\) along the axes \(-1,\).*got x.shape="):
        FeatureMask(5)(torch.zeros(shape))
