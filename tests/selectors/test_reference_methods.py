"""The selectors of the reference methods, and of the two bounds."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from torch import nn

import featuremask
from featuremask import (
    AFSSelector,
    AllFeaturesSelector,
    BSFSelector,
    CancelOutSelector,
    ConcreteSelector,
    DFSSelector,
    FSDNNSelector,
    RandomSelector,
    SANDSelector,
    SequentialAttentionSelector,
)
from featuremask.exceptions import InputError
from featuremask.selectors import BaseSelector
from featuremask.selectors._specs import GateSpec

METHODS: list[type[BaseSelector]] = [
    AFSSelector,
    BSFSelector,
    CancelOutSelector,
    ConcreteSelector,
    DFSSelector,
    FSDNNSelector,
    SANDSelector,
    SequentialAttentionSelector,
]
BOUNDS: list[type[BaseSelector]] = [AllFeaturesSelector, RandomSelector]
WORDS = {ConcreteSelector: {"max_tries": 1}}
"""One training, as for all others; what several do is tested below."""

every_selector = pytest.mark.parametrize("cls", METHODS + BOUNDS, ids=lambda cls: cls.__name__)
every_method = pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)


def selector(cls: type[BaseSelector], k: Any = 3, **words: Any) -> BaseSelector:
    return cls(k, **{"random_state": 0, "max_epochs": 3, **WORDS.get(cls, {}), **words})


def wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(0)) / X.std(0), y


@parametrize_with_checks([cls(max_epochs=2, **WORDS.get(cls, {})) for cls in METHODS + BOUNDS])
def test_scikit_learns_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@every_selector
def test_every_check_passes_by_default_and_array_api_alone_is_skipped(
    cls: type[BaseSelector],
) -> None:
    results = check_estimator(cls(**WORDS.get(cls, {})), on_skip=None, on_fail=None)
    names: dict[str, list[str]] = {"passed": [], "skipped": [], "failed": []}
    for result in results:
        names[result["status"]].append(result["check_name"])
    assert names["failed"] == []
    assert names["skipped"] == ["check_array_api_input"]
    assert len(names["passed"]) >= 50


@every_selector
@pytest.mark.parametrize("target", ["classes", "numbers", "nothing"])
def test_every_method_selects_with_every_kind_of_target(
    cls: type[BaseSelector], target: str
) -> None:
    X, y = wine()
    y = {"classes": y, "numbers": X[:, 0] + 0.1 * y, "nothing": None}[target]
    fitted = selector(cls).fit(X, y)
    kinds = {"classes": "classification", "numbers": "regression", "nothing": "reconstruction"}
    assert fitted.objective_ == kinds[target]
    assert fitted.transform(X).shape == (178, 3)
    assert sorted(fitted.ranking_) == list(range(1, 14))


@every_selector
def test_sorted_scores_give_the_ranking(cls: type[BaseSelector]) -> None:
    fitted = selector(cls).fit(*wine())
    order = np.argsort(-fitted.scores_, kind="stable")
    assert (np.diff(fitted.ranking_[order]) == 1).all()
    assert fitted.feature_importances_.min() >= 0.0
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


@every_selector
def test_shared_words_mean_the_same(cls: type[BaseSelector]) -> None:
    shared = {field.name: field for field in dataclasses.fields(BaseSelector)}
    own = {field.name: field for field in dataclasses.fields(cls)}
    assert list(shared) == [name for name in own if name in shared]
    for name, field in shared.items():
        same = own[name].default == field.default
        assert same or (cls, name) == (AllFeaturesSelector, "n_features_to_select")


@every_selector
def test_constant_columns_come_last_and_kept_ones_first(cls: type[BaseSelector]) -> None:
    X, y = wine()
    X[:, 2] = 7.0
    fitted = selector(cls, must_keep=[5]).fit(X, y)
    assert fitted.ranking_[2] == 13
    assert fitted.ranking_[5] == 1
    assert fitted.support_[5]


@every_selector
def test_groups_are_chosen_as_one(cls: type[BaseSelector]) -> None:
    X, y = wine()
    fitted = selector(cls, 2, feature_groups={"a": [0, 3, 4], "b": [1, 2]}).fit(X, y)
    assert len(set(fitted.scores_[[0, 3, 4]])) == 1
    assert np.ptp(fitted.ranking_[[0, 3, 4]]) == 2
    assert len(set(fitted.groups_[fitted.support_])) == 2


@every_selector
def test_saving_and_loading_changes_nothing(cls: type[BaseSelector], tmp_path: Any) -> None:
    X, y = wine()
    fitted = selector(cls).fit(X, y)
    fitted.save(tmp_path / "selector")
    loaded = featuremask.load(tmp_path / "selector")
    assert type(loaded) is cls
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.transform(X) == fitted.transform(X)).all()
    rows = np.ascontiguousarray(X, dtype=np.float32)
    one, other = (s.network_(torch.from_numpy(rows)) for s in (fitted, loaded))
    assert torch.equal(one, other)


@every_selector
def test_portions_of_rows_can_follow_each_other(cls: type[BaseSelector]) -> None:
    X, y = wine()
    fitted = selector(cls)
    for start in range(0, 178, 89):
        rows = slice(start, start + 89)
        fitted.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert fitted.transform(X).shape == (178, 3)


@every_method
def test_one_seed_gives_one_result_and_leaves_global_generators_alone(
    cls: type[BaseSelector], untouched_generators: None
) -> None:
    one, same, other = (selector(cls, random_state=seed).fit(*wine()) for seed in (0, 0, 1))
    assert (one.scores_ == same.scores_).all()
    assert (one.scores_ != other.scores_).any()


@every_selector
def test_every_number_of_features_can_be_had_from_one_training(cls: type[BaseSelector]) -> None:
    fitted = selector(cls).fit(*wine())
    for k in (1, 3, 7, 13):
        assert fitted.set_params(n_features_to_select=k).support_.sum() == k
        assert fitted.ranking_[fitted.support_].max() == k


# ---- the words of each method ------------------------------------------------------------------


@every_method
def test_search_spaces_name_words_and_have_a_dozen_settings(cls: type[BaseSelector]) -> None:
    words = {field.name for field in dataclasses.fields(cls)}
    assert set(cls.search_space) <= words
    assert np.prod([len(values) for values in cls.search_space.values()]) >= 12


@every_method
def test_search_spaces_hold_values_that_can_be_fitted(cls: type[BaseSelector]) -> None:
    X, y = wine()
    for word, values in cls.search_space.items():
        for value in values:
            fitted = clone(selector(cls, max_epochs=1)).set_params(**{word: value}).fit(X, y)
            assert np.isfinite(fitted.scores_).all()


OWN_WORDS: dict[type[BaseSelector], dict[str, tuple[Any, Callable[[Any], Any]]]] = {
    AFSSelector: {
        "attention_units": (5, lambda gate: gate.encoder_bias.numel()),
        "head_depth": (1, lambda gate: int(gate.hidden_weight is not None)),
        "network_penalty": (0.5, lambda gate: gate.network_penalty),
        "readout": ("last_batch", lambda gate: gate.readout),
    },
    BSFSelector: {
        "estimator": ("v2", lambda gate: gate.estimator),
        "draw": ("row", lambda gate: gate.draw),
        "l1_weight": (0.5, lambda gate: gate.l1_weight),
        "init": (0.25, lambda gate: float(gate.mean_p.mean())),
    },
    CancelOutSelector: {
        "activation": ("softmax", lambda gate: gate.activation),
        "penalty": ("keras", lambda gate: gate.form),
        "variance_weight": (0.5, lambda gate: gate.coefficients.variance_weight),
        "l1_weight": (0.5, lambda gate: gate.coefficients.l1_weight),
        "l2_weight": (0.5, lambda gate: gate.coefficients.l2_weight),
        "init": (1.5, lambda gate: float(gate.weight.detach().mean())),
        "init_spread": (9.0, lambda gate: 9.0 if gate.weight.detach().std() > 1.0 else 0.0),
    },
    SANDSelector: {
        "noise_scale": (0.5, lambda gate: gate.noise_scale),
        "draw": ("row", lambda gate: gate.draw),
    },
    SequentialAttentionSelector: {
        "warm_up": (0.5, lambda gate: gate.warm_up),
        "init_spread": (9.0, lambda gate: 9.0 if gate.logits.detach().std() > 1.0 else 0.0),
    },
    ConcreteSelector: {
        "start_temperature": (5.0, lambda gate: gate.start_temperature),
        "end_temperature": (0.5, lambda gate: gate.end_temperature),
    },
    DFSSelector: {
        "weight_penalty": (0.5, lambda gate: gate.weight_penalty),
        "weight_l1_ratio": (0.5, lambda gate: gate.weight_l1_ratio),
        "network_penalty": (0.5, lambda gate: gate.network_penalty),
        "network_l1_ratio": (0.5, lambda gate: gate.network_l1_ratio),
    },
    FSDNNSelector: {"include_bias": (False, lambda gate: gate.include_bias)},
}
"""For each word of the gate: a value that is not the default, and where the gate shows it."""


@every_method
def test_words_of_a_method_reach_its_gate(cls: type[BaseSelector]) -> None:
    spec = GateSpec(n_features=6, groups=None, kept=[], n_select=2, seed=0)
    own = {field.name: field.default for field in dataclasses.fields(cls)}
    shared = {field.name for field in dataclasses.fields(BaseSelector)}
    assert OWN_WORDS[cls].keys() == own.keys() - shared - {"max_tries", "fill"}
    for word, (value, shown_by) in OWN_WORDS[cls].items():
        assert value != own[word]
        assert shown_by(cls(**{word: value})._make_gate(spec)) == value


def test_fsdnn_needs_a_network_that_begins_densely() -> None:
    network = nn.Sequential(nn.Tanh(), nn.Linear(13, 3))
    with pytest.raises(InputError, match=r"begins with a plain nn\.Linear on all 13 features"):
        selector(FSDNNSelector, network=network).fit(*wine())


# ---- bounds ------------------------------------------------------------------------------------


def test_random_features_follow_from_the_seed_alone() -> None:
    X, y = wine()
    one, same, other = (
        selector(RandomSelector, random_state=seed).fit(X[:n], y[:n])
        for seed, n in ((0, 178), (0, 150), (1, 178))
    )
    assert (one.ranking_ == same.ranking_).all()
    assert (one.ranking_ != other.ranking_).any()


def test_all_features_are_all_unless_fewer_are_asked_for() -> None:
    X, y = wine()
    X[:, 0] = 1.0
    assert AllFeaturesSelector().fit(X, y).support_.all()
    assert AllFeaturesSelector(4).fit(X, y).get_support(indices=True).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("cls", BOUNDS, ids=lambda cls: cls.__name__)
def test_bounds_train_nothing(cls: type[BaseSelector], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featuremask.selectors._fitting.fit_network", _fail)
    assert selector(cls).fit(*wine()).history_ == []


def _fail(*_: Any, **__: Any) -> None:
    raise AssertionError("something was trained")
