"""Checking what is passed to fit, and getting it ready for training."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from featuremask.exceptions import InputError
from featuremask.networks import Standardize
from featuremask.selectors._columns import column_groups, column_positions
from featuremask.selectors._inputs import read_inputs
from featuremask.selectors._rules import effective_rows
from featuremask.selectors._target import Target, power_of_two, read_target
from featuremask.sources import Moments, Source
from featuremask.tables import TableEncoding

__all__ = ["STANDARDIZE", "Rows", "checked_rows", "standardization"]

_FARTHEST = 5.0
"""Where values end after standardizing, on either side."""

STANDARDIZE = ("auto", "global", "shrunk", "column", "none")


@dataclass(frozen=True)
class Rows:
    """The rows of a fit, checked, with what the columns mean.

    Attributes
    ----------
    source : Source
        The rows of positive weight and the numbers that take part.
    target : Target
    n_columns : int
        Columns of the data.
    column_of : ndarray of int
        The column that each number that takes part belongs to. One column may have several.
    picked : ndarray of int or None
        Which of all numbers take part; None if all do.
    groups : ndarray of int, shape (n_columns,)
    kept : list of int
        Positions of the columns of `must_keep`.
    moments : Moments
        Of the numbers that take part.
    effective_rows : float
        Rows, counted by weight.
    taken : ndarray of int or None
        Positions of the rows in what was passed; None for all of them.
    encoding : TableEncoding or None
        How a data frame became numbers.
    """

    source: Source
    target: Target
    n_columns: int
    column_of: NDArray[np.int64]
    picked: NDArray[np.int64] | None
    groups: NDArray[np.int64]
    kept: list[int]
    moments: Moments
    effective_rows: float
    taken: NDArray[np.int64] | None
    encoding: TableEncoding | None

    @property
    def index(self) -> NDArray[np.int64]:
        """Positions of the rows in what was passed."""
        return np.arange(self.source.n_rows) if self.taken is None else self.taken


def checked_rows(
    selector: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    dtype: torch.dtype,
    like: Target | None = None,
    streamed: bool = False,
) -> Rows:
    """Check the arguments of `fit` against the selector's parameters.

    Where rows are `streamed` all columns take part: what is constant now may vary in later rows.
    `like` is the target of the first rows, whose reading holds for these.
    """
    first = not (streamed and getattr(selector, "_partial", None) is not None)
    inputs = read_inputs(selector, X, y, sample_weight, reset=first)
    n_rows = inputs.numbers.shape[0]
    weight = _checked_weight(inputs.sample_weight, n_rows)
    taken = None if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)
    n_taken = n_rows if taken is None else len(taken)
    if n_taken < 2:
        raise InputError(
            f"At least two rows of positive weight are needed; got {n_taken}. "
            "The sum of sample_weight, or the number of rows, is too small."
        )
    target = read_target(
        inputs.y if inputs.y is None or taken is None else inputs.y[taken],
        selector.objective,
        selector.loss,
        len(inputs.column_of),
        dtype,
        weight if weight is None or taken is None else weight[taken],
        like,
    ).among(n_rows, taken)
    rows_seen = effective_rows(n_taken, float(n_taken if weight is None else weight.sum()))
    if weight is not None:
        weight = weight / power_of_two(
            weight.max()
        )  # their proportions are what counts from here on
    weight = _with_class_weight(weight, target, selector.class_weight, n_rows)
    source = inputs.source(target.values, weight, taken)
    moments = inputs.moments(source, weight)
    _check_spread(moments)
    picked = _picked(moments, drop=selector.constant_features == "last" and not streamed)
    names = getattr(selector, "feature_names_in_", None)
    names = None if names is None else list(names)
    return Rows(
        source=source if picked is None else source.subset(columns=picked),
        target=target,
        n_columns=inputs.n_columns,
        column_of=inputs.column_of if picked is None else inputs.column_of[picked],
        picked=picked,
        groups=column_groups(selector.feature_groups, names, inputs.n_columns),
        kept=column_positions(selector.must_keep, names, inputs.n_columns, "must_keep"),
        moments=moments if picked is None else _part(moments, picked),
        effective_rows=rows_seen,
        taken=taken,
        encoding=inputs.encoding,
    )


def _check_spread(moments: Moments) -> None:
    wide = np.flatnonzero(~np.isfinite(moments.second))
    if len(wide):
        raise InputError(
            f"The values of number {wide[0]} spread too widely for float64 to hold their variance. "
            "Divide the column by a large number."
        )


def _picked(moments: Moments, *, drop: bool) -> NDArray[np.int64] | None:
    """Return which numbers vary, if those that do not are to be left out."""
    constant = moments.constant
    if not drop or constant.all() or not constant.any():
        return None
    return np.flatnonzero(~constant)


def _checked_weight(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    if sample_weight is None:
        return None
    X = np.empty((n_rows, 0))
    weight: NDArray[np.float64] = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not weight.any():
        raise InputError("Sample weights must contain at least one non-zero number; got all zero.")
    return weight


def _with_class_weight(
    weight: NDArray[np.float64] | None, target: Target, class_weight: Any, n_rows: int
) -> NDArray[np.float64] | None:
    """Return the weights of rows, multiplied by those of their classes."""
    if class_weight is None:
        return weight
    if target.classes is None or target.values is None:
        raise InputError(
            f"class_weight={class_weight!r} needs classes to weigh; the target has none."
        )
    codes = target.values.numpy()
    weight = np.ones(n_rows) if weight is None else weight
    counts = np.bincount(codes, weights=weight, minlength=len(target.classes))
    if class_weight == "balanced":
        factors = counts.sum() / (len(counts) * np.maximum(counts, 1e-300))
    elif isinstance(class_weight, dict):
        factors = _factors(class_weight, target.classes.tolist())
    else:
        raise InputError(
            'class_weight must be None, "balanced" or a dict from class to weight; '
            f"got {class_weight!r}."
        )
    return np.asarray(weight * factors[codes])


def _factors(class_weight: dict[Any, float], classes: list[Any]) -> NDArray[np.float64]:
    """Return the weight of each class; 1 for those that are not named."""
    unknown = [name for name in class_weight if name not in classes]
    if unknown and any(name not in class_weight for name in classes):
        raise InputError(
            f"class_weight names the class {unknown[0]!r}, which is not in y; its classes are "
            f"{classes!r}."
        )
    factors = np.array([float(class_weight.get(name, 1.0)) for name in classes])
    if not (np.isfinite(factors).all() and (factors >= 0.0).all() and factors.any()):
        raise InputError(
            f"class_weight holds weights that are not negative, some of them positive; got "
            f"{class_weight!r}."
        )
    return factors


def _part(moments: Moments, columns: NDArray[np.int64]) -> Moments:
    return Moments(
        moments.weight, moments.shift[columns], moments.first[columns], moments.second[columns]
    )


def standardization(
    moments: Moments,
    how: str,
    dtype: torch.dtype,
    picked: NDArray[np.int64] | None = None,
    column_of: NDArray[np.int64] | None = None,
) -> Standardize:
    """Return the centering and scaling of columns for training.

    "global" divides all columns by one number, the root of their mean variance: columns keep their
    proportions, so that rare columns are not blown up. "column" divides each by its own standard
    deviation. "shrunk" divides each by the root of the mean of both variances, its own and the
    global one: large columns become equal, small ones stay small. "none" leaves the data as it is.
    Values farther than five scales from the mean count as five, so that a few rows do not rule the
    loss; not under "none". `picked` are the columns of whole rows that take part; None if all do.
    `column_of` tells which column of the table each number belongs to; "column" then gives a column
    variance one, however many numbers it has: a category of many levels earns no more than a number
    where it is rebuilt.
    """
    if how not in STANDARDIZE:
        raise InputError(f"standardize must be one of {list(STANDARDIZE)}; got {how!r}.")
    mean, spread = moments.mean, np.sqrt(moments.variance)
    common = np.full_like(spread, _root_mean_square(spread))
    if how == "none":
        mean, scale = np.zeros_like(mean), np.ones_like(mean)
    elif how == "column":
        scale = spread if column_of is None else spread * np.sqrt(_numbers_beside(column_of))
    elif how == "shrunk":
        scale = np.hypot(spread, common) / np.sqrt(2.0)
    else:
        scale = common
    scale = np.where(scale > 0.0, scale, 1.0)
    return Standardize(
        torch.as_tensor(mean),
        torch.as_tensor(scale),
        None if picked is None else torch.as_tensor(picked),
        dtype,
        bound=math.inf if how == "none" else _FARTHEST,
    )


def _numbers_beside(column_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each number how many its column has."""
    return np.asarray(np.bincount(column_of)[column_of])


def _root_mean_square(spread: NDArray[np.float64]) -> float:
    largest = float(spread.max())
    if largest == 0.0:
        return 1.0
    return largest * float(np.sqrt(np.mean(np.square(spread / largest))))
