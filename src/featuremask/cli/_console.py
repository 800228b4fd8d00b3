"""What a person sees on the way: bars on a terminal, plain lines in a log, nothing if quiet."""

import sys
from collections.abc import Iterable, Sequence
from typing import TypeVar

from featuremask._progress import tracked

__all__ = ["Console"]

T = TypeVar("T")


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
        return tracked(items, len(items), label) if self.shows else items
