"""Arrays, matrices, data frames and files as numbers, checked, with the column of each number."""

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array, check_consistent_length
from sklearn.utils.validation import column_or_1d, validate_data

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.sources import (
    ArraySource,
    Gaps,
    Moments,
    Source,
    Stored,
    StreamedSource,
    column_moments,
    find_gaps,
    kept_moments,
    open_source,
    survey,
)
from featuremask.tables import (
    BadValues,
    Table,
    TableEncoder,
    TableEncoding,
    check_same_names,
    count_bad_values,
    fit_table,
)

__all__ = [
    "Inputs",
    "checked_target",
    "from_torch",
    "is_frame",
    "note_columns",
    "read_inputs",
    "taken_rows",
]


@dataclass(frozen=True)
class Inputs:
    """What was passed as X and y, as numbers.

    Attributes
    ----------
    numbers : ndarray, CSR matrix or Stored of shape (n_rows, n_numbers)
        Not a copy where X is an array, not read where it lies in files.
    gaps : Gaps or None
        Where `numbers` has gaps, and what fills them.
    column_of : ndarray of int
        The column of X that each number belongs to, indicators of gaps included.
    n_columns : int
        Columns of X.
    y : ndarray or None
    encoding : TableEncoding or None
        How a data frame became numbers; None where each column is its own number.
    sample_weight : array-like or None
        As passed, or as the files say.
    """

    numbers: Any
    gaps: Gaps | None
    column_of: NDArray[np.int64]
    n_columns: int
    y: NDArray[Any] | None
    encoding: TableEncoding | None
    sample_weight: Any = None

    def source(
        self,
        target: torch.Tensor | None,
        weight: NDArray[np.float64] | None,
        rows: NDArray[np.int64] | None,
    ) -> Source:
        """Return the rows as a source, of all numbers."""
        kind = StreamedSource if isinstance(self.numbers, Stored) else ArraySource
        return kind(self.numbers, target, weight, rows=rows, gaps=self.gaps)

    def moments(self, source: Source, weight: NDArray[np.float64] | None) -> Moments:
        """Return the moments of that source."""
        if not isinstance(source, StreamedSource):
            return column_moments(source)
        if weight is None:
            return survey(self.numbers).moments
        return kept_moments(self.numbers, source, torch.tensor(weight))


def is_frame(X: Any) -> bool:
    """Whether X is a data frame of pandas, polars or Arrow, or a table read from a file."""
    return isinstance(X, Table) or bool(nw.dependencies.is_into_dataframe(X))


def read_inputs(selector: Any, X: Any, y: Any, sample_weight: Any = None, *, reset: bool) -> Inputs:
    """Check X and y and read them as numbers.

    Parameters
    ----------
    selector : BaseSelector
        Its words `missing`, `categorical` and `dates` say what is taken.
    X, y, sample_weight
        As passed to `fit`.
    reset : bool
        Whether these are the first rows, which set the names and number of columns.
    """
    X, y = from_torch(X), from_torch(y)
    stored = None if is_frame(X) else open_source(X)
    if stored is not None:
        return _read_stored(selector, stored, y, sample_weight, reset)
    encoding = _encoding(selector, X, reset)
    if encoding is None:
        return replace(_read_array(selector, X, y, reset), sample_weight=sample_weight)
    note_columns(selector, X, reset=reset)
    numbers = encoding.encode(X)
    if len(numbers) < 2:
        raise InputError(f"At least two rows are needed; got {len(numbers)}.")
    column_of = encoding.code_groups.astype(np.int64)
    return Inputs(
        numbers,
        None,
        column_of,
        len(encoding.columns),
        checked_target(y, numbers),
        encoding,
        sample_weight,
    )


def from_torch(values: Any) -> Any:
    """Return a tensor as an array, and anything else as it is."""
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values


def _encoding(selector: Any, X: Any, reset: bool) -> TableEncoding | None:
    """Return how a data frame becomes numbers, unless each column is a number as it is."""
    if not reset:
        encoding: TableEncoding | None = selector._encoding
        return encoding
    if not is_frame(X):
        return None
    options = TableEncoder(
        missing=selector.missing, categorical=selector.categorical, dates=selector.dates
    )
    encoding = fit_table(X, options)
    return None if encoding.is_one_to_one and not isinstance(X, Table) else encoding


