"""BSF: binary stochastic filtering, a coin a feature."""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._attenuation import sum_across_ranks
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._kept import hold_open, kept_positions
from featuremask.gates._rows import check_rows, checked_size
from featuremask.gates._seeded import Seeded

__all__ = ["BSFGate"]


class BSFGate(Seeded, MaskGate):
    r"""Binary stochastic filtering of Trelin and Prochazka (2020): features pass by chance.

    .. math::

        r \sim \mathrm{Bernoulli}(p), \quad \tilde x = r \odot x, \quad
        \text{loss} + \lambda \|p\|_1, \quad p \leftarrow \min(\max(p, 0), 1)

    after each step. The draw has no derivative, so that the gradient of p is an estimate:

    ==== =============================================================================
    "v1" the draw counts as p itself: :math:`\sum_i \partial L / \partial \tilde x_i \odot x_i`
    "v2" :math:`\tfrac 1 B \sum_i \partial L / \partial \tilde x_i \odot p \odot x_i`
    ==== =============================================================================

    Features are ranked by p, features of equal p (many end at 0 or 1) by its mean over all steps.

    Parameters
    ----------
    n_features : int
    estimator : {"v1", "v2"}, default="v1"
        The estimate of the gradient. A `l1_weight` means something else under each: with a mean
        loss, "v2" makes the part of the data B times smaller against it.
    draw : {"batch", "row"}, default="batch"
        One draw for a batch, or one for each of its rows.
    l1_weight : float, default=0.001
        The coefficient :math:`\lambda`, of a sum over features.
    init : float, default=0.5
        The p that all features start from.
    must_keep : iterable of int, default=()
        Features that always pass.
    device, dtype
        Where and in which precision the parameters live.

    Attributes
    ----------
    generator : torch.Generator or None
        Source of the draws; PyTorch's global one if None.

    Notes
    -----
    NOTE[DIFF] paper: a draw while training; code: one for the batch (v1) or for each row (v2);
    here: `draw` says which under either estimator, one for the batch by default, because a row
    of weight two is then the same as two rows.

    NOTE[DIFF] paper: the straight-through gradient; code: v2 averages it over the B rows of the
    batch; here: over their sum of weights, because rows of weight two count twice. It is the
    same where no row has a weight.

    NOTE[DIFF] paper: features pass or do not; code: in evaluation v1 goes on drawing, v2 lets
    features of p > 0.1 pass whole; here: evaluation multiplies by p, because a row's output
    should not depend on chance, and what passed seldom in training should not pass whole
    afterwards.

    NOTE[DIFF] paper: an L1 penalty; code: its gradient vanishes at p = 0; here: it does not,
    because p has no negative side and a feature should need a reason to leave 0.

    NOTE[DIFF] paper: features are ranked by p; code: ties go by position; here: by the mean of
    p over all steps, because many features end at exactly 0 or 1.

    References
    ----------
    A. Trelin, A. Prochazka, "Binary Stochastic Filtering: Feature Selection and Beyond",
    arXiv:2007.03920, 2020.

    Examples
    --------
    >>> gate = BSFGate(3, init=1.0)
    >>> gate(torch.ones(2, 3)).detach()
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """

    kept: Tensor | None
    mean_p: Tensor
    n_steps: Tensor

    def __init__(
        self,
        n_features: int,
        *,
        estimator: Literal["v1", "v2"] = "v1",
        draw: Literal["batch", "row"] = "batch",
        l1_weight: float = 0.001,
        init: float = 0.5,
        must_keep: Iterable[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        _check(estimator, draw, l1_weight, init)
        self.estimator = estimator
        self.draw = draw
        self.l1_weight = float(l1_weight)
        self.p = nn.Parameter(torch.full((n_features,), float(init), device=device, dtype=dtype))
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))
        self.register_buffer("mean_p", self.p.detach().clone())
        self.register_buffer("n_steps", torch.zeros((), dtype=torch.int64, device=device))

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return a draw of zeros and ones while training, p in evaluation."""
        check_rows(x, self.n_entries)
        if not self.training:
            return hold_open(self.p, self.kept)
        uniform = self._uniform(x)
        drawn = (uniform < self.p).to(self.p.dtype)
        # Adds zero, and with it the gradient of p: one for v1, p / B for v2.
        passing = self.p - self.p.detach()
        if self.estimator == "v2":
            passing = passing * (self.p.detach() / self._row_weight(x, sample_weight))
        return hold_open(drawn + passing, self.kept)

    def _uniform(self, x: Tensor) -> Tensor:
        def draw(*shape: int) -> Tensor:
            return torch.rand(
                shape, generator=self.generator, device=self.p.device, dtype=self.p.dtype
            )

        if self.draw == "batch":
            return draw(*self.p.shape)
        return self.drawn_for(x.shape[0], lambda n: draw(n, *x.shape[1:]))

    def _row_weight(self, x: Tensor, sample_weight: Tensor | None) -> Tensor | int:
        """Return the weight of all rows of the batch."""
        if self.process_group is None:
            return x.shape[0] if sample_weight is None else sample_weight.sum()
        weight = x.new_ones(x.shape[0]) if sample_weight is None else sample_weight
        return sum_across_ranks(weight.sum(), self.process_group)

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return the L1 norm of p, which is its sum."""
        return None if self.l1_weight == 0.0 else self.l1_weight * self.p.sum()

    @torch.no_grad()
    def project(self) -> None:
        """Clip p to [0, 1] and go on with its mean."""
        self.p.clamp_(0.0, 1.0)
        self.n_steps += 1
        self.mean_p += (self.p - self.mean_p) / self.n_steps

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return p, and for ties its mean over all steps."""
        scores = self.p.detach().to(torch.float64, copy=True)
        return Importance(scores, ties=self.mean_p.to(torch.float64, copy=True))

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}, estimator={self.estimator!r}, draw={self.draw!r}"


def _check(estimator: str, draw: str, l1_weight: float, init: float) -> None:
    if estimator not in ("v1", "v2"):
        raise InputError(f'estimator must be "v1" or "v2"; got {estimator!r}.')
    if draw not in ("batch", "row"):
        raise InputError(f'draw must be "batch" or "row"; got {draw!r}.')
    if not l1_weight >= 0.0:
        raise InputError(f"l1_weight must not be negative; got {l1_weight!r}.")
    if not 0.0 <= init <= 1.0:
        raise InputError(f"init must be a probability, 0 to 1; got {init!r}.")
