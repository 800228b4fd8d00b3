from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featuremask.tables import TableEncoder, fit_table

Convert = Callable[[pl.DataFrame], Any]
AUTO = TableEncoder(missing="auto", categorical="auto")


def names_and_codes(train: Any, later: Any) -> tuple[tuple[str, ...], list[list[float]]]:
    encoding = fit_table(train, AUTO)
    return encoding.code_names, encoding.encode(later).tolist()


def test_each_level_has_one_code_and_all_codes_one_group(convert: Convert) -> None:
    frame = convert(pl.DataFrame({"n": [1, 2, 3], "c": ["b", "a", "b"]}))
    encoding = fit_table(frame, AUTO)
    assert encoding.encode(frame).tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]
    assert encoding.code_groups.tolist() == [0, 1, 1]
    assert encoding.kinds == ("number", "category")


def test_rare_and_unseen_levels_share_the_code_for_rare_ones(convert: Convert) -> None:
    train = convert(pl.DataFrame({"c": ["a"] * 590 + ["b"] * 400 + ["c"] * 10 + ["d"] * 9}))
    names, codes = names_and_codes(train, convert(pl.DataFrame({"c": ["c", "d", "new"]})))
    assert names == ("c=a", "c=b", "c=c", "c: rare")
    assert codes == [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1]]


def test_without_rare_levels_an_unseen_level_has_zeros(convert: Convert) -> None:
    train = convert(pl.DataFrame({"c": ["a", "b"]}))
    later = convert(pl.DataFrame({"c": ["new", "b"]}))
    assert names_and_codes(train, later) == (("c=a", "c=b"), [[0, 0], [0, 1]])


def test_gaps_are_a_level_of_their_own(convert: Convert) -> None:
    train = convert(pl.DataFrame({"c": ["a", None, "b"]}))
    names, codes = names_and_codes(train, convert(pl.DataFrame({"c": [None, "a"]})))
    assert names == ("c=a", "c=b", "c: missing")
    assert codes == [[0, 0, 1], [1, 0, 0]]


def test_gaps_not_seen_in_training_count_as_an_unseen_level(convert: Convert) -> None:
    train = convert(pl.DataFrame({"c": ["a", "b"]}))
    later = convert(pl.DataFrame({"c": pl.Series([None, "a"], dtype=pl.String)}))
    assert names_and_codes(train, later)[1] == [[0, 0], [1, 0]]


def test_a_gap_makes_a_column_of_one_level_worth_keeping(convert: Convert) -> None:
    frame = convert(pl.DataFrame({"c": ["a", None, "a"]}))
    assert names_and_codes(frame, frame)[1] == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("later", [[7, 3], [7.0, 3.0]])
def test_whole_numbers_as_categories_are_one_level_however_stored(later: list[float]) -> None:
    train = pd.DataFrame({"c": pd.Categorical([3, 7, None])})
    assert names_and_codes(train, pd.DataFrame({"c": pd.Categorical(later)})) == (
        ("c=3", "c=7", "c: missing"),
        [[0, 1, 0], [1, 0, 0]],
    )


def test_levels_do_not_depend_on_how_they_are_stored() -> None:
    words = ["b", "a", "b", "c"]
    encoded = [
        fit_table(frame, AUTO).encode(frame)
        for frame in (
            pd.DataFrame({"c": pd.Categorical(words, categories=["z", "c", "b", "a"])}),
            pd.DataFrame({"c": pd.Series(words, dtype=object)}),
            pl.DataFrame({"c": pl.Series(words, dtype=pl.Enum(["c", "b", "a", "z"]))}),
        )
    ]
    for codes in encoded:
        np.testing.assert_array_equal(codes, encoded[0])
