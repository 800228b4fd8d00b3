"""One rank's part of the rows of all ranks."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from featuremask.sources import Batch, Source, batch_edges
from featuremask.training._ranks import Ranks

__all__ = ["SharedSource", "dealt"]


class SharedSource(Source):
    """The rows of one rank, in as many batches an epoch as the rows of all ranks make.

    A rank that has no rows left gives batches without rows, so that all ranks make the same
    number of steps. `n_rows` and `weight_sum` are those of all ranks.
    """

    def __init__(self, whole: Source, ranks: Ranks) -> None:
        self._whole = whole
        self._ranks = ranks
        self._part = whole.shard(ranks.rank, ranks.size)
        self.n_rows, self.n_features = whole.n_rows, whole.n_features
        self.weight_sum = whole.weight_sum

    def batches(
        self, size: int, *, seed: int, epoch: int, device: torch.device, dtype: torch.dtype
    ) -> Iterator[Batch]:
        """Yield the rows of this rank once, and batches without rows up to the number of all."""
        n_batches = len(batch_edges(self.n_rows, size)) - 1
        left = n_batches
        if self._part.n_rows:
            # A whole number of rows where all have as many; batches are split evenly anyway.
            own = self._part.n_rows / n_batches
            for batch in self._part.batches(
                own,  # type: ignore[arg-type]  # the mean number of rows, which may be a fraction
                seed=seed,
                epoch=epoch,
                device=device,
                dtype=dtype,
            ):
                left -= 1
                yield batch
        if left == 0:
            return  # without a look at the first row, which may lie in a file
        some = self._whole.subset(np.zeros(1, np.int64))
        one = next(iter(some.chunks(1, device=device, dtype=dtype)))
        target, weight = (None if part is None else part[:0] for part in one[1:])
        for _ in range(left):
            yield Batch(one.x[:0], target, weight)

    def chunks(self, size: int, *, device: torch.device, dtype: torch.dtype) -> Iterator[Batch]:
        """Yield the rows of this rank once, in order."""
        yield from self._part.chunks(size, device=device, dtype=dtype)

    def subset(
        self,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> "SharedSource":
        """Return some of the rows of all ranks, dealt out anew."""
        return SharedSource(self._whole.subset(rows, columns), self._ranks)

    def shard(self, number: int, n_shards: int) -> "SharedSource":
        """Return a part of the rows of all ranks, dealt out anew."""
        return SharedSource(self._whole.shard(number, n_shards), self._ranks)


def dealt(source: Source, ranks: Ranks) -> Source:
    """Return the rows of this rank; the source itself for a process that is alone."""
    return source if ranks.group is None else SharedSource(source, ranks)
