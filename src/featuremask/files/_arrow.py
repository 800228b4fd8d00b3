"""Parquet and Feather files, by pyarrow; columns keep their types."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from featuremask.exceptions import FileFormatError, MissingExtraError
from featuremask.files._data import Data, Picks, matching, picked_places
from featuremask.sources import ParquetSource, write_parquet
from featuremask.tables import Table

__all__ = ["read_feather", "read_parquet", "reduce_feather", "reduce_parquet"]

_ROWS_AT_ONCE = 50_000


def read_parquet(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the rows of Parquet files; see `featuremask.files.read_files`."""
    return _read(paths, aside, drop, _parquet_batches)


def read_feather(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the rows of Feather files; see `featuremask.files.read_files`."""
    return _read(paths, aside, drop, _feather_batches)


def reduce_parquet(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Copy some columns, as `transform_file` does; see `featuremask.files.reduce_files`."""
    source = ParquetSource(paths, columns=())
    header = source.files[0].schema.names
    names = [header[place] for place in picked_places(picks, header, paths[0])]
    return write_parquet(source, np.empty(0, np.int64), names, out)


def reduce_feather(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Copy some columns batch by batch; see `featuremask.files.reduce_files`."""
    arrow = _import_arrow()
    schema = _same_schema(arrow, paths, _feather_batches)
    names = [schema.names[place] for place in picked_places(picks, schema.names, paths[0])]
    n_rows = 0
    with arrow.ipc.new_file(out, arrow.schema([schema.field(name) for name in names])) as writer:
        for batch in _all_batches(arrow, paths, names, _feather_batches):
            n_rows += batch.num_rows
            writer.write_batch(batch)
    return n_rows


def _import_arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError(
            "Parquet and Feather files are read by pyarrow; install it with: "
            "pip install 'featuremask[io]', or save the table as CSV."
        ) from error
    return pyarrow


@contextmanager
def _told(path: Path) -> Iterator[None]:
    arrow = _import_arrow()
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{path} cannot be read ({error}); save it again.") from error


Batches = Callable[[Any, Path, list[str] | None], Iterator[Any]]


def _parquet_batches(arrow: Any, path: Path, names: list[str] | None) -> Iterator[Any]:
    """Yield the schema, then the batches of some columns."""
    with arrow.parquet.ParquetFile(path) as file:
        yield file.schema_arrow
        if names is not None:
            yield from file.iter_batches(_ROWS_AT_ONCE, columns=names)


def _feather_batches(arrow: Any, path: Path, names: list[str] | None) -> Iterator[Any]:
    with arrow.memory_map(str(path)) as mapped:
        file = arrow.ipc.open_file(mapped)
        yield file.schema
        if names is not None:
            for number in range(file.num_record_batches):
                yield file.get_batch(number).select(names)


def _same_schema(arrow: Any, paths: Sequence[Path], batches: Batches) -> Any:
    schemas = []
    for path in paths:
        with _told(path):
            schemas.append(next(batches(arrow, path, None)).remove_metadata())
        if not schemas[-1].equals(schemas[0]):
            raise FileFormatError(
                f"{path} must have the same columns of the same types as {paths[0]}; its schema "
                "differs."
            )
    twice = sorted({name for name in schemas[0].names if schemas[0].names.count(name) > 1})
    if twice:
        raise FileFormatError(f"{paths[0]} has several columns called {twice}; rename them.")
    return schemas[0]


def _all_batches(
    arrow: Any, paths: Sequence[Path], names: list[str], batches: Batches
) -> Iterator[Any]:
    for path in paths:
        with _told(path):
            portions = batches(arrow, path, names)
            next(portions)
            for batch in portions:
                yield batch.select(names).replace_schema_metadata(None)


def _read(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str], how: Batches) -> Data:
    arrow = _import_arrow()
    schema = _same_schema(arrow, paths, how)
    dropped = matching(drop, schema.names, "drop")
    names = [name for name in schema.names if name not in dropped]
    matching(aside, names, "the choice of target or split")
    wanted = arrow.schema([schema.field(name) for name in names])
    whole = arrow.Table.from_batches(_all_batches(arrow, paths, names, how), wanted)
    if whole.num_rows == 0:
        raise FileFormatError(f"{paths[0]} has no rows; a table needs rows.")
    table = Table.of(whole)
    rest = table.drop(aside)
    return Data(rest, rest.names, {name: table[name] for name in aside})
