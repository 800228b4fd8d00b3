"""Groups are chosen or dropped as one, and columns that must be kept come first."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError

WORDS: dict[str, Any] = {"max_epochs": 3, "random_state": 0}
GROUPS = [0, 1, 0, 2, 1, 3]


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(50, 6))
    return X, (X[:, 3] > 0).astype(int)


@pytest.fixture(scope="module", params=["narrowing", "sequential", "joint"])
def fitted(request: pytest.FixtureRequest, data: Any) -> FeatureMaskSelector:
    """One fit for each strategy; do not refit, and undo what you set."""
    words = WORDS | {"strategy": request.param, "max_epochs": 60}
    return FeatureMaskSelector(2, feature_groups=GROUPS, **words).fit(*data)


def test_members_of_a_group_have_the_same_score_and_share(fitted: Any) -> None:
    for members in ([0, 2], [1, 4]):
        assert len(set(fitted.scores_[members])) == 1
        assert len(set(fitted.feature_importances_[members])) == 1
    assert len(set(fitted.scores_)) == 4


def test_members_of_a_group_rank_one_after_the_other(fitted: Any) -> None:
    for members in ([0, 2], [1, 4]):
        assert np.diff(fitted.ranking_[members]).tolist() == [1]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 0.5, None])
def test_the_number_counts_groups(fitted: Any, k: Any) -> None:
    try:
        fitted.set_params(n_features_to_select=k)
        chosen = {GROUPS[i] for i in np.flatnonzero(fitted.support_)}
        assert len(chosen) == (k if isinstance(k, int) else 2)
        whole = np.isin(GROUPS, list(chosen))
        assert np.array_equal(fitted.support_, whole)
    finally:
        fitted.set_params(n_features_to_select=2)


def test_a_group_by_name_or_position_is_the_same_group(data: Any) -> None:
    frame = pd.DataFrame(data[0], columns=list("abcdef"))
    said = [
        {"x": ["a", "c"], "y": ["b", "e"]},
        {"x": [0, 2], "y": [1, "e"]},
        ["x", "y", "x", None, "y", None],
        GROUPS,
    ]
    scores = [
        FeatureMaskSelector(feature_groups=groups, **WORDS).fit(frame, data[1]).scores_
        for groups in said
    ]
    assert all(np.array_equal(scores[0], other) for other in scores[1:])


def test_a_group_whose_members_are_partly_constant_is_ranked_by_the_others(data: Any) -> None:
    X = data[0].copy()
    X[:, [0, 5]] = 1.0
    selector = FeatureMaskSelector(feature_groups=GROUPS, **WORDS).fit(X, data[1])
    assert selector.scores_[0] == selector.scores_[2]
    assert selector.ranking_[5] == 6


def test_groups_that_are_wholly_constant_come_last_each_as_one(data: Any) -> None:
    X = data[0].copy()
    X[:, [0, 1, 2, 4]] = 1.0
    selector = FeatureMaskSelector(feature_groups=GROUPS, **WORDS).fit(X, data[1])
    assert selector.ranking_[[0, 2, 1, 4]].tolist() == [3, 4, 5, 6]
    order = np.argsort(-selector.scores_, kind="stable")
    assert np.array_equal(order, np.argsort(selector.ranking_))


def test_all_columns_in_one_group_are_all_or_nothing(data: Any) -> None:
    selector = FeatureMaskSelector(1, feature_groups=["a"] * 6, **WORDS).fit(*data)
    assert selector.support_.all()
    assert selector.ranking_.tolist() == [1, 2, 3, 4, 5, 6]


@settings(max_examples=8)
@given(
    labels=st.lists(st.integers(0, 3), min_size=6, max_size=6),
    kept=st.sets(st.integers(0, 5), max_size=2),
    strategy=st.sampled_from(["narrowing", "sequential", "joint"]),
)
def test_whatever_the_groups_the_promises_hold(
    data: Any, labels: list[int], kept: set[int], strategy: Any
) -> None:
    words = WORDS | {"max_epochs": 1, "strategy": strategy}
    n_groups = len(set(labels))
    selector = FeatureMaskSelector(
        n_groups, feature_groups=labels, must_keep=sorted(kept), **words
    ).fit(*data)
    assert sorted(selector.ranking_) == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(
        np.argsort(-selector.scores_, kind="stable"), np.argsort(selector.ranking_)
    )
    for label in set(labels):
        members = np.flatnonzero(np.array(labels) == label)
        assert len(set(selector.scores_[members])) == 1
        assert np.ptp(selector.ranking_[members]) == len(members) - 1
    kept_groups = {labels[i] for i in kept}
    first = [labels[i] in kept_groups for i in np.argsort(selector.ranking_)]
    assert first == sorted(first, reverse=True)


# ---- must_keep ------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_columns_to_keep_come_first_and_count(data: Any, strategy: Any) -> None:
    words = WORDS | {"strategy": strategy, "max_epochs": 40}
    selector = FeatureMaskSelector(3, must_keep=[5, 1], **words).fit(*data)
    assert sorted(selector.ranking_[[1, 5]]) == [1, 2]
    assert selector.support_.sum() == 3
    assert selector.support_[3]
    assert np.array_equal(
        np.argsort(-selector.scores_, kind="stable"), np.argsort(selector.ranking_)
    )


def test_the_gate_of_a_kept_column_is_one(data: Any) -> None:
    selector = FeatureMaskSelector(3, must_keep=[5], strategy="joint", **WORDS).fit(*data)
    gate = selector.network_[1].gate
    multiplier = gate.multiplier(gate.running_code.new_zeros(1, 6)).detach()
    assert multiplier[5] == 1.0
    assert multiplier.sum() == pytest.approx(1.0 + gate.scale, rel=1e-5)


def test_a_kept_member_keeps_its_group(data: Any) -> None:
    selector = FeatureMaskSelector(1, must_keep=[4], feature_groups=GROUPS, **WORDS).fit(*data)
    assert np.flatnonzero(selector.support_).tolist() == [1, 4]


def test_columns_to_keep_may_be_names(data: Any) -> None:
    frame = pd.DataFrame(data[0], columns=list("abcdef"))
    selector = FeatureMaskSelector(1, must_keep=["f"], **WORDS).fit(frame, data[1])
    assert selector.selected_names_.tolist() == ["f"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"must_keep": [0, 0]}, "must_keep names a column twice: position 0"),
        ({"must_keep": ["a"]}, "unknown column 'a'; the data has no column names"),
        ({"must_keep": [6]}, "must_keep holds positions of columns, 0 to 5; got 6"),
        ({"must_keep": "abc"}, "must_keep must be a sequence of column names or positions"),
        ({"must_keep": [1, 2, 3, 4]}, "got 4 columns or groups to keep and 3 to select"),
        ({"feature_groups": {"g": [0, 9]}}, "feature_groups holds positions of columns, 0 to 5"),
        ({"feature_groups": {"g": ["q"]}}, "feature_groups names the unknown column 'q'"),
        ({"feature_groups": [1, 2]}, "one label for each of the 6 columns.*got 2 labels"),
        ({"feature_groups": 4}, "feature_groups must be None, a mapping from a label"),
    ],
)
def test_columns_that_are_not_there_are_named(data: Any, words: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureMaskSelector(3, **WORDS, **words).fit(*data)
