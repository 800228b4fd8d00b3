"""scikit-learn's own checks: all of them, none expected to fail."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from featuremask import FeatureMaskSelector


@parametrize_with_checks([FeatureMaskSelector(max_epochs=2)])
def test_scikit_learns_check(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_every_check_passes_and_array_api_alone_is_skipped(strategy: Any) -> None:
    selector = FeatureMaskSelector(strategy=strategy)
    results = check_estimator(selector, on_skip=None, on_fail=None)
    counts = Counter(result["status"] for result in results)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    skipped = [result["check_name"] for result in results if result["status"] == "skipped"]
    assert failed == []
    assert skipped == ["check_array_api_input"]
    assert set(counts) == {"passed", "skipped"}
    assert counts["passed"] >= 50


def test_no_tag_excuses_the_selector_from_a_check() -> None:
    tags = FeatureMaskSelector().__sklearn_tags__()
    assert not tags._skip_test
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert not tags.target_tags.required
    assert FeatureMaskSelector(missing="auto").__sklearn_tags__().input_tags.allow_nan


def test_parameters_are_kept_as_given_until_fit_checks_them() -> None:
    words = FeatureMaskSelector().get_params(deep=False)
    for word in words:
        value = object()
        selector = FeatureMaskSelector(**{word: value})
        assert selector.get_params(deep=False)[word] is value
        assert set(vars(selector)) == set(words)


def test_a_clone_has_the_parameters_and_nothing_else() -> None:
    selector = FeatureMaskSelector(3, strategy="joint", must_keep=[1], random_state=4)
    fitted = selector.fit(np.random.default_rng(0).normal(size=(20, 5)))
    copy = clone(fitted)
    assert copy.get_params() == selector.get_params()
    assert not hasattr(copy, "ranking_")


def test_the_version_of_scikit_learn_is_one_whose_checks_are_known() -> None:
    assert tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 7)
