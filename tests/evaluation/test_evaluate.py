import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from featuremask.datasets import Dataset, load
from featuremask.evaluation import CLASSIFIERS, Classifier, evaluate, k_curve, top_columns
from featuremask.exceptions import InputError


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load("wine")


@pytest.fixture(scope="module")
def ranking(wine: Dataset) -> np.ndarray:
    return np.random.default_rng(0).permutation(wine.n_features) + 1


def test_the_best_columns_come_in_the_order_of_the_data() -> None:
    assert top_columns([2, 5, 1, 3, 4], 3).tolist() == [0, 2, 3]


def test_columns_chosen_twice_are_not_made_up_for() -> None:
    assert top_columns([2, 5, 1, 3, 4], 4, n_distinct=2).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("ranking", "k", "message"),
    [
        ([1, 1, 2], 1, "permutation of 1"),
        ([[1, 2]], 1, r"shape \(1, 2\)"),
        ([1, 2], 3, "between 1 and the 2 ranked features; got 3"),
        ([1, 2], 0, "got 0"),
    ],
)
def test_what_is_no_ranking_or_no_count_is_refused(ranking: Any, k: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        top_columns(ranking, k)


@pytest.mark.parametrize("name", ["rf", "knn", "lr", "svm"])
def test_a_classifier_gives_the_same_for_the_same_seed_and_any_threads(
    name: str, wine: Dataset, ranking: np.ndarray
) -> None:
    first = evaluate(ranking, wine, 5, name, seed=3)
    again = evaluate(ranking, wine, 5, name, seed=3, n_jobs=2)
    assert first.accuracy == again.accuracy
    assert first.accuracy > 0.5
    assert first.n_columns == 5


def test_the_network_learns_and_repeats_itself(wine: Dataset, monkeypatch: Any) -> None:
    monkeypatch.setattr("featuremask.evaluation._network._LEAST_STEPS", 200)
    digits = load("digits")
    ranking = np.arange(64) + 1
    first = evaluate(ranking, digits, 40, "nn", seed=1)
    assert first.accuracy == evaluate(ranking, digits, 40, "nn", seed=1).accuracy
    assert first.accuracy > 0.8


def test_only_the_chosen_columns_reach_the_classifier(wine: Dataset) -> None:
    seen: list[np.ndarray] = []

    class Spy:
        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            seen.append(X)

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(len(X), dtype=int)

    ranking = np.arange(13, 0, -1)
    result = evaluate(ranking, wine, 2, Classifier("spy", lambda seed, n_jobs: Spy()))
    np.testing.assert_array_equal(seen[0], wine.X_train[:, 11:])
    assert result.accuracy == np.mean(wine.y_test == 0)


def test_a_reached_bound_is_told_not_warned_of(wine: Dataset, ranking: np.ndarray) -> None:
    class Slow:
        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            warnings.warn("not yet", ConvergenceWarning, stacklevel=1)

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(len(X), dtype=int)

    result = evaluate(ranking, wine, 2, Classifier("slow", lambda seed, n_jobs: Slow()))
    assert not result.converged
    assert evaluate(ranking, wine, 2, "knn").converged


def test_other_warnings_are_given_on(wine: Dataset, ranking: np.ndarray) -> None:
    class Odd:
        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            warnings.warn("odd data", UserWarning, stacklevel=1)

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(len(X), dtype=int)

    with pytest.warns(UserWarning, match="odd data"):
        evaluate(ranking, wine, 2, Classifier("odd", lambda seed, n_jobs: Odd()))


def test_a_curve_has_one_point_for_each_number_of_columns(
    wine: Dataset, ranking: np.ndarray
) -> None:
    curve = k_curve(ranking, wine, [1, 13], "knn")
    assert list(curve) == [1, 13]
    assert curve[13].accuracy == evaluate(ranking, wine, 13, "knn").accuracy


def test_an_unknown_classifier_is_refused(wine: Dataset, ranking: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"one of rf, svm, knn, lr, nn.*got 'xgb'"):
        evaluate(ranking, wine, 2, "xgb")


def test_a_ranking_of_other_data_is_refused(wine: Dataset) -> None:
    with pytest.raises(InputError, match="13 columns; got one of 3"):
        evaluate([1, 2, 3], wine, 2)


def test_sparse_rows_are_evaluated_as_they_are(wine: Dataset, ranking: np.ndarray) -> None:
    from dataclasses import replace

    from scipy.sparse import csr_array

    sparse = replace(wine, X=csr_array(wine.X))
    assert evaluate(ranking, sparse, 4, "lr").accuracy == pytest.approx(
        evaluate(ranking, wine, 4, "lr").accuracy, abs=0.1
    )


def test_importing_the_stage_loads_no_torch() -> None:
    code = "import sys, featuremask.evaluation; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_classifier_has_a_title() -> None:
    assert list(CLASSIFIERS) == ["rf", "svm", "knn", "lr", "nn"]
    assert all(classifier.title for classifier in CLASSIFIERS.values())
