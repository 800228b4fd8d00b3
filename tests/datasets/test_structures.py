"""Each formula of planted data, derived here a second time."""

import numpy as np
import pytest

from featuremask.datasets._structures import STRUCTURES
from featuremask.exceptions import InputError

Z = np.random.default_rng(0).standard_normal((400, 10))


def signal(kind, z=Z):
    return STRUCTURES[kind](z, np.random.default_rng(1))


def terms_of_mixed(z):
    pairs = z[:, [4, 6]] * z[:, [5, 7]]
    return np.column_stack([z[:, :4], pairs, z[:, 8:] ** 2 - 1])


@pytest.mark.parametrize(
    ("kind", "terms"),
    [
        ("linear", Z),
        ("xor", Z[:, ::2] * Z[:, 1::2]),
        ("mixed", terms_of_mixed(Z)),
        (
            "additive",
            np.column_stack(
                [
                    np.ones(400),
                    *Z[:, [0, 5]].T,
                    *Z[:, [1, 6]].T ** 2,
                    *np.sin(2 * Z[:, [2, 7]]).T,
                    *np.abs(Z[:, [3, 8]]).T,
                    *np.tanh(3 * Z[:, [4, 9]]).T,
                ]
            ),
        ),
    ],
)
def test_the_signal_is_a_weighted_sum_of_the_terms_of_its_formula(kind, terms):
    weights, *_ = np.linalg.lstsq(terms, signal(kind)[0], rcond=None)
    assert np.allclose(terms @ weights, signal(kind)[0])
    assert np.abs(weights[1:]).min() > 0.1


def test_weights_are_of_about_one_and_of_both_signs():
    weights = np.linalg.lstsq(Z, signal("linear")[0], rcond=None)[0]
    assert 0.75 <= np.abs(weights).min() <= np.abs(weights).max() <= 1.25
    assert -1 < np.sign(weights).mean() < 1


def test_rings_are_the_distance_from_the_origin():
    assert np.allclose(signal("rings")[0] ** 2, (Z**2).sum(axis=1))


@pytest.mark.parametrize("kind", STRUCTURES)
def test_every_relevant_column_is_in_one_group(kind):
    groups = signal(kind)[1]
    assert sorted(column for group in groups for column in group) == list(range(10))


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [
        ("linear", [1] * 10),
        ("xor", [2] * 5),
        ("rings", [10]),
        ("additive", [1] * 10),
        ("mixed", [1, 1, 1, 1, 2, 2, 1, 1]),
    ],
)
def test_columns_are_grouped_as_they_act(kind, sizes):
    assert [len(group) for group in signal(kind)[1]] == sizes


@pytest.mark.parametrize("n_relevant", range(4, 15))
def test_mixed_signals_have_all_three_parts_for_any_number(n_relevant):
    z = np.random.default_rng(2).standard_normal((50, n_relevant))
    groups = STRUCTURES["mixed"](z, np.random.default_rng(0))[1]
    assert sum(map(len, groups)) == n_relevant
    assert any(len(group) == 2 for group in groups)
    assert sum(len(group) == 1 for group in groups) >= 2


def test_pairs_need_an_even_number():
    with pytest.raises(InputError, match=r"kind='xor' needs an even n_relevant.*; got 3"):
        signal("xor", Z[:, :3])


def test_mixed_needs_at_least_four():
    with pytest.raises(InputError, match=r"needs n_relevant of at least 4.*; got 3"):
        signal("mixed", Z[:, :3])
