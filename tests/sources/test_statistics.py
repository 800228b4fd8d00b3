"""Column statistics of files: sums over parts that add up to those of the whole."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from tests.sources.stores import STORES, VALUES, table

from featuremask.sources import (
    ArraySource,
    ParquetSource,
    column_moments,
    find_gaps,
    is_surveyed,
    keep_survey,
    merged,
    survey,
    survey_part,
)


def with_gaps() -> np.ndarray:
    x = VALUES.astype(np.float64)
    x[::4, 0] = x[:30, 1] = x[:, 2] = np.nan
    x[:, 3] = 7.0
    x[50, 4] = np.inf
    x[51, 4] = 1e39
    return x


@pytest.fixture
def stored(tmp_path: Path) -> ParquetSource:
    whole = np.arange(len(VALUES)) + 2**24 - 3
    pq.write_table(table(with_gaps(), id=whole), tmp_path / "rows.parquet", row_group_size=10)
    return ParquetSource(tmp_path)


@pytest.mark.parametrize("store", STORES)
def test_the_moments_are_those_of_an_array_to_the_bit(store: str, tmp_path: Path) -> None:
    mine, theirs = survey(STORES[store](tmp_path)).moments, column_moments(ArraySource(VALUES))
    assert mine.weight == theirs.weight
    for name in ("shift", "first", "second"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name))


def test_bad_values_are_counted_by_column(stored: ParquetSource) -> None:
    bad = survey(stored).bad_values(stored.names, wide=False)
    assert bad.missing == (("c0", 26), ("c1", 30), ("c2", 103))
    assert bad.infinite == (("c4", 1),)
    assert bad.too_large == (("c4", 1),)
    assert bad.rounded == (("id", 103 - 4),)
    wide = survey(stored).bad_values(None, wide=True)
    assert (wide.too_large, wide.rounded) == ((), ())
    assert wide.infinite == ((4, 1),)


def test_gaps_are_filled_by_the_mean_of_what_is_there(stored: ParquetSource) -> None:
    mine, theirs = survey(stored).gaps, find_gaps(with_gaps())
    assert mine is not None
    assert np.array_equal(mine.columns, theirs.columns)
    assert mine.fill == pytest.approx(theirs.fill)


def test_the_moments_are_those_of_the_filled_rows_and_their_indicators(tmp_path: Path) -> None:
    x = with_gaps()[:, :4]
    pq.write_table(table(x), tmp_path / "rows.parquet", row_group_size=10)
    known = survey(ParquetSource(tmp_path))
    expected = column_moments(ArraySource(x, gaps=find_gaps(x)))
    assert known.moments.mean == pytest.approx(expected.mean)
    assert known.moments.variance == pytest.approx(expected.variance)
    assert known.moments.constant.tolist() == expected.constant.tolist()


@pytest.mark.parametrize("n", [2, 3, 20])
def test_parts_add_up_to_the_whole(stored: ParquetSource, n: int) -> None:
    parts = torch.stack([survey_part(stored, number, n) for number in range(n)])
    assert not is_surveyed(stored)
    keep_survey(stored, merged(parts))
    assert is_surveyed(stored)
    mine = survey(stored)
    assert np.array_equal(mine.counts, survey_part(stored, 0, 1)[:4].numpy())
    usable = np.array([True, True, True, True, False, True, True])  # one holds infinity
    x = np.column_stack([with_gaps(), np.arange(len(VALUES)) + 2**24 - 3])[:, usable]
    assert mine.gaps is not None
    assert mine.gaps.fill == pytest.approx(find_gaps(x).fill)
    expected = column_moments(ArraySource(x, gaps=find_gaps(x)))
    usable = np.append(usable, [True] * 3)  # and the indicators
    assert mine.moments.mean[usable] == pytest.approx(expected.mean)
    assert mine.moments.variance[usable] == pytest.approx(expected.variance)
    assert mine.moments.constant[usable].tolist() == expected.constant.tolist()
