"""Files that are written whole or not at all."""

import contextlib
import errno
import fcntl
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_atomically", "sole_writer", "write_atomically"]

_TEMPORARY = ".tmp"


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    The data goes to a temporary file beside it, is flushed to the disk, and takes the name by one
    rename. If anything fails the temporary file is removed and the old content stays.

    Parameters
    ----------
    path : path
        Where to write. The folder must exist. What is there already must be a file: a device or a
        pipe would be replaced, not written to.
    data : bytes
        The whole content.
    """
    with open_atomically(path) as file:
        file.write(data)


@contextmanager
def open_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing piece by piece; it appears when all is written, or not at all.

    Parameters
    ----------
    path : path
        Where to write. The folder must exist.

    Yields
    ------
    binary file
        Of a temporary name, until the block ends without an error. What a process that was killed
        has left under such a name is removed first.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "Only a file can be replaced by a file", str(path))
    _remove_leftovers(path)
    name, lock = _temporary(path)
    try:
        with os.fdopen(os.dup(lock), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        _remove(name)
        raise
    finally:
        os.close(lock)
    _sync_folder(path.parent)


@contextmanager
def sole_writer(folder: str | os.PathLike[str], patience_s: float = 60.0) -> Iterator[None]:
    """Write several files to a folder as one, for the block: others that ask the same wait.

    Parameters
    ----------
    folder : path
        It must exist. The lock ends with the process, however that ends.
    patience_s : float, default=60.0
        How long to wait for another writer.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        until = time.monotonic() + patience_s
        while not _locked(handle):
            if time.monotonic() > until:
                raise OSError(errno.EBUSY, "Another process writes there; try again", str(folder))
            time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Lock an open folder, if the file system can; return False if another process has it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # some network file systems lock no folders
    return True


def _temporary(path: Path) -> tuple[Path, int]:
    """Make an empty file beside another; it is locked until the handle is closed."""
    while True:
        name = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_TEMPORARY}")
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if name.exists():  # else it was taken for a leftover before it was locked
            return name, handle
        os.close(handle)


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of writers that are no more: nobody has them locked."""
    start = f".{path.name}."
    for leftover in list(os.scandir(path.parent)):
        if not (leftover.name.startswith(start) and leftover.name.endswith(_TEMPORARY)):
            continue
        with contextlib.suppress(OSError):  # it is locked, or gone
            handle = os.open(leftover.path, os.O_WRONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(leftover.path)
            finally:
                os.close(handle)


def _remove(name: Path) -> None:
    try:
        os.unlink(name)
    except FileNotFoundError:
        return


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
