"""What a fitted selector tells: ranking, scores, support, names, and any number of features."""

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError

from featuremask import FeatureMaskSelector
from featuremask.exceptions import FeatureMaskWarning, InputError

N, D = 120, 8


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, D)) * np.arange(1, D + 1)
    return X, (X[:, 2] / 3 + X[:, 5] / 6 > 0).astype(int)


@pytest.fixture(scope="module", params=["narrowing", "sequential", "joint"])
def fitted(request: pytest.FixtureRequest, data: Any) -> FeatureMaskSelector:
    """One fit for each strategy; do not refit, and undo what you set."""
    words = {"strategy": request.param, "max_epochs": 120, "random_state": 0}
    return FeatureMaskSelector(3, **words).fit(*data)


# ---- what is there --------------------------------------------------------------------------


def test_the_ranking_is_a_strict_permutation(fitted: FeatureMaskSelector) -> None:
    assert sorted(fitted.ranking_) == list(range(1, D + 1))


def test_a_stable_sort_of_the_scores_gives_the_ranking(fitted: FeatureMaskSelector) -> None:
    order = np.argsort(-fitted.scores_, kind="stable")
    assert np.array_equal(fitted.ranking_[order], np.arange(1, D + 1))


def test_importances_are_not_negative_and_sum_to_one(fitted: FeatureMaskSelector) -> None:
    assert (fitted.feature_importances_ >= 0).all()
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)
    assert fitted.feature_importances_[fitted.ranking_ == 1] == fitted.feature_importances_.max()


def test_the_selected_are_those_of_the_best_ranks(fitted: FeatureMaskSelector) -> None:
    assert np.array_equal(fitted.support_, fitted.ranking_ <= 3)
    assert np.array_equal(fitted.get_support(), fitted.support_)
    assert np.array_equal(fitted.get_support(indices=True), np.flatnonzero(fitted.ranking_ <= 3))


def test_the_planted_features_are_found(fitted: FeatureMaskSelector) -> None:
    assert fitted.support_[[2, 5]].all()


def test_all_that_is_told_is_plain_numpy(fitted: FeatureMaskSelector) -> None:
    for name in ("scores_", "feature_importances_", "ranking_", "support_"):
        assert type(getattr(fitted, name)) is np.ndarray
        assert getattr(fitted, name).shape == (D,)
    assert fitted.scores_.dtype == np.float64
    assert fitted.ranking_.dtype == np.int64
    assert fitted.support_.dtype == np.bool_
    assert np.isfinite(fitted.scores_).all()
    assert fitted.n_features_in_ == D
    assert fitted.objective_ == "classification"
    assert fitted.classes_.tolist() == [0, 1]


def test_the_history_can_be_said_in_json(fitted: FeatureMaskSelector) -> None:
    assert json.loads(json.dumps(fitted.history_, allow_nan=False)) == fitted.history_
    assert len(fitted.history_) == 120
    assert fitted.history_[-1]["loss"] < fitted.history_[0]["loss"]


def test_the_network_takes_whole_rows_one_by_one(fitted: FeatureMaskSelector, data: Any) -> None:
    rows = torch.from_numpy(data[0]).float()
    with torch.no_grad():
        together, alone = fitted.network_(rows), fitted.network_(rows[:1])
    assert together.shape == (N, 2)
    torch.testing.assert_close(together[:1], alone)
    accuracy = (together.argmax(1).numpy() == data[1]).mean()
    assert accuracy > 0.9


def test_names_are_made_up_where_there_are_none(fitted: FeatureMaskSelector) -> None:
    best_first = [f"x{i}" for i in np.argsort(fitted.ranking_)]
    assert fitted.selected_names_.tolist() == best_first[:3]
    assert fitted.get_feature_names_out().tolist() == [
        f"x{i}" for i in np.flatnonzero(fitted.support_)
    ]
    assert not hasattr(fitted, "feature_names_in_")


def test_the_table_lists_all_columns_best_first(fitted: FeatureMaskSelector) -> None:
    frame = pd.DataFrame(fitted.selection_table())
    assert list(frame) == ["rank", "column", "score", "share", "selected"]
    assert frame["rank"].tolist() == list(range(1, D + 1))
    assert frame["selected"].tolist() == [True] * 3 + [False] * (D - 3)
    assert frame["column"][:3].tolist() == fitted.selected_names_.tolist()
    assert frame["score"].is_monotonic_decreasing
    assert frame["share"].sum() == pytest.approx(1.0)


