"""Mean and variance of columns, in one pass whose parts can be merged."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from featuremask.sources._base import Source
from featuremask.sources._sparse import SparseRows, as_sparse

__all__ = ["Moments", "chunk_rows", "column_moments"]

_CHUNK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Moments:
    """Sums over rows, from which mean, variance and constancy of each column follow.

    Attributes
    ----------
    weight : float, or ndarray of shape (n_features,)
        Sum of the weights of the rows; for each column if not all have a value in each row.
    shift : ndarray of shape (n_features,)
        One of the rows. Sums are of the differences to it, so that a column is constant exactly
        where the second sum is zero.
    first, second : ndarray of shape (n_features,)
        Weighted sums of the differences and of their squares.
    """

    weight: float | NDArray[np.float64]
    shift: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of each column."""
        return self.shift + self.first / self.weight

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of each column (of the population)."""
        spread = self.second / self.weight - np.square(self.first / self.weight)
        return np.asarray(np.maximum(spread, 0.0))

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Whether all rows of a column are equal."""
        return np.asarray(self.second == 0.0)

    def merge(self, other: "Moments") -> "Moments":
        """Return the moments of the rows of both.

        Examples
        --------
        >>> one = Moments(1.0, np.array([1.0]), np.zeros(1), np.zeros(1))
        >>> two = Moments(1.0, np.array([3.0]), np.zeros(1), np.zeros(1))
        >>> both = one.merge(two)
        >>> float(both.mean[0]), float(both.variance[0])
        (2.0, 1.0)
        """
        move = other.shift - self.shift
        return Moments(
            self.weight + other.weight,
            self.shift,
            self.first + other.first + other.weight * move,
            self.second + other.second + 2.0 * move * other.first + other.weight * move**2,
        )


def chunk_rows(numbers_a_row: int) -> int:
    """Return how many rows are summed at a time."""
    return max(1, _CHUNK_BYTES // (8 * max(1, numbers_a_row)))


def column_moments(source: Source) -> Moments:
    """Return the moments of all rows of a source."""
    source = source.sparsely() or source
    size = chunk_rows(source.numbers_a_row)
    total: Moments | None = None
    shift: Tensor | None = None
    for x, _, weight in source.chunks(size, device=torch.device("cpu"), dtype=torch.float64):
        if weight is None:
            weight = torch.ones(x.shape[0], dtype=torch.float64)
        rows = as_sparse(x)
        if rows is not None:
            shift = rows.row(0) if shift is None else shift
            part = _moments_of_entries(rows, weight, shift)
        else:
            shift = x[0].clone() if shift is None else shift
            part = _moments_of(x.sub_(shift), weight, shift)
        total = part if total is None else total.merge(part)
    assert total is not None, "a source has at least one row"
    return total


def _moments_of(difference: Tensor, weight: Tensor, shift: Tensor) -> Moments:
    first = weight @ difference
    second = weight @ difference.square_()
    return Moments(float(weight.sum()), shift.numpy(), first.numpy(), second.numpy())


def _moments_of_entries(rows: SparseRows, weight: Tensor, shift: Tensor) -> Moments:
    """Return the moments of sparse rows: sums over what is stored, and the rest, which is zero."""

    def by_column(values: Tensor) -> Tensor:
        return torch.bincount(rows.columns, values, minlength=rows.shape[1])

    row_weight = weight[rows.row_of]
    difference = rows.values - shift[rows.columns]
    full = by_column(torch.ones_like(row_weight)) == len(rows)
    rest = (weight.sum() - by_column(row_weight)).masked_fill(full, 0.0)
    first = by_column(row_weight * difference) - rest * shift
    second = by_column(row_weight * difference.square_()) + rest * shift.square()
    return Moments(float(weight.sum()), shift.numpy(), first.numpy(), second.numpy())
