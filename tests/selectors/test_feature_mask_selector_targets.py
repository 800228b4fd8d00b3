"""Every kind of target is learned, and weights count as repetitions."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import DataConversionWarning

from featuremask import FeatureMaskSelector
from featuremask.exceptions import FeatureMaskWarning, InputError

WORDS: dict[str, Any] = {"max_epochs": 3, "random_state": 0}
N = 60


@pytest.fixture(scope="module")
def X() -> Any:
    return np.random.default_rng(0).normal(size=(N, 5))


TARGETS = {
    "binary": (lambda X: (X[:, 0] > 0).astype(int), "classification", 2),
    "multiclass": (lambda X: np.digitize(X[:, 0], [-1, 0, 1]), "classification", 4),
    "multilabel": (lambda X: (X[:, :3] > 0).astype(int), "classification", 3),
    "strings": (lambda X: np.where(X[:, 0] > 0, "yes", "no"), "classification", 2),
    "objects": (lambda X: np.where(X[:, 0] > 0, "y", "n").astype(object), "classification", 2),
    "true and false": (lambda X: X[:, 0] > 0, "classification", 2),
    "categories": (
        lambda X: pd.Series(pd.Categorical(np.where(X[:, 0] > 0, "yes", "no"))),
        "classification",
        2,
    ),
    "numbers": (lambda X: X[:, 0] * 100.0, "regression", 1),
    "several numbers": (lambda X: X[:, :2], "regression", 2),
    "nothing": (lambda X: None, "reconstruction", 5),
}


@pytest.mark.parametrize(("of", "objective", "n_outputs"), TARGETS.values(), ids=list(TARGETS))
@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_every_kind_of_target_is_learned(
    X: Any, of: Any, objective: str, n_outputs: int, strategy: Any
) -> None:
    selector = FeatureMaskSelector(strategy=strategy, **WORDS).fit(X, of(X))
    assert selector.objective_ == objective
    assert selector.network_(torch.from_numpy(X)).shape == (N, n_outputs)
    assert (selector.classes_ is None) == (
        of(X) is None or np.ndim(of(X)) > 1 or objective != "classification"
    )


def test_a_column_vector_is_one_target_with_a_warning(X: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        column = FeatureMaskSelector(**WORDS).fit(X, y[:, None])
    assert np.array_equal(column.scores_, FeatureMaskSelector(**WORDS).fit(X, y).scores_)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of scikit-learn below 1.8
def test_whole_numbers_of_many_values_are_read_as_numbers_aloud(X: Any) -> None:
    with pytest.warns(FeatureMaskWarning, match=r"60 distinct whole numbers.*regression"):
        assert FeatureMaskSelector(**WORDS).fit(X, np.arange(N)).objective_ == "regression"


def test_the_objective_may_be_named(X: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        words = WORDS | {"objective": "classification"}
        assert len(FeatureMaskSelector(**words).fit(X, np.arange(N)).classes_) == N


@pytest.mark.parametrize(
    ("y", "words", "message"),
    [
        (np.zeros(N), {}, "at least two classes; got only 0.0"),
        (np.arange(N - 1), {}, r"inconsistent numbers of samples: \[60, 59\]"),
        (np.full(N, np.nan), {}, "y contains NaN"),
        (None, {"objective": "regression"}, "objective='regression' needs a target"),
        (np.array([None, "a"] * 30, dtype=object), {}, "y must hold classes"),
        (np.ones((N, 2, 2)), {}, "y must have one or two dimensions|dim"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(
    X: Any, y: Any, words: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        FeatureMaskSelector(**WORDS, **words).fit(X, y)


# ---- losses ---------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared_error", "huber", "absolute_error"])
def test_losses_of_numbers_go_by_name(X: Any, loss: str) -> None:
    selector = FeatureMaskSelector(loss=loss, strategy="joint", **WORDS).fit(X, X[:, 0])
    assert selector.history_[-1]["loss"] < selector.history_[0]["loss"]


def test_a_loss_may_be_a_function(X: Any) -> None:
    seen: list[Any] = []

    def loss(output: Any, target: Any) -> Any:
        seen.append((tuple(output.shape), target.dtype))
        return (output[:, 0] - target).square()

    FeatureMaskSelector(loss=loss, **WORDS).fit(X, X[:, 0] > 0)
    assert seen == [((N, 2), torch.int64)] * 3


def test_a_loss_that_is_not_one_value_a_row_is_refused(X: Any) -> None:
    with pytest.raises(InputError, match=r"must return one value a row.*got shape \(\)"):
        FeatureMaskSelector(loss=lambda o, t: o.sum(), **WORDS).fit(X, X[:, 0])


# ---- weights --------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [TARGETS[name][0] for name in ("binary", "numbers", "nothing")])
@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_a_weight_of_two_is_a_row_twice(X: Any, of: Any, strategy: Any) -> None:
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=N)
    order = rng.permutation(np.repeat(np.arange(N), weight))
    y = of(X)
    words = {"strategy": strategy, "random_state": 0, "dtype": "float64"}
    weighted = FeatureMaskSelector(**words).fit(X, y, sample_weight=weight)
    repeated = FeatureMaskSelector(**words).fit(X[order], None if y is None else y[order])
    assert weighted.history_[-1]["step"] == repeated.history_[-1]["step"]
    assert np.array_equal(weighted.ranking_, repeated.ranking_)
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-5)


def test_rows_of_no_weight_are_not_there(X: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    weight = np.where(np.arange(N) < 40, 1.0, 0.0)
    spoiled, spoiled_y = X.copy(), y.copy()
    spoiled[40:], spoiled_y[40:] = 1e6, 7
    found = FeatureMaskSelector(**WORDS).fit(spoiled, spoiled_y, sample_weight=weight)
    expected = FeatureMaskSelector(**WORDS).fit(X[:40], y[:40], sample_weight=np.ones(40))
    assert np.array_equal(found.scores_, expected.scores_)
    assert found.classes_.tolist() == [0, 1]


def test_one_class_among_the_rows_of_weight_is_one_class(X: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(InputError, match="at least two classes; got only 1"):
        FeatureMaskSelector(**WORDS).fit(X, y, sample_weight=y)


def test_weights_move_the_result(X: Any) -> None:
    y = np.where(np.arange(N) < 30, X[:, 0], X[:, 1])
    words = {"strategy": "joint", "max_epochs": 100, "random_state": 0}
    first, second = (
        FeatureMaskSelector(1, **words).fit(X, y, sample_weight=weight).scores_
        for weight in (np.where(np.arange(N) < 30, 50.0, 1.0), np.where(np.arange(N) < 30, 1, 50))
    )
    assert first[0] > first[1]
    assert second[1] > second[0]


@pytest.mark.parametrize("kind", [list, pd.Series, torch.tensor, np.float32])
def test_weights_come_in_anything(X: Any, kind: Any) -> None:
    y, weight = X[:, 0] > 0, np.linspace(0.5, 1.5, N).astype(np.float32)
    found = FeatureMaskSelector(**WORDS).fit(X, y, sample_weight=kind(weight)).scores_
    assert np.array_equal(found, FeatureMaskSelector(**WORDS).fit(X, y, weight).scores_)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(N), "Negative values in data passed to `sample_weight`"),
        (np.zeros(N), "Sample weights must contain at least one non-zero number"),
        (np.eye(N)[3], "At least two rows of positive weight are needed; got 1"),
        (np.ones(5), r"sample_weight.shape == \(5,\), expected \(60,\)"),
        (np.full(N, np.nan), "Input sample_weight contains NaN"),
        (np.ones((N, 2)), "Sample weights must be 1D array or scalar"),
    ],
)
def test_weights_that_make_no_sense_are_refused(X: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FeatureMaskSelector(**WORDS).fit(X, X[:, 0] > 0, sample_weight=weight)


# ---- weights of classes ---------------------------------------------------------------------


@pytest.mark.parametrize("names", [[0, 1], ["no", "yes"]])
def test_the_weight_of_a_class_is_that_of_its_rows(X: Any, names: Any) -> None:
    y = np.array(names)[(X[:, 0] > 0.5).astype(int)]
    row_weight = np.where(y == names[1], 3.0, 1.0)
    by_class = FeatureMaskSelector(class_weight={names[1]: 3.0}, **WORDS).fit(X, y)
    by_row = FeatureMaskSelector(**WORDS).fit(X, y, sample_weight=row_weight)
    np.testing.assert_allclose(by_class.scores_, by_row.scores_, rtol=1e-5)


def test_balanced_weights_give_each_class_the_same_sum(X: Any) -> None:
    y = (np.arange(N) < 6).astype(int)
    balanced = FeatureMaskSelector(class_weight="balanced", **WORDS).fit(X, y)
    named = {0: N / (2 * 54), 1: N / (2 * 6)}
    by_name = FeatureMaskSelector(class_weight=named, **WORDS).fit(X, y)
    assert np.array_equal(balanced.scores_, by_name.scores_)


def test_weights_of_classes_and_of_rows_multiply(X: Any) -> None:
    y = (X[:, 0] > 0).astype(int)
    weight = np.linspace(0.5, 2.0, N)
    both = FeatureMaskSelector(class_weight={1: 3.0}, **WORDS).fit(X, y, sample_weight=weight)
    product = np.where(y == 1, 3.0, 1.0) * weight
    by_row = FeatureMaskSelector(**WORDS).fit(X, y, sample_weight=product)
    np.testing.assert_allclose(both.scores_, by_row.scores_, rtol=1e-5)


@pytest.mark.parametrize(
    ("class_weight", "y", "message"),
    [
        ("even", [0, 1], 'class_weight must be None, "balanced" or a dict'),
        (3.0, [0, 1], 'class_weight must be None, "balanced" or a dict'),
        ({2: 1.0}, [0, 1], r"class_weight names the class 2, which is not in y.*\[0, 1\]"),
        ({0: -1.0}, [0, 1], "class_weight holds weights that are not negative"),
        ({0: 0.0, 1: 0.0}, [0, 1], "class_weight holds weights that are not negative"),
        ("balanced", [0.5, 1.5], "class_weight='balanced' needs classes to weigh"),
    ],
)
def test_weights_of_classes_that_make_no_sense_are_refused(
    X: Any, class_weight: Any, y: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        FeatureMaskSelector(class_weight=class_weight, **WORDS).fit(X, np.array(y * 30))


# ---- batches --------------------------------------------------------------------------------


def test_a_class_that_a_batch_lacks_does_no_harm() -> None:
    X = np.random.default_rng(0).normal(size=(400, 4))
    y = np.zeros(400, dtype=int)
    y[0], y[1:3] = 2, 1
    selector = FeatureMaskSelector(batch_size=20, class_weight="balanced", **WORDS).fit(X, y)
    assert selector.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(selector.scores_).all()
