"""Each constructor word refuses what it cannot take, and says what it takes."""

from typing import Any

import numpy as np
import pytest

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError

X = np.random.default_rng(0).normal(size=(300, 4))
Y = (X[:, 0] > 0).astype(int)

BAD: dict[str, tuple[str, list[Any]]] = {
    "n_features_to_select": ("a positive integer, a fraction", [0, -1, 1.5, "all", True]),
    "strategy": ("one of", ["greedy", None]),
    "objective": ("one of", ["sorting", None, ["regression"]]),
    "loss": ("None or a callable", ["hinge", 5]),
    "network": ("None, a module, or a function", ["mlp", 5]),
    "hidden_units": ("a tuple of positive integers", [5, (0,), (2.5,), "auto", None]),
    "dropout": (r'"auto" or a rate in \[0, 1\)', [1.0, -0.1, "high", None, True]),
    "mask_units": ("a positive integer", [0, 2.5, "many", None, True]),
    "mask_depth": ("a positive integer", [0, 2.5, "deep", None]),
    "mask_scale": ('"sum", "mean" or a positive number', ["max", 0, -1.0]),
    "mask_init": ("one of", ["zeros", None]),
    "attenuation": ("True or False", ["yes", None, 2]),
    "normalization": ("True or False", ["yes", None, 2]),
    "max_epochs": ('"auto" or a positive integer', [0, -1, 1.5, "all", None, True]),
    "max_seconds": ("None or a positive number", [0, -1.0, "long", float("inf")]),
    "batch_size": ('"auto" or a positive integer', [0, -1, 1.5, "all", None, True]),
    "learning_rate": ("a positive number", [0, -1.0, "slow", None, float("nan"), float("inf")]),
    "standardize": ("one of", ["robust", None, True]),
    "early_stopping": ("True or False", ["yes", None, 5]),
    "validation_fraction": ("between 0 and 1", [0, 1, 1.5, "some", None]),
    "class_weight": ('None, "balanced" or a dict', ["even", 5]),
    "feature_groups": ("None, a mapping", [5, "abcd"]),
    "must_keep": ("a sequence of column names or positions", [5, "abcd", None]),
    "constant_features": ("one of", ["first", None]),
    "missing": ("one of", ["impute", None, np.nan]),
    "categorical": ("one of", ["onehot", None]),
    "dates": ("one of", ["parts", None]),
    "warm_start": ("True or False", ["yes", None]),
    "checkpoint": ("None, the path of a folder, or a Checkpoint", [5, True]),
    "callbacks": ("None or a sequence of", [5, ["stop"], print]),
    "dtype": ("one of", ["float16", None, np.float32]),
    "n_jobs": ("None or a positive integer", [0, -1, 1.5, "all"]),
    "random_state": ("None, an integer", ["seed", -1, 1.5]),
    "verbose": ("True, False or a number", ["yes", None]),
}
CASES = [(word, said, value) for word, (said, values) in BAD.items() for value in values]


@pytest.mark.parametrize(("word", "said", "value"), CASES, ids=[f"{w}={v!r}" for w, _, v in CASES])
def test_a_value_that_a_word_cannot_take_is_refused(word: str, said: str, value: Any) -> None:
    selector = FeatureMaskSelector(**{word: value})
    rule = {"mask_scale": "scale", "mask_init": "init"}.get(word, word)
    with pytest.raises(InputError, match=rf"{rule} must be {said}.*got "):
        selector.fit(X, Y)
    assert not hasattr(selector, "ranking_")


@pytest.mark.parametrize("device", ["quantum", "cuda:99", "hpu"])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(InputError, match=f"device='{device}' cannot be used by PyTorch"):
        FeatureMaskSelector(device=device).fit(X, Y)


def test_a_split_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Expected .?cv.? as an integer"):
        FeatureMaskSelector(cv="random", early_stopping=True).fit(X, Y)


def test_every_word_is_tested_here() -> None:
    elsewhere = {"device", "cv"}
    assert set(BAD) | elsewhere == set(FeatureMaskSelector().get_params(deep=False))


GOOD: dict[str, list[Any]] = {
    "n_features_to_select": [1, np.int32(2), 0.5, np.float32(1.0), None],
    "hidden_units": [(), (8,), [8, 4], (np.int64(8),)],
    "dropout": [0, 0.5, np.float32(0.25), "auto"],
    "mask_scale": ["sum", "mean", "auto", 2],
    "mask_init": ["xavier", "uniform", "normal", "ones", "authors"],
    "mask_depth": [1, 3],
    "attenuation": [False, np.bool_(True)],
    "normalization": [False],
    "max_epochs": [np.int64(1)],
    "max_seconds": [1, 0.5],
    "batch_size": [1, 64, 10**6],
    "learning_rate": [1, np.float64(1e-3)],
    "standardize": ["auto", "global", "column", "none"],
    "must_keep": [(), [0], {1}, np.array([2])],
    "feature_groups": [{}, {"g": [0, 1]}, ["a", "a", None, "b"], np.array([0, 0, 1, 1])],
    "device": ["auto", "cpu"],
    "verbose": [0, 2],
    "random_state": [0, np.int64(3), np.random.RandomState(0)],
}
USES = [(word, value) for word, values in GOOD.items() for value in values]


@pytest.mark.parametrize(
    ("word", "value"), USES, ids=[f"{w}={v!r}".partition(" at ")[0] for w, v in USES]
)
def test_values_that_a_word_takes(word: str, value: Any) -> None:
    words = {"max_epochs": 1, "hidden_units": (4,), "mask_units": 4, word: value}
    selector = FeatureMaskSelector(**words).fit(X, Y)
    assert sorted(selector.ranking_) == [1, 2, 3, 4]
    assert np.isfinite(selector.scores_).all()
    order = np.argsort(-selector.scores_, kind="stable")
    assert np.array_equal(order, np.argsort(selector.ranking_))
