from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.tables import TableEncoder, TableEncoding, fit_table
from featuremask.tables._rules import needs_float64, rare_below, reads_as_identifier

Convert = Callable[[pl.DataFrame], Any]
AUTO = TableEncoder(missing="auto", categorical="auto", dates="auto")


def fit_with_warning(frame: Any, match: str) -> TableEncoding:
    with pytest.warns(FeatureMaskWarning, match=match):
        return fit_table(frame, AUTO)


def kinds_left_out(frame: pl.DataFrame) -> dict[str, str]:
    encoding = fit_with_warning(frame.with_columns(kept=np.arange(frame.height) % 3), "left out")
    return {record.column: record.kind for record in encoding.left_out}


def test_columns_left_out_are_named_in_one_warning(convert: Convert) -> None:
    frame = pl.DataFrame(
        {
            "note": [f"text {i % 101}" for i in range(300)],
            "x": np.arange(300) % 7,
            "line": range(300),
            "k": ["same"] * 300,
        }
    )
    encoding = fit_with_warning(
        convert(frame),
        r"^3 of 4 columns left out; constant: 'k' \(holds one value\); identifier: 'line' "
        r"\(counts the rows\); text: 'note' \(101 levels are more than 100\)\. Drop them",
    )
    assert [(r.column, r.position, r.kind) for r in encoding.left_out] == [
        ("note", 0, "text"),
        ("line", 2, "identifier"),
        ("k", 3, "constant"),
    ]
    assert [(r.column, r.position, r.reason) for r in encoding.kept] == [("x", 1, "1 code")]
    assert encoding.kinds == ("text", "number", "identifier", "constant")
    assert encoding.code_groups.tolist() == [1]


def test_a_hundred_levels_are_a_category_and_one_more_is_text() -> None:
    levels = np.arange(1000)
    frame = pl.DataFrame(
        {"a": [f"l{i % 100}" for i in levels], "b": [f"l{i % 101}" for i in levels]}
    )
    assert kinds_left_out(frame) == {"b": "text"}


def test_texts_that_hardly_repeat_are_identifiers() -> None:
    frame = pl.DataFrame(
        {"often": [f"p{i % 20}" for i in range(40)], "seldom": [f"p{i % 21}" for i in range(40)]}
    )
    assert kinds_left_out(frame) == {"seldom": "identifier"}


def test_twenty_different_texts_are_still_a_category() -> None:
    frame = pl.DataFrame({"c": [f"p{i}" for i in range(20)]})
    assert fit_table(frame, AUTO).kinds == ("category",)


def test_integers_that_count_the_rows_are_identifiers_and_other_trends_are_not() -> None:
    rows = np.arange(60)
    frame = pl.DataFrame(
        {
            "from_zero": rows,
            "from_one": rows + 1,
            "year": rows + 1960,
            "even": 2 * rows,
            "down": rows[::-1],
            "as_float": rows.astype(float),
        }
    )
    assert kinds_left_out(frame) == {"from_zero": "identifier", "from_one": "identifier"}


def test_different_integers_named_as_an_identifier_are_one() -> None:
    shuffled = np.random.default_rng(0).permutation(60) * 17
    frame = pl.DataFrame(
        {
            "customer_id": shuffled,
            "price": shuffled,
            "shop_id": shuffled % 9,
            "paid": shuffled,
            "ID with gaps": [None, *shuffled[1:].tolist()],
        }
    )
    assert kinds_left_out(frame) == {"customer_id": "identifier"}


def test_few_rows_name_no_integer_an_identifier() -> None:
    frame = pl.DataFrame({"id": range(20)})
    assert fit_table(frame, AUTO).kinds == ("number",)


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("id", True),
        ("ID", True),
        ("userId", True),
        ("id_user", True),
        ("Order GUID", True),
        ("Unnamed: 0", True),
        ("row_number", True),
        ("index", True),
        ("price_index", False),
        ("humid", False),
        ("idle_time", False),
        ("wide id band", False),
        ("", False),
        ("年", False),
    ],
)
def test_names_of_identifiers(name: str, is_one: bool) -> None:
    assert reads_as_identifier(name) is is_one


def test_columns_without_any_value_are_left_out_with_missing_auto(convert: Convert) -> None:
    frame = pl.DataFrame(
        {
            "a": [1, 2],
            "untyped": [None, None],
            "typed": pl.Series([None, None], dtype=pl.Float64),
        }
    )
    encoder = TableEncoder(missing="auto")
    with pytest.warns(FeatureMaskWarning, match=r"'untyped' \(has no value\), 'typed' \(has no"):
        encoding = fit_table(convert(frame), encoder)
    assert encoding.encode(convert(frame)).tolist() == [[1], [2]]


def test_numbers_that_do_not_vary_but_have_gaps_are_kept() -> None:
    frame = pl.DataFrame({"a": [5, None, 5]})
    assert fit_table(frame, AUTO).encode(frame).tolist() == [[5, 0], [5, 1], [5, 0]]


def test_a_table_of_which_nothing_is_left_is_an_error_saying_why() -> None:
    with pytest.raises(InputError, match=r"no column is left.*constant: 'a' \(holds one value\)"):
        fit_table(pd.DataFrame({"a": ["x", "x"]}), AUTO)


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(FeatureMaskWarning, match="'a'") as caught:
        fit_table(pl.DataFrame({"a": ["x", "x"], "b": [1, 2]}), AUTO)
    assert caught[0].filename == __file__


def test_no_level_is_rare_among_a_hundred_rows() -> None:
    assert rare_below(100) <= 1
    assert rare_below(300) == 3
    assert rare_below(10**6) == 10


@pytest.mark.parametrize(
    ("values", "wide"),
    [
        (np.array([2**24, 0]), False),
        (np.array([2**24 + 1, 0]), True),
        (np.array([-(2**24) - 1, 0]), True),
        (np.array([1.7e9, 1.7e9 + 100]), True),
        (np.array([1.7e9, 1.8e9]), False),
        (np.array([1.7e9, 1.7e9]), False),
        (np.array([1e39, np.nan]), True),
        (np.array([1e-50, 2e-50]), True),
        (np.array([np.nan, np.nan]), False),
        (np.array([1e30, 1e30 + 1], dtype=np.float32), False),
        (np.array([True, False]), False),
    ],
)
def test_float64_is_kept_only_where_float32_loses_something(
    values: np.ndarray[Any, Any], wide: bool
) -> None:
    assert needs_float64(values) is wide
