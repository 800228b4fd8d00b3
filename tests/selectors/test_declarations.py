"""What selectors and the records between stages declare."""

import dataclasses
import importlib
import itertools
import math
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.utils import get_tags

import featuremask
from featuremask.gates import Importance, MaskGate
from featuremask.selectors import BaseSelector
from featuremask.selectors._data import standardization
from featuremask.selectors._fitting import ranking_of
from featuremask.selectors._specs import GateSpec
from featuremask.training import Callback

SELECTORS = [
    cls
    for cls in (getattr(featuremask, name) for name in featuremask.__all__ if "Selector" in name)
    if issubclass(cls, BaseSelector)
]
KEEP_A_STATE = {"TrainingState", "Lent", "MemberDraws", "PartialFit"}

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


def test_of_features_to_keep_as_many_as_are_selected_are_allowed() -> None:
    X = np.random.default_rng(0).normal(size=(12, 5))
    selector = featuremask.FeatureMaskSelector(2, must_keep=[1, 4], max_epochs=1, random_state=0)
    assert np.flatnonzero(selector.fit(X, X[:, 0]).support_).tolist() == [1, 4]
    with pytest.raises(ValueError, match="2 columns or groups to keep and 1 to select"):
        selector.set_params(n_features_to_select=1).fit(X, X[:, 0])


def test_a_method_that_needs_its_number_gets_half_of_the_columns_if_none_is_given() -> None:
    X = np.random.default_rng(0).normal(size=(12, 7))
    selector = featuremask.ConcreteSelector(max_epochs=1, max_tries=1, random_state=0).fit(X)
    assert selector.network_[1].gate.out_features == 3


def test_shares_of_groups_are_dealt_out_to_their_columns() -> None:
    rows: Any = SimpleNamespace(
        n_columns=4, column_of=np.arange(4), groups=np.array([0, 0, 0, 1]), kept=[]
    )
    importance = Importance(torch.tensor([2.0, 1.0]), shares=torch.tensor([0.9, 0.1]))
    found = ranking_of(importance, rows, GateSpec(4, [0, 0, 0, 1], [], 1, 0))
    assert found.shares == pytest.approx([0.3, 0.3, 0.3, 0.1])
    assert found.group_ranks.tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("how", "mean", "scale"),
    [
        ("none", [0, 0, 0], [1, 1, 1]),
        ("column", [1, 2, 3], [3, 4, 1]),
        ("global", [1, 2, 3], [(25 / 3) ** 0.5] * 3),
        (
            "shrunk",
            [1, 2, 3],
            [(17 / 3 + 3) ** 0.5, (73 / 6) ** 0.5, (25 / 6) ** 0.5],
        ),
    ],
)
def test_columns_are_centered_and_scaled_by_the_rule(how: str, mean: Any, scale: Any) -> None:
    moments: Any = SimpleNamespace(mean=np.array([1.0, 2, 3]), variance=np.array([9.0, 16, 0]))
    found = standardization(moments, how, torch.float64)
    x = torch.tensor([[10.0, 12.0, -1.0]], dtype=torch.float64)  # none beyond the bound
    expected = (x.numpy() - np.array(mean)) / np.array(scale)
    assert found(x).numpy() == pytest.approx(expected)


def test_columns_without_any_spread_are_left_in_their_units() -> None:
    moments: Any = SimpleNamespace(mean=np.zeros(2), variance=np.zeros(2))
    x = torch.tensor([[-3.0, 5.0]], dtype=torch.float64)
    for how in ("global", "column"):
        assert standardization(moments, how, torch.float64)(x).tolist() == x.tolist()


@pytest.mark.parametrize("kind", ["array", "file"])
def test_two_rows_are_enough_and_one_is_not(kind: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(2, 5))
    selector = featuremask.FeatureMaskSelector(2, max_epochs=1, random_state=0)
    for n_rows in (2, 1):
        np.save(tmp_path / "rows.npy", X[:n_rows])
        rows: Any = str(tmp_path / "rows.npy") if kind == "file" else X[:n_rows]
        if n_rows == 1:
            with pytest.raises(ValueError, match=r"two rows|minimum of 2|1 sample"):
                selector.fit(rows)
        else:
            assert sorted(selector.fit(rows).ranking_) == [1, 2, 3, 4, 5]


def test_a_stability_selection_takes_what_its_selector_takes() -> None:
    of_ours = get_tags(featuremask.StabilitySelection())
    assert of_ours.input_tags.sparse
    assert of_ours.target_tags.multi_output
    of_counts = get_tags(featuremask.StabilitySelection(SelectKBest(chi2)))
    assert not of_counts.target_tags.multi_output


def test_a_mask_of_a_users_own_gets_dense_rows() -> None:
    class Mine(MaskGate):
        def multiplier(self, x: Any, sample_weight: Any = None) -> Any:
            return torch.ones(x.shape[-1])

        def importance(self, statistic: Any) -> Importance:
            return Importance(torch.ones(3))

    assert Mine().takes_sparse() is False
