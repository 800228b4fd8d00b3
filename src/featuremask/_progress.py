"""How far a task is, on the error stream: a bar on a terminal, some plain lines elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["seconds_left", "tracked"]

T = TypeVar("T")

_LINES = 4


def tracked(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    """Give items one by one, and show how many are done and how much time is left.

    Parameters
    ----------
    items : iterable
        What is worked on.
    total : int
        How many there are.
    label : str
        What is done with them.

    Yields
    ------
    object
        The items.
    """
    return _bar(items, total, label) if sys.stderr.isatty() else _lines(items, total, label)


def _bar(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import track

    yield from track(items, label, total=total, console=Console(stderr=True), transient=True)


def _lines(items: Iterable[T], total: int, label: str) -> Iterator[T]:
    start, shown = time.monotonic(), 0
    for done, item in enumerate(items, 1):
        yield item
        if (due := _LINES * done // total) > shown:
            shown = due
            seconds = time.monotonic() - start
            left = seconds_left(seconds, done / total)
            sys.stderr.write(
                f"{label}: {done} of {total} after {seconds:.1f} s, {left:.0f} s left\n"
            )
            sys.stderr.flush()


def seconds_left(seconds: float, share: float) -> float:
    """Return how long the rest takes if it goes on as until now.

    Parameters
    ----------
    seconds : float
        How long it took until now.
    share : float
        How much is done, above 0.

    Returns
    -------
    float

    Examples
    --------
    >>> seconds_left(10.0, 0.25)
    30.0
    """
    return seconds / share * (1.0 - share)
