"""Modules that draw random numbers, from a generator of their own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

__all__ = ["MemberDraws", "Seeded"]


@dataclass
class MemberDraws:
    """Where the noise of members that are trained together comes from.

    Attributes
    ----------
    generators : sequence of torch.Generator
        That of each member.
    rows : sequence of int
        How many rows each has in the batch at hand; the batch has as many as the largest.
    """

    generators: Sequence[torch.Generator]
    rows: Sequence[int] = ()

    def each(self, draw: Callable[[torch.Generator], Tensor]) -> Tensor:
        """Return the draws of all members, stacked."""
        return torch.stack([draw(generator) for generator in self.generators])

    def each_row(self, n: int, draw: Callable[[torch.Generator, int], Tensor]) -> Tensor:
        """Return the draws for the rows of all members, filled up to `n` rows and stacked."""
        drawn = []
        for generator, rows in zip(self.generators, self.rows, strict=True):
            one = draw(generator, rows)
            filling = one.new_zeros(n - rows, *one.shape[1:])
            drawn.append(torch.cat([one, filling]) if rows < n else one)
        return torch.stack(drawn)


class Seeded(nn.Module):
    """Base of modules whose noise comes from `generator`.

    The training loop lends its generator for the time of training; without one the noise comes
    from PyTorch's global generator, as with any other module.
    """

    generator: torch.Generator | None = None
    members: MemberDraws | None = None
    """In place of `generator`, where members are trained together."""
    share: tuple[int, int] | None = None

    def drawn_for(self, rows: int, draw: Callable[[int], Tensor]) -> Tensor:
        """Return a draw for each row.

        Where the batch is spread over processes, `share` is the place of the first row among the
        rows of all and their number; each process draws for all and keeps its own, so that the
        noise does not depend on how rows are spread.
        """
        if self.share is None:
            return draw(rows)
        first, total = self.share
        return draw(total)[first : first + rows]
