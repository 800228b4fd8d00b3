"""How the entries of a mask compete: from logits to what multiplies the features."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from torch import Tensor, nn

from featuremask.gates._base import Importance

__all__ = ["Competition"]


class Competition(nn.Module, ABC):
    """From one logit an entry to a gate an entry, and to the order of entries.

    Entries to keep have a gate of 1 and take no part. State is in buffers, so that it is saved and
    copied with the mask.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    """Buffers that stacked members have in common."""

    def stacks(self) -> bool:
        """Whether logits and buffers may have a leading axis of members."""
        return False

    @abstractmethod
    def gate(self, logits: Tensor) -> Tensor:
        """Return what the entries are multiplied by, without chance."""

    @abstractmethod
    def mask(self, logits: Tensor) -> Tensor:
        """Return the gate, scaled so that competing entries sum to one."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """What the gates of the competing entries sum to."""

    def draw(self, logits: Tensor) -> Tensor:
        """Return what the entries are multiplied by in a step of training.

        Running statistics go on.
        """
        return self.gate(logits)

    @abstractmethod
    def anneal(self, progress: float, logits: Callable[[], Tensor]) -> None:
        """Set what is scheduled, progress in [0, 1]; `logits` gives those that decide."""

    def passing(self) -> Tensor | None:
        """Return the entries that are not shut for good, ascending; None if none is shut."""
        return None

    def enter(self, entries: Tensor | None) -> None:
        """Take logits of these entries alone from now on; of all if None."""

    @abstractmethod
    def importance(self, logits: Tensor) -> Importance:
        """Return the importance of all entries; `logits` are those of the whole data."""
