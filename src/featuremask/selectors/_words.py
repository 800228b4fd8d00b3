"""Which values the constructor words take, as data; for those that no later stage checks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from featuremask.exceptions import InputError
from featuremask.selectors._ranking import AUTO, count_to_select
from featuremask.training import Callback, Checkpoint

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["check_words"]

Rule = tuple[Callable[[Any], bool], str]


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not _is_flag(value) and int(value) >= 1


def _is_between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, Real) and not _is_flag(value) and low < float(value) < high


def _is_positive(value: Any) -> bool:
    return _is_between(value, 0.0, float("inf"))


def _are_columns(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _one_of(*words: str) -> Rule:
    return lambda value: isinstance(value, str) and value in words, f"one of {list(words)}"


_COUNT: Rule = (_is_count, "a positive integer")
_AUTO_OR_COUNT: Rule = (
    lambda v: _is_count(v) or (isinstance(v, str) and v == "auto"),
    '"auto" or a positive integer',
)
_FLAG: Rule = (_is_flag, "True or False")

_RULES: dict[str, Rule] = {
    "hidden_units": (
        lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(map(_is_count, v)),
        "a tuple of positive integers",
    ),
    "dropout": (
        lambda v: _is_between(v, -1e-300, 1.0) or (isinstance(v, str) and v == "auto"),
        '"auto" or a rate in [0, 1)',
    ),
    "max_epochs": _AUTO_OR_COUNT,
    "max_seconds": (lambda v: v is None or _is_positive(v), "None or a positive number"),
    "batch_size": _AUTO_OR_COUNT,
    "learning_rate": (_is_positive, "a positive number"),
    "early_stopping": _FLAG,
    "validation_fraction": (lambda v: _is_between(v, 0.0, 1.0), "between 0 and 1"),
    "feature_groups": (
        lambda v: v is None or isinstance(v, Mapping) or _are_columns(v),
        "None, a mapping from a label to columns, or a label for each column",
    ),
    "must_keep": (_are_columns, "a sequence of column names or positions"),
    "constant_features": _one_of("last", "compete"),
    "missing": _one_of("error", "auto"),
    "categorical": _one_of("error", "auto"),
    "dates": _one_of("error", "auto"),
    "warm_start": _FLAG,
    "checkpoint": (
        lambda v: v is None or isinstance(v, str | os.PathLike | Checkpoint),
        "None, the path of a folder, or a Checkpoint",
    ),
    "callbacks": (
        lambda v: v is None or (_are_columns(v) and all(isinstance(c, Callback) for c in v)),
        "None or a sequence of featuremask.training.Callback",
    ),
    "n_jobs": (lambda v: v is None or _is_count(v), "None or a positive integer"),
    "verbose": (lambda v: _is_flag(v) or isinstance(v, Integral), "True, False or a number"),
    "mask_units": _COUNT,
    "mask_depth": _COUNT,
    "attenuation": _FLAG,
    "include_bias": _FLAG,
    "normalization": _FLAG,
}


def check_words(selector: BaseSelector) -> None:
    """Raise if a constructor word has a value that it cannot take."""
    if selector.n_features_to_select != AUTO:
        count_to_select(selector.n_features_to_select, 2**62)
    for name, (holds, said) in _RULES.items():
        value = getattr(selector, name, None)
        if hasattr(selector, name) and not holds(value):
            raise InputError(f"{name} must be {said}; got {value!r}.")
