"""With all options at "error", numbers pass and every surprise is loud."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables import TableEncoder, fit_table

Convert = Callable[[pl.DataFrame], Any]


def test_numbers_and_booleans_pass_one_to_one(convert: Convert) -> None:
    frame = pl.DataFrame(
        {
            "id": range(30),
            "same": [1] * 30,
            "flag": [True, False] * 15,
            "price": [Decimal("0.25")] * 30,
            "small": pl.Series(range(30), dtype=pl.Int8),
        }
    )
    encoding = fit_table(convert(frame))
    expected = np.c_[range(30), np.ones(30), [1, 0] * 15, np.full(30, 0.25), range(30)]
    np.testing.assert_array_equal(encoding.encode(convert(frame)), expected)
    assert encoding.code_names == encoding.column_names == tuple(frame.columns)
    assert encoding.is_one_to_one
    assert encoding.left_out == ()
    assert encoding.kinds == ("number", "number", "boolean", "number", "number")


def test_unknown_options_are_an_error_naming_the_option() -> None:
    with pytest.raises(InputError, match="dates must be 'error' or 'auto', got 'parse'"):
        TableEncoder(dates="parse")


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["x", "y"])])
def test_strings_and_categories_are_an_error_naming_columns_and_types(
    dtype: pl.DataType, convert: Convert
) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": pl.Series(["x", "y"], dtype=dtype)})
    with pytest.raises(InputTypeError, match=r"'b' \((String|Cat|Enum).*Set categorical='auto'"):
        fit_table(convert(frame))


@pytest.mark.parametrize(
    "value",
    [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), dt.time(3), dt.timedelta(3)],
    ids=lambda value: type(value).__name__,
)
def test_dates_and_durations_are_an_error_and_never_a_silent_number(
    value: Any, convert: Convert
) -> None:
    frame = convert(pl.DataFrame({"a": [1, 2], "when": [value, value]}))
    with pytest.raises(InputTypeError, match=r"'when' \(\w+.*Set dates='auto'"):
        fit_table(frame, TableEncoder(categorical="auto"))


@pytest.mark.parametrize(
    "values",
    [[[1], [2]], [{"a": 1}, {"a": 2}], [b"1", b"2"]],
    ids=["lists", "structures", "bytes"],
)
def test_nested_and_binary_columns_are_an_error_whatever_the_options(
    values: list[Any], convert: Convert
) -> None:
    encoder = TableEncoder(missing="auto", categorical="auto", dates="auto")
    with pytest.raises(InputTypeError, match=r"got lists, structures, bytes.* in 'odd' \("):
        fit_table(convert(pl.DataFrame({"a": [1, 2], "odd": values})), encoder)


@pytest.mark.parametrize("values", [[1, "a"], [1j, 2j], [dt.date(2024, 1, 1), 3], [object()] * 2])
def test_mixed_objects_are_an_error_whatever_the_options(values: list[Any]) -> None:
    encoder = TableEncoder(missing="auto", categorical="auto", dates="auto")
    with pytest.raises(InputTypeError, match=r"objects of mixed types in 'odd' \(.*Split them"):
        fit_table(pd.DataFrame({"odd": values}), encoder)


def test_dates_with_and_without_a_zone_in_one_column_are_an_error() -> None:
    mixed = [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, tzinfo=dt.UTC)]
    frame = pd.DataFrame({"when": pd.Series(mixed, dtype=object)})
    with pytest.raises(InputTypeError, match="'when' mixes dates with and without a time zone"):
        fit_table(frame, TableEncoder(dates="auto"))


@pytest.mark.parametrize("gap", [None, float("nan")])
def test_gaps_are_an_error_with_count_columns_and_option(gap: Any, convert: Convert) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [1.0, gap], "c": [gap, gap]}, strict=False)
    message = r"3 missing values \(NaN\) in 2 columns: 'b' \(1\), 'c' \(2\)\. Set missing='auto'"
    with pytest.raises(InputError, match=message):
        fit_table(convert(frame.with_columns(pl.col("c").cast(pl.Float64))))


def test_gaps_among_categories_and_dates_are_an_error_too(convert: Convert) -> None:
    frame = pl.DataFrame({"a": ["x", None, "y"], "d": [None, *[dt.date(2024, 1, 1)] * 2]})
    with pytest.raises(InputError, match=r"2 missing values.*'a' \(1\), 'd' \(1\)"):
        fit_table(convert(frame), TableEncoder(categorical="auto", dates="auto"))


@pytest.mark.parametrize("missing", ["error", "auto"])
def test_infinite_values_are_an_error_whatever_the_options(missing: Any, convert: Convert) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [float("inf"), -float("inf")]})
    with pytest.raises(InputError, match=r"2 infinite values \(inf\) in 1 column: 'b' \(2\)"):
        fit_table(convert(frame), TableEncoder(missing=missing))


def test_objects_of_one_family_pass_as_that_family() -> None:
    frame = pd.DataFrame(
        {
            "decimals": [Decimal("1.5"), Decimal(2)],
            "mixed numbers": pd.Series([True, 2.5], dtype=object),
            "huge": pd.Series([2**70, 1], dtype=object),
            "flags": pd.Series([True, False], dtype=object),
        }
    )
    encoding = fit_table(frame)
    assert encoding.encode(frame).tolist() == [[1.5, 1, 2.0**70, 1], [2, 2.5, 1, 0]]
    assert encoding.kinds == ("number", "number", "number", "boolean")
