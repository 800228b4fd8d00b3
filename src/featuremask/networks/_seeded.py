"""Modules that draw random numbers, from a generator of their own."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates import MemberDraws, Seeded

__all__ = ["Dropout", "MemberDraws", "Seeded", "draw_from", "draw_from_each"]

_LEVELS = 65_536


class Dropout(Seeded):
    """Zero entries at random while training and scale up the others.

    Parameters
    ----------
    rate : float
        Share of entries that are zeroed, 0 <= rate < 1, to a 65,536th.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        if not 0.0 <= rate < 1.0:
            raise InputError(f"The dropout rate must be in [0, 1); got {rate!r}.")
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """Return the thinned input, or the input itself in evaluation mode."""
        if not self.training or self.rate == 0.0:
            return x
        drop = min(_LEVELS - 1, round(self.rate * _LEVELS))
        members = self.members
        if members is None:
            bits = self.drawn_for(x.shape[0], lambda n: _random_16_bits(n, x, self.generator))
        else:
            bits = members.each_row(x.shape[1], lambda g, n: _random_16_bits(n, x[0], g))
        kept = bits >= drop - _LEVELS // 2
        return x * kept.to(x.dtype).mul_(_LEVELS / (_LEVELS - drop))

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"rate={self.rate:g}"


def _random_16_bits(rows: int, like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Return a random 16-bit number for each entry: four to a draw, and so four times as fast."""
    shape = (rows, *like.shape[1:])
    n = math.prod(shape)
    draws = torch.empty((n + 3) // 4, dtype=torch.int64, device=like.device)
    draws.random_(-(2**63), None, generator=generator)
    return draws.view(torch.int16)[:n].view(shape)


@contextmanager
def draw_from(model: nn.Module, generator: torch.Generator) -> Iterator[None]:
    """Let all `Seeded` modules of a model draw from a generator, for the time of the block."""
    modules = [module for module in model.modules() if isinstance(module, Seeded)]
    before = [module.generator for module in modules]
    try:
        for module in modules:
            module.generator = generator
        yield
    finally:
        for module, old in zip(modules, before, strict=True):
            module.generator = old


@contextmanager
def draw_from_each(model: nn.Module, members: MemberDraws) -> Iterator[None]:
    """Let all `Seeded` modules of stacked members draw for each of them."""
    modules = [module for module in model.modules() if isinstance(module, Seeded)]
    try:
        for module in modules:
            module.members = members
        yield
    finally:
        for module in modules:
            module.members = None
