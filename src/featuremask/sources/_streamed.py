"""Rows that lie in files, in shuffled batches: a window of them is in memory at a time."""

import itertools
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from featuremask._tensorfile import digest_of
from featuremask.sources._ahead import one_ahead
from featuremask.sources._base import Batch, Source, batch_edges
from featuremask.sources._gaps import Gaps
from featuremask.sources._stored import Stored

__all__ = ["StreamedSource"]


class _Window(NamedTuple):
    """Rows that are in memory, and their positions among all."""

    x: NDArray[Any]
    rows: NDArray[np.int64]


class StreamedSource(Source):
    """Rows of files, shuffled by blocks and within windows.

    An epoch reads the blocks in an order of its own and cuts the stream into windows of many
    batches; within a window rows are shuffled. Data that fits into one window is read once, stays
    in memory, and comes in the very batches that `ArraySource` gives.

    Parameters
    ----------
    stored : Stored
    target : Tensor of shape (n, ...), optional
    sample_weight : ndarray of shape (n,), optional
    rows : ndarray of int, optional
        The rows to give, ascending; all if None.
    columns : ndarray of int, optional
        The columns to give; all if None. With gaps, their indicators count as further columns.
    gaps : Gaps, optional
        Where the data has gaps; they are filled, and an indicator is added for each such column.
    """

    def __init__(
        self,
        stored: Stored,
        target: Tensor | None = None,
        sample_weight: NDArray[Any] | None = None,
        *,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
        gaps: Gaps | None = None,
    ) -> None:
        self._stored = stored
        self._target = target
        self._weight = None if sample_weight is None else torch.tensor(sample_weight).double()
        self._rows = rows
        self._columns = columns
        self._gaps = gaps
        self._starts = np.concatenate([[0], np.cumsum(stored.block_rows)]).astype(np.int64)
        self._whole: tuple[torch.dtype, _Window] | None = None
        self.n_rows = stored.shape[0] if rows is None else len(rows)
        width = stored.shape[1] + (0 if gaps is None else len(gaps.columns))
        self.n_features = width if columns is None else len(columns)
        self.weight_sum = float(self.n_rows)
        if self._weight is not None:
            weight = self._weight if rows is None else self._weight[torch.from_numpy(rows)]
            self.weight_sum = float(weight.sum())

    def identity(self) -> str:
        """Return the files, their version, and the digests of target and weights."""
        labels = [part for part in (self._target, self._weight) if part is not None]
        return " ".join([self._stored.key, self._stored.version, *map(digest_of, labels)])

    def subset(
        self,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> "StreamedSource":
        """Return a source of some of its rows (ascending), or of other columns."""
        if rows is None:
            rows = self._rows
        elif self._rows is not None:
            rows = self._rows[rows]
        return StreamedSource(
            self._stored,
            self._target,
            None if self._weight is None else self._weight.numpy(),
            rows=rows,
            columns=self._columns if columns is None else columns,
            gaps=self._gaps,
        )

    def shard(self, number: int, n_shards: int) -> "StreamedSource":
        """Return a source of the rows of each n-th block."""
        parts = [
            np.arange(self._starts[block], self._starts[block + 1])
            for block in range(number, len(self._stored.block_rows), n_shards)
        ]
        rows = np.concatenate([*parts, np.empty(0, dtype=np.int64)])
        if self._rows is None:
            return self.subset(rows)
        return self.subset(np.flatnonzero(np.isin(self._rows, rows, assume_unique=True)))

    # ---- the two ways to go through it -----------------------------------------------------

    def batches(
        self, size: int, *, seed: int, epoch: int, device: torch.device, dtype: torch.dtype
    ) -> Iterator[Batch]:
        """Yield every row once, in batches of about the same size."""
        edges = batch_edges(self.n_rows, size)
        rng = np.random.default_rng([seed, epoch])
        spans = self._spans(edges, dtype)
        blocks = np.arange(len(self._stored.block_rows))
        if len(spans) > 1:
            blocks = rng.permutation(blocks)
        sizes = [int(edges[stop] - edges[start]) for start, stop in spans]
        for window, (start, stop) in zip(self._windows(blocks, sizes, dtype), spans, strict=True):
            order = np.arange(len(window.x))
            if len(edges) > 2:
                order = rng.permutation(len(window.x))
            for a, b in itertools.pairwise(edges[start : stop + 1] - edges[start]):
                yield self._batch(window, order[a:b], device, dtype)

    def chunks(self, size: int, *, device: torch.device, dtype: torch.dtype) -> Iterator[Batch]:
        """Yield every row once, in order."""
        if self.n_rows == 0:
            return
        sizes = [min(size, self.n_rows - start) for start in range(0, self.n_rows, size)]
        if self._whole is not None and self._whole[0] == dtype:
            window, everyone = self._whole[1], np.arange(self.n_rows)
            for start in range(0, self.n_rows, size):
                yield self._batch(window, everyone[start : start + size], device, dtype)
            return
        blocks = np.arange(len(self._stored.block_rows))
        for window in one_ahead(self._read(blocks, sizes, dtype)):
            yield self._labelled(torch.from_numpy(window.x), window.rows, device, dtype)

    def _spans(self, edges: NDArray[np.int64], dtype: torch.dtype) -> list[tuple[int, int]]:
        """Return the first and last batch of each window: as many as fit, evenly."""
        n_batches = len(edges) - 1
        most = max(1, self._stored.window_bytes // (max(1, self.n_features) * dtype.itemsize))
        n_windows = min(n_batches, max(1, -(-self.n_rows // most)))
        cuts = np.linspace(0, n_batches, n_windows + 1).round().astype(int).tolist()
        return list(itertools.pairwise(cuts))

    def _windows(
        self, blocks: NDArray[np.int64], sizes: list[int], dtype: torch.dtype
    ) -> Iterator[_Window]:
        if self._whole is not None and self._whole[0] == dtype and len(sizes) == 1:
            yield self._whole[1]
            return
        for window in one_ahead(self._read(blocks, sizes, dtype)):
            if len(sizes) == 1:
                self._whole = (dtype, window)
            yield window

    # ---- reading ---------------------------------------------------------------------------

    def _read(
        self, blocks: NDArray[np.int64], sizes: list[int], dtype: torch.dtype
    ) -> Generator[_Window, None, None]:
        """Yield the rows of blocks in windows of these sizes, cast and complete.

        The memory of a window is used again for the next but one: pages that are new to a process
        cost about as much as filling them.
        """
        pieces = self._pieces(blocks)
        left: _Window | None = None
        shape = (max(sizes, default=0), self.n_features)
        memory = [torch.empty(shape, dtype=dtype).numpy() for _ in sizes[:2]]
        for number, size in enumerate(sizes):
            x = memory[number % 2][:size]
            index, filled = np.empty(size, dtype=np.int64), 0
            while filled < size:
                left = next(pieces) if left is None else left
                n = min(size - filled, len(left.x))
                x[filled : filled + n] = left.x[:n]
                index[filled : filled + n] = left.rows[:n]
                left = _Window(left.x[n:], left.rows[n:]) if n < len(left.x) else None
                filled += n
            yield _Window(x, index)

    def _pieces(self, blocks: NDArray[np.int64]) -> Iterator[_Window]:
        """Yield the chosen rows and columns of blocks, some rows at a time."""
        columns = self._columns if self._gaps is None else None
        for block in blocks.tolist():
            start, stop = self._starts[block], self._starts[block + 1]
            wanted = self._between(start, stop)
            if len(wanted) == 0:
                continue
            for x in self._stored.read(block, columns):
                index = wanted[slice(*np.searchsorted(wanted, [start, start + len(x)]))]
                some = x if len(index) == len(x) else x[index - start]
                start += len(x)
                yield _Window(self._complete(some), index)

    def _between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return which of the rows of a range are given."""
        if self._rows is None:
            return np.arange(start, stop)
        return self._rows[slice(*np.searchsorted(self._rows, [start, stop]))]

    def _complete(self, x: NDArray[Any]) -> NDArray[Any]:
        if self._gaps is None:
            return x
        x = self._gaps.close(x)
        return x if self._columns is None else x[:, self._columns]

    def _batch(
        self, window: _Window, rows: NDArray[np.int64], device: torch.device, dtype: torch.dtype
    ) -> Batch:
        x = torch.from_numpy(np.take(window.x, rows, axis=0))
        return self._labelled(x, window.rows[rows], device, dtype)

    def _labelled(
        self, x: Tensor, index: NDArray[np.int64], device: torch.device, dtype: torch.dtype
    ) -> Batch:
        rows = torch.from_numpy(index)
        return Batch(
            x.to(device),
            None if self._target is None else self._target[rows].to(device),
            None if self._weight is None else self._weight[rows].to(device, dtype),
        )
