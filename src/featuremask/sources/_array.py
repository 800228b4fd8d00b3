"""Rows of an array or sparse matrix in memory, gathered batch by batch."""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from featuremask.sources._base import Batch, Source, batch_edges
from featuremask.sources._gaps import Gaps
from featuremask.sources._sparse import SparseRows

__all__ = ["ArraySource"]

_SPARSE_BELOW = 0.02
"""Share of stored entries below which their products cost less than dense ones."""

Kind = TypeVar("Kind", bound="ArraySource")


class ArraySource(Source):
    """Rows of a NumPy array, memory map or SciPy CSR matrix.

    Nothing of the size of the data is copied: rows are gathered into one buffer, and widened from
    their own dtype there.

    Parameters
    ----------
    x : ndarray or CSR matrix of shape (n, d)
        The rows, of any real dtype.
    target : Tensor of shape (n, ...), optional
    sample_weight : ndarray of shape (n,), optional
    rows : ndarray of int, optional
        The rows to give; all if None.
    columns : ndarray of int, optional
        The columns to give; all if None. With gaps, their indicators count as further columns.
    gaps : Gaps, optional
        Where the data has gaps; they are filled, and an indicator is added for each such column.
    """

    def __init__(
        self,
        x: Any,
        target: Tensor | None = None,
        sample_weight: NDArray[Any] | None = None,
        *,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
        gaps: Gaps | None = None,
    ) -> None:
        self._x = x
        self._gaps = gaps
        self._target = target
        self._weight = None if sample_weight is None else _weights(sample_weight)
        self._rows = rows
        self._columns = columns
        self._sparse = not isinstance(x, np.ndarray)
        self._takes = not self._sparse and x.flags.c_contiguous and x.dtype.isnative
        self.n_rows = x.shape[0] if rows is None else len(rows)
        width = x.shape[1] + (0 if gaps is None else len(gaps.columns))
        self.n_features = width if columns is None else len(columns)
        self.weight_sum = self._total_weight()

    def _total_weight(self) -> float:
        if self._weight is None:
            return float(self.n_rows)
        weight = self._weight if self._rows is None else self._weight[self._rows]
        return float(weight.double().sum())

    def subset(
        self,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return a source of some of its rows, or of other columns, sharing the data."""
        if rows is None:
            rows = self._rows
        elif self._rows is not None:
            rows = self._rows[rows]
        return self._like(type(self), rows, self._columns if columns is None else columns)

    def sparsely(self) -> Source | None:
        """Return a source of sparse batches, if the data is sparse and few entries are stored."""
        if not self._sparse or self._x.nnz > _SPARSE_BELOW * math.prod(self._x.shape):
            return None
        source = self._like(_CsrSource, self._rows, self._columns)
        if not self._x.has_canonical_format:
            source._x = self._x.copy()
            source._x.sum_duplicates()
        return source

    def _like(
        self,
        kind: type[Kind],
        rows: NDArray[np.int64] | None,
        columns: NDArray[np.int64] | None,
    ) -> Kind:
        return kind(
            self._x,
            self._target,
            None if self._weight is None else self._weight.numpy(),
            rows=rows,
            columns=columns,
            gaps=self._gaps,
        )

    def shard(self, number: int, n_shards: int) -> "ArraySource":
        """Return a source of each n-th row."""
        return self.subset(np.arange(number, self.n_rows, n_shards))

    def batches(
        self, size: int, *, seed: int, epoch: int, device: torch.device, dtype: torch.dtype
    ) -> Iterator[Batch]:
        """Yield every row once, in batches of about the same size."""
        edges = batch_edges(self.n_rows, size)
        if len(edges) == 2:
            order = np.arange(self.n_rows)
        else:
            order = np.random.default_rng([seed, epoch]).permutation(self.n_rows)
        yield from self._gather(order, edges, device, dtype)

    def chunks(self, size: int, *, device: torch.device, dtype: torch.dtype) -> Iterator[Batch]:
        """Yield every row once, in order."""
        edges = np.arange(0, self.n_rows + size, size).clip(max=self.n_rows)
        yield from self._gather(np.arange(self.n_rows), edges, device, dtype)

    def _gather(
        self,
        order: NDArray[np.int64],
        edges: NDArray[np.int64],
        device: torch.device,
        dtype: torch.dtype,
    ) -> Iterator[Batch]:
        if self._rows is not None:
            order = self._rows[order]
        take = self._taker(int(np.diff(edges).max(initial=0)), dtype)
        for start, stop in itertools.pairwise(edges):
            if start == stop:
                continue
            index = order[start:stop]
            rows = torch.from_numpy(index)
            yield Batch(
                take(index).to(device),
                None if self._target is None else self._target[rows].to(device),
                None if self._weight is None else self._weight[rows].to(device, dtype),
            )

    def _taker(self, size: int, dtype: torch.dtype) -> Callable[[NDArray[np.int64]], Tensor]:
        """Return what gathers rows, at most `size` at a time, into a buffer."""
        buffer = torch.empty(size, self.n_features, dtype=dtype)
        raw = self._raw_buffer(buffer)

        def take(index: NDArray[np.int64]) -> Tensor:
            x = buffer[: len(index)]
            self._fill(x, raw, index)
            return x

        return take

    def _raw_buffer(self, buffer: Tensor) -> NDArray[Any] | None:
        """Return where rows are gathered in their own dtype, if not at once into the buffer."""
        if not self._takes:
            return None
        if self._columns is None and self._gaps is None and self._x.dtype == buffer.numpy().dtype:
            return buffer.numpy()
        return np.empty((buffer.shape[0], self._x.shape[1]), self._x.dtype)

    def _fill(self, x: Tensor, raw: NDArray[Any] | None, index: NDArray[np.int64]) -> None:
        if raw is None:
            found = self._x[index]
            found = found.toarray() if self._sparse else found
        else:
            found = np.take(self._x, index, axis=0, out=raw[: len(index)], mode="clip")
        if self._gaps is not None:
            found = self._gaps.close(found)
        if self._columns is not None:
            found = found[:, self._columns]
        elif raw is not None and self._gaps is None and raw.dtype == x.numpy().dtype:
            return  # it was gathered right there
        if found.dtype == np.longdouble:
            found = found.astype(np.float64)
        elif not found.dtype.isnative:
            found = found.astype(found.dtype.newbyteorder("="))
        x.copy_(torch.from_numpy(np.ascontiguousarray(found)))


class _CsrSource(ArraySource):
    """Rows of a SciPy CSR matrix, as they are stored."""

    @property
    def numbers_a_row(self) -> int:
        """Entries stored of a row, about."""
        return math.ceil(int(self._x.nnz) / max(1, int(self._x.shape[0])))

    def sparsely(self) -> Source:
        """Return the source itself."""
        return self

    def _taker(self, size: int, dtype: torch.dtype) -> Callable[[NDArray[np.int64]], Tensor]:
        kept = None if self._columns is None else torch.from_numpy(self._columns)

        def take(index: NDArray[np.int64]) -> Tensor:
            found = self._x[index]
            rows = SparseRows(
                torch.from_numpy(found.indptr.astype(np.int64)),
                torch.from_numpy(found.indices.astype(np.int64)),
                torch.from_numpy(found.data.astype(np.float64)).to(dtype),
                self._x.shape[1],
            )
            rows = rows if kept is None else rows.index_select(1, kept)
            return cast(Tensor, rows)  # it stands in for one

        return take


def _weights(sample_weight: NDArray[Any]) -> Tensor:
    """Return a copy of the weights: the array may be read-only, or of foreign byte order."""
    return torch.from_numpy(np.array(sample_weight, dtype=np.float64))