def test_the_html_repr_renders(fitted: FeatureMaskSelector) -> None:
    html = fitted._repr_html_()
    assert "FeatureMaskSelector" in html
    assert "<script>alert" not in html
    assert "strategy=" in repr(FeatureMaskSelector(strategy="joint"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.transform(np.zeros((2, D))),
        lambda s: s.inverse_transform(np.zeros((2, 3))),
        lambda s: s.get_support(),
        lambda s: s.support_,
        lambda s: s.selected_names_,
        lambda s: s.selection_table(),
        lambda s: s.get_feature_names_out(),
        lambda s: s.save("nowhere"),
    ],
)
def test_before_fit_there_is_nothing_to_tell(ask: Any) -> None:
    with pytest.raises(NotFittedError, match=r"is not fitted yet|not fitted"):
        ask(FeatureMaskSelector())


# ---- columns in, columns out ----------------------------------------------------------------


def test_transform_returns_the_users_own_values(fitted: FeatureMaskSelector, data: Any) -> None:
    assert np.array_equal(fitted.transform(data[0]), data[0][:, fitted.support_])


def test_inverse_transform_puts_them_back_with_zeros_elsewhere(
    fitted: FeatureMaskSelector, data: Any
) -> None:
    back = fitted.inverse_transform(fitted.transform(data[0]))
    assert np.array_equal(back[:, fitted.support_], data[0][:, fitted.support_])
    assert not back[:, ~fitted.support_].any()


def test_fit_transform_is_fit_and_transform(data: Any) -> None:
    words = {"max_epochs": 2, "random_state": 0}
    together = FeatureMaskSelector(3, **words).fit_transform(*data)
    assert np.array_equal(together, FeatureMaskSelector(3, **words).fit(*data).transform(data[0]))


def test_the_users_data_is_not_written(data: Any) -> None:
    X, y = data[0].astype(np.float32), data[1].copy()
    before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    FeatureMaskSelector(max_epochs=2).fit(X, y, sample_weight=np.ones(N)).transform(X)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


# ---- how many -------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "count"), [(1, 1), (5, 5), (D, D), (0.5, 4), (0.01, 1), (None, 4)])
def test_the_number_may_change_without_a_refit(
    fitted: FeatureMaskSelector, data: Any, k: Any, count: int
) -> None:
    history = fitted.history_
    try:
        fitted.set_params(n_features_to_select=k)
        assert fitted.transform(data[0]).shape == (N, count)
        assert np.array_equal(fitted.support_, fitted.ranking_ <= count)
    finally:
        fitted.set_params(n_features_to_select=3)
    assert fitted.history_ is history


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_the_ranking_does_not_depend_on_the_number(data: Any, strategy: Any) -> None:
    words = {"strategy": strategy, "max_epochs": 20, "random_state": 0}
    scores = [FeatureMaskSelector(k, **words).fit(*data).scores_ for k in (1, 5, 0.9, None)]
    assert all(np.array_equal(scores[0], other) for other in scores[1:])


def test_more_than_there_are_warns_and_keeps_all(data: Any) -> None:
    with pytest.warns(FeatureMaskWarning, match=r"=99 is more than the 8 features") as seen:
        selector = FeatureMaskSelector(99, max_epochs=1).fit(*data)
    assert len(seen) == 1
    with pytest.warns(FeatureMaskWarning, match="all are kept"):
        assert selector.support_.all()


@pytest.mark.parametrize("k", [0, -3, 0.0, 1.5, "all", True])
def test_other_numbers_are_refused_before_training(data: Any, k: Any) -> None:
    selector = FeatureMaskSelector(k)
    with pytest.raises(InputError, match="n_features_to_select must be a positive integer"):
        selector.fit(*data)
    assert not hasattr(selector, "ranking_")


def test_the_sequential_strategy_takes_few_features_at_first_and_all_in_the_end() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    selector = FeatureMaskSelector(strategy="sequential", random_state=0).fit(X, X[:, 0] > 0)
    rounds = np.floor(np.sort(selector.scores_)[::-1] - 1e-9)
    assert len(set(rounds)) > 15
    assert (rounds == rounds[0]).sum() == 1
    assert selector.network_[1].gate.competition.is_open.all()


def test_the_narrowing_strategy_scores_the_share_of_training_a_feature_was_open_for() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    selector = FeatureMaskSelector(random_state=0).fit(X, X[:, 0] > 0)
    assert selector.ranking_[0] == 1
    assert ((selector.scores_ > 0.0) & (selector.scores_ < 1.0)).all()
    # The budget 40 ** (1 - t) has this mean over t from 0 to 1.
    assert np.isclose(selector.scores_.sum(), 39 / np.log(40), rtol=0.02)


