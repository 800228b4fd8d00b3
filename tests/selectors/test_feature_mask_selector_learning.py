"""What is planted is found: the selector learns, with a target and without."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from featuremask import FeatureMaskSelector

STRATEGIES = ["narrowing", "sequential", "joint"]
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]


def noise(seed: int, n_rows: int, n_columns: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n_rows, n_columns))


def found(selector: FeatureMaskSelector, planted: Any) -> list[int]:
    return sorted(set(np.flatnonzero(selector.support_).tolist()) & set(planted))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_that_add_up_to_the_class_are_found(strategy: Any, seed: int) -> None:
    X = noise(seed, 400, 23)
    y = X[:, 5] + X[:, 11] - X[:, 17] > 0
    selector = FeatureMaskSelector(3, strategy=strategy, random_state=seed).fit(X, y)
    assert found(selector, [5, 11, 17]) == [5, 11, 17]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_columns_that_add_up_to_a_number_are_found(strategy: Any, seed: int) -> None:
    X = noise(seed, 300, 20)
    y = 100.0 + 30.0 * X[:, 2] - 50.0 * X[:, 9]
    selector = FeatureMaskSelector(2, strategy=strategy, random_state=seed).fit(X, y)
    assert found(selector, [2, 9]) == [2, 9]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("strategy", "k"), [("narrowing", 2), ("sequential", 3), ("joint", 2)])
def test_two_columns_that_only_tell_together_are_found(strategy: Any, k: int, seed: int) -> None:
    X = noise(seed, 1000, 22)
    y = X[:, 3] * X[:, 8] > 0
    selector = FeatureMaskSelector(k, strategy=strategy, random_state=seed).fit(X, y)
    assert found(selector, [3, 8]) == [3, 8]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_without_a_target_the_columns_that_stand_for_others_are_found(
    strategy: Any, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(250, 2))
    X = rng.normal(size=(250, 16)) * 0.3
    X[:, :4] = factors[:, [0]] + 0.1 * rng.normal(size=(250, 4))
    X[:, 4:8] = factors[:, [1]] + 0.1 * rng.normal(size=(250, 4))
    selector = FeatureMaskSelector(3, strategy=strategy, random_state=seed).fit(X)
    chosen = np.flatnonzero(selector.support_)
    assert selector.objective_ == "reconstruction"
    assert (chosen < 4).any()
    assert ((chosen >= 4) & (chosen < 8)).any()


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_bring_in_a_column_each(seed: int) -> None:
    X = noise(seed, 250, 15)
    y = (X[:, [1, 6]] > 0).astype(int)
    selector = FeatureMaskSelector(2, strategy="joint", random_state=seed).fit(X, y)
    assert found(selector, [1, 6]) == [1, 6]


def test_a_copy_does_not_crowd_out_what_is_needed_beside_it() -> None:
    X = noise(0, 400, 12)
    X[:, 1] = X[:, 0] + 0.01 * noise(1, 400, 1)[:, 0]
    y = 2.0 * X[:, 0] + X[:, 5] > 0
    selector = FeatureMaskSelector(3, random_state=0).fit(X, y)
    assert selector.support_[5]
    assert selector.support_[:2].any()


@pytest.mark.parametrize("standardize", ["column", "auto"])
def test_units_far_from_zero_do_no_harm(standardize: Any) -> None:
    X = noise(0, 250, 8) + 1e6
    y = X[:, 3] > 1e6
    words = {"standardize": standardize, "strategy": "joint", "random_state": 0}
    assert FeatureMaskSelector(1, **words).fit(X, y).ranking_[3] == 1


def test_by_column_each_unit_counts_alike() -> None:
    X = noise(0, 250, 8) * np.logspace(-4, 4, 8)
    y = X[:, 0] > 0
    words = {"standardize": "column", "strategy": "joint", "random_state": 0}
    assert FeatureMaskSelector(1, **words).fit(X, y).ranking_[0] == 1


def test_without_a_target_a_few_wild_values_do_not_decide() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(400, 2))
    X = rng.normal(size=(400, 12))
    X[:, :4] = factors[:, [0]] + 0.1 * rng.normal(size=(400, 4))
    X[:, 4:8] = factors[:, [1]] + 0.1 * rng.normal(size=(400, 4))
    X[:2, 8] = X[2:4, 9] = [40.0, -40.0]  # noise but for two rows
    selector = FeatureMaskSelector(2, random_state=0).fit(X)
    chosen = set(np.flatnonzero(selector.support_).tolist())
    assert len(chosen & {0, 1, 2, 3}) == len(chosen & {4, 5, 6, 7}) == 1


def test_without_a_target_categories_of_many_levels_do_not_rule() -> None:
    draw = np.random.default_rng(0)
    factor = draw.normal(size=600)
    numbers = {f"number {i}": factor + 0.5 * draw.normal(size=600) for i in range(4)}
    levels = {f"levels {i}": draw.integers(12, size=600).astype(str) for i in range(4)}
    table = pd.DataFrame(numbers | levels)
    selector = FeatureMaskSelector(
        1, standardize="column", categorical="auto", max_epochs=60, random_state=0
    ).fit(table)
    assert selector.selected_names_[0].startswith("number")
    assert selector.ranking_[4:].mean() > 5.0
