import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables import BadValues, count_bad_values

NAMES = ["age", "income", "height"]


def with_bad_values(n_rows: int = 50) -> np.ndarray:
    array = np.random.default_rng(0).normal(size=(n_rows, 3))
    array[3, 0] = array[7, 0] = np.nan
    array[5, 1] = np.inf
    array[6, 1] = -np.inf
    array[9, 2] = -1e39
    return array


EXPECTED = BadValues(missing=(("age", 2),), infinite=(("income", 2),), too_large=(("height", 1),))


@pytest.mark.parametrize(
    "layout",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=0)[::2],
        lambda array: array.astype(">f8"),
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
    ],
)
def test_every_layout_gives_the_same_counts(layout) -> None:
    assert count_bad_values(layout(with_bad_values()), NAMES) == EXPECTED


def test_counts_add_up_over_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("_blocks.row_blocks.__defaults__", "_bad_values.BLOCK_BYTES"):
        value = (64,) if module.endswith("__") else 64
        monkeypatch.setattr(f"featuremask.tables.{module}", value)
    for layout in (np.ascontiguousarray, np.asfortranarray, sparse.csr_array):
        assert count_bad_values(layout(with_bad_values()), NAMES) == EXPECTED


def test_columns_without_names_are_called_by_their_position() -> None:
    report = count_bad_values(with_bad_values())
    assert report.missing == ((0, 2),)
    assert "column 0 (2)" in report.message()


def test_float64_takes_what_float32_cannot() -> None:
    assert count_bad_values(np.array([[1e39]]), dtype="float64") == BadValues()
    assert count_bad_values(np.array([[1e39]])) == BadValues(too_large=((0, 1),))
    assert count_bad_values(np.array([[3e38]], dtype=np.float32)) == BadValues()


def test_whole_numbers_beyond_2_to_the_24_are_a_warning_and_no_error() -> None:
    report = count_bad_values(np.array([[2**24, 2**24 + 1], [-5, -(2**24) - 1]]), ["a", "b"])
    assert report == BadValues(rounded=(("b", 2),))
    assert report.message() == ""
    assert "2 whole numbers beyond 2**24" in report.rounding_message()
    assert "dtype='float64'" in report.rounding_message()
    assert count_bad_values(np.array([[2**24 + 1]]), dtype="float64").rounding_message() == ""


def test_float32_has_gaps_and_infinity_but_nothing_too_large() -> None:
    array = np.array([[np.nan, np.inf, 3e38]], dtype=np.float32)
    assert count_bad_values(array) == BadValues(missing=((0, 1),), infinite=((1, 1),))


def test_clean_and_empty_arrays_have_nothing_to_say() -> None:
    for array in (np.eye(3), np.eye(3, dtype=bool), np.zeros((0, 3)), np.zeros((3, 0))):
        assert count_bad_values(array) == BadValues()
    count_bad_values(np.eye(3)).raise_if_any()


def test_the_message_names_counts_columns_and_remedies() -> None:
    message = (
        "X has 2 missing values (NaN) in 1 column: 'age' (2). Set missing='auto' to fill them "
        "and to mark them with a code of their own, or fill them in X. X has 2 infinite values "
        "(inf) in 1 column: 'income' (2). No option takes them: clip or replace them. X has 1 "
        "value beyond the range of float32 in 1 column: 'height' (1). The largest is 3.4e+38: "
        "rescale them or set dtype='float64'."
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        count_bad_values(with_bad_values(), NAMES).raise_if_any()


def test_only_five_columns_are_named() -> None:
    report = count_bad_values(np.full((1, 8), np.nan))
    assert "8 missing values (NaN) in 8 columns: column 0 (1)" in report.message()
    assert report.message().count("column ") == 5
    assert "and 3 more" in report.message()


def test_gaps_may_be_allowed_and_infinity_not() -> None:
    gaps = count_bad_values(np.array([[np.nan]]))
    gaps.raise_if_any(allow_missing=True)
    with pytest.raises(InputError, match="infinite"):
        count_bad_values(np.array([[np.inf]])).raise_if_any(allow_missing=True)


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (np.array([[1j]]), InputTypeError, "Complex data not supported"),
        (np.array([["a"]]), InputTypeError, r"dtype <U1\. Convert it"),
        (np.array([[object()]]), InputTypeError, "dtype object"),
        (np.zeros(3), InputError, r"matrix\.shape=\(3,\)\. Reshape"),
        (np.zeros((2, 2)), InputError, "got 3 names for 2 columns"),
    ],
)
def test_other_arrays_are_an_error(array: np.ndarray, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        count_bad_values(array, NAMES if array.shape == (2, 2) else None)


def test_a_memory_map_is_never_held_whole(tmp_path: Path) -> None:
    rows = 2_000_000  # 128 MB, in a sparse file
    path = tmp_path / "big.f8"
    with path.open("wb") as file:
        file.truncate(rows * 8 * 8)
    array = np.memmap(path, dtype=np.float64, mode="r+", shape=(rows, 8))
    array[-1, 7] = np.nan
    tracemalloc.start()
    report = count_bad_values(array)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report == BadValues(missing=((7, 1),))
    assert peak < 2**25
