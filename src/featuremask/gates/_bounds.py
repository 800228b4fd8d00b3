"""What every method should beat, and what it gives up: random features, and all of them."""

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor

from featuremask.gates._base import Gate, Importance
from featuremask.gates._layout import entries_of
from featuremask.gates._rows import check_rows, checked_size

__all__ = ["AllFeaturesGate", "RandomGate"]


class RandomGate(Gate):
    """Random scores; the input passes as it is.

    Parameters
    ----------
    n_features : int
    feature_groups : sequence of length n_features, optional
        Labels; features of equal label share one score, so that a large group is drawn no more
        often than a small one.
    generator : torch.Generator, optional
        Source of the scores.

    Examples
    --------
    >>> gate = RandomGate(4, generator=torch.Generator().manual_seed(0))
    >>> gate.importance(None).scores.argsort(descending=True)
    tensor([0, 3, 1, 2])
    """

    scores: Tensor

    def __init__(
        self,
        n_features: int,
        *,
        feature_groups: Sequence[Hashable] | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.out_features = checked_size(n_features)
        _, self.n_entries = entries_of(feature_groups, n_features)
        drawn = torch.rand(self.n_entries, dtype=torch.float64, generator=generator)
        self.register_buffer("scores", drawn)

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input."""
        check_rows(x, self.out_features)
        return x

    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the scores."""
        return Importance(self.scores.to(torch.float64, copy=True))


class AllFeaturesGate(Gate):
    """Equal scores; the input passes as it is.

    Parameters
    ----------
    n_features : int

    Examples
    --------
    >>> AllFeaturesGate(3).importance(None).scores
    tensor([1., 1., 1.], dtype=torch.float64)
    """

    scores: Tensor

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        self.register_buffer("scores", torch.ones(n_features, dtype=torch.float64))

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input."""
        check_rows(x, self.out_features)
        return x

    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the scores."""
        return Importance(self.scores.to(torch.float64, copy=True))
