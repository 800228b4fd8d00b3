"""Where rows come from: the contract of a source."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["Batch", "Source", "batch_edges"]


class Batch(NamedTuple):
    """Some rows, and what belongs to them.

    Attributes
    ----------
    x : Tensor of shape (rows, n_features)
        Valid until the next batch is asked for: its memory is used again. From a source that was
        asked for them (`Source.sparsely`) it is `SparseRows`, which stand in for a tensor.
    target : Tensor of shape (rows, ...) or None
    sample_weight : Tensor of shape (rows,) or None
    """

    x: Tensor
    target: Tensor | None
    sample_weight: Tensor | None


class Source(ABC):
    """Rows in shuffled batches for training, and in order for read-outs.

    Attributes
    ----------
    n_rows, n_features : int
        Size of what it gives.
    weight_sum : float
        Sum of the weights of its rows; their number if they have no weights.
    """

    n_rows: int
    n_features: int
    weight_sum: float

    @property
    def numbers_a_row(self) -> int:
        """How many numbers are held of a row, about."""
        return self.n_features

    def sparsely(self) -> "Source | None":
        """Return a source of the same rows whose batches hold `SparseRows`; None if it has none."""
        return None

    @abstractmethod
    def batches(
        self, size: int, *, seed: int, epoch: int, device: torch.device, dtype: torch.dtype
    ) -> Iterator[Batch]:
        """Yield every row once, in batches of about the same size.

        The order is a function of `seed` and `epoch` alone.
        """

    @abstractmethod
    def chunks(self, size: int, *, device: torch.device, dtype: torch.dtype) -> Iterator[Batch]:
        """Yield every row once, in order."""

    @abstractmethod
    def subset(
        self,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
    ) -> Self:
        """Return a source of some of its rows (ascending), or of other columns."""

    def identity(self) -> str | None:
        """Return what tells its rows from others, if that is known without reading them."""
        return None

    @abstractmethod
    def shard(self, number: int, n_shards: int) -> Self:
        """Return a source of one part of its rows. The parts have no row in common, and all rows.

        A part may be empty.
        """


def batch_edges(n_rows: int, size: int) -> NDArray[np.int64]:
    """Return where the batches of an epoch begin and end.

    The rows are split evenly, so that no batch is much smaller than the others: a mean over few
    rows is noisy.

    Examples
    --------
    >>> batch_edges(10, 4)
    array([ 0,  5, 10])
    """
    n_batches = max(1, round(n_rows / size))
    return np.linspace(0, n_rows, n_batches + 1).round().astype(np.int64)