def note_columns(selector: Any, X: Any, *, reset: bool) -> None:
    """Remember or check the names and the number of a data frame's columns."""
    if not isinstance(X, Table):
        validate_data(selector, X, skip_check_array=True, reset=reset)
    elif reset:
        selector.feature_names_in_ = np.asarray(X.names, dtype=object)
        selector.n_features_in_ = len(X.names)
    else:
        check_same_names(list(selector.feature_names_in_), X.names)


def taken_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of an array, sparse matrix or data frame, of the same kind."""
    return X.take(rows) if isinstance(X, Table) else _safe_indexing(X, rows)


def _read_array(selector: Any, X: Any, y: Any, reset: bool) -> Inputs:
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": "numeric",
        "ensure_min_samples": 2,
        "ensure_all_finite": False,
        "reset": reset,
    }
    numbers = validate_data(selector, X, **options)
    gaps = _find_gaps(selector, numbers)
    return Inputs(
        numbers,
        gaps,
        _columns_of(numbers.shape[1], gaps),
        numbers.shape[1],
        checked_target(y, numbers),
        None,
    )


def _read_stored(selector: Any, stored: Stored, y: Any, sample_weight: Any, reset: bool) -> Inputs:
    """Read what one pass over files tells; at once if an earlier fit has kept it."""
    if not reset and selector._encoding is not None:
        raise InputError(
            "The first rows were a data frame whose columns were turned into numbers; files are "
            "not. Pass these rows as a data frame too."
        )
    y, stored = _named_target(stored, y)
    header = stored.header()
    if stored.shape[1] == 0:
        raise InputError("At least one feature is needed; all columns are dropped or the target.")
    validate_data(selector, header, skip_check_array=True, reset=reset)
    if stored.shape[0] < 2:
        raise InputError(f"At least two rows are needed; got {stored.shape[0]}.")
    known = survey(stored)
    wide = selector._torch_dtype() == torch.float64
    _check_values(selector, known.bad_values(stored.names, wide=wide))
    return Inputs(
        stored,
        known.gaps,
        _columns_of(stored.shape[1], known.gaps),
        stored.shape[1],
        checked_target(stored.target() if y is None else y, stored),
        None,
        stored.sample_weight() if sample_weight is None else sample_weight,
    )


def _named_target(stored: Stored, y: Any) -> tuple[Any, Stored]:
    """Return y and the files; the y that is named is theirs."""
    names = [y] if isinstance(y, str | os.PathLike) else y
    if isinstance(names, list | tuple) and all(isinstance(n, str | os.PathLike) for n in names):
        return None, stored.with_target(y)
    return y, stored


def _columns_of(n_columns: int, gaps: Gaps | None) -> NDArray[np.int64]:
    """Return the column of each number, indicators of gaps included."""
    columns = np.arange(n_columns)
    return columns if gaps is None else np.concatenate([columns, gaps.columns])


def _check_values(selector: Any, bad: BadValues) -> None:
    """Raise at values that cannot be used."""
    bad.raise_if_any(allow_missing=selector.missing == "auto")
    if bad.rounded:
        warnings.warn(bad.rounding_message(), FeatureMaskWarning, stacklevel=7)


def _find_gaps(selector: Any, numbers: Any) -> Gaps | None:
    """Raise at values that cannot be used; return where gaps are, if they are allowed."""
    wide = selector._torch_dtype() == torch.float64
    names = getattr(selector, "feature_names_in_", None)
    bad = count_bad_values(
        numbers, None if names is None else list(names), dtype="float64" if wide else "float32"
    )
    _check_values(selector, bad)
    if not bad.missing:
        return None
    if sparse.issparse(numbers):
        raise InputError(
            'missing="auto" fills gaps of dense data; the sparse X has gaps. Fill them, or pass a '
            "dense array."
        )
    return find_gaps(numbers)


def checked_target(y: Any, numbers: Any) -> NDArray[Any] | None:
    """Return a target of as many rows as there are rows of numbers; None if there is none."""
    if y is None:
        return None
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y", estimator="the selector")
    check_consistent_length(numbers, y)
    if y.ndim > 2:
        raise InputError(f"y must have one or two dimensions; got y.shape={y.shape}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.dtype == object and any(value is None for value in y.flat):
        raise InputError(
            "y must hold classes, not gaps; got None. Drop these rows, or name their class."
        )
    return np.asarray(y)
