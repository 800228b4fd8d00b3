"""SAND: features are drowned in noise unless their gain is one."""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._base import Gate, Importance
from featuremask.gates._kept import hold_open, kept_positions
from featuremask.gates._rows import check_rows, checked_count, checked_size
from featuremask.gates._seeded import Seeded

__all__ = ["SANDGate"]


class SANDGate(Seeded, Gate):
    r"""Selection by additive noise distortion of Pad et al. (2025): a budget of gains.

    .. math::

        \tilde x_i = a_i x_i + (1 - a_i) z_i, \quad z_i \sim \mathcal N(0, \sigma^2), \quad
        a = \sqrt k \, \frac{\min(|w|, 1)}{\| \min(|w|, 1) \|_2}

    so that :math:`\sum_i a_i^2 = k`. A gain below 1 costs twice, signal and noise, which drives k
    gains to 1 and the others to 0. Features are ranked by their gain. In evaluation mode there is
    no noise.

    Parameters
    ----------
    n_features : int
    n_select : int
        The number k; features of `must_keep` count.
    noise_scale : float, default=1.5
        The standard deviation :math:`\sigma` of the noise, in the units of the rows.
    draw : {"batch", "row"}, default="batch"
        One draw of the noise for a batch, or one for each of its rows. The mean over draws of the
        loss is the same under both; its gradient is steadier under "row".
    must_keep : iterable of int, default=()
        Features whose gain is 1.
    device, dtype
        Where and in which precision the parameters live.

    Attributes
    ----------
    generator : torch.Generator or None
        Source of the noise; PyTorch's global one if None.

    Notes
    -----
    NOTE[DIFF] paper: gains of the given norm; code: each call stores the normalized gains, also
    one that only predicts; here: they are stored after each step, because a call should have no
    effect on the next.

    NOTE[DIFF] paper: Gaussian noise; code: drawn for each row; here: `draw` says which, one for
    the batch by default, because a row of weight two is then the same as two rows.

    NOTE[DIFF] paper: the network goes on with the selected features; code: gains below the k
    largest are set to 0 after training; here: evaluation multiplies by the gains as they are,
    because the number of features may be changed after training.

    NOTE[DIFF] paper: -; code: one network for each dataset, from that of sequential attention;
    here: the network and the optimizer of all methods, because methods should differ in their
    gates alone.

    References
    ----------
    P. Pad, H. Hammoud, M. Dia, N. Maamari, L. A. Dunbar, "SAND: One-Shot Feature Selection with
    Additive Noise Distortion", ICML 2025.

    Examples
    --------
    >>> gate = SANDGate(4, 1).eval()
    >>> gate(torch.ones(1, 4)).detach()
    tensor([[0.5000, 0.5000, 0.5000, 0.5000]])
    """

    kept: Tensor | None

    def __init__(
        self,
        n_features: int,
        n_select: int,
        *,
        noise_scale: float = 1.5,
        draw: Literal["batch", "row"] = "batch",
        must_keep: Iterable[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        if not noise_scale >= 0.0:
            raise InputError(f"noise_scale must not be negative; got {noise_scale!r}.")
        if draw not in ("batch", "row"):
            raise InputError(f'draw must be "batch" or "row"; got {draw!r}.')
        self.noise_scale = float(noise_scale)
        self.draw = draw
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))
        n_kept = 0 if self.kept is None else self.kept.numel()
        n_free = max(0, checked_count("n_select", n_select) - n_kept)
        self.norm = min(n_free, n_features - n_kept) ** 0.5
        start = self.norm / max(1, n_features - n_kept) ** 0.5
        self.weight = nn.Parameter(torch.full((n_features,), start, device=device, dtype=dtype))

    def gains(self) -> Tensor:
        """Return the gains, (n_features,)."""
        free = self.weight.abs().clamp(max=1.0)
        if self.kept is not None:
            free = free.index_fill(0, self.kept, 0.0)
        norm = torch.linalg.vector_norm(free).clamp_min(torch.finfo(free.dtype).tiny)
        return hold_open(free * (self.norm / norm), self.kept)

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input times the gains, in training mode with noise for what they lack."""
        check_rows(x, self.n_entries)
        gains = self.gains()
        if not self.training:
            return x * gains
        return x * gains + self._noise(x) * (self.noise_scale * (1.0 - gains))

    def _noise(self, x: Tensor) -> Tensor:
        def draw(*shape: int) -> Tensor:
            return torch.randn(shape, generator=self.generator, device=x.device, dtype=x.dtype)

        if self.draw == "batch":
            return draw(x.shape[-1])
        return self.drawn_for(x.shape[0], lambda n: draw(n, *x.shape[1:]))

    @torch.no_grad()
    def project(self) -> None:
        """Go on from the normalized gains."""
        self.weight.copy_(self.gains())

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the gains."""
        return Importance(self.gains().double())

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}, noise_scale={self.noise_scale:g}, draw={self.draw!r}"
