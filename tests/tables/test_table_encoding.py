import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featuremask.exceptions import FileFormatError, InputError, InputTypeError
from featuremask.tables import TableEncoder, TableEncoding, fit_table

Convert = Callable[[pl.DataFrame], Any]
AUTO = TableEncoder(missing="auto", categorical="auto", dates="auto")


def test_every_library_gives_the_same_numbers(every_family: pl.DataFrame, convert: Convert) -> None:
    reference = fit_table(every_family, AUTO)
    encoding = fit_table(convert(every_family), AUTO)
    assert encoding == reference
    expected = reference.encode(every_family)
    np.testing.assert_array_equal(encoding.encode(convert(every_family)), expected)


def test_each_row_is_encoded_the_same_in_any_batch(
    every_family: pl.DataFrame, convert: Convert
) -> None:
    encoding = fit_table(convert(every_family), AUTO)
    whole = encoding.encode(convert(every_family))
    cuts = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, every_family.height]
    chunks = [every_family[start:stop] for start, stop in pairwise(cuts)]
    codes = [encoding.encode(convert(chunk)) for chunk in chunks]
    np.testing.assert_array_equal(np.concatenate(codes), whole)


def test_permuted_columns_permute_codes_and_groups(every_family: pl.DataFrame) -> None:
    order = np.random.default_rng(0).permutation(every_family.width)
    permuted = every_family[:, order.tolist()]
    plain, moved = fit_table(every_family, AUTO), fit_table(permuted, AUTO)
    codes, moved_codes = plain.encode(every_family), moved.encode(permuted)
    for new, old in enumerate(order):
        np.testing.assert_array_equal(
            moved_codes[:, moved.code_groups == new], codes[:, plain.code_groups == old]
        )
    assert sorted(moved.code_names) == sorted(plain.code_names)


def test_groups_are_positions_in_the_table_and_match_the_array(
    every_family: pl.DataFrame,
) -> None:
    frame = every_family.insert_column(0, pl.Series("same", ["x"] * every_family.height))
    with pytest.warns(UserWarning, match="same"):
        encoding = fit_table(frame, AUTO)
    assert encoding.encode(frame).shape == (frame.height, encoding.n_codes)
    assert len(encoding.code_groups) == len(encoding.code_names) == encoding.n_codes
    assert set(encoding.code_groups) == {record.position for record in encoding.kept}
    for name, place in zip(encoding.code_names, encoding.code_groups, strict=True):
        assert name.startswith(frame.columns[place])


def test_codes_that_mark_gaps_are_named_as_such(every_family: pl.DataFrame) -> None:
    encoding = fit_table(every_family, AUTO)
    named = [name.endswith(": missing") for name in encoding.code_names]
    assert encoding.gap_codes.tolist() == named
    assert 0 < encoding.gap_codes.sum() < encoding.n_codes


def test_groups_cannot_be_changed(every_family: pl.DataFrame) -> None:
    encoding = fit_table(every_family, AUTO)
    with pytest.raises(ValueError, match="read-only"):
        encoding.code_groups[0] = 3


def test_no_rows_encode_to_no_rows(every_family: pl.DataFrame, convert: Convert) -> None:
    encoding = fit_table(every_family, AUTO)
    assert encoding.encode(convert(every_family[:0])).shape == (0, encoding.n_codes)


def test_a_written_encoding_reads_back_and_encodes_the_same(every_family: pl.DataFrame) -> None:
    encoding = fit_table(every_family, AUTO)
    again = TableEncoding.from_dict(json.loads(json.dumps(encoding.to_dict(), allow_nan=False)))
    assert again == encoding
    np.testing.assert_array_equal(again.encode(every_family), encoding.encode(every_family))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "expected, got 'other' and 1"),
        (lambda d: d.update(version=2), "got 'featuremask-table-encoding' and 2"),
        (lambda d: d.pop("columns"), "damaged: KeyError: 'columns'"),
        (lambda d: d.update(dtype="float16"), "'float16' is none of"),
        (lambda d: d["encoder"].update(missing="drop"), "missing must be"),
        (lambda d: d["columns"][0].update(kind="odd"), "'odd' is none of"),
        (lambda d: d["columns"][0].update(extra=1), "extra"),
        (lambda d: d["columns"][0]["codes"].update(extra=1), "unexpected keys"),
        (lambda d: d["columns"][0]["codes"].update(type="odd"), "unknown type of codes 'odd'"),
        (lambda d: d["columns"][1]["codes"].update(cycles=["odd"]), r"unknown cycles \['odd'\]"),
        (lambda d: d.update(columns=3), "damaged: TypeError"),
    ],
)
def test_a_damaged_or_foreign_encoding_is_refused(
    change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "d": [1, 400]}).with_columns(pl.col("d").cast(pl.Date))
    values = fit_table(frame, AUTO).to_dict()
    change(values)
    with pytest.raises(FileFormatError, match=message):
        TableEncoding.from_dict(values)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["b", "a"], "same order"),
        (["a"], "now missing:\n- b"),
        (["a", "b", "c"], "unseen at fit time:\n- c"),
    ],
)
def test_other_columns_are_an_error(columns: list[str], message: str, convert: Convert) -> None:
    frame = pl.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    encoding = fit_table(convert(frame.select("a", "b")))
    with pytest.raises(InputError, match=message):
        encoding.encode(convert(frame.select(columns)))


