"""The narrowing mask: how many entries may pass falls from all to one while training."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Self

import torch
from torch import Tensor

from featuremask.gates._base import Importance
from featuremask.gates._competition import Competition
from featuremask.gates._seeded import Seeded

__all__ = ["Narrowing"]

_SHARPNESS = 2.0
"""Factor on the logits: how fast gates part, against the learning of the network."""

_FULLEST = 0.999
"""Share of the entries that pass at first, so that all have a finite level."""

_ROOM = 4.0
"""Entries that stay in the competition, as a multiple of the budget; the others are shut."""

_SHUT_AT_ONCE = 0.2
"""Share of the entries that is shut at once, at least."""

_NEWTON_STEPS = 3
_BISECTIONS = 60
_LARGEST_MOVE = 2.0


class Narrowing(Seeded, Competition):
    r"""A budget of open entries that falls geometrically from all of them to one.

    At progress t of training the gates of D competing entries sum to the budget
    :math:`n(t) = D^{1 - t}`:

    .. math:: g_k = \sigma(2 \bar z_k + c), \quad c \text{ such that } \textstyle\sum_k g_k = n(t)

    Each step of training draws which entries pass, :math:`r_k \sim \mathrm{Bernoulli}(g_k)`; the
    gradient of the gate is that of its mean (straight through). Entries of low logit, beyond four
    times the budget, are shut: their gate is 0 from then on. Entries are ranked by their mean gate
    over training: by how long they stayed open.

    NOTE[DIFF] paper: a softmax in which all features compete until the end; here: a falling budget,
    because in a softmax features that tell something only together lose before they are heard.
    The joint mask is the published way.

    Parameters
    ----------
    n_entries : int
    kept : sequence of int
        Entries whose gate is 1 and that do not count.
    """

    shared = ("kept",)

    level: Tensor
    budget: Tensor
    mean_gate: Tensor
    n_steps: Tensor
    kept: Tensor | None
    shut: Tensor
    _budget: float
    _n_free: int
    _n_open: int
    _layout: Tensor | None
    _offset: Tensor | None
    _kept_here: Tensor | None

    def __init__(
        self,
        n_entries: int,
        kept: Sequence[int],
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        places = sorted(set(kept))
        self._n_free = n_entries - len(places)
        self.register_buffer("kept", torch.tensor(places, device=device) if places else None)
        self.register_buffer("level", torch.zeros((), device=device, dtype=dtype))
        self.register_buffer("budget", torch.zeros((), device=device, dtype=torch.float64))
        self.register_buffer("mean_gate", torch.zeros(n_entries, device=device, dtype=dtype))
        self.register_buffer("n_steps", torch.zeros((), device=device, dtype=torch.int64))
        self.register_buffer("shut", torch.zeros(n_entries, device=device, dtype=torch.bool))
        self._set_budget(0.0)
        self.level.fill_(_logit(_FULLEST))
        self.enter(None)

    def stacks(self) -> bool:
        """All that is done to logits is done along their last axis."""
        return True

    def _set_budget(self, progress: float) -> None:
        n = float(max(self._n_free, 1))
        self._budget = min(_FULLEST * n, n ** (1.0 - progress))
        self.budget.fill_(self._budget)

    def _load_from_state_dict(self, *args: object, **kwargs: object) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._budget = float(self.budget)
        self.enter(None)

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call] # PyTorch leaves it so
        self.enter(self._layout)  # what follows from the buffers goes where they went
        return self

    def enter(self, entries: Tensor | None) -> None:
        """Take logits of these entries alone from now on, of all if None; all others are shut."""
        if self.shut.is_meta:
            self._n_open, self._layout = self.shut.shape[-1], None
            self._offset, self._kept_here = None, None
            return
        self._layout = entries
        n_entries = self.shut.shape[-1]
        n_members = self.shut.numel() // n_entries
        shut = self.shut if entries is None else self.shut.gather(-1, entries)
        self._n_open = int((~self.shut).sum()) // n_members - (n_entries - self._n_free)
        out = shut.clone()
        self._kept_here = None
        if self.kept is not None:
            is_kept = torch.zeros_like(self.shut).index_fill(-1, self.kept, True)
            is_kept = is_kept if entries is None else is_kept.gather(-1, entries)
            self._kept_here = is_kept
            out |= is_kept
        self._offset = None
        if bool(out.any()):
            zeros = torch.zeros(out.shape, device=out.device, dtype=self.mean_gate.dtype)
            self._offset = zeros.masked_fill(out, float("-inf"))

    def passing(self) -> Tensor | None:
        """Return the entries that are not shut, ascending; None if none is shut."""
        if self._n_open == self._n_free:
            return None
        return (~self.shut).nonzero()[:, -1].view(*self.shut.shape[:-1], -1)

    @property
    def scale(self) -> float:
        """The budget."""
        return self._budget

    def anneal(self, progress: float, logits: Callable[[], Tensor]) -> None:
        """Set the budget, and shut the entries of lowest logit if there are many more open."""
        self._set_budget(progress)
        stay = math.ceil(_ROOM * self._budget)
        if stay <= (1.0 - _SHUT_AT_ONCE) * self._n_open:
            self._shut_all_but(stay, logits())

    def _shut_all_but(self, n: int, logits: Tensor) -> None:
        best = self._competing(logits.detach()).topk(n).indices
        best = best if self._layout is None else self._layout.gather(-1, best)
        stay = torch.zeros_like(self.shut).scatter(-1, best, True)
        if self.kept is not None:
            stay = stay.index_fill(-1, self.kept, True)
        self.shut |= ~stay
        self.enter(self._layout)

    # ---- the gates ---------------------------------------------------------------------------

    def gate(self, logits: Tensor) -> Tensor:
        """Return the gates, which sum to the budget; 1 for entries to keep, 0 for those shut."""
        if self._n_free == 0:
            return torch.ones_like(logits)
        sharp = self._competing(logits)
        return self._fixed(_budgeted(sharp, self._solved(sharp)))

    def mask(self, logits: Tensor) -> Tensor:
        """Return the gates by the budget."""
        return self.gate(logits) / self._budget

    def draw(self, logits: Tensor) -> Tensor:
        """Return a draw of zeros and ones whose gradient is that of the gates."""
        if self._n_free == 0:
            return torch.ones_like(logits)
        sharp = self._competing(logits)
        level = self._followed(sharp)
        gates = _budgeted(sharp, level)
        now = gates.detach()
        self.level.copy_(level)
        self._track(self._fixed(now))

        def uniform_from(generator: torch.Generator | None) -> Tensor:
            shape = now.shape[-1:]
            return torch.rand(shape, generator=generator, device=now.device, dtype=now.dtype)

        members = self.members
        uniform = uniform_from(self.generator) if members is None else members.each(uniform_from)
        return self._fixed((uniform < now).to(now.dtype) + (gates - now))

    def _track(self, gates: Tensor) -> None:
        self.n_steps += 1
        self.mean_gate -= self.mean_gate / self.n_steps
        gates = gates.to(self.mean_gate.dtype) / self.n_steps
        if self._layout is None:
            self.mean_gate += gates
        else:
            self.mean_gate.scatter_add_(-1, self._layout, gates)

    def _competing(self, logits: Tensor) -> Tensor:
        """Return the sharpened logits; those of entries that do not compete at minus infinity."""
        sharp = _SHARPNESS * logits
        return sharp if self._offset is None else sharp + self._offset.to(sharp.dtype)

    def _fixed(self, gates: Tensor) -> Tensor:
        here = self._kept_here
        return gates if here is None else gates.masked_fill(here, 1.0)

    @torch.no_grad()
    def _followed(self, sharp: Tensor) -> Tensor:
        """Return the level by a few Newton steps from that of the last batch."""
        level = self.level.to(sharp.dtype)
        for _ in range(_NEWTON_STEPS):
            gates = torch.sigmoid(sharp + level)
            slope = _total(gates - gates.square()).clamp_min(1e-6)
            level = level + ((self._budget - _total(gates)) / slope).clamp(
                -_LARGEST_MOVE, _LARGEST_MOVE
            )
        return level

    @torch.no_grad()
    def _solved(self, sharp: Tensor) -> Tensor:
        """Return the level to the last digit, from nothing but the logits."""
        wide = sharp.double()
        middle = _logit(self._budget / self._n_open)
        low = middle - wide.max()
        high = middle - torch.where(wide > float("-inf"), wide, float("inf")).min()
        for _ in range(_BISECTIONS):
            level = 0.5 * (low + high)
            short = torch.sigmoid(wide + level).sum() < self._budget
            low, high = torch.where(short, level, low), torch.where(short, high, level)
        return (0.5 * (low + high)).to(sharp.dtype)

    # ---- the order ---------------------------------------------------------------------------

    @torch.no_grad()
    def importance(self, logits: Tensor) -> Importance:
        """Return the mean gate over training, ties by logit; before any step, the gate."""
        gates = torch.where(self.n_steps > 0, self.mean_gate, self.gate(logits)).double()
        shares = self._fixed(gates)
        if self.kept is not None:
            gates = gates.index_fill(-1, self.kept, float(gates.max()) + 1.0)
        return Importance(gates, ties=logits.double(), shares=shares)


def _budgeted(sharp: Tensor, level: Tensor) -> Tensor:
    """Return the gates at a level that follows the logits, so that their sum has no gradient."""
    gates = torch.sigmoid(sharp.detach() + level)
    slope = gates - gates.square()
    weight = slope / _total(slope).clamp_min(torch.finfo(slope.dtype).tiny)
    # Entries that do not compete are at minus infinity, with a weight of zero.
    move = torch.where(weight > 0.0, sharp, 0.0)
    move = move - move.detach()
    shift = weight @ move if weight.ndim == 1 else _total(weight * move)
    return torch.sigmoid(sharp + (level - shift))


def _total(values: Tensor) -> Tensor:
    """Return the sum over entries; of members, of each."""
    return values.sum(-1, keepdim=values.ndim > 1)


def _logit(p: float) -> float:
    return float(torch.logit(torch.tensor(p, dtype=torch.float64)))
