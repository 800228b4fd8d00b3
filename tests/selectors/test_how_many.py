"""How many features: chosen on rows that the selection has not seen."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import featuremask
from featuremask import (
    AllFeaturesSelector,
    ConcreteSelector,
    FeatureMaskSelector,
    RandomSelector,
    SequentialAttentionSelector,
)
from featuremask.exceptions import InputError
from featuremask.selectors import BaseSelector
from featuremask.selectors._data import checked_rows
from featuremask.selectors._how_many import _RIDGE, _losses, _Sample, _sampled, choose_count
from featuremask.tables import Table

N, D = 240, 20
QUICK: dict[str, Any] = {"hidden_units": (8,), "mask_units": 8, "max_epochs": 60}


def planted(kind: str = "classes") -> tuple[np.ndarray, Any]:
    """Return rows of which the first three columns tell the target."""
    draw = np.random.default_rng(0)
    X = draw.normal(size=(N, D))
    signal = X[:, :3].sum(axis=1)
    targets = {
        "classes": (signal > 0).astype(int),
        "numbers": signal,
        "two numbers": np.stack([signal, X[:, 0]], axis=1),
        "labels": np.stack([signal > 0, X[:, 0] > 0], axis=1).astype(int),
        "nothing": None,
    }
    return X, targets[kind]


def auto(**words: Any) -> FeatureMaskSelector:
    return FeatureMaskSelector(
        "auto", **{"strategy": "joint", "random_state": 0, "learning_rate": 0.01, **QUICK, **words}
    )


def chosen(selector: BaseSelector) -> int:
    curve = selector.selection_curve_
    return int(curve["k"][curve["selected"]][0])


@parametrize_with_checks(
    [FeatureMaskSelector("auto", max_epochs=2), SequentialAttentionSelector("auto", max_epochs=2)]
)
def test_scikit_learns_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", ["classes", "numbers", "two numbers", "labels"])
def test_about_as_many_are_chosen_as_tell_the_target(kind: str) -> None:
    X, y = planted(kind)
    fitted = auto().fit(X, y)
    assert 2 <= fitted.support_.sum() <= 6
    assert fitted.support_.sum() == chosen(fitted)
    assert fitted.support_[:2].all()


def test_without_a_target_as_many_are_chosen_as_there_are_factors() -> None:
    draw = np.random.default_rng(0)
    X = np.repeat(draw.normal(size=(N, 3)), 5, axis=1) + 0.05 * draw.normal(size=(N, 15))
    fitted = auto(max_epochs=300).fit(X)
    curve = fitted.selection_curve_
    assert curve["loss"][curve["selected"]][0] <= 0.1
    assert 3 <= chosen(fitted) <= 9


def test_the_curve_is_kept_and_the_rule_can_be_checked_on_it() -> None:
    curve = auto().fit(*planted()).selection_curve_
    assert list(curve) == ["k", "loss", "standard_error", "selected"]
    assert (curve["k"][0], curve["k"][-1]) == (1, D)
    assert (np.diff(curve["k"]) > 0).all()
    assert curve["selected"].sum() == 1
    best = np.argmin(curve["loss"])
    within = curve["loss"] <= curve["loss"][best] + curve["standard_error"][best]
    assert curve["k"][curve["selected"]][0] == curve["k"][within][0]


def test_halves_are_read_as_the_whole_is() -> None:
    """Forty whole numbers in 240 rows are classes; in a half they would be numbers to predict."""
    X, _ = planted()
    y = np.arange(N) % 40
    fitted = auto(max_epochs=2).fit(X, y)
    assert fitted.objective_ == "classification"
    assert fitted.selection_curve_["loss"].max() <= 1.0


def test_the_first_within_one_standard_error_is_chosen() -> None:
    error = np.full(4, 0.05)
    assert choose_count(np.array([0.5, 0.3, 0.26, 0.25]), error) == 1
    assert choose_count(np.array([0.5, 0.31, 0.26, 0.25]), error) == 2
    assert choose_count(np.array([0.5, 0.31, 0.26, 0.25]), error, enough=0.4) == 1


def test_of_noise_the_fewest_are_chosen() -> None:
    """Features that fit noise by chance are of no use to rows that took no part."""
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(60, 400)), draw.integers(2, size=60)
    curve = auto().fit(X, y).selection_curve_
    assert curve["loss"].min() > 0.3
    assert curve["k"][curve["selected"]][0] <= 20


def test_copies_of_a_row_fall_into_the_same_half() -> None:
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(40, 50)), np.arange(40) % 2
    fitted = auto().fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    assert fitted.selection_curve_["loss"].min() > 0.25


def test_the_number_may_be_changed_after_the_fit_and_back() -> None:
    fitted = auto().fit(*planted())
    count = fitted.support_.sum()
    assert fitted.set_params(n_features_to_select=11).support_.sum() == 11
    assert fitted.set_params(n_features_to_select="auto").support_.sum() == count


def test_a_fit_with_a_number_keeps_no_curve() -> None:
    fitted = auto().fit(*planted())
    fitted.set_params(n_features_to_select=4).fit(*planted())
    assert not hasattr(fitted, "selection_curve_")
    with pytest.raises(InputError, match=r'"auto" is chosen by `fit`'):
        fitted.set_params(n_features_to_select="auto").transform(planted()[0])


def test_of_portions_of_rows_the_first_chooses() -> None:
    X, y = planted()
    fitted = auto(max_epochs="auto").partial_fit(X[:120], y[:120])
    curve = fitted.selection_curve_
    fitted.partial_fit(X[120:], y[120:])
    assert fitted.selection_curve_ is curve
    assert fitted.support_.sum() == chosen(fitted)


def test_the_ranking_is_that_of_a_fit_without_the_choice() -> None:
    X, y = planted()
    without = auto().set_params(n_features_to_select=3)
    assert (auto().fit(X, y).ranking_ == without.fit(X, y).ranking_).all()


def test_a_method_that_needs_its_number_is_trained_for_the_chosen_one() -> None:
    X, y = planted("numbers")
    fitted = ConcreteSelector("auto", max_tries=1, max_epochs=5, random_state=0).fit(X, y)
    assert fitted._gate_spec.n_select == chosen(fitted)


@pytest.mark.parametrize("cls", [AllFeaturesSelector, RandomSelector])
def test_the_bounds_can_choose_too(cls: type[BaseSelector]) -> None:
    assert 1 <= chosen(cls("auto", random_state=0).fit(*planted())) <= D


def test_columns_to_keep_and_groups_count() -> None:
    X, y = planted()
    groups = {"a": [0, 5, 6], "b": [1, 2]}
    fitted = auto(feature_groups=groups, must_keep=[18, 19]).fit(X, y)
    assert fitted.selection_curve_["k"].min() == 2
    assert fitted.selection_curve_["k"].max() == D - 3
    assert fitted.support_[[18, 19]].all()


@pytest.mark.parametrize("kind", ["frame", "sparse", "list"])
def test_rows_may_come_in_any_form(kind: str) -> None:
    X, y = planted()
    forms = {"frame": pd.DataFrame(X), "sparse": sparse.csr_matrix(X), "list": X.tolist()}
    given = y.tolist() if kind == "list" else y
    found, same = auto(max_epochs=5).fit(forms[kind], given), auto(max_epochs=5).fit(X, y)
    assert found.selection_curve_["loss"] == pytest.approx(same.selection_curve_["loss"])


def test_columns_of_text_take_part() -> None:
    X, y = planted()
    frame = pd.DataFrame({"word": np.where(y, "yes", "no"), "noise": X[:, 9], "more": X[:, 8]})
    fitted = auto(categorical="auto").fit(frame, y)
    assert fitted.selected_names_.tolist() == ["word"]
    assert auto(categorical="auto").fit(Table.of(frame), y).support_.tolist() == [
        True,
        False,
        False,
    ]


def test_saving_and_loading_keeps_the_curve(tmp_path: Path) -> None:
    fitted = auto().fit(*planted())
    fitted.save(tmp_path / "selector")
    again = featuremask.load(tmp_path / "selector")
    assert again.n_features_to_select == "auto"
    assert (again.support_ == fitted.support_).all()
    for name, values in fitted.selection_curve_.items():
        assert (again.selection_curve_[name] == values).all()


def test_what_cannot_be_halved_is_refused() -> None:
    with pytest.raises(InputError, match="two different rows in each half"):
        auto().fit(np.eye(4), [0, 0, 0, 1])


def test_of_many_rows_some_of_each_class_are_halved_and_fewer_are_learned_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("featuremask.selectors._how_many._MOST_ROWS", 60)
    monkeypatch.setattr("featuremask.selectors._how_many._MODEL_ROWS", 10)
    X, y = planted()
    y = np.where(np.arange(N) < N // 4, 1, 0)
    rows = checked_rows(auto(), X, y, None, dtype=torch.float32)
    sample = _sampled(rows, 0)
    assert len(sample.index) == len(set(sample.index.tolist())) == 60
    assert np.array_equal(sample.index, np.sort(sample.index))
    for half in (0, 1):
        told = sample.index[sample.half == half]
        assert len(told) == 30
        assert abs(y[told].sum() - 30 / 4) <= 1
        assert sample.fits[sample.half == half].sum() == 10
    assert np.array_equal(sample.numbers, X[sample.index].astype(np.float32))


def test_of_few_rows_all_are_halved_and_learned_from() -> None:
    rows = checked_rows(auto(), *planted(), None, dtype=torch.float32)
    sample = _sampled(rows, 0)
    assert sample.index.tolist() == list(range(N))
    assert abs(sample.half.mean() - 0.5) < 0.01
    assert sample.fits.all()


@pytest.mark.parametrize("scale", [1.0, 0.5, 7.0])
def test_weights_count_as_rows_but_never_as_fewer_than_there_are_nor_ten_times_more(
    scale: float,
) -> None:
    weight = scale * (1.0 + np.arange(N) % 3)
    rows = checked_rows(auto(), *planted(), weight, dtype=torch.float32)
    sample = _sampled(rows, 0)
    assert sample.weight == pytest.approx(weight * np.clip(weight.sum(), N, 10 * N) / weight.sum())


@pytest.mark.parametrize("kind", ["classification", "labels", "regression", "reconstruction"])
def test_losses_of_held_out_rows_are_those_of_kernel_ridge_regression(kind: str) -> None:
    draw = np.random.default_rng(3)
    n, columns = 60, np.array([True, False, True, True, False])
    numbers = draw.normal(2.0, [1.0, 3.0, 0.1, 5.0, 1.0], size=(n, 5))
    classes = np.digitize(numbers[:, 0], [1.5, 2.5])
    target = {
        "classification": np.eye(3)[classes],
        "labels": np.stack([classes > 0, numbers[:, 3] > 2], axis=1).astype(float),
        "regression": numbers[:, :1] * 2 + 7,
        "reconstruction": np.empty((n, 0)),
    }[kind]
    half, fits, weight = np.arange(n) % 2, np.arange(n) % 5 > 0, 1.0 + np.arange(n) % 3
    sample = _Sample(np.arange(n), half, fits, numbers, target, weight)
    objective = "classification" if kind == "labels" else kind
    said = SimpleNamespace(
        objective=SimpleNamespace(kind=objective),
        classes=np.arange(3) if kind == "classification" else None,
    )
    found = _losses(SimpleNamespace(target=said), sample, 0, columns)  # type: ignore[arg-type]  # a part

    told, judged = (half == 0) & fits, half == 1
    mean = np.average(numbers[told], axis=0, weights=weight[told])
    spread = np.sqrt(np.average((numbers[told] - mean) ** 2, axis=0, weights=weight[told]))
    z, z_other = (((numbers[part] - mean) / spread)[:, columns] for part in (told, judged))
    if kind == "reconstruction":
        target = (numbers - mean) / np.sqrt(np.mean(spread**2))
        center, model = np.zeros(5), KernelRidge(alpha=_RIDGE)
    else:
        center = np.average(target[told], axis=0, weights=weight[told])
        model = KernelRidge(alpha=_RIDGE, kernel="rbf", gamma=1 / 3)
    model.fit(z, target[told] - center, sample_weight=weight[told])
    predicted, wanted = center + model.predict(z_other), target[judged]
    expected = {
        "classification": predicted.argmax(axis=1) != wanted.argmax(axis=1),
        "labels": ((predicted > 0.5) != (wanted > 0.5)).mean(axis=1),
        "regression": ((predicted - wanted) ** 2).mean(axis=1),
        "reconstruction": ((predicted - wanted) ** 2).mean(axis=1),
    }[kind]
    assert found == pytest.approx(expected.astype(float))
    assert 0.0 < found.mean() < 1.0
