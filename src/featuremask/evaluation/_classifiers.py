"""The downstream classifiers, by name.

Each takes the columns as they are and has default or common settings. Each gives the same result
for the same seed, whatever the number of threads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

__all__ = ["CLASSIFIERS", "Classifier"]


@dataclass(frozen=True)
class Classifier:
    """A downstream classifier.

    Attributes
    ----------
    title : str
        Its name in tables.
    make : callable
        From a seed and a number of threads to an object with `fit` and `predict`.
    revision : int
        Raised whenever its settings change, so that results of the old ones are not taken for
        results of the new ones.
    """

    title: str
    make: Callable[[int, int], Any]
    revision: int = 1


def _forest(seed: int, n_jobs: int) -> Any:
    """Return scikit-learn's random forest: 100 trees, grown to the end."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=n_jobs)


def _linear_machine(seed: int, n_jobs: int) -> Any:
    """Return a linear support vector machine, one against the rest.

    Its time is bounded by the number of passes: the primal problem is solved where there are more
    rows than columns (some tens of Newton steps), else the dual with at most 1,000 passes.
    """
    from sklearn.svm import LinearSVC

    return LinearSVC(dual="auto", max_iter=1000, random_state=seed)


def _neighbors(seed: int, n_jobs: int) -> Any:
    """Return the vote of the five nearest neighbors in Euclidean distance."""
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(5, n_jobs=n_jobs)


def _logistic(seed: int, n_jobs: int) -> Any:
    """Return multinomial logistic regression with scikit-learn's penalty.

    Its time is bounded by at most 1,000 steps of L-BFGS.
    """
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _network(seed: int, n_jobs: int) -> Any:
    """Return the paper's learning network on the chosen columns."""
    from featuremask.evaluation._network import NetworkClassifier

    return NetworkClassifier(seed=seed, threads=n_jobs)


CLASSIFIERS: Mapping[str, Classifier] = MappingProxyType(
    {
        "rf": Classifier("random forest", _forest),
        "svm": Classifier("linear SVM", _linear_machine),
        "knn": Classifier("5 nearest neighbors", _neighbors),
        "lr": Classifier("logistic regression", _logistic),
        "nn": Classifier("neural network", _network),
    }
)
"""By the short name that experiments and records use."""
