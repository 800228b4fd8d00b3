"""Several fits as one batched computation: seeds, resamples, learning rates."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from featuremask.exceptions import InputError, TrainingDivergedError
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._data import Rows, checked_rows
from featuremask.selectors._fitting import Fitted, ranking_of
from featuremask.selectors._inputs import taken_rows
from featuremask.selectors._ranking import AUTO
from featuremask.selectors._rules import threads_for
from featuremask.selectors._setup import Setup, set_up, training_options
from featuremask.selectors._specs import Seeds
from featuremask.selectors._words import check_words
from featuremask.training import Member, fit_members

__all__ = ["fit_together"]

_MOST_MEMBERS = 25
_MOST_WEIGHTS = 2**23
"""Of all members that train at a time: with gradients and moments four times as many numbers."""

_MOST_NUMBERS = 2**26
"""Of the data of all members that train at a time."""

_ALONE: dict[str, Any] = {
    "callbacks": None,
    "checkpoint": None,
    "early_stopping": False,
    "max_seconds": None,
    "verbose": False,
    "warm_start": False,
}
"""Words whose other values make a fit one that is watched, and so trained by itself."""


@dataclass(frozen=True)
class _Part:
    """What one selector is fitted to."""

    selector: Any
    X: Any
    y: Any
    sample_weight: Any

    def fit(self) -> None:
        """Fit by itself."""
        if self.sample_weight is None:
            self.selector.fit(self.X, self.y)
        else:
            self.selector.fit(self.X, self.y, sample_weight=self.sample_weight)


@dataclass(frozen=True)
class _Ready:
    """A selector with its network, before training."""

    part: _Part
    rows: Rows
    setup: Setup
    member: Member

    @property
    def kind(self) -> Hashable:
        """What is equal for all that are trained together."""
        objective, words = self.rows.target.objective, self.part.selector
        said = (type(words).__name__, repr(words.loss), repr(self.setup.model))
        return (*said, objective.kind, objective.n_outputs, self.member.common())

    @property
    def most(self) -> int:
        """How many of its size are trained at a time."""
        weights = sum(parameter.numel() for parameter in self.setup.model.parameters())
        numbers = self.rows.source.n_rows * self.rows.source.n_features
        return min(_MOST_MEMBERS, _MOST_WEIGHTS // weights, _MOST_NUMBERS // numbers)


def fit_together(
    selectors: Sequence[Any],
    X: Any,
    y: Any = None,
    *,
    sample_weights: Sequence[Any] | None = None,
    rows: Sequence[Any] | None = None,
) -> list[Any]:
    """Fit several selectors, those that can be in one batched computation.

    Each is fitted as its own `fit` would: from its own random state, with the same result to
    rounding. On small data the time is half that of as many fits, or less, since most of a small
    step is not arithmetic. What is batched are the narrowing and the joint mask of
    `FeatureMaskSelector` on dense rows in memory, as many at a time as memory suggests; selectors
    may differ in their random state, learning rate, rows and weights. All others are fitted one
    after the other.

    Parameters
    ----------
    selectors : sequence of selectors
        They are fitted in place.
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,) or (n_rows, n_targets), optional
    sample_weights : sequence of array-like, optional
        For each selector the weights of its rows.
    rows : sequence of array of int, optional
        For each selector the positions of the rows it is fitted to; all rows if None.

    Returns
    -------
    list
        The selectors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import FeatureMaskSelector, fit_together
    >>> X, y = load_wine(return_X_y=True)
    >>> seeds = [FeatureMaskSelector(4, random_state=seed) for seed in range(3)]
    >>> [int(selector.get_support().sum()) for selector in fit_together(seeds, X, y)]
    [4, 4, 4]
    """
    for name, given in (("sample_weights", sample_weights), ("rows", rows)):
        if given is not None and len(given) != len(selectors):
            raise InputError(
                f"{name} must have one entry for each of the {len(selectors)} selectors; got "
                f"{len(given)}."
            )
    waiting: dict[Hashable, list[_Ready]] = {}
    for i, selector in enumerate(selectors):
        weight = None if sample_weights is None else sample_weights[i]
        part = _part(selector, X, y, weight, None if rows is None else rows[i])
        ready = _ready(part)
        if ready is None:
            part.fit()
            continue
        group = waiting.setdefault(ready.kind, [])
        group.append(ready)
        if len(group) == ready.most:
            _fit_group(group)
            group.clear()
    for group in waiting.values():
        _fit_group(group)
    return list(selectors)


def _part(selector: Any, X: Any, y: Any, weight: Any, rows: Any) -> _Part:
    if rows is not None:
        rows = np.asarray(rows)
        X = taken_rows(X, rows)
        y = y if y is None else taken_rows(y, rows)
    return _Part(selector, X, y, weight)


def _ready(part: _Part) -> _Ready | None:
    """Return the selector with its network; None if it is to be fitted by itself."""
    selector = part.selector
    if not _is_plain(selector) or not _is_small(part.X):
        return None
    check_words(selector)
    dtype = selector._torch_dtype()
    rows = checked_rows(selector, part.X, part.y, part.sample_weight, dtype=dtype)
    selector._choose_count(part.X, part.y, part.sample_weight, rows)
    seeds = Seeds.draw(selector.random_state)
    setup = set_up(selector, rows, seeds)
    options = training_options(selector, rows, setup.budget, seeds)
    member = Member(setup.model, rows.source, options, setup.standardize)
    ready = _Ready(part, rows, setup, member)
    return ready if ready.most > 1 else None


def _is_plain(selector: Any) -> bool:
    """Whether a selector trains once, unwatched, from a seed that is the same when asked again."""
    cls = type(selector)
    if not isinstance(selector, BaseSelector) or getattr(selector, "_skl_callbacks", None):
        return False
    if cls.fit is not BaseSelector.fit or cls._train is not BaseSelector._train:
        return False
    words = selector.get_params(deep=False)
    seeded = words["random_state"] is None or isinstance(words["random_state"], Integral)
    watched = any(words[name] != usual for name, usual in _ALONE.items())
    return seeded and not watched and words["n_features_to_select"] != AUTO


def _is_small(X: Any) -> bool:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return len(shape) == 2 and 2 * shape[0] * shape[1] <= _MOST_NUMBERS


def _fit_group(group: Sequence[_Ready]) -> None:
    if not group:
        return
    members = [ready.member for ready in group]
    first = group[0]
    size = len(group) * members[0].options.batch_size
    threads = threads_for(size, first.rows.source.n_features, first.part.selector.n_jobs)
    try:
        results = fit_members(members, first.rows.target.objective, threads)
    except TrainingDivergedError:
        results = None  # the one that diverges says so by itself
    if results is None:
        for ready in group:
            ready.part.fit()
        return
    for ready, result in zip(group, results, strict=True):
        ranking = ranking_of(result.importance, ready.rows, ready.setup.gate_spec)
        ready.part.selector._finish(Fitted(ranking, ready.setup, result.history), ready.rows)