@pytest.mark.parametrize(
    "words", [{"mask_scale": "mean"}, {"attenuation": False}, {"normalization": False}], ids=str
)
def test_words_of_the_paper_mask_ask_for_a_joint_one(data: Any, words: dict[str, Any]) -> None:
    def scores(**more: Any) -> Any:
        selector = FeatureMaskSelector(max_epochs=2, random_state=0, **words, **more)
        return selector.fit(*data).scores_

    assert np.array_equal(scores(), scores(strategy="joint"))
    assert not np.array_equal(scores(), scores(strategy="sequential"))


def test_the_joint_strategy_lets_all_compete_until_the_end() -> None:
    X = np.random.default_rng(0).normal(size=(60, 40))
    selector = FeatureMaskSelector(strategy="joint", max_epochs=5).fit(X, X[:, 0] > 0)
    assert not selector.network_[1].gate.competition.is_open.any()
    assert np.isclose(
        np.exp(selector.scores_) / np.exp(selector.scores_).sum(), selector.feature_importances_
    ).all()


# ---- small and odd data ---------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
@pytest.mark.parametrize("y", [None, [0, 1, 1], [0.5, 1.5, 9.0]])
def test_one_feature_is_enough(strategy: Any, y: Any) -> None:
    selector = FeatureMaskSelector(strategy=strategy, max_epochs=3).fit([[1.0], [2.0], [4.0]], y)
    assert selector.ranking_.tolist() == [1]
    assert selector.feature_importances_.tolist() == [1.0]
    assert selector.support_.tolist() == [True]


@pytest.mark.parametrize("y", [None, [0, 1], [0.5, 1.5]])
def test_two_rows_are_enough(y: Any) -> None:
    X = [[1.0, 2.0, 3.0], [2.0, 2.5, 1.0]]
    selector = FeatureMaskSelector(max_epochs=3).fit(X, y)
    assert sorted(selector.ranking_) == [1, 2, 3]


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_columns_that_are_all_constant_go_by_what_is_there(strategy: Any) -> None:
    selector = FeatureMaskSelector(strategy=strategy, max_epochs=3).fit(
        np.ones((10, 4)), [0, 1] * 5
    )
    assert sorted(selector.ranking_) == [1, 2, 3, 4]
    assert np.isfinite(selector.scores_).all()
    assert selector.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_constant_columns_come_last_in_their_order(data: Any, strategy: Any) -> None:
    X = data[0].copy()
    X[:, [1, 4, 6]] = [3.0, 0.0, -1e6]
    selector = FeatureMaskSelector(strategy=strategy, max_epochs=5, random_state=0)
    selector.fit(X, data[1])
    assert selector.ranking_[[1, 4, 6]].tolist() == [6, 7, 8]
    assert (selector.feature_importances_[[1, 4, 6]] == 0.0).all()
    order = np.argsort(-selector.scores_, kind="stable")
    assert np.array_equal(order, np.argsort(selector.ranking_))
    assert selector.network_(torch.from_numpy(X)).shape == (N, 2)


def test_constant_columns_may_compete(data: Any) -> None:
    X = data[0].copy()
    X[:, 0] = 5.0
    words = {"max_epochs": 1, "random_state": 0, "constant_features": "compete"}
    ranks = [
        FeatureMaskSelector(**words | {"random_state": seed}).fit(X, data[1]).ranking_[0]
        for seed in range(4)
    ]
    assert min(ranks) < D


def test_constant_columns_that_must_be_kept_come_first(data: Any) -> None:
    X = data[0].copy()
    X[:, 3] = 7.0
    selector = FeatureMaskSelector(2, must_keep=[3], max_epochs=2).fit(X, data[1])
    assert selector.ranking_[3] == 1


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_twenty_thousand_features_are_ranked(strategy: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 20_000)).astype(np.float32)
    selector = FeatureMaskSelector(10, strategy=strategy, max_epochs=30, random_state=0)
    selector.fit(X, X[:, 7] > 0)
    assert sorted(selector.ranking_) == list(range(1, 20_001))
    order = np.argsort(-selector.scores_, kind="stable")
    assert np.array_equal(order, np.argsort(selector.ranking_))


def test_a_default_fit_of_a_small_table_is_a_matter_of_moments() -> None:
    X = np.random.default_rng(0).normal(size=(200, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = FeatureMaskSelector(random_state=0).fit(X, X[:, 0] > 0)
    assert selector.history_[-1]["seconds"] < 2.0
    assert selector.ranking_[0] <= 2
