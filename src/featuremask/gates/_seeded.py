"""Modules that draw random numbers, from a generator of their own."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

__all__ = ["Seeded"]


class Seeded(nn.Module):
    """Base of modules whose noise comes from `generator`.

    The training loop lends its generator for the time of training; without one the noise comes
    from PyTorch's global generator, as with any other module.
    """

    generator: torch.Generator | None = None
    generators: Sequence[torch.Generator] | None = None
    """Of members that are trained together: the one of each."""
    share: tuple[int, int] | None = None

    def drawn(self, draw: Callable[[torch.Generator | None], Tensor]) -> Tensor:
        """Return a draw; of members that are trained together one of each, stacked."""
        if self.generators is None:
            return draw(self.generator)
        return torch.stack([draw(generator) for generator in self.generators])

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
