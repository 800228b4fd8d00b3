"""Rows out of arrays of any kind; the arrays stay as they are."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

from featuremask.sources import ArraySource, Gaps, Source

CPU = torch.device("cpu")
PRECISIONS = [torch.float32, torch.float64]
VALUES = np.random.default_rng(0).integers(0, 2, size=(23, 6)) * np.array([1, 0, 1, 1, 3, 7])


def gathered(source: Source, dtype: torch.dtype = torch.float64, size: int = 5) -> np.ndarray:
    return np.concatenate(
        [batch.x.numpy().copy() for batch in source.chunks(size, device=CPU, dtype=dtype)]
    )


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize(
    "dtype",
    [
        *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "bool"),
        *("float16", "float32", "float64", "longdouble", ">f4", ">f8", ">i2", ">i8", ">u4"),
    ],
)
@pytest.mark.parametrize("columns", [None, np.array([4, 0])], ids=["all columns", "some columns"])
def test_rows_of_any_dtype_are_widened_exactly(
    dtype: str, precision: torch.dtype, columns: Any
) -> None:
    x = VALUES.astype(dtype)
    found = gathered(ArraySource(x, columns=columns), precision)
    assert found.dtype == (np.float32 if precision == torch.float32 else np.float64)
    expected = x.astype(np.float64)
    assert np.array_equal(found, expected if columns is None else expected[:, columns])


def strided(x: np.ndarray) -> np.ndarray:
    wide = np.full((2 * len(x), 3 * x.shape[1]), 99, dtype=x.dtype)
    wide[::2, ::3] = x
    return wide[::2, ::3]


def read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "C order": lambda x: x,
    "Fortran order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "read-only": read_only,
    "read-only Fortran order": lambda x: read_only(np.asfortranarray(x)),
    "CSR matrix": scipy.sparse.csr_matrix,
    "CSR array": scipy.sparse.csr_array,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_the_layout_in_memory_does_not_matter(layout: str, dtype: Any) -> None:
    values = VALUES.astype(dtype)
    source = ArraySource(LAYOUTS[layout](values))
    assert (source.n_rows, source.n_features) == VALUES.shape
    assert np.array_equal(gathered(source, torch.float32), values)
    some = source.subset(rows=np.array([22, 0, 7]), columns=np.array([5, 1]))
    assert (some.n_rows, some.n_features) == (3, 2)
    assert np.array_equal(gathered(some, torch.float32), values[[22, 0, 7]][:, [5, 1]])


@pytest.mark.parametrize("layout", [key for key in LAYOUTS if "CSR" not in key])
def test_the_data_is_never_written_to(layout: str) -> None:
    x = LAYOUTS[layout](VALUES.astype(np.float64))
    source = ArraySource(x)
    for batch in source.chunks(5, device=CPU, dtype=torch.float64):
        batch.x.fill_(np.nan)
    for batch in source.batches(100, seed=0, epoch=0, device=CPU, dtype=torch.float64):
        batch.x.fill_(np.nan)
    assert np.array_equal(x, VALUES)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "u1", ">f8"])
def test_a_memory_map_is_read_row_by_row_and_never_written(
    order: Any, dtype: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.asarray(VALUES.astype(dtype), order=order))
    before = path.read_bytes()
    x = np.load(path, mmap_mode="r")
    source = ArraySource(x)
    for batch in source.batches(5, seed=0, epoch=0, device=CPU, dtype=torch.float32):
        batch.x.fill_(-1.0)
    assert np.array_equal(gathered(source, torch.float32), VALUES)
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("columns", [None, np.arange(0, 300, 3)], ids=["all columns", "some"])
def test_nothing_of_the_size_of_the_data_is_made(layout: str, columns: Any) -> None:
    x = LAYOUTS[layout](np.ones((4000, 300), dtype=np.float32))
    source = ArraySource(x, columns=columns)
    tracemalloc.start()
    for _ in source.batches(50, seed=0, epoch=0, device=CPU, dtype=torch.float32):
        pass
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4000 * 300 * 4 / 4


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array"])
def test_a_sparse_matrix_is_never_dense_as_a_whole(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = getattr(scipy.sparse, kind)(VALUES.astype(np.float64))
    densified, toarray = [], type(x).toarray

    def watched(self: Any, *args: Any, **words: Any) -> np.ndarray:
        densified.append(self.shape[0])
        return toarray(self, *args, **words)

    monkeypatch.setattr(type(x), "toarray", watched)
    monkeypatch.setattr(type(x), "todense", None)
    source = ArraySource(x)
    gathered(source)
    list(source.batches(5, seed=0, epoch=0, device=CPU, dtype=torch.float32))
    assert max(densified) == 5


def test_columns_replace_columns() -> None:
    source = ArraySource(VALUES, columns=np.array([4, 5])).subset(columns=np.array([0, 2, 3]))
    assert np.array_equal(gathered(source), VALUES[:, [0, 2, 3]])


@pytest.mark.parametrize("columns", [None, np.array([6, 1, 0])], ids=["all columns", "some"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_gaps_are_filled_and_shown_by_further_columns(columns: Any, order: Any) -> None:
    x = np.asarray(VALUES.astype(np.float64), order=order)
    x[[2, 9], 1] = x[4, 3] = np.nan
    source = ArraySource(x, gaps=Gaps(np.array([1, 3]), np.array([-5.0, 0.5])), columns=columns)
    missing = np.isnan(x[:, [1, 3]])
    expected = np.hstack([np.where(np.isnan(x), [0, -5.0, 0, 0.5, 0, 0], x), missing])
    expected = expected if columns is None else expected[:, columns]
    assert source.n_features == expected.shape[1]
    assert np.array_equal(gathered(source), expected)
    assert np.isnan(x).sum() == 3
    rows = np.array([9, 4])
    assert np.array_equal(gathered(source.subset(rows)), expected[rows])


@pytest.mark.parametrize("precision", PRECISIONS)
def test_targets_are_given_as_they_are(precision: torch.dtype) -> None:
    for target in (torch.arange(23), torch.randn(23, 2), torch.ones(23, 3, dtype=torch.bool)):
        source = ArraySource(VALUES.astype(np.float32), target)
        found = [batch.target for batch in source.chunks(5, device=CPU, dtype=precision)]
        assert torch.equal(torch.cat(found), target)
