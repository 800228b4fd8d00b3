import datetime
import decimal
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from scipy.io import savemat

from featuremask.datasets._spec import read_spec
from featuremask.datasets._tabular import read_table
from featuremask.exceptions import FileFormatError, InputError, MissingExtraError


@pytest.fixture
def read(tmp_path):
    """Read a file of tmp_path by a TOML file with these further lines."""

    def read(name, more='target = "y"'):
        (tmp_path / "own.toml").write_text(f'name = "own"\npath = "{name}"\n{more}')
        return read_table(read_spec(tmp_path / "own.toml"))

    return read


@pytest.fixture(params=["csv", "parquet"])
def table(request, tmp_path, read):
    """Write columns as CSV or Parquet and read them."""

    def write(columns, more='target = "y"'):
        arrow = pa.table(columns)
        path = tmp_path / f"own.{request.param}"
        if request.param == "csv":
            pa.csv.write_csv(arrow, path)
        else:
            pa.parquet.write_table(arrow, path)
        return read(path.name, more)

    return write


def test_all_columns_but_the_target_are_features(table):
    raw = table({"a": [1, 2], "y": ["no", "yes"], "b": [0.5, 1.5]})
    assert raw.feature_names == ("a", "b")
    assert raw.X.tolist() == [[1, 0.5], [2, 1.5]]
    assert raw.y.tolist() == ["no", "yes"]


def test_columns_can_be_dropped(table):
    raw = table({"id": ["p", "q"], "a": [1, 2], "y": [0, 1]}, 'target = "y"\ndrop = ["id"]')
    assert raw.feature_names == ("a",)


def test_truth_values_are_numbers(table):
    raw = table({"a": [True, False], "y": [0, 1]})
    assert raw.X.tolist() == [[1], [0]]


def test_missing_values_become_nan(table):
    raw = table({"a": [1, None], "b": [None, None], "c": [True, None], "y": [0, 1]})
    assert np.array_equal(raw.X, [[1, np.nan, 1], [np.nan] * 3], equal_nan=True)


def test_whole_numbers_stay_whole(table):
    assert table({"a": [1, 2], "y": [0, 1]}).X.dtype.kind == "i"


@pytest.mark.parametrize("value", ["text", datetime.date(2020, 1, 1)])
def test_a_feature_that_is_no_number_is_refused(table, value):
    with pytest.raises(InputError, match=r"column 'a' holds .*; list it under drop"):
        table({"a": [value], "y": [0]})


def test_a_target_that_is_missing_somewhere_is_refused(table):
    with pytest.raises(InputError, match="'y' is missing in 1 rows"):
        table({"a": [1, 2], "y": [0, None]})


def test_a_target_of_dates_is_refused(table):
    with pytest.raises(InputError, match="it must be numbers or text"):
        table({"a": [1], "y": [datetime.date(2020, 1, 1)]})


@pytest.mark.parametrize("more", ['target = "z"', 'target = "y"\ndrop = ["z"]'])
def test_a_column_that_is_not_there_is_named(table, more):
    with pytest.raises(InputError, match=r"names columns \['z'\] .* it has \['a', 'y'\]"):
        table({"a": [1], "y": [0]}, more)


def test_a_table_without_rows_is_refused(table):
    with pytest.raises(FileFormatError, match="got 0 rows"):
        table({"a": pa.array([], pa.int64()), "y": pa.array([], pa.int64())})


def test_a_table_without_features_is_refused(table):
    with pytest.raises(FileFormatError, match="and 0 features"):
        table({"y": [0, 1]})


def test_a_table_beyond_the_limit_is_not_read(table):
    with pytest.raises(FileFormatError, match="more than the 1 that are accepted; raise max_gig"):
        table({"a": [1], "y": [0]}, 'target = "y"\nmax_gigabytes = 1e-9')


def test_columns_of_one_name_are_refused(tmp_path, read):
    (tmp_path / "own.csv").write_text("a,a,y\n1,2,0\n")
    with pytest.raises(FileFormatError, match=r"several columns called \['a'\]"):
        read("own.csv")


def test_decimals_are_numbers(tmp_path, read):
    amounts = [decimal.Decimal("1.25"), decimal.Decimal("2.50")]
    pa.parquet.write_table(pa.table({"a": amounts, "y": amounts}), tmp_path / "own.parquet")
    raw = read("own.parquet")
    assert raw.X.tolist() == [[1.25], [2.5]]
    assert raw.y.tolist() == [1.25, 2.5]


def test_nested_columns_are_refused(tmp_path, read):
    pa.parquet.write_table(pa.table({"a": [[1], [2]], "y": [0, 1]}), tmp_path / "own.parquet")
    with pytest.raises(InputError, match="column 'a' holds list"):
        read("own.parquet")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.csv", b""),
        ("own.csv", b"a,y\n1,2,3\n"),
        ("own.csv", b"a,y\n\xff,1\n\x00"),
        ("own.parquet", b""),
        ("own.parquet", b"<!DOCTYPE html>"),
        ("own.parquet", b"PAR1" + bytes(20) + b"PAR1"),
    ],
)
def test_foreign_files_are_refused(tmp_path, read, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=r"own\.(csv|parquet) cannot be read as"):
        read(name)


def test_without_pyarrow_the_error_says_what_to_install(tmp_path, read, monkeypatch):
    (tmp_path / "own.csv").write_text("a,y\n1,0\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featuremask\[io\]'"):
        read("own.csv")


def test_arrays_are_read_by_their_names(tmp_path, read):
    np.savez(tmp_path / "own.npz", rows=np.eye(3), labels=np.arange(3))
    raw = read("own.npz", 'features = "rows"\ntarget = "labels"')
    assert raw.X.tolist() == np.eye(3).tolist()
    assert raw.feature_names == ("x0", "x1", "x2")


def test_arrays_of_images_become_rows(tmp_path, read):
    np.savez(tmp_path / "own.npz", X=np.zeros((4, 2, 3)), y=np.zeros((4, 1)))
    raw = read("own.npz", "")
    assert raw.X.shape == (4, 6)
    assert raw.y.shape == (4,)


@pytest.mark.parametrize("rows", [np.zeros(4), np.zeros((4, 0)), np.full((4, 1), "a")])
def test_arrays_that_are_no_rows_of_numbers_are_refused(tmp_path, read, rows):
    np.savez(tmp_path / "own.npz", X=rows, y=np.zeros(4))
    with pytest.raises(FileFormatError, match="'X' must have rows and columns of real numbers"):
        read("own.npz", "")


@pytest.mark.parametrize("labels", [np.zeros(3), np.zeros((4, 2))])
def test_labels_that_do_not_fit_the_rows_are_refused(tmp_path, read, labels):
    np.savez(tmp_path / "own.npz", X=np.eye(4), y=labels)
    with pytest.raises(FileFormatError, match=r"one value a row; got y.shape=.* for 4 rows"):
        read("own.npz", "")


def test_matlab_files_are_read(tmp_path, read):
    savemat(tmp_path / "own.mat", {"fea": np.eye(3), "gnd": [[1], [2], [1]]})
    raw = read("own.mat", 'features = "fea"\ntarget = "gnd"')
    assert raw.X.shape == (3, 3)
    assert raw.y.tolist() == [1, 2, 1]
