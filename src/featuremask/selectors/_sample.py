"""A sample of rows, as the numbers that a fitted selector learns from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from featuremask.selectors._inputs import from_torch, is_frame, read_inputs
from featuremask.tables import Table
from featuremask.tables._sampling import some_rows

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["SampledRows", "sample_rows"]

_MOST_NUMBERS = 2**24


@dataclass(frozen=True)
class SampledRows:
    """Some rows of the data.

    Attributes
    ----------
    n_rows : int
        How many rows the data has.
    index : ndarray of int
        The rows that are in the sample, ascending.
    numbers : ndarray of shape (n_sampled, n_numbers)
        They, as numbers; NaN where an array has gaps.
    column_of : ndarray of int, shape (n_numbers,)
        The column that each number belongs to.
    gap_marks : ndarray of bool, shape (n_numbers,)
        Which numbers say no more than that a value is missing.
    gaps : float
        Share of missing values.
    """

    n_rows: int
    index: NDArray[np.intp]
    numbers: NDArray[Any]
    column_of: NDArray[np.int64]
    gap_marks: NDArray[np.bool_]
    gaps: float


def sample_rows(selector: "BaseSelector", X: Any, at_most: int = 2000) -> SampledRows:
    """Return rows at random, the same for the same data, as a fitted selector reads them.

    Parameters
    ----------
    selector : BaseSelector
    X : array-like, sparse matrix or data frame
        As passed to `fit`.
    at_most : int
        Rows; fewer of very wide data.
    """
    X = from_torch(X)
    if isinstance(X, Table):
        index = _some_rows(X.shape, at_most)
        table = X.take(index)
        inputs = read_inputs(selector, table, None, reset=False)
        shares = [float(column.gaps.mean()) for column in table.series]
    elif is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        index = _some_rows(frame.shape, at_most)
        some = frame[index.tolist()]
        inputs = read_inputs(selector, some.to_native(), None, reset=False)
        shares = [_gaps(some[name]) for name in some.columns]
    else:
        X = X.tocsr() if sparse.issparse(X) else np.asarray(X)
        index = _some_rows(X.shape, at_most)
        rows = X[index].toarray() if sparse.issparse(X) else X[index]
        inputs = read_inputs(selector, rows, None, reset=False)
        shares = []
    numbers = np.asarray(inputs.numbers)
    if inputs.encoding is None:
        marks, gaps = np.zeros(numbers.shape[1], dtype=bool), np.isnan(numbers).mean()
    else:  # which fills the gaps
        marks, gaps = inputs.encoding.gap_codes, np.mean(shares)
    columns = inputs.column_of[: numbers.shape[1]]
    return SampledRows(X.shape[0], index, numbers, columns, marks, float(gaps))


def _some_rows(shape: tuple[int, ...], at_most: int) -> NDArray[np.intp]:
    count = max(2, min(at_most, _MOST_NUMBERS // max(shape[1], 1)))
    return np.sort(some_rows(shape[0], count))


def _gaps(values: nw.Series[Any]) -> float:
    missing = values.is_null()
    if values.dtype.is_float():
        missing = missing | values.is_nan()
    return float(missing.mean())
