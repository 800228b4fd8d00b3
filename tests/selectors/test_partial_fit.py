"""Fitting portion by portion goes on from call to call."""

import pickle
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError

N, D = 100, 6


def portion(seed: int, n: int = N) -> tuple[Any, Any]:
    X = np.random.default_rng(seed).normal(size=(n, D))
    return X, (X[:, 2] > 0).astype(int)


def selector(**words: Any) -> FeatureMaskSelector:
    return FeatureMaskSelector(2, **{"random_state": 0, "learning_rate": 0.01, **words})


def test_many_portions_learn_what_is_planted() -> None:
    learner = selector()
    for seed in range(60):
        learner.partial_fit(*portion(seed))
    assert learner.ranking_[2] == 1
    losses = [record["loss"] for record in learner.history_]
    assert np.mean(losses[-5:]) < 0.8 * np.mean(losses[:5])


def test_each_call_is_one_pass_and_one_record() -> None:
    learner = selector(batch_size=25)
    for seed in range(3):
        learner.partial_fit(*portion(seed, 400))
    assert [record["epoch"] for record in learner.history_] == [1, 2, 3]
    steps = [record["step"] for record in learner.history_]
    assert steps == [16, 16, 16]


def test_one_call_leaves_a_selector_that_tells_everything() -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y)
    assert sorted(learner.ranking_) == list(range(1, D + 1))
    assert not learner.network_[1].gate.competition.sequential
    assert learner.transform(X).shape == (N, 2)
    assert learner.network_(torch.from_numpy(X)).shape == (N, 2)


def test_the_ranking_is_that_of_the_mask_over_the_rows_of_the_last_call() -> None:
    learner = selector(learning_rate=1e-12).partial_fit(*portion(0))
    first = learner.scores_
    X, y = portion(1)
    second = learner.partial_fit(X, y).scores_
    assert not np.allclose(first, second, rtol=1e-6)
    gate, standardize = learner.network_[1].gate, learner.network_[0]
    expected = gate.importance(gate.statistic(standardize(torch.from_numpy(X)))).scores
    np.testing.assert_allclose(second, expected.numpy(), rtol=1e-5)


def test_the_same_portions_give_the_same_bits() -> None:
    scores = []
    for _ in range(2):
        learner = selector()
        for seed in range(4):
            learner.partial_fit(*portion(seed))
        scores.append(learner.scores_)
    assert np.array_equal(*scores)


def test_the_optimizer_goes_on_and_rows_come_in_another_order_each_time() -> None:
    orders: list[list[float]] = []

    class Watch(torch.nn.Linear):
        def forward(self, x: Any) -> Any:
            if self.training:
                orders[-1] += x[:, 0].tolist()
            return super().forward(x)

    X, y = portion(0, 300)
    words = {"network": Watch(D, 2), "must_keep": [0], "standardize": "none", "batch_size": 100}
    learner = selector(**words)
    for _ in range(2):
        orders.append([])
        learner.partial_fit(X, y)
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    steps = {int(entry["step"]) for entry in learner._partial.optimizer.state.values()}
    assert steps == {6}


def test_a_copy_goes_on_like_the_original() -> None:
    learner = selector().partial_fit(*portion(0))
    copy = pickle.loads(pickle.dumps(learner))
    for seed in range(1, 4):
        learner.partial_fit(*portion(seed))
        copy.partial_fit(*portion(seed))
    assert np.array_equal(copy.scores_, learner.scores_)


def test_the_scale_of_columns_is_that_of_the_first_call() -> None:
    learner = selector().partial_fit(*portion(0))
    mean = learner.network_[0].mean.clone()
    X, y = portion(1)
    learner.partial_fit(X + 100.0, y)
    assert torch.equal(learner.network_[0].mean, mean)


def test_a_column_that_is_constant_in_one_portion_may_vary_in_the_next() -> None:
    X, y = portion(0)
    X[:, 2] = 1.0
    learner = selector().partial_fit(X, y)
    for seed in range(1, 60):
        learner.partial_fit(*portion(seed))
    assert learner.ranking_[2] == 1


def test_classes_may_be_named_in_the_first_call() -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y, classes=[0, 1, 2])
    assert learner.classes_.tolist() == [0, 1, 2]
    learner.partial_fit(X, np.full(N, 2))
    assert learner.network_(torch.from_numpy(X)).shape == (N, 3)


def test_a_portion_may_lack_classes() -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y).partial_fit(X, np.zeros(N, dtype=int))
    assert learner.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("unseen", [2, -1])
def test_a_class_that_was_not_named_is_refused_and_nothing_is_lost(unseen: int) -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y)
    before = learner.scores_
    with pytest.raises(InputError, match=f"y holds the class {unseen}, which was not among"):
        learner.partial_fit(X, np.where(np.arange(N) == 5, unseen, y))
    assert learner.scores_ is before
    learner.partial_fit(X, y)


def test_a_number_keeps_the_scale_of_the_first_call() -> None:
    X, _ = portion(0)
    learner = selector(learning_rate=1e-12)
    losses = [
        learner.partial_fit(X, 1000.0 + factor * X[:, 2]).history_[-1]["loss"]
        for factor in (1.0, 100.0)
    ]
    assert losses[1] > 1000 * losses[0]


def test_without_a_target_it_reconstructs() -> None:
    learner = selector()
    for seed in range(3):
        learner.partial_fit(portion(seed)[0])
    assert learner.objective_ == "reconstruction"


def test_a_target_cannot_disappear() -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y)
    with pytest.raises(InputError, match=r"earlier rows had a target.*got y=None"):
        learner.partial_fit(X)


def test_other_columns_are_refused() -> None:
    X, y = portion(0)
    learner = selector().partial_fit(X, y)
    with pytest.raises(
        ValueError, match="X has 5 features, but FeatureMaskSelector is expecting 6"
    ):
        learner.partial_fit(X[:, :5], y)


def test_weights_and_sparse_rows_are_taken() -> None:
    X, y = portion(0)
    weight = np.linspace(0.0, 2.0, N)
    dense = selector().partial_fit(X, y, sample_weight=weight)
    compact = selector().partial_fit(sparse.csr_matrix(X), y, sample_weight=weight)
    assert np.array_equal(dense.scores_, compact.scores_)
    assert not np.array_equal(dense.scores_, selector().partial_fit(X, y).scores_)


def test_a_fit_starts_anew_and_so_does_the_call_after_it() -> None:
    X, y = portion(0)
    learner = selector(max_epochs=2).partial_fit(X, y).fit(X[:, :4], y)
    assert learner.n_features_in_ == 4
    assert len(learner.history_) == 2
    learner.partial_fit(X, y)
    assert learner.n_features_in_ == D
    assert len(learner.history_) == 1


@pytest.mark.parametrize(
    ("classes", "message"),
    [([1], "at least two classes; got only 1"), ([], "at least two classes")],
)
def test_classes_that_are_too_few_are_refused(classes: Any, message: str) -> None:
    X, y = portion(0)
    with pytest.raises(InputError, match=message):
        selector().partial_fit(X, y, classes=classes)


def test_a_word_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InputError, match="batch_size must be"):
        selector(batch_size=0).partial_fit(*portion(0))


def test_portions_are_counted_from_one() -> None:
    rng = np.random.default_rng(0)
    selector = FeatureMaskSelector(2, random_state=0)
    for _ in range(3):
        X = rng.normal(size=(30, 4))
        selector.partial_fit(X, X[:, 0] > 0, classes=[False, True])
    assert [record["epoch"] for record in selector.history_] == [1, 2, 3]
