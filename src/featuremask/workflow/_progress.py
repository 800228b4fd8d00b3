"""How a long task tells how far it is."""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

__all__ = ["Progress", "Silent"]

T = TypeVar("T")


class Progress(Protocol):
    """Takes what a long task tells."""

    @property
    def shows(self) -> bool:
        """Whether anybody reads along."""

    def say(self, line: str) -> None:
        """Take a line about what comes next."""

    def track(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Give items one by one, and show how many are done."""


class Silent:
    """Takes everything and shows nothing."""

    @property
    def shows(self) -> bool:
        """Nobody reads along."""
        return False

    def say(self, line: str) -> None:
        """Show nothing."""

    def track(self, items: Sequence[T], label: str) -> Iterable[T]:
        """Give items one by one."""
        return items
