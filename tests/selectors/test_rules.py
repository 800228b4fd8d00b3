"""What follows from the size of the data is continuous in it and bounded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featuremask.selectors._rules import (
    FULL_BATCH_ROWS,
    budget_for,
    effective_rows,
    threads_for,
)

rows = st.floats(2.0, 1e8)


def test_small_data_is_fitted_in_one_batch_without_dropout() -> None:
    for n in (2, 100, FULL_BATCH_ROWS):
        budget = budget_for(n)
        assert budget.full_batch
        assert budget.dropout == 0.0
        assert budget.batch_size >= n


def test_beyond_the_bound_batches_and_dropout_begin() -> None:
    budget = budget_for(FULL_BATCH_ROWS + 1)
    assert not budget.full_batch
    assert 0.0 < budget.dropout < 0.01
    assert budget_for(100_000).dropout == pytest.approx(0.3)


@given(rows)
def test_a_row_more_changes_little(n: float) -> None:
    before, after = budget_for(n), budget_for(n + 1)
    assert before.steps <= after.steps <= before.steps * 1.02 + 1
    assert before.dropout <= after.dropout <= before.dropout + 0.001
    if not before.full_batch:
        assert before.batch_size <= after.batch_size <= before.batch_size + 1


@given(rows)
def test_steps_and_batches_are_bounded(n: float) -> None:
    budget = budget_for(n)
    assert budget.steps >= 300
    assert 128 <= budget.batch_size <= 1024
    assert 0.0 <= budget.dropout <= 0.3


@given(st.integers(1, 1000), st.floats(0.0, 1e6))
def test_rows_are_counted_by_weight_but_never_as_less_than_they_are(n: int, total: float) -> None:
    assert effective_rows(n, total) == min(max(n, total), 10 * n)


def test_the_weights_of_a_survey_make_training_little_longer() -> None:
    steps = [budget_for(effective_rows(500, 500 * mean)).steps for mean in (1.0, 1e3, 1e6)]
    assert steps[1] == steps[2] < 4 * steps[0]


def test_a_small_batch_is_done_by_one_thread_unless_the_user_says_otherwise() -> None:
    assert threads_for(10, 10, None) == 1
    assert threads_for(1000, 1000, None) is None
    assert threads_for(10, 10, 3) == 3
    assert threads_for(1000, 1000, 1) == 1


@pytest.mark.parametrize(
    ("n", "batch", "steps", "dropout"),
    [
        (2, 256, 300, 0.0),
        (200, 256, 300, 0.0),
        (256, 256, 348, 0.0),
        (640, 128, 603, 0.15),
        (1024, 128, 799, 0.3),
        (4096, 128, 1836, 0.3),
        (65_536, 256, 9692, 0.3),
        (16_777_216, 1024, 269_982, 0.3),
        (1e9, 1024, 787_958, 0.3),
    ],
)
def test_the_rule_is_the_one_that_was_chosen(
    n: float, batch: int, steps: int, dropout: float
) -> None:
    budget = budget_for(n)
    assert (budget.batch_size, budget.steps) == (batch, steps)
    assert budget.dropout == pytest.approx(dropout)


@pytest.mark.parametrize(("entries", "threads"), [(65_535, 1), (65_536, None)])
def test_several_threads_begin_at_a_number_of_entries(entries: int, threads: int | None) -> None:
    assert threads_for(1, entries, None) == threads
    assert threads_for(entries, 1, None) == threads
