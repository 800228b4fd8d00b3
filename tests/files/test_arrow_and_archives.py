"""Parquet, Feather, NPZ and MATLAB files: read, and written with fewer columns."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

from featuremask.exceptions import FileFormatError, InputError, MissingExtraError
from featuremask.files import Picks, read_files, reduce_files
from featuremask.sources import ParquetSource
from featuremask.tables import Table


@pytest.fixture(params=[".parquet", ".feather", ".arrow"])
def tabular(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    frame = pl.DataFrame(
        {
            "small": pl.Series([1, 2, 3], dtype=pl.Int8),
            "city": pl.Series(["Rome", None, "Oslo"], dtype=pl.Categorical),
            "list": [[1], [2], [3]],
            "y": [True, False, True],
        }
    )
    path = tmp_path / f"table{request.param}"
    if request.param == ".parquet":
        pa.parquet.write_table(frame.to_arrow(), path, row_group_size=2)
    else:
        pa.feather.write_feather(frame.to_arrow(), path, chunksize=2)
    return path


def test_columns_keep_their_types(tabular: Path) -> None:
    data = read_files([tabular], ["y"], ["list"])
    assert isinstance(data.X, Table)
    assert data.names == ("small", "city")
    assert data.X["small"].values.dtype == np.int8
    assert data.X["city"].values.tolist() == ["Rome", None, "Oslo"]
    assert data.aside["y"].family == "boolean"


def test_fewer_columns_are_written_with_their_own_types(tabular: Path, tmp_path: Path) -> None:
    out = tmp_path / f"out{tabular.suffix}"
    assert reduce_files([tabular, tabular], out, Picks((0, 1), 3, ("small", "list"))) == 3
    read = pa.parquet.read_table if tabular.suffix == ".parquet" else pa.feather.read_table
    found = read(out)
    assert found.column_names == ["small", "list"]
    assert found.schema.field("small").type == pa.int8()
    assert found.to_pydict()["list"] == [[1], [2], [3]]


def test_parquet_files_are_copied_as_sources_read_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()
    batches = ParquetSource._batches

    def watched(self: Any, file: Any, group: int, names: list[str]) -> Any:
        seen.update(names)
        return batches(self, file, group, names)

    monkeypatch.setattr(ParquetSource, "_batches", watched)
    for i, kind in enumerate((pa.int8(), pa.int32())):
        columns = {"b": ["x", None], "a": pa.array([i, None], kind), f"own{i}": [0, 0]}
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{i}.parquet")
    out = tmp_path / "out"
    out.mkdir()
    assert reduce_files([tmp_path], out / "c.parquet", Picks((), 3, ("a",), ("b",))) == 4
    found = pa.parquet.read_table(out / "c.parquet")
    assert found.schema.types == [pa.string(), pa.int32()]
    assert found.to_pydict() == {"b": ["x", None] * 2, "a": [0, None, 1, None]}
    assert seen == {"a", "b"}


def test_a_parquet_file_without_a_column_or_with_another_type_is_named(tmp_path: Path) -> None:
    for i, columns in enumerate(({"a": [1], "b": [1]}, {"a": [[2]]})):
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{i}.parquet")
    for names, match in ((("b",), r"1\.parquet' must have one column 'b'"), (("a",), "no type")):
        with pytest.raises(InputError, match=match):
            reduce_files([tmp_path], tmp_path / "out.parquet", Picks((), 2, names))
    assert not (tmp_path / "out.parquet").exists()


def test_columns_that_cannot_be_read_are_named(tabular: Path) -> None:
    with pytest.raises(TypeError, match="'list'"):
        read_files([tabular])


def test_a_damaged_file_is_told(tabular: Path) -> None:
    tabular.write_bytes(b"PAR1 but not really")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_files([tabular])


def test_without_pyarrow_the_line_to_install_it_is_given(
    tabular: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featuremask\[io\]'"):
        read_files([tabular])


X = np.arange(12.0).reshape(4, 3)


def archive(path: Path, **arrays: Any) -> Path:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        savemat(path, arrays)
    return path


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
def test_an_archive_has_a_matrix_and_vectors(tmp_path: Path, name: str) -> None:
    data = read_files([archive(tmp_path / name, X=X, y=[0, 1, 0, 1], other=[1])], ["y"], ["x1"])
    assert data.names == ("x0", "x2")
    assert np.array_equal(data.X, X[:, [0, 2]])
    assert data.aside["y"].values.tolist() == [0, 1, 0, 1]


def test_the_matrix_need_not_be_called_x_if_it_is_the_only_one(tmp_path: Path) -> None:
    data = read_files([archive(tmp_path / "a.npz", fea=X, gnd=list("abab"))], ["gnd"])
    assert np.array_equal(data.X, X)
    assert data.aside["gnd"].family == "category"
    with pytest.raises(FileFormatError, match="must have an array 'X'"):
        read_files([archive(tmp_path / "b.npz", fea=X, more=X)])


def test_names_of_columns_may_be_in_the_archive(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.npz", X=X, feature_names=np.array(["a", "b", "c"]))
    assert read_files([path]).names == ("a", "b", "c")
    reduce_files([path], tmp_path / "out.npz", Picks((2,), 3, ("c",)))
    assert np.load(tmp_path / "out.npz")["feature_names"].tolist() == ["c"]
    archive(path, X=X, feature_names=np.array(["a", "b", "b"]))
    with pytest.raises(FileFormatError, match="all different; got 3, 2 of them different"):
        read_files([path])


@pytest.mark.parametrize("name", ["a.npz", "a.mat"])
def test_a_smaller_archive_is_written(tmp_path: Path, name: str) -> None:
    path = archive(tmp_path / name, X=X.astype(np.float32), y=[0, 1, 0, 1])
    out = tmp_path / f"out{path.suffix}"
    assert reduce_files([path, path], out, Picks((0, 2), 3, also=("y",))) == 4
    found = np.load(out) if path.suffix == ".npz" else loadmat(out)
    assert np.array_equal(found["X"], X[:, [0, 2]])
    assert found["X"].dtype == np.float32
    assert np.ravel(found["y"]).tolist() == [0, 1, 0, 1]


def test_archives_of_several_files_follow_each_other(tmp_path: Path) -> None:
    archive(tmp_path / "1.npz", X=X, y=[0, 1, 0, 1])
    archive(tmp_path / "2.npz", X=-X[:1], y=[7])
    data = read_files([tmp_path], ["y"])
    assert data.n_rows == 5
    assert data.aside["y"].values.tolist() == [0, 1, 0, 1, 7]
    archive(tmp_path / "3.npz", X=X[:, :2], y=[0, 1, 0, 1])
    with pytest.raises(FileFormatError, match="must have 3 columns as the first file has; got 2"):
        read_files([tmp_path], ["y"])


def test_sparse_rows_stay_sparse(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.mat", X=sparse.csc_array(X), Y=np.array([[1, 2, 1, 2]]))
    data = read_files([path, path], ["Y"], ["x0"])
    assert sparse.issparse(data.X)
    assert data.X.shape == (4, 2)


@pytest.mark.parametrize(
    ("arrays", "error", "said"),
    [
        ({"X": X}, InputError, r"no array 'y'; it has \['X'\]"),
        ({"X": X, "y": [1, 2]}, FileFormatError, "must have one value a row"),
        ({"X": X[0], "y": [1, 2, 3]}, FileFormatError, "must have rows and columns"),
        ({"X": X.astype(complex), "y": [1] * 4}, FileFormatError, "real numbers"),
        ({"X": X, "y": np.zeros(4, complex)}, FileFormatError, "must hold numbers or text"),
    ],
)
def test_an_archive_that_does_not_fit_is_told(
    tmp_path: Path, arrays: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        read_files([archive(tmp_path / "a.npz", **arrays)], ["y"])
