"""A file is written whole or not at all, whatever happens on the way."""

import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from featuremask import _files
from featuremask._files import open_atomically, sole_writer, write_atomically


class Faults:
    """Numbers the moments before and after each call to the system, and fails at one of them."""

    def __init__(self, at: int | None, error: BaseException | None = None) -> None:
        self.at, self.error = at, error
        self.moments: list[str] = []

    def moment(self, name: str) -> None:
        self.moments.append(name)
        if len(self.moments) - 1 == self.at:
            assert self.error is not None
            raise self.error

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            self.moment(f"before {name}")
            result = function(*args, **options)
            self.moment(f"after {name}")
            return result

        return call


class FaultyOS:
    """The module `os`, with moments around what writes."""

    def __init__(self, faults: Faults) -> None:
        for name in ("fsync", "replace"):
            setattr(self, name, faults.around(name, getattr(os, name)))
        self._faults = faults

    def fdopen(self, handle: int, mode: str) -> Any:
        file = os.fdopen(handle, mode)
        write = file.write

        def halves(data: bytes) -> None:
            self._faults.moment("before write")
            write(data[: len(data) // 2])
            file.flush()
            self._faults.moment("halfway through write")
            write(data[len(data) // 2 :])
            self._faults.moment("after write")

        return _WithWrite(file, halves)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


class _WithWrite:
    def __init__(self, file: Any, write: Callable[[bytes], None]) -> None:
        self._file, self.write = file, write

    def __enter__(self) -> "_WithWrite":
        return self

    def __exit__(self, *details: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@pytest.fixture
def faults(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Faults]:
    def install(at: int | None, error: BaseException | None = None) -> Faults:
        made = Faults(at, error)
        monkeypatch.setattr(_files, "os", FaultyOS(made))
        return made

    return install


MOMENTS = [
    "before write",
    "halfway through write",
    "after write",
    "before fsync",
    "after fsync",
    "before replace",
    "after replace",
    "before fsync",
    "after fsync",
]


def test_the_content_is_written_to_the_disk_before_it_takes_the_name(
    faults: Callable[..., Faults], tmp_path: Path
) -> None:
    watched = faults(None)
    write_atomically(tmp_path / "a", b"new content")
    assert watched.moments == MOMENTS


@pytest.mark.parametrize("error", [OSError("No space left on device"), KeyboardInterrupt("^C")])
@pytest.mark.parametrize("at", range(len(MOMENTS)), ids=[f"{i} {m}" for i, m in enumerate(MOMENTS)])
def test_a_fault_leaves_the_old_content_or_the_new(
    faults: Callable[..., Faults], tmp_path: Path, at: int, error: BaseException
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old content")
    faults(at, error)
    with pytest.raises(type(error), match=str(error).replace("^", r"\^")):
        write_atomically(path, b"new content")
    replaced = at > MOMENTS.index("before replace")
    assert path.read_bytes() == (b"new content" if replaced else b"old content")
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("at", range(MOMENTS.index("before replace") + 1))
def test_a_fault_in_a_first_write_leaves_no_file(
    faults: Callable[..., Faults], tmp_path: Path, at: int
) -> None:
    faults(at, OSError("Input/output error"))
    with pytest.raises(OSError, match="Input/output error"):
        write_atomically(tmp_path / "a", b"new content")
    assert os.listdir(tmp_path) == []


def test_a_file_is_replaced(tmp_path: Path) -> None:
    for content in (b"first", b"", b"second" * 100_000):
        write_atomically(tmp_path / "a", content)
        assert (tmp_path / "a").read_bytes() == content
    assert os.listdir(tmp_path) == ["a"]


def test_what_a_killed_writer_has_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    others = [".a.txt", "a.0123.tmp", ".b.0123.tmp", ".ab.0123.tmp"]
    for name in (*others, ".a.0123.tmp"):
        (tmp_path / name).write_bytes(b"half a file")
    write_atomically(tmp_path / "a", b"content")
    assert sorted(os.listdir(tmp_path)) == sorted([*others, "a"])


def test_a_writer_at_work_is_left_alone(tmp_path: Path) -> None:
    with open_atomically(tmp_path / "a") as slow:
        slow.write(b"sl")
        write_atomically(tmp_path / "a", b"quick")
        assert (tmp_path / "a").read_bytes() == b"quick"
        slow.write(b"ow")
    assert (tmp_path / "a").read_bytes() == b"slow"
    assert os.listdir(tmp_path) == ["a"]


def test_a_temporary_file_that_was_removed_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    temporary: list[str] = []

    def late(handle: int, how: int) -> None:
        if not temporary:  # another writer comes first, and takes it for a leftover
            temporary.extend(os.listdir(tmp_path))
            os.unlink(tmp_path / temporary[0])
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    write_atomically(tmp_path / "a", b"content")
    assert len(temporary) == 1
    assert os.listdir(tmp_path) == ["a"]


def test_where_files_cannot_be_locked_they_are_written_and_leftovers_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", none)
    (tmp_path / ".a.0123.tmp").write_bytes(b"perhaps at work")
    write_atomically(tmp_path / "a", b"content")
    assert sorted(os.listdir(tmp_path)) == [".a.0123.tmp", "a"]


def test_a_path_may_be_text(tmp_path: Path) -> None:
    write_atomically(str(tmp_path / "a"), b"content")
    assert (tmp_path / "a").read_bytes() == b"content"


def test_a_file_gets_the_permissions_that_any_new_file_gets(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "atomic", b"")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["atomic"] == modes["plain"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        write_atomically(tmp_path / "missing" / "a", b"content")


def test_two_writers_of_one_folder_take_turns(tmp_path: Path) -> None:
    turns: list[str] = []

    def write(name: str) -> None:
        with sole_writer(tmp_path):
            turns.append(name)
            time.sleep(0.1)
            turns.append(name)

    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert turns[::2] == turns[1::2]
    assert sorted(turns) == list("aabbcc")


def test_a_writer_waits_for_another_one_no_longer_than_told(tmp_path: Path) -> None:
    with (
        sole_writer(tmp_path),
        pytest.raises(OSError, match="Another process writes there"),
        sole_writer(tmp_path, patience_s=0.1),
    ):
        pass
    with sole_writer(tmp_path, patience_s=0.0):  # it is free again
        pass
    assert not list(tmp_path.iterdir())
