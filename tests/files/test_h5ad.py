"""The h5ad files of AnnData, made here by h5py as anndata writes them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from scipy import sparse

from featuremask.exceptions import FileFormatError, InputError, MissingExtraError
from featuremask.files import Picks, read_files, reduce_files

X = np.arange(12.0, dtype=np.float32).reshape(4, 3)
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(matrix: Any = X, name: str = "cells.h5ad") -> Path:
        with h5py.File(tmp_path / name, "w") as file:
            file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
            if isinstance(matrix, np.ndarray):
                file["X"] = matrix
            else:
                file.create_group("X").attrs["encoding-type"] = f"{matrix.format}_matrix"
                file["X"].attrs["shape"] = matrix.shape
                for part in ("data", "indices", "indptr"):
                    file["X"][part] = getattr(matrix, part)
            text = h5py.string_dtype()
            for part, names in (("obs", list("abcd")), ("var", ["g1", "g2", "g3"])):
                group = file.create_group(part)
                group.attrs["_index"] = "_index"
                group.create_dataset("_index", data=names, dtype=text)
            kind = file["obs"].create_group("kind")
            kind.attrs["encoding-type"] = "categorical"
            kind.create_dataset("categories", data=["T", "B"], dtype=text)
            kind["codes"] = np.array([0, 1, -1, 0], dtype=np.int8)
            file["obs"]["age"] = [3.0, np.nan, 5.0, 6.0]
            file["obs"].create_dataset("batch", data=list("xyxy"), dtype=text)
            file["var"]["mean"] = [0.1, 0.2, 0.3]
        return tmp_path / name

    return write


def test_the_matrix_and_columns_of_its_rows_are_read(write: Write) -> None:
    data = read_files([write()], ["kind", "age", "batch"], ["g2"])
    assert data.names == ("g1", "g3")
    assert np.array_equal(data.X, X[:, [0, 2]])
    assert data.aside["kind"].values.tolist() == ["T", "B", None, "T"]
    assert data.aside["kind"].gaps.tolist() == [False, False, True, False]
    assert data.aside["age"].gaps.tolist() == [False, True, False, False]
    assert data.aside["batch"].values.tolist() == list("xyxy")


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array])
def test_sparse_matrices_stay_sparse(write: Write, tmp_path: Path, form: Any) -> None:
    path = write(form(X))
    assert np.array_equal(read_files([path]).X.toarray(), X)
    reduce_files([path], tmp_path / "out.h5ad", Picks((1,), 3, ("g2",)))
    found = read_files([tmp_path / "out.h5ad"], ["kind"])
    assert np.array_equal(found.X.toarray(), X[:, [1]])
    assert found.names == ("g2",)


def test_a_smaller_file_is_written_with_what_is_known_of_rows_and_columns(
    write: Write, tmp_path: Path
) -> None:
    assert reduce_files([write()], tmp_path / "out.h5ad", Picks((0, 2), 3, also=("kind",))) == 4
    with h5py.File(tmp_path / "out.h5ad") as file:
        assert file.attrs["encoding-type"] == "anndata"
        assert np.array_equal(file["X"][:], X[:, [0, 2]])
        assert file["var"]["_index"].asstr()[:].tolist() == ["g1", "g3"]
        assert file["var"]["mean"][:].tolist() == [0.1, 0.3]
        assert file["obs"]["kind"]["codes"][:].tolist() == [0, 1, -1, 0]


def masked(parent: Any, name: str, values: Any, mask: list[bool], kind: str) -> None:
    group = parent.create_group(name)
    group.attrs["encoding-type"] = f"nullable-{kind}"
    dtype = h5py.string_dtype() if kind == "string-array" else None
    group.create_dataset("values", data=values, dtype=dtype)
    group["mask"] = np.array(mask)


def test_values_that_come_with_a_mask_are_read_as_anndata_0_13_writes_them(
    write: Write, tmp_path: Path
) -> None:
    path = write()
    none = [False] * 4
    with h5py.File(path, "a") as file:
        for part, names in (("obs", list("abcd")), ("var", ["g1", "g2", "g3"])):
            del file[part]["_index"]
            masked(file[part], "_index", names, none[: len(names)], "string-array")
        masked(file["obs"], "count", [1, 2, 3, 4], [False, True, False, False], "integer")
        masked(file["obs"], "ill", [True, False, True, True], none, "boolean")
        masked(
            file["obs"], "site", ["n", "s", "", "n"], [False, False, True, False], "string-array"
        )
        del file["obs"]["kind"]["categories"]
        masked(file["obs"]["kind"], "categories", ["T", "B"], [False] * 2, "string-array")
        chromosome = file["var"].create_group("chromosome")
        masked(chromosome, "categories", ["1", "2", "X"], [False] * 3, "string-array")
        chromosome["codes"] = np.array([2, 0, 1], dtype=np.int8)
    found = read_files([path], ["count", "ill", "site", "kind"])
    assert found.names == ("g1", "g2", "g3")
    count, ill, site, kind = (found.aside[name] for name in ("count", "ill", "site", "kind"))
    assert (count.family, count.gaps.tolist()) == ("number", [False, True, False, False])
    assert count.values[[0, 2, 3]].tolist() == [1, 3, 4]
    assert (ill.family, ill.values.tolist()) == ("boolean", [True, False, True, True])
    assert site.values.tolist() == ["n", "s", None, "n"]
    assert kind.values.tolist() == ["T", "B", None, "T"]
    reduce_files([path], tmp_path / "out.h5ad", Picks((0, 2), 3))
    assert read_files([tmp_path / "out.h5ad"]).names == ("g1", "g3")
    with h5py.File(tmp_path / "out.h5ad") as file:
        assert file["var"]["chromosome"]["codes"][:].tolist() == [2, 1]
        assert len(file["var"]["chromosome"]["categories"]["values"]) == 3


def test_what_does_not_fit_is_told(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown column 'cell'; it has \['age', 'batch', 'kind'"):
        read_files([write()], ["cell"])
    with pytest.raises(InputError, match="one h5ad file is read at a time"):
        read_files([write(), write(name="more.h5ad")])
    with pytest.raises(FileFormatError, match="'var' names 3 columns, 'X' has 2"):
        read_files([write(X[:, :2])])
    (tmp_path / "no.h5ad").write_text("not HDF5")
    with pytest.raises(FileFormatError, match="cannot be read as HDF5"):
        read_files([tmp_path / "no.h5ad"])
    with h5py.File(tmp_path / "no.h5ad", "w") as file:
        file["X"] = X
    with pytest.raises(FileFormatError, match="is no h5ad file"):
        read_files([tmp_path / "no.h5ad"])


def test_without_h5py_the_line_to_install_it_is_given(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write()
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featuremask\[h5ad\]'"):
        read_files([path])
