"""Mean, variance and constancy of columns, in one pass."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from featuremask.sources import ArraySource, Moments, _moments, column_moments, find_gaps

Gap = Callable[[Any, Any], float]

SEEDS = st.integers(0, 2**32 - 1)


def moments(x: Any, weight: Any = None) -> Moments:
    return column_moments(ArraySource(x, None, weight))


def cloud(n: int = 40, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * rng.uniform(0.1, 9, d) + rng.normal(size=d) * 20


def test_they_are_those_of_numpy(gap: Gap) -> None:
    x = cloud()
    found = moments(x)
    assert found.weight == 40.0
    assert gap(found.mean, x.mean(0)) < 1e-14
    assert gap(found.variance, x.var(0)) < 1e-13
    assert not found.constant.any()


@given(seed=SEEDS)
def test_weighted_they_are_those_of_numpy(seed: int, gap: Gap) -> None:
    x, weight = cloud(seed=seed), np.random.default_rng(seed).uniform(0.0, 3.0, 40)
    found, mean = moments(x, weight), np.average(x, axis=0, weights=weight)
    assert gap(found.weight, weight.sum()) < 1e-14
    assert gap(found.mean, mean) < 1e-12
    assert gap(found.variance, np.average((x - mean) ** 2, axis=0, weights=weight)) < 1e-12


def test_a_weight_is_a_number_of_repetitions(gap: Gap) -> None:
    x, times = cloud(), np.random.default_rng(1).integers(1, 4, 40)
    weighted, repeated = moments(x, times), moments(np.repeat(x, times, axis=0))
    assert gap(weighted.mean, repeated.mean) < 1e-12
    assert gap(weighted.variance, repeated.variance) < 1e-12


def test_rows_of_no_weight_do_not_count(gap: Gap) -> None:
    x, weight = cloud(), np.ones(40)
    weight[[0, 5]] = 0.0
    rest = moments(np.delete(x, [0, 5], axis=0))
    assert gap(moments(x, weight).mean, rest.mean) < 1e-12
    assert gap(moments(x, weight).variance, rest.variance) < 1e-12


@given(seed=SEEDS, cuts=st.sets(st.integers(1, 39), max_size=6), weighted=st.booleans())
def test_merged_over_any_split_they_are_those_of_all_rows(
    seed: int, cuts: set[int], weighted: bool, gap: Gap
) -> None:
    x = cloud(seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, 40) if weighted else np.ones(40)
    edges = itertools.pairwise([0, *sorted(cuts), 40])
    parts = [moments(x[a:b], weight[a:b]) for a, b in edges]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    whole = moments(x, weight)
    assert gap(merged.weight, whole.weight) < 1e-12
    assert gap(merged.mean, whole.mean) < 1e-12
    assert gap(merged.variance, whole.variance) < 1e-11


@given(value=st.floats(-1e30, 1e30), n=st.integers(1, 50), split=st.integers(0, 50), seed=SEEDS)
def test_constant_columns_are_found_exactly(value: float, n: int, split: int, seed: int) -> None:
    x = np.full((n, 2), value)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, n)
    found = moments(x, weight)
    if 0 < split < n:
        found = moments(x[:split], weight[:split]).merge(moments(x[split:], weight[split:]))
    assert found.constant.all()
    assert (found.variance == 0.0).all()
    assert (found.mean == value).all()


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8, 1e15])
def test_a_column_that_differs_in_one_row_is_not_constant(offset: float, gap: Gap) -> None:
    x = np.full((1000, 1), offset)
    x[777] += 1.0
    found = moments(x)
    assert not found.constant.any()
    assert gap(found.variance, [0.001 - 0.001**2]) < 1e-12


@pytest.mark.parametrize("scale", [1e-30, 1e-8, 1.0, 1e8, 1e30])
def test_any_scale_is_measured(scale: float, gap: Gap) -> None:
    x = cloud()
    found = moments(x * scale)
    assert not found.constant.any()
    assert gap(found.mean, x.mean(0) * scale) < 1e-12
    assert gap(found.variance / scale**2, x.var(0)) < 1e-12


def test_a_column_far_from_zero_keeps_its_variance(gap: Gap) -> None:
    x = np.random.default_rng(0).integers(-4, 5, size=(500, 3)).astype(np.float64)
    assert gap(moments(x + 1e8).variance, x.var(0)) < 1e-12


@pytest.mark.parametrize("dtype", ["uint8", "int64", "bool", "float16", "float32", ">f4"])
def test_narrow_dtypes_do_not_overflow(dtype: str, gap: Gap) -> None:
    x = np.random.default_rng(0).integers(0, 250, size=(5000, 3)).astype(dtype)
    wide = x.astype(np.float64)
    assert gap(moments(x).mean, wide.mean(0)) < 1e-12
    assert gap(moments(x).variance, wide.var(0)) < 1e-12


def test_chunks_make_no_difference(monkeypatch: pytest.MonkeyPatch, gap: Gap) -> None:
    x = cloud()
    whole = moments(x)
    monkeypatch.setattr(_moments, "_CHUNK_BYTES", 8 * 5 * 7)  # seven rows
    found = moments(x)
    assert gap(found.mean, whole.mean) < 1e-14
    assert gap(found.variance, whole.variance) < 1e-13


def test_a_wide_sparse_matrix_is_measured_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    dense = np.random.default_rng(0).poisson(0.05, size=(300, 2000)).astype(np.float64)
    x, rows, toarray = scipy.sparse.csr_array(dense), [], scipy.sparse.csr_array.toarray

    def watched(self: Any, *args: Any, **words: Any) -> np.ndarray:
        rows.append(self.shape[0])
        return toarray(self, *args, **words)

    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", watched)
    found = moments(x)
    assert max(rows) < 300
    assert np.allclose(found.variance, dense.var(0), rtol=1e-12)
    assert np.array_equal(found.constant, (dense == dense[0]).all(0))


def test_the_data_stays_as_it_is() -> None:
    x = cloud()
    before = x.copy()
    moments(x)
    assert np.array_equal(x, before)


def test_gaps_are_found_with_the_mean_of_what_is_there(gap: Gap) -> None:
    x = cloud()
    x[[0, 3, 39], 1] = x[7, 4] = np.nan
    found = find_gaps(x)
    assert found.columns.tolist() == [1, 4]
    assert gap(found.fill, np.nanmean(x, axis=0)[[1, 4]]) < 1e-14


def test_a_column_of_gaps_alone_is_filled_with_zero() -> None:
    x = cloud()
    x[:, 2] = np.nan
    assert find_gaps(x).fill.tolist() == [0.0]


def test_without_gaps_none_are_found() -> None:
    assert len(find_gaps(cloud()).columns) == 0
