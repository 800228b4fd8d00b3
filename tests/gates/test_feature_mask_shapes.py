"""Inputs of any shape, compared with loops over the positions that share the mask."""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from featuremask import FeatureMask
from featuremask.exceptions import InputError

Gap = Callable[[Any, Any], float]


class Case(NamedTuple):
    """A layer's sizes and axes, and the shape of an input."""

    n_features: int | tuple[int, ...]
    dims: int | tuple[int, ...] | None
    shape: tuple[int, ...]
    masked: tuple[int, ...]  # the axes that should be masked, in order


CASES = {
    "features of rows": Case(5, None, (4, 5), (1,)),
    "features of rows, by their axis": Case(5, 1, (4, 5), (1,)),
    "pixels, shared over channels": Case((3, 4), None, (5, 2, 3, 4), (2, 3)),
    "pixels of grey images": Case((3, 4), None, (5, 3, 4), (1, 2)),
    "pixels of each channel": Case((2, 3, 4), None, (5, 2, 3, 4), (1, 2, 3)),
    "channels": Case(2, 1, (5, 2, 3, 4), (1,)),
    "channels, counted from the end": Case(2, -3, (5, 2, 3, 4), (1,)),
    "features, shared over time": Case(3, None, (4, 6, 3), (2,)),
    "features before time": Case(3, 1, (4, 3, 6), (1,)),
    "axes in another order": Case((4, 2), (3, 1), (5, 2, 3, 4), (3, 1)),
}
ALL_CASES = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def layer(case: Case, **words: Any) -> FeatureMask:
    return FeatureMask(case.n_features, dims=case.dims, dtype=torch.float64, **words)


def rows_by_loop(x: Tensor, masked: tuple[int, ...]) -> list[tuple[tuple[Any, ...], Tensor]]:
    """Each position along the axes that are not masked, and the features found there."""
    others = [range(n) if axis not in masked else [slice(None)] for axis, n in enumerate(x.shape)]
    kept = sorted(masked)
    order = [kept.index(axis) for axis in masked]
    return [
        (position, x[position].permute(order).flatten()) for position in itertools.product(*others)
    ]


def multiplied_by_loop(x: Tensor, masked: tuple[int, ...], factors: list[Tensor]) -> Tensor:
    """The input, each position times its own factor (in the order of `masked`)."""
    result = x.clone()
    sizes = [x.shape[axis] for axis in masked]
    back = [sorted(masked).index(axis) for axis in masked]
    for (position, _), factor in zip(rows_by_loop(x, masked), factors, strict=True):
        block = torch.empty([x.shape[axis] for axis in sorted(masked)], dtype=x.dtype)
        block.permute(back).copy_(factor.detach().reshape(sizes))
        result[position] = x[position] * block
    return result


@ALL_CASES
def test_all_other_positions_are_rows_that_share_the_mask(case: Case, gap: Gap) -> None:
    gate, x = layer(case), torch.randn(case.shape, dtype=torch.float64)
    rows = torch.stack([row for _, row in rows_by_loop(x, case.masked)])
    flat = FeatureMask(rows.shape[1], dtype=torch.float64)
    flat.load_state_dict(gate.state_dict())
    assert gate.out_features == rows.shape[1]
    assert gap(gate.logits(x), flat.logits(rows)) < 1e-12
    assert gap(gate.statistic(x), flat.statistic(rows)) < 1e-12
    mask = flat.mask(rows)
    assert gap(gate(x), multiplied_by_loop(x, case.masked, [mask] * len(rows))) < 1e-12


@ALL_CASES
def test_without_attenuation_each_position_has_its_own_mask(case: Case, gap: Gap) -> None:
    gate, x = layer(case, attenuation=False), torch.randn(case.shape, dtype=torch.float64)
    masks = [
        gate.transformation(row[None])[0].softmax(0) for _, row in rows_by_loop(x, case.masked)
    ]
    assert gap(gate(x), multiplied_by_loop(x, case.masked, masks)) < 1e-12


@ALL_CASES
def test_the_weight_of_a_sample_holds_for_all_its_positions(case: Case, gap: Gap) -> None:
    gate, x = layer(case), torch.randn(case.shape, dtype=torch.float64)
    times = torch.arange(1, len(x) + 1)
    repeated = x.repeat_interleave(times, dim=0)
    assert gap(gate.logits(x, times.double()), gate.logits(repeated)) < 1e-12


@ALL_CASES
def test_a_frozen_mask_fits_any_number_of_samples(case: Case, gap: Gap) -> None:
    gate, x = layer(case), torch.randn(case.shape, dtype=torch.float64)
    gate.freeze(gate.statistic(x))
    expected = gate(x)
    assert gap(gate.eval()(x), expected) < 1e-12
    assert gap(gate(x[:1]), expected[:1]) < 1e-12
    assert gate(x[:0]).shape == (0, *case.shape[1:])


