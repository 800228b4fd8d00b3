"""NPZ archives and MATLAB files: one matrix of rows, and vectors of the same rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets import Matrix, NpzArchive, read_mat_arrays
from featuremask.exceptions import FileFormatError, InputError
from featuremask.files._data import Data, Picks, column_of_array, matching, numbered, picked_places

__all__ = ["read_mat", "read_npz", "reduce_mat", "reduce_npz"]

_MAX_BYTES = 1 << 36
_ROWS = "X"
_NAMES = "feature_names"
Arrays = Mapping[str, Any]
Reader = Callable[[Path, Sequence[str]], Arrays]


def read_npz(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the rows of NPZ archives; see `featuremask.files.read_files`."""
    return _read(paths, aside, drop, _npz_arrays)


def read_mat(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the rows of MATLAB files; see `featuremask.files.read_files`."""
    return _read(paths, aside, drop, _mat_arrays)


def reduce_npz(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Write an archive with fewer columns; see `featuremask.files.reduce_files`."""
    reduced, n_rows = _reduced(paths, picks, _npz_arrays)
    np.savez_compressed(out, **reduced)
    return n_rows


def reduce_mat(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Write a MATLAB file with fewer columns; see `featuremask.files.reduce_files`."""
    from scipy.io import savemat

    reduced, n_rows = _reduced(paths, picks, _mat_arrays)
    savemat(out, reduced, do_compression=True)
    return n_rows


def _npz_arrays(path: Path, vectors: Sequence[str]) -> dict[str, NDArray[Any]]:
    with NpzArchive(path, _MAX_BYTES) as archive:
        rows = _rows_key(path, archive.keys, vectors)
        wanted = [key for key in (rows, _NAMES, *vectors) if key in archive.keys]
        found = {key: archive.read(key) for key in wanted}
    return found | {_ROWS: found.pop(rows)}


def _mat_arrays(path: Path, vectors: Sequence[str]) -> dict[str, Any]:
    found = read_mat_arrays(path, _MAX_BYTES)
    return found | {_ROWS: found.pop(_rows_key(path, list(found), vectors))}


def _rows_key(path: Path, keys: Sequence[str], vectors: Sequence[str]) -> str:
    """Return the name of the matrix of rows: "X", or the only array that is left."""
    for name in vectors:
        if name not in keys:
            raise InputError(f"{path} has no array {name!r}; it has {sorted(keys)}.")
    left = [key for key in keys if key not in (*vectors, _NAMES)]
    if _ROWS in left:
        return _ROWS
    if len(left) != 1:
        raise FileFormatError(
            f"{path} must have an array {_ROWS!r} of rows and columns; it has {sorted(keys)}. "
            f"Save it as {_ROWS}=, and names of columns, if there are some, as {_NAMES}=."
        )
    return left[0]


def _joined(paths: Sequence[Path], vectors: Sequence[str], reader: Reader) -> Arrays:
    parts = [reader(path, vectors) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        _check(path, part, vectors, parts[0][_ROWS].shape[1:])
    names = {_NAMES: parts[0][_NAMES]} if _NAMES in parts[0] else {}
    rows = _stacked([part[_ROWS] for part in parts])
    return names | {
        _ROWS: rows,
        **{name: np.concatenate([_flat(part[name]) for part in parts]) for name in vectors},
    }


def _check(path: Path, part: Arrays, vectors: Sequence[str], shape: tuple[int, ...]) -> None:
    rows = part[_ROWS]
    if len(rows.shape) != 2 or 0 in rows.shape or rows.dtype.kind not in "fiub":
        raise FileFormatError(
            f"{path}: the array of rows must have rows and columns of real numbers; got the shape "
            f"{rows.shape} and the type {rows.dtype}."
        )
    if rows.shape[1:] != shape:
        raise FileFormatError(
            f"{path} must have {shape[0]} columns as the first file has; got {rows.shape[1]}."
        )
    for name in vectors:
        if len(_flat(part[name])) != rows.shape[0]:
            raise FileFormatError(
                f"{path}: the array {name!r} must have one value a row; got the shape "
                f"{part[name].shape} for {rows.shape[0]} rows."
            )


def _flat(values: Any) -> NDArray[Any]:
    dense: NDArray[Any] = values if isinstance(values, np.ndarray) else values.toarray()
    return dense.reshape(-1)


def _stacked(parts: Sequence[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts))


def _read(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str], how: Reader) -> Data:
    found = _joined(paths, aside, how)
    rows = found[_ROWS]
    names = _names(paths[0], found)
    data = Data(rows, names, {name: column_of_array(paths[0], name, found[name]) for name in aside})
    return data.without(matching(drop, names, "drop"))


def _names(path: Path, found: Arrays) -> tuple[str, ...]:
    n_columns = found[_ROWS].shape[1]
    if _NAMES not in found:
        return numbered(n_columns)
    names = tuple(str(name) for name in _flat(found[_NAMES]).tolist())
    if len(names) != n_columns or len(set(names)) != n_columns:
        raise FileFormatError(
            f"{path}: {_NAMES!r} must hold one name for each of {n_columns} columns, all "
            f"different; got {len(names)}, {len(set(names))} of them different."
        )
    return names


def _reduced(paths: Sequence[Path], picks: Picks, how: Reader) -> tuple[dict[str, Any], int]:
    found = _joined(paths, picks.also, how)
    names = _names(paths[0], found)
    columns = Picks(picks.places, picks.n_columns, picks.names)
    places = picked_places(columns, names, paths[0])
    rows: Iterable[Any] = found[_ROWS][:, places]
    kept: dict[str, Any] = {_ROWS: rows, **{name: found[name] for name in picks.also}}
    if _NAMES in found or picks.names is not None:
        kept[_NAMES] = np.array([names[place] for place in places])
    return kept, int(found[_ROWS].shape[0])
