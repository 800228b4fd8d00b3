"""One attempt at a run: its outcome, its time, its memory. Failures are outcomes, not results."""

import contextlib
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featuremask.exceptions import TrainingDivergedError
from featuremask.experiments._bench import SkippedError
from featuremask.experiments._records import Status

__all__ = ["Outcome", "attempt"]


class _TimeUp(BaseException):
    """The time limit was reached; no library takes it for an error of its own."""


@dataclass(frozen=True)
class Outcome:
    """What became of an attempt.

    Attributes
    ----------
    status : str
        As in `Record`.
    reason : str
        Why there is no value.
    value : Any
        What the function returned.
    seconds, cpu_seconds, peak_mb
        As in `Record`.
    """

    status: Status
    reason: str
    value: Any
    seconds: float
    cpu_seconds: float
    peak_mb: int


def attempt(function: Callable[[], Any], time_limit: float) -> Outcome:
    """Call a function and return what became of it; only an interruption is passed on.

    The time limit holds in the main thread of a process, on systems with timers.
    """
    _forget_peak()
    start, cpu_start = time.perf_counter(), time.process_time()
    status, reason, value = _tried(function, time_limit)
    return Outcome(
        status,
        reason,
        value,
        round(time.perf_counter() - start, 3),
        round(time.process_time() - cpu_start, 3),
        _peak_mb(),
    )


def _tried(function: Callable[[], Any], time_limit: float) -> tuple[Status, str, Any]:
    try:
        with _limited(time_limit):
            return "ok", "", function()
    except _TimeUp:
        return "timeout", f"It took longer than {time_limit:g} seconds.", None
    except TrainingDivergedError as error:
        return "diverged", str(error), None
    except SkippedError as error:
        return "skipped", str(error), None
    except Exception as error:
        return "error", _described(error), None


def _described(error: Exception) -> str:
    """Return type, message and place of an error in one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def _forget_peak() -> None:
    """Start the process's peak of memory anew, where the system allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_mb() -> int:
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) // 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1024 * 1024 if sys.platform == "darwin" else 1024)