@ALL_CASES
def test_gradients_reach_the_input_whatever_its_memory_layout(case: Case, gap: Gap) -> None:
    gate, x = layer(case), torch.randn(case.shape, dtype=torch.float64)
    scattered = x.transpose(0, -1).contiguous().transpose(0, -1).requires_grad_()
    gate(scattered).square().sum().backward()
    gate(x.requires_grad_()).square().sum().backward()
    assert gap(scattered.grad, x.grad) < 1e-12


@pytest.mark.parametrize(
    ("case", "shape"),
    [
        ("pixels, shared over channels", (3, 4)),
        ("pixels, shared over channels", (5, 4, 3)),
        ("channels", (5, 3, 3, 4)),
        ("channels, counted from the end", (2, 3, 4)),
        ("features, shared over time", (3,)),
        ("axes in another order", (5, 2, 3)),
    ],
)
def test_an_input_without_the_masked_axes_is_refused(case: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match=r"a batch axis before them; got x.shape="):
        layer(CASES[case])(torch.zeros(shape, dtype=torch.float64))


def test_axes_named_twice_by_sign_are_refused() -> None:
    with pytest.raises(InputError, match="must have sizes"):
        FeatureMask((4, 4), dims=(1, -2))(torch.zeros(2, 4, 4))


@given(labels=st.lists(st.sampled_from("abcd"), min_size=1, max_size=9))
def test_features_of_a_group_share_one_entry(labels: list[str], gap: Gap) -> None:
    gate = FeatureMask(len(labels), feature_groups=labels, dtype=torch.float64)
    x = torch.randn(5, len(labels), dtype=torch.float64)
    mask, names = gate.mask(x), list(dict.fromkeys(labels))
    assert mask.shape == (gate.n_entries,) == (len(names),)
    assert gap(mask.sum(), 1.0) < 1e-12
    factors = torch.stack([mask[names.index(label)] for label in labels])
    assert gap(gate(x), x * factors) < 1e-12


def test_groups_may_join_the_pixels_of_a_channel(gap: Gap) -> None:
    labels = [channel for channel in "rgb" for _ in range(16)]
    gate = FeatureMask((3, 4, 4), feature_groups=labels, dtype=torch.float64)
    x = torch.randn(5, 3, 4, 4, dtype=torch.float64)
    assert [tuple(p.shape) for p in gate.parameters()] == [(128, 48), (128,), (3, 128), (3,)]
    assert gap(gate(x), x * gate.mask(x)[:, None, None]) < 1e-12


def test_one_group_of_all_features_passes_whole() -> None:
    x = torch.randn(4, 3)
    assert torch.equal(FeatureMask(3, feature_groups=[0, 0, 0])(x), x)


@pytest.mark.parametrize("scale", ["sum", "mean"])
@pytest.mark.parametrize("training", [True, False])
def test_features_to_keep_have_a_gate_of_one(scale: Any, training: bool, gap: Gap) -> None:
    gate = FeatureMask(6, must_keep=[4, 1], scale=scale, dtype=torch.float64)
    x = torch.randn(5, 6, dtype=torch.float64)
    gate.freeze(gate.statistic(x))
    multiplier = gate.train(training).multiplier(x)
    assert multiplier[[1, 4]].tolist() == [1.0, 1.0]
    free = gate.logits(x)[[0, 2, 3, 5]].softmax(0) * gate.scale
    assert gap(multiplier[[0, 2, 3, 5]], free) < 1e-12


@pytest.mark.parametrize(
    "words", [{"attenuation": False}, {"normalization": False}, {"scale": "mean"}], ids=str
)
def test_features_to_keep_are_kept_under_every_ablation(words: dict[str, Any]) -> None:
    gate, x = FeatureMask(6, must_keep=[2], **words), torch.randn(5, 6)
    assert (gate.multiplier(x)[..., 2] == 1.0).all()
    importance = gate.importance(gate.statistic(x))
    assert importance.scores.argmax() == 2
    assert importance.scores.isfinite().all()


def test_a_feature_to_keep_keeps_its_group() -> None:
    gate, x = FeatureMask(5, feature_groups="aabbc", must_keep=[3]), torch.randn(4, 5)
    multiplier = gate.multiplier(x)
    assert multiplier[2] == multiplier[3] == 1.0
    assert (multiplier[[0, 1, 4]] < 1.0).all()


def test_with_all_features_kept_the_input_passes_whole() -> None:
    gate, x = FeatureMask(3, must_keep=range(3)), torch.randn(4, 3)
    assert torch.equal(gate(x), x)
    assert gate.importance(gate.statistic(x)).scores.isfinite().all()
