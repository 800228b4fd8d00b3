import itertools

import numpy as np
import pytest

from featuremask.evaluation import (
    expected_errors,
    jaccard,
    kuncheva,
    mean_pairwise,
    nogueira,
    nogueira_interval,
)
from featuremask.exceptions import InputError


def _random_supports(n_selections: int, n_features: int, k: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed)
    supports = np.zeros((n_selections, n_features), dtype=bool)
    for row in supports:
        row[draw.choice(n_features, k, replace=False)] = True
    return supports


def test_equal_selections_have_stability_one() -> None:
    support = [True, False, True, False, False]
    assert nogueira([support] * 4) == 1.0
    assert kuncheva([0, 2], [0, 2], 5) == 1.0
    assert jaccard([0, 2], [0, 2]) == 1.0


def test_disjoint_selections_have_no_common_share() -> None:
    assert jaccard([0, 1], [2, 3]) == 0.0


def test_kuncheva_of_disjoint_halves_is_minus_one() -> None:
    assert kuncheva(range(5), range(5, 10), 10) == -1.0


def test_kuncheva_averages_to_zero_over_all_selections() -> None:
    everything = list(itertools.combinations(range(6), 2))
    values = [kuncheva(everything[0], other, 6) for other in everything]
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("k", [1, 5, 13])
def test_nogueira_is_the_mean_kuncheva_where_sizes_are_equal(k: int) -> None:
    supports = _random_supports(7, 20, k, seed=k)
    selections = [np.flatnonzero(row).tolist() for row in supports]
    mean = mean_pairwise(lambda a, b: kuncheva(a, b, 20), selections)
    assert nogueira(supports) == pytest.approx(mean)


def test_nogueira_reaches_its_lower_bound() -> None:
    supports = np.eye(4, dtype=bool)  # four selections of one of four columns, none in common
    assert nogueira(supports) == pytest.approx(-1 / 3)


def test_nogueira_does_not_change_when_chosen_and_not_chosen_are_swapped() -> None:
    supports = _random_supports(5, 30, 7, seed=0)
    assert nogueira(~supports) == pytest.approx(nogueira(supports))


def test_selections_at_random_have_stability_near_zero() -> None:
    assert abs(nogueira(_random_supports(200, 50, 10, seed=1))) < 0.01


def test_the_interval_is_the_one_of_the_publication() -> None:
    supports = _random_supports(9, 12, 4, seed=3)
    supports[0, :7] = True  # sizes differ
    m, d = supports.shape
    p, sizes = supports.mean(0), supports.sum(1)
    k = sizes.mean()
    phi = [
        (
            sum(supports[i, f] * p[f] for f in range(d)) / d
            - sizes[i] * k / d**2
            + nogueira(supports) / 2 * (2 * k * sizes[i] / d**2 - sizes[i] / d - k / d + 1)
        )
        / (k / d * (1 - k / d))
        for i in range(m)
    ]
    variance = 4 / m**2 * sum((value - np.mean(phi)) ** 2 for value in phi)
    low, high = nogueira_interval(supports, 0.95)
    assert (high + low) / 2 == pytest.approx(nogueira(supports))
    assert (high - low) / 2 == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-6)


def test_the_interval_covers_the_index_of_many_selections() -> None:
    draw, chance = np.random.default_rng(0), np.linspace(0.05, 0.95, 30)
    truth = nogueira(draw.random((20_000, 30)) < chance)
    covered = 0
    for _ in range(200):
        low, high = nogueira_interval(draw.random((60, 30)) < chance)
        covered += low <= truth <= high
    assert 0.88 <= covered / 200 <= 0.99


def test_the_bound_on_errors_holds_for_selections_at_random() -> None:
    supports = _random_supports(40, 200, 40, seed=5)
    wrong = int((supports.mean(0) >= 0.6).sum())
    assert wrong <= expected_errors(40, 200, 0.6) == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jaccard([], []), "two empty selections"),
        (lambda: kuncheva([1], [1, 2], 5), "same size.*got 1 and 2 of 5"),
        (lambda: kuncheva([0, 1], [0, 1], 2), "between 1 and n_features - 1"),
        (lambda: mean_pairwise(jaccard, [[1]]), "at least two selections; got 1"),
        (lambda: nogueira([[True, False]]), "two or more selections"),
        (lambda: nogueira([[True], [True]]), "got 100% of the columns"),
        (lambda: nogueira_interval([[1, 0], [1, 0]], 1.0), "level must be between 0 and 1"),
        (lambda: nogueira_interval([[0, 0], [0, 0]]), "got 0% of the columns"),
        (lambda: expected_errors(3, 10, 0.5), r"in \(0.5, 1\]; got 0.5"),
        (lambda: expected_errors(11, 10, 0.6), "from 0 to 10; got 11"),
    ],
)
def test_what_is_not_defined_is_refused(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]
