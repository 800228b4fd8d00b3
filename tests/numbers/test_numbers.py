"""Precision, scale and near-constant columns; nothing of the caller's changes."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.training.test_isolation import surroundings

import featuremask
from featuremask import FeatureMaskSelector, datasets
from featuremask.selectors import BaseSelector

SELECTORS = [getattr(featuremask, name) for name in featuremask.__all__ if "Selector" in name]
N_ROWS, K = 120, 3

every_selector = pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)


def planted() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N_ROWS, 12))
    return X, (X[:, :K].sum(axis=1) > 0).astype(int)


def fitted(cls: type[BaseSelector], X: Any, y: Any, **words: Any) -> BaseSelector:
    tries = {"max_tries": 1} if "max_tries" in inspect.signature(cls).parameters else {}
    return cls(K, **{"random_state": 0, "max_epochs": 10} | tries | words).fit(X, y)


@every_selector
@pytest.mark.parametrize("exponent", [-100, 100])
def test_a_scale_of_1e30_or_1e_minus_30_changes_no_bit(cls: Any, exponent: int) -> None:
    X, y = planted()
    X = X.astype(np.float32)
    expected = fitted(cls, X, y)
    assert np.array_equal(fitted(cls, X * np.float32(2.0**exponent), y).scores_, expected.scores_)


@pytest.mark.parametrize("offset", [1.0, 1e4, 1e8])
def test_a_column_that_hardly_varies_counts_like_any_other(offset: float) -> None:
    X, y = planted()
    moved = X * 1e-6 + offset
    words = {"standardize": "column", "max_epochs": 200}
    expected = set(np.flatnonzero(fitted(FeatureMaskSelector, X, y, **words).support_))
    assert set(np.flatnonzero(fitted(FeatureMaskSelector, moved, y, **words).support_)) == expected
    assert expected == set(range(K))


def test_half_the_digits_give_the_same_features() -> None:
    X, y = planted()
    single, double = (
        fitted(FeatureMaskSelector, X, y, dtype=dtype, max_epochs=200)
        for dtype in ("float32", "float64")
    )
    assert np.array_equal(single.support_, double.support_)
    assert np.corrcoef(single.scores_, double.scores_)[0, 1] > 0.99


def test_while_no_bit_of_noise_is_drawn_both_precisions_agree_closely() -> None:
    X, y = planted()
    single, double = (
        fitted(FeatureMaskSelector, X, y, dtype=dtype, strategy="joint", max_epochs=20)
        for dtype in ("float32", "float64")
    )
    assert np.allclose(single.scores_, double.scores_, rtol=1e-3, atol=1e-4)


def calls(folder: Path) -> dict[str, Any]:
    X, y = planted()
    selector = fitted(FeatureMaskSelector, X, y)
    path = folder / "selector.fm"
    selector.save(path)
    return {
        "fit": lambda: fitted(FeatureMaskSelector, X, y),
        "fit in two threads": lambda: fitted(FeatureMaskSelector, X, y, n_jobs=2),
        "fit without a seed": lambda: fitted(FeatureMaskSelector, X, y, random_state=None),
        "fit by numpy's state": lambda: fitted(
            FeatureMaskSelector, X, y, random_state=np.random.RandomState(0)
        ),
        "partial_fit": lambda: FeatureMaskSelector(random_state=0).partial_fit(X, y),
        "transform": lambda: selector.transform(X),
        "selection_table": selector.selection_table,
        "save": lambda: selector.save(path),
        "load": lambda: featuremask.load(path),
        "datasets.load": lambda: datasets.load("wine"),
    }


NAMES = [
    "fit",
    "fit in two threads",
    "fit without a seed",
    "fit by numpy's state",
    "partial_fit",
    "transform",
    "selection_table",
    "save",
    "load",
    "datasets.load",
]


def test_each_call_is_tried(tmp_path: Path) -> None:
    assert list(calls(tmp_path)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_public_call_leaves_the_callers_settings_alone(name: str, tmp_path: Path) -> None:
    call = calls(tmp_path)[name]
    call()  # what is loaded on first use may add filters of its own
    before = surroundings()
    call()
    assert surroundings() == before
