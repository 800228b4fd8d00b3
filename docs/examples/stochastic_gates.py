"""Stochastic gates of Yamada, Lindenbaum, Negahban and Kluger (ICML 2020): a method added."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from featuremask.gates import Importance, MaskGate, Seeded
from featuremask.selectors import BaseSelector


class StochasticGate(Seeded, MaskGate):
    r"""The input times a noisy gate, :math:`\mathrm{clamp}(\mu + \sigma e + 1/2, 0, 1)`."""

    kept: Tensor

    def __init__(
        self, n_features: int, *, weight: float, spread: float, must_keep: Iterable[int] = ()
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = n_features
        self.weight, self.spread = weight, spread
        self.mu = nn.Parameter(torch.zeros(n_features))
        self.register_buffer("kept", torch.zeros(n_features, dtype=torch.bool))
        self.kept[list(must_keep)] = True

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the gates: drawn while training, without noise in evaluation."""
        noise = torch.zeros_like(self.mu)
        if self.training:
            noise.normal_(generator=self.generator)
        gates = (self.mu + self.spread * noise + 0.5).clamp(0.0, 1.0)
        return torch.where(self.kept, 1.0, gates)

    def penalty(self, network: nn.Module) -> Tensor:
        """Return the mean chance to be open."""
        return self.weight * torch.special.ndtr((self.mu + 0.5) / self.spread).mean()

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return mu as scores, the chance to be open as shares."""
        mu = self.mu.double()
        return Importance(mu, shares=torch.special.ndtr((mu + 0.5) / self.spread))


@dataclass(eq=False, repr=False, kw_only=True)
class StochasticGatesSelector(BaseSelector):
    """Select features by stochastic gates."""

    gate_weight: float = 0.1
    gate_spread: float = 0.5

    def _make_gate(self, spec: Any) -> StochasticGate:
        words = {"weight": self.gate_weight, "spread": self.gate_spread}
        return StochasticGate(spec.n_features, must_keep=spec.kept, **words)