def test_a_column_of_another_family_is_an_error_naming_it(convert: Convert) -> None:
    encoding = fit_table(convert(pl.DataFrame({"a": [1, 2]})), AUTO)
    with pytest.raises(InputTypeError, match=r"'a' held values of the family 'number'.*'category"):
        encoding.encode(convert(pl.DataFrame({"a": ["1", "2"]})))


def test_booleans_and_numbers_stand_for_each_other(convert: Convert) -> None:
    encoding = fit_table(convert(pl.DataFrame({"a": [True, False]})))
    assert encoding.encode(convert(pl.DataFrame({"a": [1, 0]}))).tolist() == [[1], [0]]


def test_a_batch_of_gaps_alone_needs_no_type(every_family: pl.DataFrame, convert: Convert) -> None:
    encoding = fit_table(every_family, AUTO)
    blank = pl.DataFrame({name: [None, None] for name in every_family.columns})
    typed = every_family.clear(2)
    expected = encoding.encode(typed)
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(encoding.encode(convert(blank)), expected)


def test_gaps_in_a_later_batch_are_an_error_with_missing_error() -> None:
    encoding = fit_table(pl.DataFrame({"a": ["x", "y"]}), TableEncoder(categorical="auto"))
    with pytest.raises(InputError, match=r"1 missing value .* 'a' \(1\)"):
        encoding.encode(pl.DataFrame({"a": ["x", None]}))


def test_columns_left_out_are_not_looked_at() -> None:
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "x"]})
    with pytest.warns(UserWarning, match="constant: 'b'"):
        encoding = fit_table(frame, AUTO)
    other = pl.DataFrame({"a": [3.0], "b": [[1, 2]]})
    assert encoding.encode(other).tolist() == [[3.0]]


def test_gaps_are_filled_by_the_training_mean_and_marked(convert: Convert) -> None:
    encoding = fit_table(convert(pl.DataFrame({"a": [1, None, 4], "b": [1.0, 3.0, 5.0]})), AUTO)
    assert encoding.code_names == ("a", "a: missing", "b")
    later = convert(pl.DataFrame({"a": [None, 100], "b": [None, 1.0]}))
    assert encoding.encode(later).tolist() == [[2.5, 1, 3], [100, 0, 1]]


def test_the_mean_of_enormous_numbers_is_finite() -> None:
    frame = pl.DataFrame({"a": [1.5e308, None, 1e308]})
    assert fit_table(frame, AUTO).encode(frame)[1, 0] == pytest.approx(1.25e308)


def test_small_numbers_stay_float32_and_large_ones_become_float64(convert: Convert) -> None:
    for values, dtype in (
        ([0, 2**24], "float32"),
        ([0, 2**24 + 1], "float64"),
        ([0.5, 1e39], "float64"),
        ([1.7e9, 1.7e9 + 1], "float64"),
        ([0.1, 0.2], "float32"),
        ([5e9, 5e9], "float32"),
    ):
        frame = convert(pl.DataFrame({"a": values}))
        encoded = fit_table(frame).encode(frame)
        assert encoded.dtype == dtype, values
        np.testing.assert_array_equal(encoded[:, 0], np.array(values, dtype=dtype))


@pytest.mark.parametrize(
    "table",
    [pl.DataFrame, pa.table, lambda columns: pd.DataFrame(columns, dtype="Int64")],
    ids=["polars", "Arrow", "pandas"],
)
def test_integers_with_gaps_keep_all_digits_of_float64(table: Any) -> None:
    frame = table({"a": [2**53 - 1, None, 5]})
    assert fit_table(frame, AUTO).encode(frame)[0, 0].item() == 2**53 - 1


def test_unsigned_and_very_wide_integers_are_read() -> None:
    frame = pl.DataFrame(
        {"a": pl.Series([2**64 - 1, 0], dtype=pl.UInt64), "b": pl.Series([5, 7], dtype=pl.Int128)}
    )
    assert fit_table(frame).encode(frame).tolist() == [[2.0**64, 5], [0, 7]]


def test_a_later_value_beyond_float32_is_an_error_and_never_infinity() -> None:
    encoding = fit_table(pl.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(InputError, match=r"1 value beyond the range of float32 in 1 column: 'a'"):
        encoding.encode(pl.DataFrame({"a": [1e39]}))


def test_encoding_does_not_change_the_table() -> None:
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    frame = pd.DataFrame(values.copy(), columns=["a", "b"])
    fit_table(frame, AUTO).encode(frame)
    np.testing.assert_array_equal(frame.to_numpy(), values)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(-1e6, 1e6, width=32) | st.none(),
            st.sampled_from("abc") | st.none(),
            st.booleans() | st.none(),
        ),
        min_size=4,
        max_size=12,
    ),
    cut=st.integers(0, 12),
)
def test_codes_are_finite_and_the_same_in_two_batches(
    rows: list[tuple[float | None, str | None, bool | None]], cut: int
) -> None:
    schema = {"x": pl.Float64, "c": pl.String, "b": pl.Boolean}
    train = pl.DataFrame(
        [(0.0, "a", True), (1.0, "b", False), (None, None, None)], schema=schema, orient="row"
    )
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    encoding = fit_table(train, AUTO)
    whole = encoding.encode(frame)
    assert np.isfinite(whole).all()
    parts = [encoding.encode(frame[:cut]), encoding.encode(frame[cut:])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
