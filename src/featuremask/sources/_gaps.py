"""Gaps in an array: where they are, and what fills them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Gaps", "find_gaps"]

_CHUNK_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Gaps:
    """Columns with gaps.

    Attributes
    ----------
    columns : ndarray of int
        The columns that have some.
    fill : ndarray of shape (len(columns),)
        The mean of what is there; 0 where nothing is.
    """

    columns: NDArray[np.int64]
    fill: NDArray[np.float64]

    def close(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return rows with their gaps filled, and an indicator of each column with gaps behind.

        Examples
        --------
        >>> gaps = Gaps(np.array([1]), np.array([5.0]))
        >>> gaps.close(np.array([[1.0, np.nan], [2.0, 7.0]]))
        array([[1., 5., 1.],
               [2., 7., 0.]])
        """
        part = rows[:, self.columns]
        missing = np.isnan(part)
        closed = np.concatenate([rows, missing.astype(rows.dtype)], axis=1)
        closed[:, self.columns] = np.where(missing, self.fill.astype(rows.dtype), part)
        return closed


def find_gaps(x: NDArray[Any]) -> Gaps:
    """Return the gaps of an array, in one pass over chunks of rows."""
    size = max(1, _CHUNK_BYTES // (8 * x.shape[1]))
    total, count = np.zeros(x.shape[1]), np.zeros(x.shape[1], dtype=np.int64)
    for start in range(0, len(x), size):
        rows = np.asarray(x[start : start + size], dtype=np.float64)
        there = ~np.isnan(rows)
        total += np.where(there, rows, 0.0).sum(axis=0)
        count += there.sum(axis=0)
    columns = np.flatnonzero(count < len(x))
    return Gaps(columns, total[columns] / np.maximum(count[columns], 1))
