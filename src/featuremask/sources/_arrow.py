"""Rows of any object that streams Arrow batches."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from featuremask._extras import needed
from featuremask.exceptions import InputTypeError
from featuremask.sources._parquet import Names, ParquetSource
from featuremask.sources._stored import WINDOW_BYTES

__all__ = ["ArrowSource"]

_GROUP_BYTES = 2**26


class ArrowSource(ParquetSource):
    """Rows of an object with the method ``__arrow_c_stream__``.

    Query results of DuckDB, readers of record batches and many others have it. A stream can often
    be read once only, so it is written to a temporary Parquet file, which is removed with the
    source; no more than a row group of it is in memory.

    Parameters
    ----------
    data : object with ``__arrow_c_stream__``
    target, drop, columns, sample_weight, window_bytes
        As in `ParquetSource`.
    folder : path, optional
        Where the temporary file is written; the system's folder for such files if None.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"volt": [1.5, 2.5], "bin": [0, 1]})
    >>> ArrowSource(table.to_reader(), target="bin").shape
    (2, 1)
    """

    def __init__(
        self,
        data: Any,
        target: Names = None,
        drop: Sequence[str] = (),
        *,
        columns: Sequence[str] | None = None,
        sample_weight: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        window_bytes: int = WINDOW_BYTES,
    ) -> None:
        if not hasattr(data, "__arrow_c_stream__"):
            raise InputTypeError(
                "An object with __arrow_c_stream__ is needed (a reader of record batches, a query "
                f"result, a data frame); got {type(data).__name__}."
            )
        self._kept = _OwnFolder(folder)
        path = self._kept.path / "rows.parquet"
        _write(needed("pyarrow", "io").RecordBatchReader.from_stream(data), path)
        super().__init__(
            path,
            target,
            drop,
            columns=columns,
            sample_weight=sample_weight,
            window_bytes=window_bytes,
        )


class _OwnFolder:
    """A temporary folder that goes when nobody holds this object any more."""

    def __init__(self, parent: str | os.PathLike[str] | None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="featuremask-", dir=parent))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _write(reader: Any, path: Path) -> None:
    """Write a stream in row groups of even size, whatever its batches are."""
    arrow = needed("pyarrow", "io")
    reader = _without_views(reader, arrow)
    with needed("pyarrow.parquet", "io").ParquetWriter(path, reader.schema) as writer:
        waiting, size = [], 0
        for batch in reader:
            waiting.append(batch)
            size += batch.nbytes
            if size >= _GROUP_BYTES:
                writer.write_table(arrow.Table.from_batches(waiting))
                waiting, size = [], 0
        if waiting:
            writer.write_table(arrow.Table.from_batches(waiting))


def _without_views(reader: Any, arrow: Any) -> Any:
    """Return a stream whose views of text are text: not every PyArrow writes views to Parquet."""
    plain = {arrow.string_view(): arrow.large_string(), arrow.binary_view(): arrow.large_binary()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in reader.schema]
    schema = arrow.schema(fields)
    return reader if schema.types == reader.schema.types else reader.cast(schema)
