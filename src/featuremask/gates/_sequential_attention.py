"""Sequential attention: greedy selection by one softmax over the features that are left."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._kept import kept_positions
from featuremask.gates._rounds import Rounds
from featuremask.gates._rows import check_rows, checked_count, checked_size

__all__ = ["SequentialAttentionGate"]


class SequentialAttentionGate(MaskGate):
    r"""Sequential attention of Yasuda et al. (2023): one feature a phase.

    .. math::

        \tilde x_i = x_i \cdot \begin{cases} 1 & i \in S \\
            e^{w_i} / \sum_{j \notin S} e^{w_j} & i \notin S \end{cases}

    Training begins with a part in which all features pass. Then come k phases of equal length. At
    the end of each the feature of highest logit joins S, and the logits start anew. Features are
    ranked by their phase.

    Parameters
    ----------
    n_features : int
    n_select : int
        The number k of features to take, one a phase; those of `must_keep` count.
    warm_up : float, default=0.1
        The part of training, in [0, 1), in which all features pass.
    init_spread : float, default=1e-5
        Standard deviation of the logits at the start of a phase.
    must_keep : iterable of int, default=()
        Features that are in S from the start.
    generator : torch.Generator, optional
        Source of the initial logits.
    device, dtype
        Where and in which precision the parameters live.

    Notes
    -----
    NOTE[DIFF] paper: a phase ends by taking its best feature; code: takes one at the beginning of
    each phase, the first by logits that were never trained; here: at the end of each phase,
    because untrained logits choose at random.

    NOTE[DIFF] paper: -; code: draws new logits for each phase; here: each phase starts from the
    logits of the first, because all chance of a gate is then in its initial weights.

    NOTE[DIFF] paper: k features, in no order; code: the same; here: ranked by phase, those not
    taken by the logits of the last phase, because a ranking is one of all features.

    NOTE[DIFF] paper: one hidden layer of 67 units; code: the same, its rates tuned for each
    dataset; here: the network and the optimizer of all methods, because methods should differ in
    their gates alone.

    References
    ----------
    T. Yasuda, M. Bateni, L. Chen, M. Fahrbach, G. Fu, V. Mirrokni, "Sequential Attention for
    Feature Selection", ICLR 2023.

    Examples
    --------
    >>> gate = SequentialAttentionGate(4, 2, init_spread=0.0)
    >>> gate(torch.ones(1, 4)).detach()
    tensor([[0.2500, 0.2500, 0.2500, 0.2500]])
    >>> gate.anneal(0.0)  # all pass at first
    >>> gate(torch.ones(1, 4)).detach()
    tensor([[1., 1., 1., 1.]])
    """

    first_logits: Tensor
    warming: Tensor

    def __init__(
        self,
        n_features: int,
        n_select: int,
        *,
        warm_up: float = 0.1,
        init_spread: float = 1e-5,
        must_keep: Iterable[int] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        _check(warm_up, init_spread)
        self.warm_up = float(warm_up)
        positions = kept_positions(must_keep, n_features)
        kept = [] if positions is None else positions.tolist()
        n_free = max(0, checked_count("n_select", n_select) - len(kept))
        takes = range(1, min(n_free, n_features - len(kept)) + 1) or (0,)
        self.rounds = Rounds(n_features, list(takes), kept, device=device, dtype=dtype)
        logits = init_spread * torch.randn(n_features, generator=generator)
        logits = logits.to(device=device, dtype=dtype)
        self.logits = nn.Parameter(logits)
        self.register_buffer("first_logits", logits.clone())
        self.register_buffer("warming", torch.zeros((), dtype=torch.bool, device=device))

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return 1 for what was taken, the softmax for the others; 1 for all at first."""
        check_rows(x, self.n_entries)
        gates = self.rounds.gate(self.logits)
        return torch.where(self.warming, torch.ones_like(gates), gates)

    @torch.no_grad()
    def anneal(self, progress: float) -> None:
        """End the phases that are due."""
        self.warming.fill_(progress < self.warm_up)
        done = max(0.0, progress - self.warm_up) / (1.0 - self.warm_up)
        if self.rounds.is_due(done):
            self.rounds.advance(done, self.logits)
            if progress < 1.0:
                self.logits.copy_(self.first_logits)

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the number of phases a feature was in, and a part for its place in its phase."""
        return self.rounds.importance(self.logits.detach())

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}, warm_up={self.warm_up:g}"


def _check(warm_up: float, init_spread: float) -> None:
    if not 0.0 <= warm_up < 1.0:
        raise InputError(f"warm_up must be a part of training, in [0, 1); got {warm_up!r}.")
    if not init_spread >= 0.0:
        raise InputError(f"init_spread must not be negative; got {init_spread!r}.")
