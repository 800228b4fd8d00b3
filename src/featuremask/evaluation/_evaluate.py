"""The accuracy of a downstream classifier on the best columns of a ranking."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.evaluation._classifiers import CLASSIFIERS, Classifier
from featuremask.exceptions import InputError

__all__ = ["Evaluation", "Split", "evaluate", "k_curve", "top_columns"]


class Split(Protocol):
    """Rows for training and rows for testing; a `featuremask.datasets.Dataset` is one."""

    @property
    def X_train(self) -> Any:
        """The training rows."""

    @property
    def y_train(self) -> NDArray[Any]:
        """Their classes."""

    @property
    def X_test(self) -> Any:
        """The test rows."""

    @property
    def y_test(self) -> NDArray[Any]:
        """Their classes."""


@dataclass(frozen=True)
class Evaluation:
    """What a downstream classifier made of some columns.

    Attributes
    ----------
    accuracy : float
        Share of test rows that were classified correctly.
    n_columns : int
        How many columns it saw.
    converged : bool
        Whether it ended before the bound on its passes.
    seconds : float
        Wall time of fitting and predicting.
    """

    accuracy: float
    n_columns: int
    converged: bool
    seconds: float


def top_columns(ranking: ArrayLike, k: int, n_distinct: int | None = None) -> NDArray[np.intp]:
    """Return the k best columns of a ranking, in the order of the data.

    Parameters
    ----------
    ranking : array-like of int, shape (n_features,)
        A permutation of 1 to n_features, 1 the best; `ranking_` of a fitted selector.
    k : int
        How many.
    n_distinct : int, optional
        How many different columns the selector chose, where that may be fewer than k: a concrete
        autoencoder may choose a column more than once. The rest of the ranking is then not used.

    Examples
    --------
    >>> top_columns([3, 1, 2, 4], 2)
    array([1, 2])
    >>> top_columns([3, 1, 2, 4], 2, n_distinct=1)
    array([1])
    """
    ranks = np.asarray(ranking)
    if ranks.ndim != 1 or not np.array_equal(np.sort(ranks), np.arange(1, len(ranks) + 1)):
        raise InputError(
            f"ranking must be a permutation of 1 to the number of features, 1 the best, as "
            f"ranking_ of a fitted selector; got an array of shape {ranks.shape}."
        )
    if not 1 <= k <= len(ranks):
        raise InputError(f"k must be between 1 and the {len(ranks)} ranked features; got {k!r}.")
    count = k if n_distinct is None else min(k, n_distinct)
    return np.flatnonzero(ranks <= count)


def evaluate(
    ranking: ArrayLike,
    dataset: Split,
    k: int,
    classifier: str | Classifier = "rf",
    seed: int = 0,
    *,
    n_distinct: int | None = None,
    n_jobs: int = 1,
) -> Evaluation:
    """Fit a downstream classifier on the k best columns and judge it on the test rows.

    The columns reach the classifier as they are in the dataset; values of about one suit all of
    them.

    Parameters
    ----------
    ranking : array-like of int, shape (n_features,)
        A permutation of 1 to n_features, 1 the best; `ranking_` of a fitted selector.
    dataset : Dataset
        Or anything with `X_train`, `y_train`, `X_test` and `y_test`.
    k : int
        How many columns.
    classifier : {"rf", "svm", "knn", "lr", "nn"} or Classifier
        One of `CLASSIFIERS`, or another.
    seed : int, default=0
        Of the classifier.
    n_distinct : int, optional
        See `top_columns`.
    n_jobs : int, default=1
        Threads; they do not change the result.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from featuremask.datasets import load
    >>> evaluate([2, 4, 3, 1], load("iris"), k=2, classifier="knn").accuracy > 0.9
    True
    """
    columns = top_columns(ranking, k, n_distinct)
    if dataset.X_train.shape[1] != len(np.asarray(ranking)):
        raise InputError(
            f"The ranking must be of the dataset's {dataset.X_train.shape[1]} columns; got one of "
            f"{len(np.asarray(ranking))}."
        )
    model = _found(classifier).make(seed, n_jobs)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(_taken(dataset.X_train, columns), dataset.y_train)
        predicted = model.predict(_taken(dataset.X_test, columns))
    return Evaluation(
        accuracy=float(np.mean(predicted == dataset.y_test)),
        n_columns=len(columns),
        converged=_passed_on(caught),
        seconds=time.perf_counter() - start,
    )


def k_curve(
    ranking: ArrayLike,
    dataset: Split,
    ks: Iterable[int],
    classifier: str | Classifier = "rf",
    seed: int = 0,
    *,
    n_jobs: int = 1,
) -> dict[int, Evaluation]:
    """Evaluate one ranking for several numbers of columns.

    Parameters
    ----------
    ranking, dataset, classifier, seed, n_jobs
        As in `evaluate`.
    ks : iterable of int
        Numbers of columns.

    Returns
    -------
    dict
        From each k to its `Evaluation`.

    Examples
    --------
    >>> from featuremask.datasets import load
    >>> curve = k_curve([2, 4, 3, 1], load("iris"), [1, 2], "knn")
    >>> [curve[k].n_columns for k in curve]
    [1, 2]
    """
    return {k: evaluate(ranking, dataset, k, classifier, seed, n_jobs=n_jobs) for k in ks}


def _found(classifier: str | Classifier) -> Classifier:
    if isinstance(classifier, Classifier):
        return classifier
    if classifier not in CLASSIFIERS:
        raise InputError(
            f"classifier must be one of {', '.join(CLASSIFIERS)}, or a Classifier; "
            f"got {classifier!r}."
        )
    return CLASSIFIERS[classifier]


def _taken(X: Any, columns: NDArray[np.intp]) -> Any:
    """Return the columns, in one block of memory where the rows are dense."""
    found = X[:, columns]
    return np.ascontiguousarray(found) if isinstance(found, np.ndarray) else found


def _passed_on(caught: list[warnings.WarningMessage]) -> bool:
    """Give on all warnings but those of a reached bound; return whether there was none of these."""
    from sklearn.exceptions import ConvergenceWarning

    others = [w for w in caught if not issubclass(w.category, ConvergenceWarning)]
    for warning in others:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return len(others) == len(caught)
