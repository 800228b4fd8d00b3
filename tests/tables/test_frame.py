import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables import fit_table
from featuremask.tables._frame import check_same_names, open_frame


@pytest.mark.parametrize(
    ("not_a_frame", "remedy"),
    [
        (pl.LazyFrame({"a": [1]}), "polars.LazyFrame. Collect it into memory first"),
        (pd.Series([1]), "pandas.Series. Make it a table of one column first"),
        (np.zeros((2, 2)), "numpy.ndarray. Make it one of these first"),
        ({"a": [1]}, "builtins.dict. Make it one of these first"),
        (None, "builtins.NoneType"),
    ],
)
def test_only_tables_in_memory_are_opened(not_a_frame: object, remedy: str) -> None:
    with pytest.raises(InputTypeError, match=remedy):
        fit_table(not_a_frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "a"]),
        pa.Table.from_arrays([pa.array([1])] * 3, names=["a", "b", "a"]),
    ],
    ids=["pandas", "Arrow"],
)
def test_two_columns_of_one_name_are_an_error_naming_it(frame: object) -> None:
    with pytest.raises(InputError, match=r"must be unique.*'a' 2 times.*Rename"):
        fit_table(frame)


def test_names_of_mixed_types_are_an_error() -> None:
    frame = pd.DataFrame(np.zeros((2, 2)), columns=["a", 1])
    with pytest.raises(InputTypeError, match=r"all be strings or none.*\['int', 'str'\].*1\. Ren"):
        fit_table(frame)


def test_names_that_are_all_numbers_or_tuples_become_text() -> None:
    assert open_frame(pd.DataFrame(np.zeros((2, 2)))).names == ("0", "1")
    levels = pd.MultiIndex.from_tuples([("size", "cm"), ("size", "inch")])
    frame = pd.DataFrame([[1.0, 2.0]], columns=levels)
    assert open_frame(frame).names == ("('size', 'cm')", "('size', 'inch')")


@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pd.DataFrame({"a": []}), r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=[0, 1]), r"0 feature\(s\)"),
    ],
)
def test_a_table_without_rows_or_columns_cannot_be_fitted(frame: object, what: str) -> None:
    with pytest.raises(InputError, match=what):
        fit_table(frame)


def test_equal_names_pass() -> None:
    check_same_names(("a", "b"), ["a", "b"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["b", "a"], "must be in the same order as they were in fit"),
        (["a"], "seen at fit time, yet now missing:\n- b\n$"),
        (["a", "b", "c"], "unseen at fit time:\n- c\n$"),
        (["a", *"ghijklm"], "- g\n- h\n- i\n- j\n- k\n- ...\nFeature names seen"),
    ],
)
def test_other_names_are_an_error_in_the_words_of_scikit_learn(
    given: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        check_same_names(["a", "b"], given)
