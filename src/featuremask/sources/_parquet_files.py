"""Parquet files: which ones are meant, and what their footers say."""

import glob
import itertools
import os
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from featuremask._extras import needed
from featuremask.exceptions import InputError
from featuremask.sources._place import Stamp

__all__ = ["ParquetFile", "Readers", "damaged", "found_files"]

_OPEN_FILES = 8
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class Readers:
    """Open files. A few stay open: the footer of a wide one is hundreds of megabytes once read."""

    def __init__(self) -> None:
        self._opened: OrderedDict[Path, Any] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, path: Path) -> Any:
        """Return the reader of a file."""
        with self._lock:
            found = self._opened.pop(path, None)
            if found is None:
                # Without pre_buffer: it would hold all the row groups that were read.
                found = needed("pyarrow.parquet", "io").ParquetFile(path, pre_buffer=False)
            self._opened[path] = found
            while len(self._opened) > _OPEN_FILES:
                self._opened.popitem(last=False)
        return found


@dataclass(frozen=True)
class ParquetFile:
    """One file.

    Attributes
    ----------
    stamp : Stamp
    schema : pyarrow.Schema
    group_rows : tuple of int
        Rows of each row group.
    group_bytes : tuple of int
        Their sizes, without compression.
    partition : dict of str to str or None
        The columns that are said by its folders (``site=3/lots.parquet``); None for no value.
    """

    stamp: Stamp
    schema: Any
    group_rows: tuple[int, ...]
    group_bytes: tuple[int, ...]
    partition: dict[str, str | None]

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.stamp.path

    @classmethod
    def opened(cls, path: Path, root: Path, readers: Readers) -> "ParquetFile":
        """Read the footer of a file below a folder."""
        stamp = Stamp.of(path)
        try:
            footer = readers.of(path).metadata
            schema = footer.schema.to_arrow_schema()
        except (needed("pyarrow", "io").ArrowException, OSError) as error:
            raise damaged(path, error) from error
        groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
        return cls(
            stamp,
            schema,
            tuple(group.num_rows for group in groups),
            tuple(group.total_byte_size for group in groups),
            _partition(path.parent.relative_to(root)),
        )


def damaged(path: Path, error: Exception) -> InputError:
    """Return the error that says that a file cannot be read."""
    return InputError(
        f"{str(path)!r} cannot be read as Parquet: {error}. It may be empty, cut off, damaged or "
        "of another kind; write it again, or leave it out."
    )


def found_files(paths: Any, readers: Readers) -> list[ParquetFile]:
    """Return the files that are meant by paths, folders and patterns, sorted by place in each.

    Names that begin with a dot or an underscore are left out below a folder.
    """
    several = not isinstance(paths, str | os.PathLike)
    files = [file for path in (paths if several else [paths]) for file in _files_of(path, readers)]
    if not files:
        raise InputError("At least one Parquet file is needed; the list of paths is empty.")
    count = Counter(file.path.resolve() for file in files)
    twice = [str(path) for path, n in count.items() if n > 1]
    if twice:
        raise InputError(f"{min(twice)!r} is named twice; name each file once.")
    return files


def _files_of(path: Any, readers: Readers) -> list[ParquetFile]:
    place = Path(path)
    root, found = place.parent, [place]
    if place.is_dir():
        root, found = place, _below(place)
    elif glob.has_magic(str(path)) and not place.exists():
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        root, found = _fixed_part(place), [m for m in matches if m.is_file()]
        found += [file for m in matches if m.is_dir() for file in _below(m)]
    if not found:
        raise FileNotFoundError(f"There is no Parquet file at {str(path)!r}.")
    return [ParquetFile.opened(each, root, readers) for each in found]


def _below(root: Path) -> list[Path]:
    def hidden(place: Path) -> bool:
        return any(part.startswith((".", "_")) for part in place.relative_to(root).parts)

    return sorted(p for p in root.rglob("*.parquet") if p.is_file() and not hidden(p))


def _fixed_part(pattern: Path) -> Path:
    """Return the folder of a pattern before its first wildcard."""
    return Path(*itertools.takewhile(lambda part: not glob.has_magic(part), pattern.parts))


def _partition(folders: Path) -> dict[str, str | None]:
    pairs = [part.split("=", 1) for part in folders.parts if "=" in part]
    return {key: None if value == _NO_VALUE else unquote(value) for key, value in pairs}
