from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from featuremask.datasets import make_planted
from featuremask.exceptions import InputError

KINDS = ["linear", "xor", "rings", "additive", "mixed", "factors"]
SEEDS = [0, 1, 2]


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    n_redundant=st.integers(0, 5),
    n_irrelevant=st.integers(0, 10),
    seed=st.integers(0, 1000),
)
def test_every_column_has_one_part(kind, n_redundant, n_irrelevant, seed):
    n_features = 6 + n_redundant + n_irrelevant
    made = make_planted(30, n_features, 6, kind=kind, n_redundant=n_redundant, random_state=seed)
    parts = np.concatenate([made.relevant, made.redundant, made.irrelevant])
    assert np.array_equal(np.sort(parts), np.arange(n_features))
    assert (len(made.relevant), len(made.redundant)) == (6, n_redundant)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_tell_nothing_by_mean_or_variance(kind):
    made = make_planted(5000, 30, kind=kind, n_redundant=5, random_state=0)
    assert np.abs(made.X.mean(axis=0)).max() < 0.08
    assert np.abs(made.X.var(axis=0) - 1).max() < 0.12


def test_positions_are_shuffled():
    positions = [make_planted(10, 50, 5, random_state=seed).relevant.tolist() for seed in SEEDS]
    assert len(set(map(tuple, positions))) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_groups_are_the_relevant_columns(kind):
    made = make_planted(50, 30, kind=kind, random_state=0)
    assert sorted(column for group in made.groups for column in group) == made.relevant.tolist()


def test_support_marks_the_relevant_columns():
    made = make_planted(20, 30, random_state=0)
    assert np.flatnonzero(made.support).tolist() == made.relevant.tolist()


def test_a_linear_signal_is_the_relevant_columns_only():
    made = make_planted(300, 30, random_state=0)
    fit = LinearRegression().fit(made.X, made.signal)
    assert fit.score(made.X, made.signal) == pytest.approx(1)
    assert np.abs(fit.coef_[~made.support]).max() < 1e-9
    assert np.abs(fit.coef_[made.support]).min() > 0.1


