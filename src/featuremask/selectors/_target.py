"""Reading the target: what kind of learning it asks for, and as which numbers."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from torch import Tensor

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.objectives import BinaryLabels, Classes, Objective, Reconstruction, Regression

__all__ = ["OBJECTIVES", "Target", "named_classes", "power_of_two", "read_target"]

OBJECTIVES = ("auto", "classification", "regression", "reconstruction")

_MANY_VALUES = 30
_ROWS_A_VALUE = 5


@dataclass(frozen=True)
class Target:
    """A target, ready for training.

    Attributes
    ----------
    objective : Objective
    values : Tensor or None
        One entry for each row.
    classes : ndarray or None
        The classes, where there are some: class i is number i.
    stratify : ndarray or None
        Labels that a split should balance.
    center, spread : ndarray or None
        What a numeric target was standardized by.
    """

    objective: Objective
    values: Tensor | None = None
    classes: NDArray[Any] | None = None
    stratify: NDArray[Any] | None = None
    center: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None

    def among(self, n_rows: int, index: NDArray[np.int64] | None) -> "Target":
        """Return the same target for rows among others, whose entries are never used."""
        if self.values is None or index is None:
            return self
        values = self.values.new_zeros(n_rows, *self.values.shape[1:])
        values[torch.from_numpy(index)] = self.values
        stratify = None
        if self.stratify is not None:
            stratify = np.zeros(n_rows, dtype=self.stratify.dtype)
            stratify[index] = self.stratify
        return replace(self, values=values, stratify=stratify)


def read_target(
    y: Any,
    objective: str,
    loss: Any,
    n_columns: int,
    dtype: torch.dtype,
    sample_weight: NDArray[np.float64] | None,
    like: Target | None = None,
) -> Target:
    """Return the objective that a target asks for, and the target as numbers.

    Parameters
    ----------
    y : ndarray or None
    objective : {"auto", "classification", "regression", "reconstruction"}
        "auto" reads the type of `y`; None means reconstruction.
    loss : str, callable or None
        In place of the usual loss of the objective.
    n_columns : int
        Width of what is reconstructed.
    dtype : torch.dtype
        Of a numeric target.
    sample_weight : ndarray or None
        For the mean and spread of a numeric target.
    like : Target, optional
        An earlier reading, whose classes or scale hold again.
    """
    if like is not None:
        return _read_like(y, like, dtype)
    if objective not in OBJECTIVES:
        raise InputError(f"objective must be one of {list(OBJECTIVES)}; got {objective!r}.")
    if objective == "reconstruction" or (objective == "auto" and y is None):
        return Target(Reconstruction(n_columns, loss or "squared_error"))
    if y is None:
        raise InputError(f"objective={objective!r} needs a target; got y=None.")
    reading = _reading(y) if objective == "auto" else objective
    if reading == "regression":
        return _numbers(y, loss, dtype, sample_weight)
    if np.ndim(y) == 2 and y.shape[1] > 1:
        return _labels(y, loss, dtype)
    return _classes(y, loss)


def named_classes(classes: Any, loss: Any) -> Target | None:
    """Return a reading of the target by classes that are named in advance; None if none are."""
    if classes is None:
        return None
    known = np.unique(np.asarray(classes))
    return Target(_objective_of(known, loss), torch.zeros(0, dtype=torch.int64), known)


def _read_like(y: Any, like: Target, dtype: torch.dtype) -> Target:
    """Return the target as numbers that mean what they meant in an earlier reading."""
    if like.values is None:
        return like
    if y is None:
        raise InputError("The earlier rows had a target, so these need one; got y=None.")
    if like.classes is not None:
        codes = np.searchsorted(like.classes, np.ravel(y)).clip(max=len(like.classes) - 1)
        unseen = np.unique(np.ravel(y)[like.classes[codes] != np.ravel(y)])
        if len(unseen):
            raise InputError(
                f"y holds the class {unseen.tolist()[0]!r}, which was not among the classes of the "
                f"first call, {like.classes.tolist()!r}; name all classes there."
            )
        return replace(like, values=torch.from_numpy(codes.astype(np.int64)), stratify=codes)
    numbers = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    if like.center is not None and like.spread is not None:
        numbers = (numbers - like.center) / like.spread
    return replace(like, values=torch.as_tensor(numbers).to(dtype))


def _reading(y: NDArray[Any]) -> str:
    if y.dtype.kind in "mM":
        raise InputError(
            f"y must hold classes, labels of 0 and 1, or numbers; got dates of dtype {y.dtype}. "
            "Convert them to numbers, or to text if they are classes."
        )
    with np.errstate(invalid="ignore"):  # it casts all numbers to integers, to compare
        kind = type_of_target(y, input_name="y")
    if kind in ("continuous", "continuous-multioutput", "multiclass-multioutput"):
        return "regression"
    if kind not in ("binary", "multiclass", "multilabel-indicator"):
        raise InputError(
            f"y must hold classes, labels of 0 and 1, or numbers; got a target of type {kind!r}. "
            "Unknown label type."
        )
    if kind == "multiclass" and np.issubdtype(y.dtype, np.number):
        n_values = len(np.unique(y))
        if n_values > _MANY_VALUES and n_values * _ROWS_A_VALUE > len(y):
            warnings.warn(
                f"y holds {n_values} distinct whole numbers in {len(y)} rows and is read as a "
                'number to predict (objective="regression"). Set objective="classification" if '
                "they are classes.",
                FeatureMaskWarning,
                stacklevel=5,
            )
            return "regression"
    return "classification"


def _classes(y: NDArray[Any], loss: Any) -> Target:
    # Not by return_inverse, which takes several times the memory; there may be many rows.
    classes = np.unique(np.ravel(y))
    codes = np.searchsorted(classes, np.ravel(y)).astype(np.int64, copy=False)
    return Target(_objective_of(classes, loss), torch.from_numpy(codes), classes, stratify=codes)


def _objective_of(classes: NDArray[Any], loss: Any) -> Classes:
    if len(classes) < 2:
        raise InputError(
            f"Classification needs at least two classes; got only {_listed(classes)}. "
            "Leave y out for an unsupervised selection."
        )
    return Classes(len(classes), None if loss is None else _callable(loss))


def _listed(classes: NDArray[Any]) -> str:
    return ", ".join(map(repr, classes.tolist())) or "none"


def _labels(y: NDArray[Any], loss: Any, dtype: torch.dtype) -> Target:
    if not np.isin(y, (0, 1)).all():
        raise InputError(
            "A two-dimensional y is read as labels of 0 and 1 in classification; got other "
            'values. Set objective="regression" for several numeric targets.'
        )
    values = torch.as_tensor(np.ascontiguousarray(y).astype(np.float64)).to(dtype)
    return Target(BinaryLabels(y.shape[1], None if loss is None else _callable(loss)), values)


def _numbers(
    y: NDArray[Any], loss: Any, dtype: torch.dtype, sample_weight: NDArray[np.float64] | None
) -> Target:
    """Center each target and scale it to a spread of one, so that one learning rate fits all."""
    try:
        values = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Regression needs a numeric y; got dtype {np.asarray(y).dtype}."
        ) from error
    size = power_of_two(np.abs(values).max(axis=0))
    values = values / size  # squares of what is left do not overflow
    center = np.average(values, axis=0, weights=sample_weight)
    spread = np.sqrt(np.average((values - center) ** 2, axis=0, weights=sample_weight))
    spread[spread == 0.0] = 1.0
    scaled = torch.as_tensor((values - center) / spread).to(dtype)
    objective = Regression(values.shape[1], loss or "squared_error")
    return Target(objective, scaled, center=center * size, spread=spread * size)


def power_of_two(largest: Any) -> NDArray[np.float64]:
    """Return the largest power of two up to a number: what is divided by it keeps all its digits.

    Examples
    --------
    >>> power_of_two([6.0, 0.25]).tolist()
    [4.0, 0.25]
    """
    return np.asarray(np.ldexp(1.0, np.frexp(largest)[1] - 1))


def _callable(loss: Any) -> Any:
    if not callable(loss):
        raise InputError(
            f"loss must be None or a callable of (output, target) for classification; got {loss!r}."
        )
    return loss
