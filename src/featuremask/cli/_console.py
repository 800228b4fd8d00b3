"""What a person sees on the way: bars on a terminal, plain lines in a log, nothing if quiet."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

__all__ = ["Console"]

T = TypeVar("T")

_LINES = 4


class Console:
    """Tells on the error stream how far a task is.

    Parameters
    ----------
    quiet : bool, default=False
        Whether to show nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet

    @property
    def shows(self) -> bool:
        """Whether anything is shown."""
        return not self._quiet

    def say(self, line: str) -> None:
        """Show a line.

        Parameters
        ----------
        line : str
            About what comes next.
        """
        if self.shows:
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    def track(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Give items one by one, and show how many are done and how much time is left.

        Parameters
        ----------
        items : sequence
            What is worked on.
        label : str
            What is done with them.

        Returns
        -------
        iterable
            The items.
        """
        if not self.shows:
            return items
        return self._bar(items, label) if sys.stderr.isatty() else self._lines(items, label)

    def _bar(self, items: Sequence[T], label: str) -> Iterator[T]:
        from rich.console import Console as Terminal
        from rich.progress import track

        yield from track(items, label, console=Terminal(stderr=True), transient=True)

    def _lines(self, items: Sequence[T], label: str) -> Iterator[T]:
        start, shown = time.monotonic(), 0
        for done, item in enumerate(items, 1):
            yield item
            if (due := _LINES * done // len(items)) > shown:
                shown = due
                seconds = time.monotonic() - start
                left = seconds / done * (len(items) - done)
                self.say(
                    f"{label}: {done} of {len(items)} after {seconds:.1f} s, {left:.0f} s left"
                )