def test_the_groups_of_xor_are_the_columns_that_multiply():
    made = make_planted(300, 20, 6, kind="xor", random_state=3)
    products = np.column_stack([made.X[:, a] * made.X[:, b] for a, b in made.groups])
    assert LinearRegression().fit(products, made.signal).score(products, made.signal) > 1 - 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_signal_is_standardized(kind):
    made = make_planted(100, 30, kind=kind, random_state=0)
    assert made.signal.mean() == pytest.approx(0, abs=1e-12)
    assert made.signal.std() == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_noise_has_the_deviation_that_was_asked_for(noise):
    made = make_planted(20_000, 12, noise=noise, task="regression", random_state=0)
    assert (made.y - made.signal).std() == pytest.approx(noise, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_have_equal_shares(kind, n_classes):
    made = make_planted(90, 30, kind=kind, n_classes=n_classes, random_state=0)
    assert np.bincount(made.y).tolist() == [90 // n_classes] * n_classes


def test_redundant_columns_copy_a_relevant_one():
    made = make_planted(2000, 30, n_redundant=8, random_state=0)
    assert set(made.copied_from) <= set(made.relevant)
    for column, source in zip(made.redundant, made.copied_from, strict=True):
        assert np.corrcoef(made.X[:, column], made.X[:, source])[0, 1] > 0.98
        assert not np.array_equal(made.X[:, column], made.X[:, source])


def test_columns_have_the_correlation_that_was_asked_for():
    made = make_planted(20_000, 12, 3, correlation=0.4, random_state=0)
    correlations = np.corrcoef(made.X.T)[np.triu_indices(12, 1)]
    assert correlations == pytest.approx(np.full(66, 0.4), abs=0.04)


def test_columns_are_independent_by_default():
    made = make_planted(20_000, 12, 3, random_state=0)
    correlations = np.corrcoef(made.X.T)[np.triu_indices(12, 1)]
    assert np.abs(correlations).max() < 0.04


@pytest.mark.parametrize("kind", ["xor", "rings"])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_single_feature_tells_anything_where_they_interact(kind, seed):
    made = make_planted(2000, 30, 2, kind=kind, random_state=seed)
    assert f_classif(made.X, made.y)[1][made.relevant].min() > 0.001


@pytest.mark.parametrize("kind", ["xor", "rings"])
def test_together_they_tell_the_class(kind):
    made = make_planted(600, 10, 2, kind=kind, random_state=0)
    relevant = made.X[:, made.support]
    assert SVC().fit(relevant[:400], made.y[:400]).score(relevant[400:], made.y[400:]) > 0.85
    linear = LogisticRegression().fit(relevant[:400], made.y[:400])
    assert linear.score(relevant[400:], made.y[400:]) < 0.65


@pytest.mark.parametrize("seed", range(5))
def test_an_f_test_misses_at_least_three_of_ten_mixed_features(seed):
    made = make_planted(1000, 100, 10, kind="mixed", random_state=seed)
    best = np.argsort(-f_classif(made.X, made.y)[0])[:10]
    assert len(np.intersect1d(best, made.relevant)) <= 7


@pytest.mark.parametrize("seed", SEEDS)
def test_an_f_test_finds_linear_features(seed):
    made = make_planted(1000, 100, 10, random_state=seed)
    best = np.argsort(-f_classif(made.X, made.y)[0])[:10]
    assert np.array_equal(np.sort(best), made.relevant)


def test_only_relevant_columns_of_factors_can_be_told_from_the_others():
    made = make_planted(1000, 20, 8, kind="factors", noise=0.1, random_state=0)
    explained = []
    for column in range(20):
        others = np.delete(made.X, column, axis=1)
        fit = LinearRegression().fit(others[:500], made.X[:500, column])
        explained.append(fit.score(others[500:], made.X[500:, column]))
    explained = np.array(explained)
    assert explained[made.support].min() > 0.9
    assert explained[~made.support].max() < 0.1


def test_the_target_of_factors_has_no_further_noise():
    made = make_planted(50, 20, 8, kind="factors", noise=0.5, task="regression", random_state=0)
    assert np.array_equal(made.y, made.signal)


def test_factors_lie_in_a_space_of_their_number():
    made = make_planted(500, 20, 8, kind="factors", noise=0.0, n_factors=2, random_state=0)
    assert np.linalg.matrix_rank(made.X[:, made.support]) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_data(kind):
    first, second = (make_planted(40, 20, kind=kind, random_state=5) for _ in range(2))
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_accepted_and_move_on(make):
    source = make(0)
    first, second = (make_planted(10, 12, random_state=source) for _ in range(2))
    assert not np.array_equal(first.X, second.X)
    assert np.array_equal(first.X, make_planted(10, 12, random_state=make(0)).X)


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    make_planted(10, 12)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_are_of_the_type_that_was_asked_for(dtype):
    made = make_planted(10, 12, task="regression", dtype=dtype, random_state=0)
    assert made.X.dtype == made.y.dtype == made.signal.dtype == dtype


def test_both_types_hold_the_same_data():
    single, double = (make_planted(10, 12, dtype=d, random_state=0) for d in ("float32", "float64"))
    assert np.array_equal(single.X, double.X.astype("float32"))


def test_its_fields_cannot_be_changed():
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'X'"):
        make_planted(10, 12).X = None


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({"n_samples": 1}, "n_samples >= 2"),
        ({"n_relevant": 0}, "n_relevant >= 1"),
        ({"n_redundant": -1}, "n_redundant >= 0"),
        ({"n_features": 11, "n_redundant": 2}, "at least n_relevant [+] n_redundant = 12; got 11"),
        ({"kind": "cubic"}, "kind must be one of .*'factors'.; got 'cubic'"),
        ({"task": "ranking"}, "task must be one of"),
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"n_classes": 1}, "n_classes must be from 2 to n_samples=512; got 1"),
        ({"noise": -0.1}, "noise must be at least 0"),
        ({"noise": 1.0, "kind": "factors"}, "below 1 for 'factors'; got 1.0"),
        ({"correlation": 1.0}, "correlation must be at least 0 and below 1"),
        ({"correlation": 0.1, "kind": "factors"}, "needs correlation=0"),
        ({"n_factors": 0, "kind": "factors"}, "n_factors >= 1"),
    ],
)
def test_a_value_that_breaks_a_rule_is_refused_with_the_rule(arguments, rule):
    with pytest.raises(InputError, match=rule):
        make_planted(**arguments)
