"""Read two arrays of an NPZ archive without trusting it.

The archive is never unpacked: its directory is checked (plain names, bounded sum of sizes), then
the two arrays are read straight from it. Pickled objects are refused.
"""

import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError

__all__ = ["NpzArchive", "read_npz"]

_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # an entry that is encrypted
)


def read_npz(path: Path, *, x_key: str, y_key: str, max_bytes: int) -> list[NDArray[Any]]:
    """Read two arrays from an NPZ archive.

    Parameters
    ----------
    path : Path
        The archive.
    x_key, y_key : str
        The names of the arrays, without ``.npy``.
    max_bytes : int
        Limit on the sum of all entries, inflated.

    Returns
    -------
    list of two arrays
        The arrays `x_key` and `y_key`.
    """
    with NpzArchive(path, max_bytes) as archive:
        return [archive.read(key) for key in (x_key, y_key)]


class NpzArchive:
    """An NPZ archive whose directory is checked, to be used in a `with` block.

    Parameters
    ----------
    path : Path
        The archive.
    max_bytes : int
        Limit on the sum of all entries, inflated.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Open it and look at its directory."""
        with ExitStack() as open_now:
            stream = open_now.enter_context(self._path.open("rb"))
            with self._damage_told():
                self._archive = open_now.enter_context(zipfile.ZipFile(stream))
                entries = self._archive.infolist()
                _check_entries(self._path, entries, self._max_bytes)
            self._entries = {entry.filename: entry for entry in entries}
            self._open = open_now.pop_all()
        return self

    def __exit__(self, *details: object) -> None:
        """Close it."""
        self._open.close()

    @property
    def keys(self) -> list[str]:
        """The names of its arrays."""
        return [name.removesuffix(".npy") for name in self._entries]

    def read(self, key: str) -> NDArray[Any]:
        """Read an array.

        Parameters
        ----------
        key : str
            Its name, without ``.npy``.

        Returns
        -------
        ndarray
            The array.
        """
        with self._damage_told():
            return _read_array(self._path, self._archive, self._entries, key)

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except FileFormatError:
            raise
        except _DAMAGES as error:
            raise FileFormatError(
                f"{self._path} is not an NPZ archive, or is damaged ({error}); save it again with "
                f"numpy.savez"
            ) from error


def _check_entries(path: Path, entries: list[zipfile.ZipInfo], max_bytes: int) -> None:
    for entry in entries:
        name = entry.filename
        if not name.endswith(".npy") or name != Path(name).name or "\\" in name or ":" in name:
            raise FileFormatError(
                f"{path} has an entry called {name!r}; an NPZ archive holds plain names that end "
                f"with .npy; save it again with numpy.savez"
            )
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(
                f"{path}: {name!r} is packed by method {entry.compress_type}; save it again with "
                f"numpy.savez_compressed"
            )
    if len({entry.filename for entry in entries}) != len(entries):
        raise FileFormatError(f"{path} has two entries of one name; save it again with numpy.savez")
    total = sum(entry.file_size for entry in entries)
    if total > max_bytes:
        raise FileFormatError(
            f"{path} inflates to {total} bytes, more than the {max_bytes} that are accepted; "
            f"raise max_gigabytes if you trust the file"
        )


def _read_array(
    path: Path, archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], key: str
) -> NDArray[Any]:
    name = f"{key}.npy"
    if name not in entries:
        stored = sorted(entry.removesuffix(".npy") for entry in entries)
        raise FileFormatError(f"{path} has no array {key!r}; it has {stored}; name the right one")
    try:
        with archive.open(name) as stream:
            size = _promised_bytes(stream)
        if size != entries[name].file_size:
            raise ValueError(f"its header promises {size} bytes, it has {entries[name].file_size}")
        with archive.open(name) as stream:
            array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    # numpy reads a header with Python's own tokenizer, which fails in many ways.
    except Exception as error:
        raise FileFormatError(
            f"{path}: the array {key!r} cannot be read without trusting the file ({error}); "
            f"save plain numbers or text with numpy.savez"
        ) from error
    return array


def _promised_bytes(stream: Any) -> int:
    """Add up header and values from an array's header, before anything is allocated."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"format version {version} is not known")
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    return int(stream.tell()) + math.prod(shape) * dtype.itemsize
