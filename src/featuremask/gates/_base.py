"""The contract of a gate: what stands between the data and the learning network."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch.distributed as dist
from torch import Tensor, nn

__all__ = ["Gate", "Importance", "MaskGate"]


class Importance(NamedTuple):
    """What a gate reports of the features it has weighed.

    Attributes
    ----------
    scores : Tensor of shape (n_entries,)
        Higher is better. Features are ranked by it.
    ties : Tensor of shape (n_entries,) or None
        A secondary score that orders features of equal score.
    shares : Tensor of shape (n_entries,) or None
        The same importance as a non-negative amount, as large as the gate lets a feature
        through. None where the scores are non-negative and serve for it.
    """

    scores: Tensor
    ties: Tensor | None = None
    shares: Tensor | None = None


class Gate(nn.Module, ABC):
    """Base of all gates. Think twice before adding anything to this class.

    A gate is one method of feature selection. All that is particular to the method is said by
    its verbs; the training loop calls them and asks for nothing else. A gate sees standardized
    rows and reports one score for each of its `n_entries` entries (features, or groups of them).
    """

    n_entries: int
    out_features: int
    process_group: dist.ProcessGroup | None = None
    """The processes whose rows make up the batch, if they are several."""

    @abstractmethod
    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input as the learning network gets to see it.

        **Shape**: `x` is (rows, n_features); the result is (rows, out_features).
        """

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return what the method adds to the loss, already weighted; None if nothing."""
        return None

    def anneal(self, progress: float) -> None:
        """Set what the method schedules, progress in [0, 1].

        Called before each step, and once with 1.0 when training has ended.
        """

    def project(self) -> None:
        """Clip what the method constrains; called after a step."""

    def passing_columns(self) -> Tensor | None:
        """Return the features that are not shut for good, ascending; None if none is shut.

        A feature that is shut is multiplied by zero from then on.
        """
        return None

    def column_axes(self) -> list[tuple[nn.Parameter, int]]:
        """Return the parameters that have an axis of one entry a feature, and that axis.

        Cut along it, the gate works on the features of `enter`. A gate that never shuts a feature
        has no need to tell.
        """
        return []

    def enter(self, columns: Tensor | None) -> None:
        """Take rows of these features alone from now on, while training; of all if None."""

    def stacks(self) -> bool:
        """Whether training takes parameters, buffers and rows with a leading axis of members.

        `GatedNetwork` may then be stacked: `forward` or `multiplier`, `penalty`, `anneal`,
        `project` and the verbs of columns work on all members at once, and the penalty is the sum
        of theirs.
        """
        return False

    def shared(self) -> tuple[str, ...]:
        """Return the names of buffers that members share instead of stacking them."""
        return ()

    def statistic(
        self,
        x: Tensor,
        sample_weight: Tensor | None = None,
        *,
        network: nn.Module | None = None,
    ) -> Tensor | None:
        """Return the mean over the rows that the read-out needs, in float64; None if none.

        `network` is the learning network, for methods that read it out.
        """
        return None

    def freeze(self, statistic: Tensor | None) -> None:
        """Keep what `eval()` needs of the statistic of the whole training set."""

    @abstractmethod
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the scores that follow from the statistic of the whole training set."""


class MaskGate(Gate):
    """A gate that multiplies each feature by a number.

    Where that number is the same for all rows of a batch, `GatedNetwork` may fold it into the
    weights of the network's first layer instead of multiplying the input.
    """

    def takes_sparse(self) -> bool:
        """Whether `multiplier` and `statistic` do no more with rows than pass them to dense layers.

        They may then be `SparseRows`.
        """
        return False

    @abstractmethod
    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return what the features are multiplied by.

        **Shape**: (n_features,) where it is one vector for the batch, else (rows, n_features).
        """

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input times the multiplier."""
        return x * self.multiplier(x, sample_weight)
