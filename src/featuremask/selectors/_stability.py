"""Stability selection: what a selector selects again and again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from featuremask._progress import tracked
from featuremask.evaluation import expected_errors, nogueira, nogueira_interval
from featuremask.exceptions import InputError
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._inputs import (
    checked_target,
    from_torch,
    is_frame,
    note_columns,
)
from featuremask.selectors._ranked import RankedColumns
from featuremask.selectors._ranking import rank_columns
from featuremask.selectors._specs import state_of
from featuremask.selectors._together import fit_together
from featuremask.tables import TableEncoding

__all__ = ["StabilitySelection"]

_LEAST_ROWS = 4
_AT_A_TIME = 10
"""Fits of a job; the same whatever the number of processes, and so are the results."""

_UNDEFINED = (float("nan"), float("nan"))


@dataclass(eq=False, repr=False)
class StabilitySelection(RankedColumns, BaseEstimator):
    """Select the features that a selector takes again and again, from halves of the rows.

    The selector is fitted to pairs of complementary halves of the rows, each with a seed of its
    own. Features that it takes in at least the share `threshold` of these fits are selected.

    Parameters
    ----------
    selector : selector, optional
        A selector of featuremask, or any of scikit-learn with `get_support`; it is cloned. None is
        ``FeatureMaskSelector()``. Its number of features is that of each fit: fewer make the bound
        on errors smaller.
    n_resamples : int, default=50
        Fits; even, since halves come in pairs. Classes are halved one by one.
    threshold : float, default=0.6
        Share of the fits in (0, 1] from which a feature is selected. It may be changed after
        `fit`.
    n_jobs : int, optional
        Processes. Each fit runs on one thread unless the selector's own `n_jobs` says otherwise,
        so that results do not depend on the number of processes.
    random_state : int, RandomState or None, default=None
        Seed of the halves and of the selector's `random_state`.
    verbose : bool, default=False
        Whether to show on the error stream how many fits are begun.

    Attributes
    ----------
    selection_frequencies_ : ndarray of shape (n_features,)
        Share of the fits in which a feature was taken.
    supports_ : ndarray of bool, shape (n_resamples, n_features)
        What each fit took; rows 2i and 2i + 1 are a pair of halves.
    ranking_ : ndarray of shape (n_features,)
        A permutation of 1 to n_features by frequency, ties by the mean of the selector's ranking.
    support_ : ndarray of bool, shape (n_features,)
    selected_names_ : ndarray of str
    stability_ : float
        The index of Nogueira, Sechidis and Brown, 1 if all fits agree, 0 on average for chance;
        NaN where nothing or everything is taken.
    stability_interval_ : tuple of float
        Its 95 % confidence interval for independent fits. Halves of the same rows are not quite
        independent: read it as a measure of the spread.
    error_bound_ : float
        Bound on the expected number of wrongly selected features, see
        `featuremask.evaluation.expected_errors`; NaN for a threshold up to 0.5, where none holds.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if `X` has column names that are all strings.

    References
    ----------
    R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at stability
    selection", JRSS B 75 (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest
    >>> from featuremask import StabilitySelection
    >>> X, y = load_wine(return_X_y=True)
    >>> found = StabilitySelection(SelectKBest(k=4), n_resamples=20, random_state=0).fit(X, y)
    >>> found.get_support(indices=True)
    array([ 6, 11, 12])
    >>> found.stability_ > 0.5, round(found.error_bound_, 1)
    (True, 6.2)
    """

    selector: Any = None
    _: KW_ONLY
    n_resamples: int = 50
    threshold: float = 0.6
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the selector to halves of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
            At least four rows.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), optional

        Returns
        -------
        self
        """
        base = self._checked_base()
        X, y = self._checked_rows(X, y)
        draw = np.random.default_rng(state_of(self.random_state).randint(2**31 - 1))
        n_pairs = self.n_resamples // 2
        seeds = draw.integers(2**31 - 1, size=self.n_resamples).tolist()
        halves = [half for _ in range(n_pairs) for half in _halves(_labels(y), X.shape[0], draw)]
        portion = _AT_A_TIME if isinstance(base, BaseSelector) else 1
        parts = list(gen_batches(self.n_resamples, portion))
        portions = Parallel(n_jobs=self.n_jobs)(
            delayed(_taken)([_seeded(base, seed) for seed in seeds[part]], X, y, halves[part])
            for part in (tracked(parts, len(parts), "selecting") if self.verbose else parts)
        )
        taken = [found for portion in portions for found in portion]
        self.supports_ = np.stack([found.support for found in taken])
        self.selection_frequencies_ = self.supports_.mean(axis=0)
        mean_rank = np.mean([found.ranks for found in taken], axis=0)
        self.ranking_ = rank_columns(self.selection_frequencies_, ties=-mean_rank).ranks
        self._encoding: TableEncoding | None = taken[0].encoding
        return self

    def _checked_base(self) -> Any:
        base = self.selector
        if base is None:
            from featuremask.selectors._feature_mask import FeatureMaskSelector

            base = FeatureMaskSelector()
        if not (hasattr(base, "fit") and hasattr(base, "get_support")):
            raise InputError(f"selector must be a selector with fit and get_support; got {base!r}.")
        count: Any = self.n_resamples
        if not isinstance(count, Integral) or count < 2 or count % 2:
            raise InputError(f"n_resamples must be an even number, at least 2; got {count!r}.")
        self._checked_threshold()
        return base

    def _checked_threshold(self) -> float:
        share: Any = self.threshold
        is_number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
        if not (is_number and 0.0 < share <= 1.0):
            raise InputError(f"threshold must be a share in (0, 1]; got {share!r}.")
        return float(share)

    def _checked_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any] | None]:
        X = from_torch(X)
        if is_frame(X):
            note_columns(self, X, reset=True)
        else:
            X = validate_data(self, X, accept_sparse="csr", ensure_all_finite=False)
        if X.shape[0] < _LEAST_ROWS:
            raise InputError(
                f"Two halves need at least {_LEAST_ROWS} rows; got n_samples={X.shape[0]}: "
                "more than 1 sample in each."
            )
        return X, checked_target(from_torch(y), X)

    # ---- what was selected -----------------------------------------------------------------

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "ranking_")
        return np.asarray(self.selection_frequencies_ >= self._checked_threshold() - 1e-12)

    @property
    def _is_defined(self) -> bool:
        check_is_fitted(self, "ranking_")
        return bool(self.supports_.any() and not self.supports_.all())

    @property
    def stability_(self) -> float:
        """How much the fits agree."""
        return nogueira(self.supports_) if self._is_defined else float("nan")

    @property
    def stability_interval_(self) -> tuple[float, float]:
        """The 95 % confidence interval of `stability_`."""
        return nogueira_interval(self.supports_) if self._is_defined else _UNDEFINED

    @property
    def error_bound_(self) -> float:
        """Bound on the expected number of wrongly selected features, at the present threshold."""
        check_is_fitted(self, "ranking_")
        threshold = self._checked_threshold()
        if threshold <= 0.5:
            return float("nan")
        n_selected = float(self.supports_.sum(axis=1).mean())
        return expected_errors(n_selected, self.n_features_in_, threshold)

    def selection_table(self) -> dict[str, NDArray[Any]]:
        """Return all columns, best first, as arrays: rank, column, frequency, selected."""
        check_is_fitted(self, "ranking_")
        return self._table(frequency=self.selection_frequencies_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was found to one file, without pickle; see `featuremask.load`."""
        from featuremask.selectors._persistence import save_stability

        save_stability(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.selector is not None:
            base = get_tags(self.selector)
            tags.input_tags, tags.target_tags = base.input_tags, base.target_tags
            return tags
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags


class _Taken(NamedTuple):
    """What one fit took."""

    support: NDArray[np.bool_]
    ranks: NDArray[np.int64]
    encoding: TableEncoding | None


def _taken(selectors: list[Any], X: Any, y: Any, halves: list[NDArray[np.int64]]) -> list[_Taken]:
    """Fit selectors to halves of the rows, together if they can be."""
    return [_what(fitted) for fitted in fit_together(selectors, X, y, rows=halves)]


def _what(selector: Any) -> _Taken:
    support = np.asarray(selector.get_support(), dtype=bool)
    ranks = np.asarray(getattr(selector, "ranking_", np.where(support, 1, 2)))
    return _Taken(support, ranks, getattr(selector, "_encoding", None))


def _seeded(base: Any, seed: int) -> Any:
    """Return a clone with a seed of its own, on one thread."""
    selector = clone(base)
    words = selector.get_params(deep=False)
    if "random_state" in words:
        selector.set_params(random_state=seed)
    if "n_jobs" in words and words["n_jobs"] is None:
        selector.set_params(n_jobs=1)
    return selector


def _labels(y: NDArray[Any] | None) -> NDArray[np.int64] | None:
    """Return the classes of the rows, if the target is one."""
    if y is None or y.ndim > 1 or type_of_target(y) not in ("binary", "multiclass"):
        return None
    return np.asarray(np.unique(y, return_inverse=True)[1])


def _halves(
    labels: NDArray[np.int64] | None, n_rows: int, draw: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Yield two halves without a common row, ascending; each class is halved."""
    order = draw.permutation(n_rows)
    if labels is not None:
        order = order[np.argsort(labels[order], kind="stable")]
    size = n_rows // 2
    yield np.sort(order[0::2][:size])
    yield np.sort(order[1::2][:size])
