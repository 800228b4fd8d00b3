"""Records of runs: lines of JSON that are only ever appended.

A file holds the runs of one method on one dataset; each line is one run. Two processes may append
to the same file: a line is written by one call under a lock of the file. A process that is killed
leaves whole lines, or at worst one torn line at the end, which reading leaves out and the next
append begins after. A run that was repeated has several lines; a successful one wins, else the
last.
"""

import fcntl
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from featuremask.exceptions import FileFormatError
from featuremask.experiments._keys import key_of

__all__ = ["Record", "Records", "Status", "Store"]

Status = Literal["ok", "error", "timeout", "diverged", "skipped"]

_ENVIRONMENTS = "environments.jsonl"


@dataclass(frozen=True)
class Record:
    """What is known of one run.

    Attributes
    ----------
    key : str
        Follows from all that decides the result.
    kind : {"fit", "measure"}
    status : {"ok", "error", "timeout", "diverged", "skipped"}
    reason : str
        Why there is no result; "" if there is one.
    run : dict
        What the run was: labels and settings.
    result : dict
        What came out; empty unless the status is "ok".
    seconds, cpu_seconds : float
        Wall time and time of all threads.
    peak_mb : int
        Largest memory of the process during the run.
    environment : str
        Line of `environments.jsonl`: versions, machine, revision.
    when : str
        Date and time (UTC) of its end.
    """

    key: str
    kind: Literal["fit", "measure"]
    status: Status
    reason: str = ""
    run: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_mb: int = 0
    environment: str = ""
    when: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a result."""
        return self.status == "ok"


class Records:
    """Records by key."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._by_key: dict[str, Record] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Take a record in; it does not replace a success unless it is one."""
        before = self._by_key.get(record.key)
        if before is None or record.ok or not before.ok:
            self._by_key[record.key] = record

    def get(self, key: str) -> Record | None:
        """Return the record of a key."""
        return self._by_key.get(key)

    def result(self, key: str) -> dict[str, Any] | None:
        """Return the result of a key; None if there is none."""
        record = self._by_key.get(key)
        return record.result if record is not None and record.ok else None

    def __iter__(self) -> Iterator[Record]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)


class Store:
    """A folder of record files.

    Parameters
    ----------
    folder : Path
        Made when the first record is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def read(self, place: str | None = None) -> Records:
        """Return the records of one file of the folder, or of all."""
        paths = self._files() if place is None else [self.folder / place]
        return Records(_record(line, path) for path in paths for line in _lines(path))

    def append(self, place: str, record: Record) -> None:
        """Write one record."""
        line = {name: value for name, value in asdict(record).items() if value not in ("", {})}
        _append(self.folder / place, line)

    def environments(self) -> dict[str, dict[str, Any]]:
        """Return the environments by their names in records."""
        return {line["id"]: line for line in _lines(self.folder / _ENVIRONMENTS)}

    def remember(self, environment: dict[str, Any]) -> str:
        """Make sure that an environment is written down and return its name."""
        name = key_of(environment)[:8]
        if name not in self.environments():
            _append(self.folder / _ENVIRONMENTS, {"id": name, **environment})
        return name

    def _files(self) -> list[Path]:
        found = sorted(self.folder.glob("*/*/*.jsonl"))
        return [path for path in found if not path.parts[-3].startswith(".")]


def _append(path: Path, line: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        data = b"\n" + data if torn else data
        if os.write(handle, data) != len(data):
            raise OSError(f"The disk of {path} is full; make room and run again.")
        os.fsync(handle)
    finally:
        os.close(handle)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file; a torn one is left out."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return
    for raw in text.split(b"\n"):
        try:
            line = json.loads(raw) if raw else None
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _record(line: dict[str, Any], path: Path) -> Record:
    try:
        return Record(**line)
    except TypeError as error:
        raise FileFormatError(f"{path} holds a line that is no record: {error}.") from error
