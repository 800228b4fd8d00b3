"""Entries that are open for good: kept from the start, or taken at the end of a round."""

import itertools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from featuremask.exceptions import InputError
from featuremask.gates._base import Importance
from featuremask.gates._competition import Competition

__all__ = ["Rounds", "geometric_takes"]

_FREE = -1

_LARGEST_GAP = 1e12
"""Between logits of a round, so that its scores stay above those of the next."""


class Rounds(Competition):
    """A softmax over the entries that are not open, and rounds in which they are opened.

    An open entry has a gate of 1 and leaves the softmax; the free ones go on competing in it.
    Entries of `kept` are open from the start (round 0). With `takes`, round r of ``len(takes)``
    ends at progress ``r / len(takes)`` by opening the free entries of highest logit until
    ``takes[r - 1]`` were taken; all else being equal the ranking is the same for every number of
    features to select.

    Parameters
    ----------
    n_entries : int
    takes : sequence of int or None
    kept : sequence of int
    scale : float, default=1.0
        What the gates of the free entries sum to.
    normalized : bool, default=True
        If False the gates are the logits themselves, times the scale.
    """

    shared = ("open_since", "logit_then", "finished", "offset")

    open_since: Tensor
    logit_then: Tensor
    finished: Tensor
    offset: Tensor

    def __init__(
        self,
        n_entries: int,
        takes: Sequence[int] | None,
        kept: Sequence[int],
        *,
        scale: float = 1.0,
        normalized: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.takes = None if takes is None else _checked(takes)
        self._scale = scale
        self.normalized = normalized
        since = torch.full((n_entries,), _FREE, dtype=torch.int64, device=device)
        since[list(kept)] = 0
        self._finished = 0
        self._n_open = len(set(kept))
        self._n_free = n_entries - self._n_open
        self.register_buffer("open_since", since)
        self.register_buffer("logit_then", torch.zeros(n_entries, device=device, dtype=dtype))
        self.register_buffer("finished", torch.zeros((), dtype=torch.int64, device=device))
        self.register_buffer("offset", torch.zeros(n_entries, device=device, dtype=dtype))
        self._refresh()

    def stacks(self) -> bool:
        """Whether there are no rounds: members would take other entries in each."""
        return not self.sequential

    @property
    def sequential(self) -> bool:
        """Whether there are rounds at all."""
        return self.takes is not None

    @property
    def scale(self) -> float:
        """What the gates of the free entries sum to."""
        return self._scale

    @property
    def is_open(self) -> Tensor:
        """Which entries have a gate of 1."""
        return self.open_since != _FREE

    def _refresh(self) -> None:
        """Derive what the hot loop uses from the state."""
        if self.open_since.is_meta:
            return  # there are no values to derive it from
        self._finished = int(self.finished)
        self._n_open = int(self.is_open.sum())
        self._n_free = self.open_since.numel() - self._n_open
        self.offset.zero_().masked_fill_(self.is_open, float("-inf"))

    def _load_from_state_dict(self, *args: object, **kwargs: object) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._refresh()

    def softmax(self, logits: Tensor) -> Tensor:
        """Return the softmax over the free entries; 0 where an entry is open."""
        if self._n_open == 0:
            return logits.softmax(-1)
        if self._n_free == 0:
            return torch.zeros_like(logits)
        return (logits + self.offset.to(logits.dtype)).softmax(-1)

    def fix(self, gate: Tensor) -> Tensor:
        """Return the gate with 1 where an entry is open."""
        if self._n_open == 0:
            return gate
        return torch.where(self.is_open, gate.new_ones(()), gate)

    def gate(self, logits: Tensor) -> Tensor:
        """Return scale times the softmax over the free entries, and 1 where one is open."""
        mask = self.softmax(logits) if self.normalized else logits
        return self.fix(mask if self._scale == 1.0 else mask * self._scale)

    def mask(self, logits: Tensor) -> Tensor:
        """Return the softmax over the free entries, and 1 / scale where one is open."""
        return self.gate(logits) / self._scale

    def anneal(self, progress: float, logits: Callable[[], Tensor]) -> None:
        """End the rounds that are due."""
        if self.is_due(progress):
            self.advance(progress, logits())

    def importance(self, logits: Tensor) -> Importance:
        """Return the logits as scores, the mask as shares; with rounds, see `scores`."""
        logits = logits.double()
        if self.sequential:
            return Importance(self.scores(logits))
        shares = self.softmax(logits) if self.normalized else logits.clamp(min=0.0)
        return Importance(self.lift(logits), shares=self.fix(shares))

    def is_due(self, progress: float) -> bool:
        """Whether a round ends at this progress."""
        return self.takes is not None and self._finished < self._rounds_at(progress)

    def _rounds_at(self, progress: float) -> int:
        assert self.takes is not None
        return min(len(self.takes), int(progress * len(self.takes) + 1e-9))

    def advance(self, progress: float, logits: Tensor) -> None:
        """End the rounds that are due, each by the logits given."""
        assert self.takes is not None
        logits = logits.double().masked_fill(self.is_open, float("-inf"))
        for finished in range(self._finished, self._rounds_at(progress)):
            taken = int((self.open_since > 0).sum())
            n_new = min(self.takes[finished] - taken, int((~self.is_open).sum()))
            if n_new > 0:
                best = logits.topk(n_new)
                self.open_since[best.indices] = finished + 1
                self.logit_then[best.indices] = best.values.to(self.logit_then.dtype)
                logits[best.indices] = float("-inf")
            self.finished.fill_(finished + 1)
        self._refresh()

    def scores(self, logits: Tensor) -> Tensor:
        """Return one positive score an entry that orders by round, then by logit.

        It is the number of rounds for which the entry was in, plus ``1 / (1 + gap)``, gap being
        the distance of its logit to the best of its round.
        """
        assert self.takes is not None
        last = len(self.takes)
        since = torch.where(self.is_open, self.open_since, last + 1)
        logit = torch.where(self.is_open, self.logit_then.double(), logits.double())
        best = torch.full((last + 2,), float("-inf"), dtype=torch.float64, device=logits.device)
        best.scatter_reduce_(0, since, logit, "amax")
        gap = (best[since] - logit).nan_to_num(nan=0.0).clamp(max=_LARGEST_GAP)
        return (last + 1 - since) + 1.0 / (1.0 + gap)

    def lift(self, scores: Tensor) -> Tensor:
        """Return the scores with those of open entries above all others."""
        if self._n_open == 0:
            return scores
        top = scores[~self.is_open].max() + 1.0 if self._n_free else scores.new_ones(())
        return torch.where(self.is_open, top, scores)


def geometric_takes(n_entries: int, n_rounds: int) -> tuple[int, ...]:
    """Return how many entries are taken after each round: few at first, all at the end.

    The number grows geometrically, ``round(n_entries ** (r / n_rounds))``, so that each round
    adds about the same share to what is there.

    Examples
    --------
    >>> geometric_takes(100, 5)
    (3, 6, 16, 40, 100)
    """
    return tuple(round(n_entries ** (r / n_rounds)) for r in range(1, n_rounds + 1))


def _checked(takes: Sequence[int]) -> tuple[int, ...]:
    takes = tuple(int(n) for n in takes)
    if not takes or takes[0] < 0 or any(b < a for a, b in itertools.pairwise(takes)):
        raise InputError(
            f"takes must be the growing number of entries taken after each round; got {takes!r}."
        )
    return takes
