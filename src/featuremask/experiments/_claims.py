"""Claims: who works on what, so that two processes never do the same run.

A claim is a file that only one process can make. Its owner touches it while it works; a claim that
has not been touched for longer than the lease, or whose process on this machine is gone, may be
taken over. Times are compared on the clock of the file system, not on that of the machine.
"""

import contextlib
import fcntl
import json
import os
import socket
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

__all__ = ["claimed"]

LEASE_SECONDS = 180.0


@contextlib.contextmanager
def claimed(folder: Path, key: str, lease: float = LEASE_SECONDS) -> Iterator[bool]:
    """Hold the claim to a key while the context lasts; give False if another process has it.

    Parameters
    ----------
    folder : Path
        Where the claims lie; made if it is not there.
    key : str
    lease : float
        Seconds without a sign of life after which a claim is void.
    """
    _make_folder(folder)
    path = folder / key
    if not (_take(path) or _take_over(path, lease)):
        yield False
        return
    done = threading.Event()
    beat = threading.Thread(target=_beat, args=(path, done, lease / 6), daemon=True)
    beat.start()
    try:
        yield True
    finally:
        done.set()
        beat.join()
        path.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")


def _take(path: Path) -> bool:
    """Make the claim, with its content at once: a link is made whole or not at all."""
    draft = path.with_name(f".{uuid.uuid4().hex}")
    owner = {"host": socket.gethostname(), "process": os.getpid()}
    draft.write_text(json.dumps(owner), encoding="utf-8")
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        draft.unlink()
    return True


def _take_over(path: Path, lease: float) -> bool:
    """Take a claim that is void; under a lock, so that no fresh claim is taken for the void one."""
    handle = os.open(path.parent / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if not _is_void(path, lease):
            return False
        path.unlink(missing_ok=True)
        return _take(path)
    finally:
        os.close(handle)


def _is_void(path: Path, lease: float) -> bool:
    try:
        text, touched = path.read_text(encoding="utf-8"), path.stat().st_mtime
    except FileNotFoundError:
        return True
    try:
        owner = json.loads(text)
        gone = owner["host"] == socket.gethostname() and not _lives(int(owner["process"]))
    except (ValueError, KeyError, TypeError):
        gone = False
    return gone or _file_time(path.parent) - touched > lease


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _file_time(folder: Path) -> float:
    """Return the present time on the clock of the file system."""
    probe = folder / f".now.{uuid.uuid4().hex}"
    probe.touch()
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _beat(path: Path, done: threading.Event, pause: float) -> None:
    while not done.wait(pause):
        with contextlib.suppress(FileNotFoundError):
            os.utime(path)
