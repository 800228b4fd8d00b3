"""What selectors and the records between stages declare."""

import dataclasses
import importlib
import itertools
import math
import pkgutil
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import featuremask
from featuremask.selectors import BaseSelector
from featuremask.training import Callback

SELECTORS = [
    cls
    for cls in (getattr(featuremask, name) for name in featuremask.__all__ if "Selector" in name)
    if issubclass(cls, BaseSelector)
]
KEEP_A_STATE = {"TrainingState", "Lent", "PartialFit"}

every_selector = pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)


@every_selector
def test_it_is_shown_compared_and_called_as_scikit_learns_are(cls: type[BaseSelector]) -> None:
    assert repr(cls()) == f"{cls.__name__}()"
    assert cls() != cls()
    assert len({cls(), cls()}) == 2
    if cls.__dict__.get("search_space") is not None and cls.__name__ != "FeatureMaskSelector":
        with pytest.raises(TypeError, match="positional"):
            cls(5, "a word of the method comes by name")


def few_tries(cls: type[BaseSelector]) -> dict[str, int]:
    return {"max_tries": 1} if cls.__name__ == "ConcreteSelector" else {}


def _tried() -> Iterator[Any]:
    for cls in SELECTORS:
        for word, values in cls.search_space.items():
            yield pytest.param(cls, word, values, id=f"{cls.__name__}-{word}")


@pytest.mark.parametrize(("cls", "word", "values"), list(_tried()))
def test_what_a_search_tries_is_taken_ascending_and_leaves_no_wide_gap(
    cls: type[BaseSelector], word: str, values: Any
) -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    for value in values:
        quick = {"max_epochs": 1, "random_state": 0} | few_tries(cls)
        cls(2, **quick | {word: value}).fit(X, X[:, 0])
    assert len(set(values)) == len(values) > 1
    if all(isinstance(value, float) for value in values):
        positive = sorted(value for value in values if value > 0)
        assert values in (tuple(sorted(values)), tuple(sorted(values, reverse=True)))
        ratios = [b / a for a, b in itertools.pairwise(positive)]
        assert all(ratio < 10 or math.isclose(ratio, 10) for ratio in ratios)


def _records() -> Iterator[type]:
    for package in ("gates", "training", "selectors", "sources", "objectives", "networks"):
        path = importlib.import_module(f"featuremask.{package}").__path__
        for module in pkgutil.iter_modules(path, f"featuremask.{package}."):
            for thing in vars(importlib.import_module(module.name)).values():
                if dataclasses.is_dataclass(thing) and thing.__module__ == module.name:
                    yield thing  # type: ignore[misc]  # no instance


def test_what_passes_between_stages_cannot_be_changed_on_the_way() -> None:
    changeable = {
        record.__name__
        for record in _records()
        if not record.__dataclass_params__.frozen  # type: ignore[attr-defined]  # of dataclasses
        and not issubclass(record, Callback)
        and not hasattr(record, "get_params")  # scikit-learn's estimators have set_params
    }
    assert changeable == KEEP_A_STATE
