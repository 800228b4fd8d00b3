"""Rows of Parquet files, row group by row group."""

import copy
import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._extras import needed
from featuremask.exceptions import InputError
from featuremask.sources._arrow_numbers import (
    check_numbers,
    is_wide_integer,
    numbers_of,
    values_of,
)
from featuremask.sources._parquet_files import ParquetFile, Readers, damaged, found_files
from featuremask.sources._partitions import Partitions
from featuremask.sources._stored import WINDOW_BYTES, Stored

__all__ = ["ParquetSource"]

_DECODED_BYTES = 2**25
"""About how much is decoded at a time, at most: each column of a piece has a cost of its own."""

Names = str | Sequence[str] | None


class ParquetSource(Stored):
    """Rows of Parquet files that need not fit into memory.

    Parameters
    ----------
    paths : path or sequence of paths
        Files, folders (all ``*.parquet`` below them) or patterns such as ``"lots/*.parquet"``.
        Folders named ``key=value`` add a column each.
    target : str or sequence of str, optional
        The column, or columns, to predict.
    drop : sequence of str, default=()
        Columns that are no features.
    columns : sequence of str, optional
        The features; all other columns if None.
    sample_weight : str, optional
        The column of the weights of rows.
    window_bytes : int, default=2**27
        About how much is shuffled at a time; as much again is read ahead.
    max_group_bytes : int, default=2**30
        Size from which a row group is refused: a row group is held in memory while it is read.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow, pyarrow.parquet
    >>> folder = tempfile.TemporaryDirectory()
    >>> table = pyarrow.table({"lot": ["a", "b"], "bin": [0, 1], "volt": [1.5, None]})
    >>> pyarrow.parquet.write_table(table, pathlib.Path(folder.name) / "lots.parquet")
    >>> source = ParquetSource(folder.name, target="bin", drop=["lot"])
    >>> source.names, source.shape
    (['volt'], (2, 1))
    >>> next(source.read(0))
    array([[1.5],
           [nan]])
    >>> folder.cleanup()
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        target: Names = None,
        drop: Sequence[str] = (),
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        window_bytes: int = WINDOW_BYTES,
        max_group_bytes: int = 2**30,
    ) -> None:
        paths = paths if isinstance(paths, str | os.PathLike) else list(paths)
        self._words: dict[str, Any] = {
            "drop": drop,
            "columns": columns,
            "sample_weight": sample_weight,
            "max_group_bytes": max_group_bytes,
        }
        self.window_bytes = window_bytes
        self._readers = Readers()
        self._read_footers(found_files(paths, self._readers))
        self._set_features(target)

    def _read_footers(self, files: list[ParquetFile]) -> None:
        self.files = files
        self._partitions = Partitions.of(files)
        self._blocks = [
            (file, group)
            for file in files
            for group, rows in enumerate(file.group_rows)
            if rows > 0
        ]
        rows = [file.group_rows[group] for file, group in self._blocks]
        self.block_rows = np.array(rows, dtype=np.int64)
        self.folder = Path(os.path.commonpath([file.path.parent.resolve() for file in files]))

    def _set_features(self, target: Names) -> None:
        self._targets = [target] if isinstance(target, str) else list(target or ())
        self._single = isinstance(target, str)
        weight, chosen = self._words["sample_weight"], self._words["columns"]
        known = [*self.files[0].schema.names, *self._partitions.names]
        no_features = {*self._targets, *self._words["drop"], *([weight] if weight else [])}
        self._check_known([*no_features, *(chosen or ())])
        features = known if chosen is None else chosen
        self.names = [name for name in features if name not in no_features]
        self.shape = (int(self.block_rows.sum()), len(self.names))
        self._check_schemas(no_features)
        self._check_sizes(self._words["max_group_bytes"])
        first = self.files[0].schema
        self.whole = np.array(
            [name in first.names and is_wide_integer(first.field(name).type) for name in self.names]
        )

    def _check_known(self, names: Sequence[str]) -> None:
        everywhere = {n for file in self.files for n in file.schema.names}
        everywhere.update(self._partitions.names)
        for name in names:
            if name not in everywhere:
                known = [*self.files[0].schema.names, *self._partitions.names]
                raise InputError(
                    f"There is no column {name!r} in {str(self.files[0].path)!r}; its columns are "
                    f"{_listed(known)}."
                )

    def _check_sizes(self, most: int) -> None:
        for file, group in self._blocks:
            size = file.group_bytes[group]
            if size > most:
                size = self._bytes_read(file, group)
            if size > most:
                rows = max(1, file.group_rows[group] * most // (4 * size))
                raise InputError(
                    f"Row group {group} of {str(file.path)!r} has {size:,} bytes, more than "
                    f"max_group_bytes={most:,}. Write the file again with smaller ones, for "
                    f"example pyarrow.parquet.write_table(table, path, row_group_size={rows}), or "
                    "raise max_group_bytes if there is memory for it."
                )

    def _bytes_read(self, file: ParquetFile, group: int) -> int:
        """Return the size of the columns of a row group that are read; all if all are."""
        chosen = self._words["columns"]
        if chosen is None:
            return file.group_bytes[group]
        wanted, footer = {*chosen, *self._read_beside()}, self._readers.of(file.path).metadata
        columns = map(footer.row_group(group).column, range(footer.num_columns))
        return sum(c.total_uncompressed_size for c in columns if wanted & _names_of(c))

    def _check_schemas(self, no_features: set[str]) -> None:
        for file in self.files:
            where = repr(str(file.path))
            here = [name for name in file.schema.names if name not in no_features]
            wanted = [name for name in self.names or () if name not in self._partitions.names]
            lacking = sorted({*wanted, *self._read_beside()} - set(file.schema.names))
            if lacking:
                raise InputError(
                    f"The column {lacking[0]!r} of {str(self.files[0].path)!r} is not in {where}; "
                    "all files need the same columns. Add it, or leave the column or the file out."
                )
            extra = sorted(set(here) - set(wanted))
            if extra and self._words["columns"] is None:
                raise InputError(
                    f"The column {extra[0]!r} of {where} is not in {str(self.files[0].path)!r}; "
                    f"all files need the same columns. Leave it out with drop=[{extra[0]!r}]."
                )
            for name in wanted:
                check_numbers(name, file.schema.field(name).type, where)
        for name in self.names or ():
            self._partitions.check_number(name)

    def _read_beside(self) -> list[str]:
        """Return the columns of the files that are read but are no features."""
        weight = self._words["sample_weight"]
        beside = [*self._targets, *([weight] if weight else [])]
        return [name for name in beside if name not in self._partitions.names]

    # ---- reading ---------------------------------------------------------------------------

    def read(self, block: int, columns: NDArray[np.int64] | None = None) -> Iterator[NDArray[Any]]:
        """Yield the rows of a row group, a few megabytes at a time."""
        names = self.names or []
        names = names if columns is None else [names[i] for i in columns]
        file, group = self._blocks[block]
        stored = [name for name in names if name not in self._partitions.names]
        for batch in self._batches(file, group, stored):
            if len(stored) == len(names):
                yield numbers_of(batch.select(names))
                continue
            rows = np.empty((batch.num_rows, len(names)))
            if stored:
                places = [i for i, name in enumerate(names) if name in stored]
                rows[:, places] = numbers_of(batch.select(stored))
            for i, name in enumerate(names):
                if name not in stored:
                    rows[:, i] = self._partitions.number(name, file)
            yield rows

    def dtype(self, columns: NDArray[np.int64]) -> np.dtype[Any]:
        """Return float32 if it holds these features without loss, else float64."""
        return np.dtype(
            np.float32 if all(map(_is_narrow, self.schema(columns, ()).types)) else float
        )

    def schema(self, columns: NDArray[np.int64], beside: Sequence[str]) -> Any:
        """Return the schema of some features, behind other columns; types that hold all files."""
        arrow, folders = needed("pyarrow", "io"), self._partitions
        names = [*beside, *((self.names or [])[i] for i in columns)]
        self._check_known(names)
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        if twice:
            raise InputError(f"The column {twice[0]!r} would be written twice; name it once.")
        stored = [name for name in names if name not in folders.names]
        parts = [arrow.schema([_field(file, name) for name in stored]) for file in self.files]
        try:
            known = arrow.unify_schemas(parts, promote_options="permissive")
        except arrow.ArrowException as error:
            raise InputError(
                f"Files have columns of one name and types that no type holds ({error}); write "
                "them again with one type, or leave files out."
            ) from error
        return arrow.schema(
            [
                arrow.field(n, folders.arrow_type(n)) if n in folders.names else known.field(n)
                for n in names
            ]
        )

    def tables(self, block: int, schema: Any) -> Iterator[Any]:
        """Yield the rows of a row group as tables of that schema."""
        arrow, folders = needed("pyarrow", "io"), self._partitions
        file, group = self._blocks[block]
        stored = [name for name in schema.names if name not in folders.names]
        for batch in self._batches(file, group, stored):
            n = batch.num_rows
            columns = [
                folders.repeated(field.name, file, n)
                if field.name in folders.names
                else batch.column(field.name)
                for field in schema
            ]
            yield arrow.table(columns, names=schema.names).cast(schema)

    def _batches(self, file: ParquetFile, group: int, names: list[str]) -> Iterator[Any]:
        size = max(1, _DECODED_BYTES // (8 * max(1, len(names))))
        file.stamp.check()
        try:
            reader = self._readers.of(file.path)
            yield from reader.iter_batches(batch_size=size, row_groups=[group], columns=names)
        except (needed("pyarrow", "io").ArrowException, OSError) as error:
            raise damaged(file.path, error) from error

    def values(self, name: str) -> NDArray[Any]:
        """Return one column of all rows, of whatever type."""
        if name in self._partitions.names:
            rows = [sum(file.group_rows) for file in self.files]
            return np.repeat(self._partitions.values(name, self.files), rows)
        arrow, parts = needed("pyarrow", "io"), []
        for file, group in self._blocks:
            parts += [batch.column(0) for batch in self._batches(file, group, [name])]
        column = arrow.chunked_array(parts or [arrow.array([], arrow.float64())])
        if column.null_count:
            raise InputError(
                f"The column {name!r} has {column.null_count} missing values; targets and weights "
                "need one in each row. Fill them, or leave these rows out."
            )
        return values_of(column)

    def target(self) -> NDArray[Any] | None:
        """Return the target of all rows."""
        if not self._targets:
            return None
        if self._single:
            return self.values(self._targets[0])
        return np.column_stack([self.values(name) for name in self._targets])

    def sample_weight(self) -> NDArray[Any] | None:
        """Return the weights of all rows."""
        name = self._words["sample_weight"]
        return None if name is None else self.values(name)

    def with_target(self, target: Any) -> "ParquetSource":
        """Return the same rows with another target, given by name."""
        names = [target] if isinstance(target, str) else target
        if not all(isinstance(name, str) for name in names):
            raise InputError(
                "The target of Parquet files is named: fit(source, 'column'); got "
                f"{type(target).__name__}."
            )
        again = copy.copy(self)
        again._set_features(target)
        return again

    # ---- what it is ------------------------------------------------------------------------

    def header(self) -> Any:
        """Return a table of no rows."""
        arrow = needed("pyarrow", "io")
        return arrow.table({name: arrow.array([], arrow.float64()) for name in self.names or ()})

    @property
    def key(self) -> str:
        """The places of the files, and the features."""
        return _digest(
            [*(str(file.path.resolve()) for file in self.files), "", *(self.names or ())]
        )

    @property
    def version(self) -> str:
        """Sizes, times and schemas of the files."""
        return _digest([f"{file.stamp} {file.schema.to_string()}" for file in self.files])


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _names_of(column: Any) -> set[str]:
    """Return what the column of the table is called that a column of the file belongs to."""
    path = str(column.path_in_schema)
    return {path, path.split(".", 1)[0]}


def _field(file: ParquetFile, name: str) -> Any:
    """Return the field of a column, which must be there once."""
    count = file.schema.names.count(name)
    if count != 1:
        raise InputError(
            f"{str(file.path)!r} must have one column {name!r}; it has {count}. Write it again, or "
            "leave it out."
        )
    return file.schema.field(name).remove_metadata()


def _is_narrow(kind: Any) -> bool:
    """Whether float32 holds all values of a type of numbers."""
    types = needed("pyarrow.types", "io")
    small = types.is_integer(kind) and kind.bit_width <= 16
    return bool(small or types.is_boolean(kind) or types.is_float32(kind) or types.is_float16(kind))


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
