"""What a person sees while runs are made."""

import sys
from types import TracebackType
from typing import Any, Self

from featuremask.experiments._work import Event

__all__ = ["Progress"]


class Progress:
    """A bar on a terminal; a line for each run elsewhere. Failures are always told.

    Parameters
    ----------
    title : str
    total : int
        Runs to make.
    """

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._bar: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        """Take a run that has ended into account."""
        self._done += event.status not in ("busy", "killed")
        line = f"[{self._done}/{self._total}] {event.status:8} {event.label}"
        line += f" ({event.seconds:.0f} s)" if event.seconds >= 1.0 else ""
        line += f": {event.reason}" if event.reason else ""
        if self._bar is None:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
            return
        self._bar.update(self._task, completed=self._done, description=event.label)
        if event.status not in ("ok", "busy"):
            self._bar.console.print(line, markup=False, highlight=False)
