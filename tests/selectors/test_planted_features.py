"""Each method finds features that are planted, most of which no univariate test can see."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif, f_regression

from featuremask import (
    AFSSelector,
    BSFSelector,
    CancelOutSelector,
    ConcreteSelector,
    DFSSelector,
    FSDNNSelector,
    RandomSelector,
)
from featuremask.datasets import Planted, make_planted
from featuremask.selectors import BaseSelector

K, SEEDS = 10, (0, 1, 2)


class Case(NamedTuple):
    """A method on one kind of objective, with settings of its search space.

    Attributes
    ----------
    cls : type
    objective : str
    least : int
        Planted features that each of the fits must find.
    words : dict
    n_rows, n_features : int
    """

    cls: type[BaseSelector]
    objective: str
    least: int
    words: dict[str, Any]
    n_rows: int = 2000
    n_features: int = 200

    @property
    def name(self) -> str:
        return f"{self.cls.__name__}-{self.objective}"


BOTTLENECK = {"hidden_units": (128, 4)}
"""An autoencoder that can carry the four hidden factors and no more."""

CONCRETE = {"max_tries": 1, "learning_rate": 0.03, "max_epochs": 400}

CASES = [
    Case(AFSSelector, "classification", 9, {"learning_rate": 0.01}, 6000, 50),
    Case(AFSSelector, "regression", 6, {"learning_rate": 0.01}, 6000, 50),
    Case(AFSSelector, "reconstruction", 8, {"learning_rate": 0.003}),
    Case(BSFSelector, "classification", 9, {}),
    Case(BSFSelector, "regression", 9, {}),
    Case(BSFSelector, "reconstruction", 8, {}),
    Case(CancelOutSelector, "classification", 9, {"learning_rate": 0.01}),
    Case(CancelOutSelector, "regression", 9, {"learning_rate": 0.01}),
    Case(CancelOutSelector, "reconstruction", 8, {"learning_rate": 0.003}),
    Case(ConcreteSelector, "classification", 6, CONCRETE, n_features=40),
    Case(ConcreteSelector, "regression", 6, CONCRETE, n_features=40),
    Case(ConcreteSelector, "reconstruction", 6, CONCRETE, n_features=40),
    Case(DFSSelector, "classification", 9, {"learning_rate": 0.003}),
    Case(DFSSelector, "regression", 9, {"learning_rate": 0.003}),
    Case(DFSSelector, "reconstruction", 8, {}),
    Case(FSDNNSelector, "classification", 8, {"learning_rate": 0.01}),
    Case(FSDNNSelector, "regression", 6, {"learning_rate": 0.01}),
    Case(FSDNNSelector, "reconstruction", 7, {"learning_rate": 0.0003}),
]


def planted(case: Case, seed: int) -> Planted:
    """Return rows and target; without a target, ten noisy columns that four factors drive."""
    size = (case.n_rows, case.n_features, K)
    if case.objective == "reconstruction":
        return make_planted(*size, kind="factors", n_factors=4, noise=0.5, random_state=seed)
    return make_planted(*size, kind="mixed", task=case.objective, random_state=seed)


def univariate(case: Case, data: Planted) -> NDArray[np.intp]:
    """Return what an F-test selects; without a target, against the size of the hidden signal."""
    if case.objective == "classification":
        f, _ = f_classif(data.X, data.y)
    elif case.objective == "regression":
        f, _ = f_regression(data.X, data.y)
    else:
        f, _ = f_regression(data.X, np.abs(data.signal))
    return np.argsort(-f)[:K]


def found(data: Planted, selected: NDArray[np.intp]) -> int:
    return len(set(selected) & set(data.relevant))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_planted_features_are_recovered(case: Case) -> None:
    words = case.words | (BOTTLENECK if case.objective == "reconstruction" else {})
    counts, by_f_test = [], []
    for seed in SEEDS:
        data = planted(case, seed)
        by_f_test.append(found(data, univariate(case, data)))
        target = None if case.objective == "reconstruction" else data.y
        selector = case.cls(K, random_state=seed, **words).fit(data.X, target)
        counts.append(found(data, selector.get_support(indices=True)))
    assert max(by_f_test) <= K - 3, by_f_test
    assert min(counts) >= case.least, counts
    assert sum(counts) > sum(by_f_test), (counts, by_f_test)


def test_random_features_recover_few() -> None:
    data = planted(CASES[3], 0)
    counts = [
        found(data, RandomSelector(K, random_state=s).fit(data.X).get_support(indices=True))
        for s in range(10)
    ]
    assert np.mean(counts) < 2.0
