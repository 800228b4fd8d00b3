"""Columns are meant by name or by position; groups and columns to keep are checked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featuremask.exceptions import InputError
from featuremask.selectors._columns import column_groups, column_positions

NAMES = ["age", "red", "green"]


@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        ([], []),
        (["green", "age"], [2, 0]),
        ([2, 0], [2, 0]),
        (["green", 0, np.int64(1)], [2, 0, 1]),
        (("age",), [0]),
    ],
)
def test_columns_go_by_name_or_position(columns: Any, positions: list[int]) -> None:
    assert column_positions(columns, NAMES, 3, "must_keep") == positions


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (["blue"], NAMES, "must_keep names the unknown column 'blue'; see its columns"),
        (["age"], None, "unknown column 'age'; the data has no column names"),
        ([3], NAMES, "must_keep holds positions of columns, 0 to 2; got 3"),
        ([-1], NAMES, "0 to 2; got -1"),
        ([True], NAMES, "must_keep holds column names or positions; got True"),
        ([1.0], NAMES, r"column names or positions; got 1\.0"),
        ([None], None, "column names or positions; got None"),
        ([0, "age"], NAMES, "must_keep names a column twice: position 0"),
    ],
)
def test_columns_that_are_not_there_are_named(columns: Any, names: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        column_positions(columns, names, 3, "must_keep")


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (None, [0, 1, 2]),
        ({}, [0, 1, 2]),
        ({"color": ["red", "green"]}, [0, 1, 1]),
        ({"color": [1, "green"], "rest": [0]}, [0, 1, 1]),
        ({7: {"age", "green"}}, [0, 1, 0]),
        (["b", "a", "b"], [0, 1, 0]),
        ([None, None, None], [0, 1, 2]),
        ([None, 5, 5], [0, 1, 1]),
        (np.array([4, 4, 2]), [0, 0, 1]),
        ((("a", 1), ("a", 1), "a"), [0, 0, 1]),
    ],
)
def test_groups_are_a_mapping_or_a_label_for_each_column(groups: Any, expected: list[int]) -> None:
    assert column_groups(groups, NAMES, 3).tolist() == expected


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], "one label for each of the 3 columns, or map labels to columns; got 2 labels"),
        ({"a": ["blue"]}, "feature_groups names the unknown column 'blue'"),
        ({"a": [0], "b": ["age"]}, "belongs to one group; position 0 is in 'a' and 'b'"),
        ({"a": [0, 0]}, "feature_groups names a column twice: position 0"),
        ({"a": [3]}, "feature_groups holds positions of columns, 0 to 2; got 3"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        column_groups(groups, NAMES, 3)


@given(st.lists(st.one_of(st.none(), st.integers(0, 3), st.text(max_size=1)), min_size=1))
def test_columns_share_a_group_exactly_if_they_share_a_label(labels: list[Any]) -> None:
    groups = column_groups(labels, None, len(labels))
    for i, first in enumerate(labels):
        for j, second in enumerate(labels):
            together = i == j or (first is not None and first == second)
            assert (groups[i] == groups[j]) == together


@given(st.lists(st.integers(0, 4), min_size=1))
def test_groups_are_numbered_by_first_appearance(labels: list[int]) -> None:
    groups = column_groups(labels, None, len(labels))
    firsts = list(dict.fromkeys(groups.tolist()))
    assert firsts == list(range(len(firsts)))


@given(st.lists(st.integers(0, 4), min_size=1))
def test_a_mapping_says_the_same_as_labels(labels: list[int]) -> None:
    mapping = {label: [i for i, x in enumerate(labels) if x == label] for label in set(labels)}
    by_labels = column_groups(labels, None, len(labels))
    assert np.array_equal(column_groups(mapping, None, len(labels)), by_labels)
