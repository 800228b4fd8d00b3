"""The identities that make the layer fast: the mean moves, and the read-out streams."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from featuremask import FeatureMask

Gap = Callable[[Any, Any], float]

PRECISIONS = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=["f32", "f64"]
)
KINDS = pytest.mark.parametrize(
    "words",
    [
        {},
        {"depth": 3},
        {"attenuation": False},
        {"normalization": False},
        {"attenuation": False, "normalization": False},
        {"feature_groups": [0, 1] * 15, "must_keep": [1]},
    ],
    ids=str,
)


def rows(n: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """Rows that drift, so that a chunk is no stand-in for all of them."""
    return (torch.randn(n, 30) + torch.linspace(-2, 2, n)[:, None]).to(dtype)


def streamed(gate: FeatureMask, x: Tensor, chunks: list[int]) -> Tensor:
    """The statistic of all rows from those of chunks, as the training loop adds them up."""
    return sum(gate.statistic(part) * len(part) for part in x.split(chunks)) / len(x)


@PRECISIONS
@pytest.mark.parametrize("depth", [1, 4])
def test_the_mean_commutes_with_the_last_layer(
    dtype: torch.dtype, tolerance: float, depth: int, gap: Gap
) -> None:
    gate, x = FeatureMask(30, depth=depth, dtype=dtype), rows(64, dtype)
    z = gate.transformation(x)
    assert z.shape == (64, 30)
    assert gap(gate.logits(x), z.mean(0)) < tolerance


@PRECISIONS
def test_multiplying_rows_equals_multiplying_weights(
    dtype: torch.dtype, tolerance: float, gap: Gap
) -> None:
    x, m, w = rows(16, dtype), torch.rand(30, dtype=dtype), torch.randn(8, 30, dtype=dtype)
    assert gap(x @ (w * m).T, (x * m) @ w.T) < tolerance


@PRECISIONS
@KINDS
def test_the_statistic_does_not_depend_on_the_chunks(
    words: dict[str, Any], dtype: torch.dtype, tolerance: float, gap: Gap
) -> None:
    gate, x = FeatureMask(30, dtype=dtype, **words), rows(60, dtype)
    whole = gate.statistic(x)
    for chunks in ([1] * 60, [7] * 8 + [4], [59, 1], [20, 40]):
        assert gap(streamed(gate, x, chunks), whole) < tolerance


@given(chunks=st.lists(st.integers(1, 12), min_size=1, max_size=8))
def test_the_statistic_does_not_depend_on_any_chunks(chunks: list[int], gap: Gap) -> None:
    gate, x = FeatureMask(30, mask_units=6, dtype=torch.float64), rows(sum(chunks))
    assert gap(streamed(gate, x, chunks), gate.statistic(x)) < 1e-12


@PRECISIONS
def test_the_full_data_mask_follows_from_the_streamed_code(
    dtype: torch.dtype, tolerance: float, gap: Gap
) -> None:
    gate, x = FeatureMask(30, dtype=dtype), rows(60, dtype)
    importance = gate.importance(streamed(gate, x, [25, 25, 10]))
    assert gap(importance.scores, gate.logits(x)) < tolerance
    assert gap(importance.shares, gate.mask(x)) < tolerance


def test_averaging_masks_of_batches_would_be_wrong(gap: Gap) -> None:
    gate, x = FeatureMask(30, init="normal", dtype=torch.float64), 10 * rows(60)
    torch.nn.init.normal_(gate.transformation.output.weight)
    averaged = torch.stack([gate.mask(part) for part in x.split(20)]).mean(0)
    assert gap(averaged, gate.mask(x)) > 1e-2


def test_the_statistic_is_as_long_as_the_code_and_in_double_precision() -> None:
    statistic = FeatureMask(3000, mask_units=17).statistic(torch.randn(4, 3000))
    assert statistic.shape == (17,)
    assert statistic.dtype == torch.float64
    assert not statistic.requires_grad


def test_without_attenuation_the_statistic_is_the_mean_of_the_masks_of_rows(gap: Gap) -> None:
    gate, x = FeatureMask(30, attenuation=False, dtype=torch.float64), rows(9)
    assert gap(gate.statistic(x), gate.transformation(x).softmax(1).mean(0)) < 1e-12
    raw = FeatureMask(30, attenuation=False, normalization=False, dtype=torch.float64)
    assert gap(raw.statistic(x), raw.transformation(x).mean(0)) < 1e-12


def test_without_attenuation_each_row_has_its_logits(gap: Gap) -> None:
    gate, x = FeatureMask(30, attenuation=False, dtype=torch.float64), rows(9)
    assert gap(gate.logits(x), gate.transformation(x)) < 1e-12


@KINDS
def test_the_statistic_leaves_the_gate_as_it_is(words: dict[str, Any]) -> None:
    gate = FeatureMask(30, **words)
    gate(rows(5, torch.float32))
    before = {name: value.clone() for name, value in gate.state_dict().items()}
    statistic = gate.statistic(rows(8, torch.float32))
    gate.importance(statistic)
    assert all(torch.equal(value, before[name]) for name, value in gate.state_dict().items())


def test_a_repeated_row_is_its_own_mean(gap: Gap) -> None:
    gate, row = FeatureMask(30, dtype=torch.float64), rows(1)
    assert gap(gate.logits(row.expand(9, 30)), gate.logits(row)) < 1e-12


def test_the_order_of_rows_is_irrelevant(gap: Gap) -> None:
    gate, x = FeatureMask(30, dtype=torch.float64), rows(40)
    assert gap(gate.mask(x[torch.randperm(40)]), gate.mask(x)) < 1e-12


@pytest.mark.parametrize("words", [{}, {"depth": 3}, {"attenuation": False}], ids=str)
def test_permuted_columns_permute_the_scores(words: dict[str, Any], gap: Gap) -> None:
    gate, permuted = (FeatureMask(30, dtype=torch.float64, **words) for _ in range(2))
    order, x = torch.randperm(30), rows(20)
    permuted.load_state_dict(gate.state_dict())
    with torch.no_grad():
        first, *_, last, last_bias = permuted.parameters()
        first.copy_(first[:, order])
        last.copy_(last[order])
        last_bias.copy_(last_bias[order])
    scores = gate.importance(gate.statistic(x)).scores
    assert gap(permuted.importance(permuted.statistic(x[:, order])).scores, scores[order]) < 1e-12
