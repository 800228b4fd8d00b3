"""Read the user's own data file: CSV, Parquet, NPZ or MAT."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._dataset import Matrix
from featuremask.datasets._mat import read_mat
from featuremask.datasets._npz import read_npz
from featuremask.datasets._spec import TableSpec
from featuremask.exceptions import FileFormatError, InputError, MissingExtraError

__all__ = ["RawTable", "read_table"]


class RawTable(NamedTuple):
    """Rows, targets as they are in the file, and names of the columns."""

    X: Matrix
    y: NDArray[Any]
    feature_names: tuple[str, ...]


def read_table(spec: TableSpec) -> RawTable:
    """Read the data that a TOML file describes.

    Parameters
    ----------
    spec : TableSpec
        What to read, and how much at most.

    Returns
    -------
    RawTable
        Rows, targets and names.
    """
    if spec.format in {"csv", "parquet"}:
        try:
            return _from_arrow(spec, _read_arrow(spec))
        except UnicodeDecodeError as error:
            raise FileFormatError(
                f"{spec.path} holds text that is not UTF-8 ({error}); save it in UTF-8"
            ) from error
    if spec.format == "mat":
        X, y = read_mat(spec.path, x_key=spec.features, y_key=spec.target, max_bytes=spec.max_bytes)
        return RawTable(X, y, _numbered(X.shape[1]))
    return _from_arrays(spec)


def _from_arrays(spec: TableSpec) -> RawTable:
    X, y = read_npz(spec.path, x_key=spec.features, y_key=spec.target, max_bytes=spec.max_bytes)
    if X.ndim < 2 or 0 in X.shape or X.dtype.kind not in "fiub":
        raise FileFormatError(
            f"{spec.path}: the array {spec.features!r} must have rows and columns of real "
            f"numbers; got {X.shape=}, {X.dtype=}"
        )
    if y.shape not in {(len(X),), (len(X), 1)}:
        raise FileFormatError(
            f"{spec.path}: the array {spec.target!r} must have one value a row; "
            f"got {y.shape=} for {len(X)} rows"
        )
    flat = X.reshape(len(X), math.prod(X.shape[1:]))
    return RawTable(flat, y.reshape(-1), _numbered(flat.shape[1]))


def _numbered(n_features: int) -> tuple[str, ...]:
    return tuple(f"x{number}" for number in range(n_features))


def _import_arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "CSV and Parquet files are read by pyarrow; install it with: "
            "pip install 'featuremask[io]', or save the data as NPZ"
        ) from error
    return pyarrow


def _read_arrow(spec: TableSpec) -> Any:
    """Read a whole table after a look at its size."""
    arrow = _import_arrow()
    try:
        if spec.format == "csv":
            _check_size(spec, spec.path.stat().st_size)
            return arrow.csv.read_csv(spec.path)
        with arrow.parquet.ParquetFile(spec.path) as file:
            _check_size(spec, file.metadata.num_rows * file.metadata.num_columns * 8)
            return file.read()
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(
            f"{spec.path} cannot be read as {spec.format} ({error}); save it again"
        ) from error


def _check_size(spec: TableSpec, size: int) -> None:
    if size > spec.max_bytes:
        raise FileFormatError(
            f"{spec.path} holds about {size} bytes, more than the {spec.max_bytes} that are "
            f"accepted; raise max_gigabytes in {spec.toml_path}"
        )


def _from_arrow(spec: TableSpec, table: Any) -> RawTable:
    names = [str(name) for name in table.column_names]
    _check_names(spec, names)
    left_out = {spec.target, *spec.drop}
    features = [name for name in names if name not in left_out]
    if not features or table.num_rows == 0:
        raise FileFormatError(
            f"{spec.path} must have rows and feature columns; got {table.num_rows} rows and "
            f"{len(features)} features"
        )
    columns = [_as_numbers(spec.path, name, table[name]) for name in features]
    return RawTable(np.column_stack(columns), _as_target(spec, table[spec.target]), tuple(features))


def _check_names(spec: TableSpec, names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileFormatError(f"{spec.path} has several columns called {twice}; rename them")
    missing = sorted({spec.target, *spec.drop} - set(names))
    if missing:
        raise InputError(
            f"{spec.toml_path} names columns {missing} that {spec.path} does not have; "
            f"it has {names[:20]}{' and more' if len(names) > 20 else ''}"
        )


def _as_numbers(path: Path, name: str, column: Any) -> NDArray[Any]:
    """Turn a column into numbers; missing values become NaN."""
    import pyarrow.types as kinds

    kind = column.type
    if kinds.is_boolean(kind):
        column = column.cast("uint8")
    elif kinds.is_decimal(kind):
        column = column.cast("float64")
    elif not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_null(kind)):
        raise InputError(
            f"{path}: the column {name!r} holds {kind}, features must be numbers; list it under "
            f"drop, or encode it first"
        )
    if kinds.is_null(kind):
        return np.full(len(column), np.nan)
    values: NDArray[Any] = column.to_numpy()
    return values


def _as_target(spec: TableSpec, column: Any) -> NDArray[Any]:
    import pyarrow.types as kinds

    if column.null_count:
        raise InputError(
            f"{spec.path}: the target {spec.target!r} is missing in {column.null_count} rows; "
            f"remove those rows"
        )
    kind = column.type
    if kinds.is_decimal(kind):
        column = column.cast("float64")
    values = np.asarray(column.to_pylist())
    if values.dtype.kind not in "fiubU":
        raise InputError(
            f"{spec.path}: the target {spec.target!r} holds {kind}; it must be numbers or text"
        )
    return values
