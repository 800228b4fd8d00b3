"""What tells nothing new is left out, what tells only together is found, whatever the target."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1

from featuremask import FeatureMaskSelector

Array = NDArray[np.float64]


class Case(NamedTuple):
    """Rows, a target, and sets of columns of which one each should be selected."""

    X: Array
    y: Any
    wanted: list[set[int]]


def _noise(seed: int, n_rows: int, n_columns: int) -> tuple[np.random.Generator, Array]:
    draw = np.random.default_rng(seed)
    return draw, draw.normal(size=(n_rows, n_columns))


def copies(seed: int) -> Case:
    """Four columns tell the class; of the strongest there are five exact copies."""
    _, X = _noise(seed, 500, 20)
    y = 2.0 * X[:, 0] + X[:, 1] + X[:, 2] - X[:, 3] > 0
    X[:, 10:15] = X[:, [0]]
    return Case(X, y, [{0, 10, 11, 12, 13, 14}, {1}, {2}, {3}])


def exclusive_or(seed: int) -> Case:
    """Two columns tell the class together and nothing alone, among 100 of noise."""
    _, X = _noise(seed, 1500, 102)
    return Case(X, X[:, 3] * X[:, 8] > 0, [{3}, {8}])


def blocks(seed: int) -> Case:
    """Five blocks of six columns that say the same but for a little noise, and ten of noise."""
    draw, X = _noise(seed, 500, 40)
    factors = draw.normal(size=(500, 5))
    X[:, :30] = np.repeat(factors, 6, axis=1) + 0.2 * X[:, :30]
    return Case(X, factors.sum(axis=1) > 0, [set(range(6 * b, 6 * b + 6)) for b in range(5)])


def friedman(seed: int) -> Case:
    """Five columns make a number by a product in a sine, a square and two lines, among fifty."""
    X, y = make_friedman1(1000, 50, noise=1.0, random_state=seed)
    return Case(X, y, [{i} for i in range(5)])


def imbalance(seed: int) -> Case:
    """Two columns tell 3 % of the rows from the others."""
    _, X = _noise(seed, 2000, 30)
    signal = X[:, 2] + X[:, 7]
    return Case(X, signal > np.quantile(signal, 0.97), [{2}, {7}])


def several_numbers(seed: int) -> Case:
    """Each of four numbers depends on a column of its own, the third on its square."""
    draw, X = _noise(seed, 600, 30)
    y = np.stack([X[:, 1], -X[:, 5], np.square(X[:, 9]), X[:, 12]], axis=1)
    return Case(X, y + 0.3 * draw.normal(size=y.shape), [{1}, {5}, {9}, {12}])


def found(case: Case, strategy: str, seed: int) -> int:
    """Return of how many sets a column is selected, with one column for each set."""
    selector = FeatureMaskSelector(len(case.wanted), strategy=strategy, random_state=seed)
    chosen = set(np.flatnonzero(selector.fit(case.X, case.y).support_).tolist())
    return sum(bool(chosen & columns) for columns in case.wanted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("make", "strategy", "missed"),
    [
        (copies, "sequential", 0),
        (copies, "auto", 1),
        (blocks, "sequential", 0),
        (blocks, "auto", 1),
        (imbalance, "sequential", 0),
        (imbalance, "auto", 0),
        (friedman, "sequential", 1),
        (friedman, "auto", 0),
        (several_numbers, "sequential", 1),
        (several_numbers, "auto", 0),
        (exclusive_or, "auto", 0),
    ],
)
def test_what_is_needed_is_selected(
    make: Callable[[int], Case], strategy: str, missed: int, seed: int
) -> None:
    case = make(seed)
    assert found(case, strategy, seed) >= len(case.wanted) - missed


@pytest.mark.parametrize("strategy", ["auto", "sequential", "joint"])
def test_the_ranking_is_the_same_for_10_and_100(strategy: str) -> None:
    _, X = _noise(0, 60, 120)
    y = X[:, 0] > 0
    ten, hundred = (
        FeatureMaskSelector(k, strategy=strategy, max_epochs=20, random_state=0).fit(X, y)
        for k in (10, 100)
    )
    assert (ten.ranking_ == hundred.ranking_).all()
    assert (ten.support_ <= hundred.support_).all()
    assert (ten.support_.sum(), hundred.support_.sum()) == (10, 100)
