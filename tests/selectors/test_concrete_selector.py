"""What only the concrete selector does: several trainings, picks that agree, filling up."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from featuremask import ConcreteSelector
from featuremask.exceptions import FeatureMaskWarning, InputError

FAST = {"learning_rate": 0.1, "max_epochs": 60, "random_state": 0}


def rows(n_features: int = 8) -> NDArray[np.float64]:
    """Return rows in which the first two columns say all."""
    rng = np.random.default_rng(0)
    sources = rng.normal(size=(100, 2))
    return np.hstack([sources, sources @ rng.normal(size=(2, n_features - 2))])


def attempts(selector: ConcreteSelector) -> dict[int, int]:
    """Return how many epochs each training had."""
    numbers = [record["attempt"] for record in selector.history_]
    return {number: numbers.count(number) for number in numbers}


def test_trainings_end_when_the_neurons_have_decided() -> None:
    X = np.random.default_rng(0).normal(size=(100, 8))
    y = X[:, 0] + 2.0 * X[:, 1]
    selector = ConcreteSelector(2, **{**FAST, "max_epochs": 400}).fit(X, y)
    assert selector.converged_
    assert attempts(selector) == {1: 400, 2: 800}
    first, second = (r["mean_max"] for r in selector.history_ if "mean_max" in r)
    assert first < 0.998 <= second
    assert selector.get_support(indices=True).tolist() == [0, 1]


def test_each_training_takes_twice_as_long_as_the_one_before() -> None:
    with pytest.warns(FeatureMaskWarning, match=r"After 3 trainings .* Raise max_epochs"):
        selector = ConcreteSelector(2, **{**FAST, "learning_rate": 1e-4}, max_tries=3).fit(rows())
    assert attempts(selector) == {1: 60, 2: 120, 3: 240}
    assert not selector.converged_


def test_a_later_training_starts_from_other_weights() -> None:
    words = {**FAST, "learning_rate": 1e-9, "max_epochs": 1}
    one = ConcreteSelector(2, **words, max_tries=1).fit(rows())
    with pytest.warns(FeatureMaskWarning, match="have not decided"):
        two = ConcreteSelector(2, **words, max_tries=2).fit(rows())
    assert not np.allclose(one.scores_, two.scores_)


def test_one_training_is_taken_as_it_is_without_a_warning() -> None:
    selector = ConcreteSelector(2, **{**FAST, "learning_rate": 1e-4}, max_tries=1).fit(rows())
    assert attempts(selector) == {1: 60}
    assert not selector.converged_


def test_wall_time_bounds_all_trainings_together() -> None:
    words = {**FAST, "learning_rate": 1e-6, "max_epochs": 10**7, "max_seconds": 0.2}
    selector = ConcreteSelector(2, **words).fit(rows())
    assert attempts(selector).keys() == {1}


def test_checkpoints_of_several_trainings_do_not_meet(tmp_path: Path) -> None:
    words = {**FAST, "learning_rate": 1e-4, "max_epochs": 5, "max_tries": 3}
    with pytest.warns(FeatureMaskWarning, match="have not decided"):
        plain = ConcreteSelector(2, **words).fit(rows())
    for _ in range(2):
        with pytest.warns(FeatureMaskWarning, match="have not decided"):
            kept = ConcreteSelector(2, **words, checkpoint=tmp_path).fit(rows())
        assert (kept.scores_ == plain.scores_).all()
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_dir()) == ["attempt-2", "attempt-3"]


@pytest.fixture(scope="module")
def fitted() -> ConcreteSelector:
    """Six neurons for two sources, of which some pick the same. Do not refit."""
    words: dict[str, Any] = {**FAST, "max_epochs": 200, "max_tries": 1}
    return ConcreteSelector(6, **words).fit(rows())


@pytest.fixture
def agreeing(fitted: ConcreteSelector) -> ConcreteSelector:
    return copy.copy(fitted)


def test_features_picked_twice_are_counted_once(agreeing: ConcreteSelector) -> None:
    picks = set(agreeing.network_[1].gate.picks().tolist())
    assert 1 <= agreeing.n_unique_ == len(picks) < 6
    assert set(np.flatnonzero(agreeing.ranking_ <= len(picks))) == picks


def test_the_selection_is_filled_up_by_probability(agreeing: ConcreteSelector) -> None:
    probability = agreeing.network_[1].gate.probabilities().amax(0).numpy()
    filled = np.flatnonzero(agreeing.support_ & (agreeing.ranking_ > agreeing.n_unique_))
    left = np.flatnonzero(~agreeing.support_)
    assert agreeing.support_.sum() == 6
    assert probability[filled].min() >= probability[left].max()


def test_or_left_as_it_is(agreeing: ConcreteSelector) -> None:
    agreeing.set_params(fill=None)
    assert agreeing.support_.sum() == agreeing.n_unique_
    assert agreeing.transform(rows()).shape == (100, agreeing.n_unique_)
    assert agreeing.set_params(n_features_to_select=8).support_.sum() == agreeing.n_unique_


def test_agreement_is_counted_by_groups_and_with_kept_columns() -> None:
    words = {**FAST, "max_tries": 1, "feature_groups": {"a": [0, 1, 2]}, "must_keep": [7]}
    selector = ConcreteSelector(5, **words).fit(rows())
    picks = selector.network_[1].gate.picks().tolist()
    assert len(picks) == 5
    assert 7 in picks
    assert selector.n_unique_ == len({0 if pick < 3 else pick for pick in picks})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"max_tries": 0}, "max_tries must be a positive integer; got 0"),
        ({"max_tries": 1.0}, r"max_tries must be a positive integer; got 1\.0"),
        ({"fill": "mean"}, "fill must be \"probability\" or None; got 'mean'"),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConcreteSelector(2, **words).fit(rows())
