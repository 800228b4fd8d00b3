"""Fitting the selector that is asked for."""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import featuremask
from featuremask import selectors
from featuremask._words import METHODS
from featuremask.files import numbered
from featuremask.tables import Table
from featuremask.workflow._prepare import AUTO, Prepared

__all__ = ["Fit", "fit", "frequencies"]


@dataclass(frozen=True)
class Fit:
    """A fitted selector.

    Attributes
    ----------
    selector : BaseSelector
    warnings : tuple of str
        What was warned of.
    seconds : float
        Wall time.
    """

    selector: Any
    warnings: tuple[str, ...]
    seconds: float

    @property
    def k(self) -> int:
        """How many were chosen, groups counted as one."""
        return int(self.selector.group_ranking_[self.selector.support_].max())


def fit(
    prepared: Prepared, *, method: str | None = None, verbose: bool = False, **words: Any
) -> Fit:
    """Fit a selector to the training rows.

    The columns of a table have units of their own, so each is divided by its own spread for
    training, also without a target, where the usual rule is to divide all by one number; a matrix
    is left to the usual rule.

    Parameters
    ----------
    prepared : Prepared
        The rows, and what is asked for.
    method : str, optional
        In place of the method that is asked for.
    verbose : bool, default=False
        Whether to show progress.
    **words
        More words of the selector.

    Returns
    -------
    Fit
        The selector.
    """
    request = prepared.request
    method = method or request.method
    if request.checkpoint is not None:  # a folder for each method, for there may be several
        words = {"checkpoint": str(Path(request.checkpoint) / method)} | words
    selector = getattr(selectors, METHODS[method])(
        request.k,
        objective=request.objective,
        feature_groups=prepared.groups(),
        must_keep=tuple(prepared.kept()),
        missing=AUTO.missing,
        categorical=AUTO.categorical,
        dates=AUTO.dates,
        standardize="column" if isinstance(prepared.train.X, Table) else "auto",
        max_seconds=request.max_seconds,
        device=request.device,
        random_state=request.seed,
        verbose=verbose,
        **words,
    )
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", featuremask.exceptions.FeatureMaskWarning)
        selector.fit(prepared.train.X, prepared.train.y)
        n_groups = int(selector.group_ranking_.max())
        if isinstance(request.k, int) and request.k > n_groups:  # has been warned of, once
            selector.n_features_to_select = n_groups
    seconds = time.perf_counter() - start
    if prepared.names != numbered(selector.n_features_in_):
        selector.feature_names_in_ = np.asarray(prepared.names, dtype=object)
    told = dict.fromkeys(str(warning.message) for warning in caught)
    return Fit(selector, tuple(told), seconds)


def frequencies(
    prepared: Prepared, fitted: Fit, *, verbose: bool = False
) -> NDArray[np.float64] | None:
    """Select again from halves of the training rows, and return how often each column is taken.

    Parameters
    ----------
    prepared : Prepared
        The rows, and how often to select.
    fitted : Fit
        The selection whose stability is asked for.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    ndarray of shape (n_columns,) or None
        Shares from 0 to 1; None if nothing is asked for.
    """
    count = prepared.request.resamples
    if not count:
        return None
    selector = fitted.selector
    kept = np.isin(prepared.column_of, prepared.kept())
    base = clone(selector).set_params(
        n_features_to_select=fitted.k,
        feature_groups=selector.groups_[prepared.column_of].tolist(),
        must_keep=tuple(np.flatnonzero(kept).tolist()),
        checkpoint=None,
        verbose=False,
    )
    again = selectors.StabilitySelection(
        base, n_resamples=count, random_state=prepared.request.seed, verbose=verbose
    )
    with warnings.catch_warnings():
        # Of the whole rows they have been told.
        warnings.simplefilter("ignore", featuremask.exceptions.FeatureMaskWarning)
        again.fit(prepared.train.codes, prepared.train.y)
    found = np.zeros(len(prepared.names))
    np.maximum.at(found, prepared.column_of, again.selection_frequencies_)
    return found
