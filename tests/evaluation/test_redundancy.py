"""How alike columns are: the magnitude of their correlation, by columns."""

import numpy as np
import pytest

from featuremask.evaluation import alike, like_groups, like_order
from featuremask.exceptions import InputError

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(100, 5))


def test_it_is_the_magnitude_of_numpys_correlation() -> None:
    expected = np.abs(np.corrcoef(ROWS, rowvar=False))
    np.testing.assert_allclose(alike(ROWS, range(5)), expected, rtol=1e-12)


def test_many_columns_are_compared_in_blocks_with_the_same_result() -> None:
    rows = RNG.normal(size=(20, 700))
    expected = np.abs(np.corrcoef(rows, rowvar=False))
    np.testing.assert_allclose(alike(rows, range(700)), expected, rtol=1e-10)


@pytest.mark.parametrize("factor", [1e-200, 1e200, -3.0])
def test_scale_and_sign_do_not_matter(factor: float) -> None:
    np.testing.assert_allclose(alike(ROWS * factor, [0, 3]), alike(ROWS, [0, 3]), rtol=1e-9)


def test_a_column_of_one_value_is_like_none() -> None:
    rows = np.column_stack([ROWS, np.full(100, 0.1)])
    assert alike(rows, [5]).tolist() == [[0.0] * 6]


def test_gaps_count_as_the_mean() -> None:
    rows = ROWS.copy()
    rows[:10, 0] = np.nan
    filled = ROWS.copy()
    filled[:10, 0] = ROWS[10:, 0].mean()
    np.testing.assert_allclose(alike(rows, [0]), alike(filled, [0]), atol=1e-12)


def test_of_columns_that_are_several_numbers_the_likest_count() -> None:
    single = np.abs(np.corrcoef(ROWS, rowvar=False))
    found = alike(ROWS, [0, 1], column_of=[0, 1, 0, 1, 2])
    assert found[0, 1] == pytest.approx(single[np.ix_([0, 2], [1, 3])].max())
    assert found[1, 2] == pytest.approx(single[[1, 3], 4].max())


def test_a_column_without_numbers_is_like_none() -> None:
    found = alike(ROWS[:, :2], [2, 1], column_of=[1, 3], n_columns=5)
    assert found[0].tolist() == [0.0] * 5
    assert found[1, 1] == 1.0


@pytest.mark.parametrize("rows", [np.ones(3), np.ones((1, 3))])
def test_correlation_needs_rows(rows: np.ndarray) -> None:
    with pytest.raises(InputError, match="two or more rows"):
        alike(rows, [0])


# ---- groups ---------------------------------------------------------------------------------


def test_in_a_group_each_two_are_alike() -> None:
    chain = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.8], [0.1, 0.8, 1.0]])
    assert like_groups(chain, 0.75) == [[0, 1]]


def test_groups_are_in_the_order_of_their_first_members() -> None:
    likeness = np.eye(4)
    likeness[1, 2] = likeness[2, 1] = 1.0
    likeness[0, 3] = likeness[3, 0] = 0.95
    assert like_groups(likeness, 0.95) == [[0, 3], [1, 2]]
    assert like_groups(likeness, 1.0) == [[1, 2]]
    assert like_groups([[1.0]], 0.5) == []


def test_in_the_order_of_likeness_pairs_stand_together() -> None:
    likeness = np.eye(4)
    likeness[0, 3] = likeness[3, 0] = likeness[1, 2] = likeness[2, 1] = 0.9
    order = like_order(likeness).tolist()
    assert abs(order.index(0) - order.index(3)) == 1
    assert abs(order.index(1) - order.index(2)) == 1
    assert like_order([[1.0]]).tolist() == [0]


@pytest.mark.parametrize(
    ("likeness", "threshold", "said"),
    [
        (np.ones((2, 3)), 0.5, "square"),
        (np.eye(2), 0.0, "threshold"),
        (np.eye(2), 1.1, "threshold"),
    ],
)
def test_what_makes_no_sense_is_an_error(likeness: np.ndarray, threshold: float, said: str) -> None:
    with pytest.raises(InputError, match=said):
        like_groups(likeness, threshold)


def test_gaps_in_the_same_rows_do_not_make_columns_alike() -> None:
    gap = (np.arange(100) % 7 == 0).astype(float)
    rows = np.column_stack([ROWS[:, 0], gap, ROWS[:, 1], gap])
    marks = [False, True, False, True]
    columns = [0, 0, 1, 1]
    apart = alike(rows, [0], column_of=columns, aside=marks)
    np.testing.assert_allclose(apart, alike(rows[:, [0, 2]], [0]), rtol=1e-12)
    assert alike(rows, [0], column_of=columns)[0, 1] == pytest.approx(1.0)


def test_gaps_count_where_they_are_all_that_a_column_tells() -> None:
    gap = (np.arange(100) % 7 == 0).astype(float)
    rows = np.column_stack([np.full(100, 3.0), gap, ROWS[:, 1], 1.0 - gap])
    found = alike(rows, [0], column_of=[0, 0, 1, 2], aside=[False, True, False, False])
    assert found[0, 2] == pytest.approx(1.0)
    assert found[0, 1] < 0.5
