"""Tables of genes: the h5ad files of AnnData, read as plain HDF5 by h5py."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError, InputError, MissingExtraError
from featuremask.files._data import Data, Picks, column_of_array, matching, picked_places
from featuremask.tables import Column

__all__ = ["read_h5ad", "reduce_h5ad"]

_ROWS, _ABOUT_ROWS, _ABOUT_COLUMNS = "X", "obs", "var"


def read_h5ad(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the matrix of an h5ad file; columns to put aside are those of ``obs``."""
    path = _only(paths)
    with _opened(path) as file:
        names = _index(path, file, _ABOUT_COLUMNS)
        known = [name for name in file[_ABOUT_ROWS] if name != file[_ABOUT_ROWS].attrs["_index"]]
        matching(aside, known, f"the choice of target or split from {_ABOUT_ROWS!r}")
        data = Data(_matrix(path, file), names, {name: _column(path, file, name) for name in aside})
    if data.X.shape[1] != len(names):
        raise FileFormatError(
            f"{path}: {_ABOUT_COLUMNS!r} names {len(names)} columns, {_ROWS!r} has "
            f"{data.X.shape[1]}. Write it again."
        )
    return data.without(matching(drop, names, "drop"))


def reduce_h5ad(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Write a file with fewer columns: ``X``, ``obs`` as it is, ``var`` cut to fit.

    Layers, embeddings and unstructured parts are not written.
    """
    path = _only(paths)
    h5py, content = _import_h5py(), io.BytesIO()
    with _opened(path) as file:
        names = _index(path, file, _ABOUT_COLUMNS)
        columns = Picks(picks.places, picks.n_columns, picks.names)  # obs is written whole
        places = picked_places(columns, names, path)
        X = _matrix(path, file)[:, places]
        with h5py.File(content, "w") as new:
            new.attrs.update(file.attrs)
            _write_matrix(new, X)
            file.copy(_ABOUT_ROWS, new)
            new.create_group(_ABOUT_COLUMNS)
            _copy_part(file[_ABOUT_COLUMNS], new[_ABOUT_COLUMNS], places, len(names))
    out.write(content.getvalue())
    return int(X.shape[0])


def _only(paths: Sequence[Path]) -> Path:
    if len(paths) > 1:
        raise InputError(
            f"one h5ad file is read at a time, for genes may differ; got {len(paths)}. Join them "
            "with anndata first."
        )
    return paths[0]


def _import_h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError(
            "h5ad files are read by h5py; install it with: pip install 'featuremask[h5ad]', or "
            "save the matrix as NPZ."
        ) from error
    return h5py


def _opened(path: Path) -> Any:
    h5py = _import_h5py()
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise FileFormatError(f"{path} cannot be read as HDF5 ({error}).") from error
    missing = [part for part in (_ROWS, _ABOUT_ROWS, _ABOUT_COLUMNS) if part not in file]
    old = [p for p in (_ABOUT_ROWS, _ABOUT_COLUMNS) if p in file and "_index" not in file[p].attrs]
    if missing or old:
        file.close()
        raise FileFormatError(
            f"{path} is no h5ad file of AnnData 0.7 or later: {(missing + old)[0]!r} is missing or "
            "of an older form. Read it with anndata and write it again."
        )
    return file


def _index(path: Path, file: Any, part: str) -> tuple[str, ...]:
    names = tuple(_texts(file[part][file[part].attrs["_index"]]).tolist())
    if len(set(names)) < len(names):
        raise FileFormatError(f"{path}: names in {part!r} must differ. Make them unique.")
    return names


def _texts(stored: Any) -> NDArray[Any]:
    """Return texts, None where one is missing; newer versions of anndata store a mask with them."""
    if hasattr(stored, "shape"):
        return np.asarray(stored.asstr()[:], dtype=object)
    texts = np.asarray(stored["values"].asstr()[:], dtype=object)
    texts[stored["mask"][:]] = None
    return texts


def _matrix(path: Path, file: Any) -> Any:
    from scipy import sparse

    X = file[_ROWS]
    if hasattr(X, "shape"):
        return X[:]
    kind = str(X.attrs.get("encoding-type", ""))
    forms = {"csr_matrix": sparse.csr_array, "csc_matrix": sparse.csc_array}
    if kind not in forms:
        raise FileFormatError(f"{path}: {_ROWS!r} must be a dense or sparse matrix; got {kind!r}.")
    parts = (X["data"][:], X["indices"][:], X["indptr"][:])
    matrix = forms[kind](parts, shape=tuple(int(n) for n in X.attrs["shape"]))
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise FileFormatError(f"{path}: the sparse {_ROWS!r} is damaged ({error}).") from error
    return sparse.csr_array(matrix)


def _column(path: Path, file: Any, name: str) -> Column:
    stored = file[_ABOUT_ROWS][name]
    if not hasattr(stored, "shape"):
        masked = "values" in stored and "mask" in stored
        return (_masked if masked else _categories)(path, name, stored)
    values = _texts(stored) if stored.dtype.kind == "O" else stored[:]
    return column_of_array(path, name, values)


def _masked(path: Path, name: str, stored: Any) -> Column:
    """Return numbers, booleans or texts that come with a mask of those that are missing."""
    gaps = stored["mask"][:].astype(bool)
    if stored["values"].dtype.kind == "O":
        return Column("category", _texts(stored), gaps)
    values = stored["values"][:]
    if values.dtype.kind in "iu" and gaps.any():
        values = np.where(gaps, np.nan, values)
    return replace(column_of_array(path, name, values), gaps=gaps)


def _categories(path: Path, name: str, stored: Any) -> Column:
    if "categories" not in stored or "codes" not in stored:
        raise FileFormatError(
            f"{path}: the column {name!r} of {_ABOUT_ROWS!r} is of a kind that is not read. Make "
            "it numbers, text or a category."
        )
    levels, codes = stored["categories"], stored["codes"][:]
    as_text = not hasattr(levels, "shape") or levels.dtype.kind == "O"
    known = _texts(levels) if as_text else levels[:].astype(str).astype(object)
    values = np.array([*known.tolist(), None], dtype=object)[codes]  # a gap has the code -1
    return Column("category", values, codes < 0)


def _write_matrix(new: Any, X: Any) -> None:
    if isinstance(X, np.ndarray):
        new.create_dataset(_ROWS, data=X, compression="gzip")
        new[_ROWS].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
        return
    group = new.create_group(_ROWS)
    group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
    group.attrs["shape"] = X.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(X, part), compression="gzip")


def _copy_part(old: Any, new: Any, places: list[int], n_columns: int) -> None:
    """Copy what is said of the columns, for some of them; categories of categories are kept."""
    new.attrs.update(old.attrs)
    for name, entry in old.items():
        if name == "categories" or getattr(entry, "shape", (n_columns,))[:1] != (n_columns,):
            old.copy(name, new)
        elif not hasattr(entry, "shape"):
            _copy_part(entry, new.create_group(name), places, n_columns)
        else:
            new.create_dataset(name, data=entry[:][places], dtype=entry.dtype)
            new[name].attrs.update(entry.attrs)
