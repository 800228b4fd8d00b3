"""AFS: attention-based feature selection, one attention head a feature."""

from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from featuremask.exceptions import InputError
from featuremask.gates._attenuation import attenuate
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._kept import hold_open, kept_positions
from featuremask.gates._norms import elastic_net, matrices
from featuremask.gates._rows import check_rows, checked_size, row_blocks

__all__ = ["AFSGate"]

_SPREAD = 0.1
"""Standard deviation of the initial weights; also the initial biases."""


class AFSGate(MaskGate):
    r"""Attention-based feature selection of Gui, Ge and Hu (2019).

    A dense layer E encodes a row, and each feature k has a head of its own that decides from the
    code whether the feature is selected in this row:

    .. math::

        e = \tanh(W_E x + b_E), \quad
        a_k = \mathrm{softmax}(A_k e + c_k)_1 = \sigma(d_k^\top e + \delta_k), \quad
        \tilde x = a \odot x, \quad
        \text{loss} + \tfrac{\rho}{2} \textstyle\sum_l \|W_l\|_F^2

    over the matrices :math:`W_l` of the learning network. Features are ranked by their mean
    attention over all rows. The heads of all features are one batched product.

    Parameters
    ----------
    n_features : int
    attention_units : int, default=32
        Width of the code.
    head_depth : {0, 1}, default=0
        Hidden layers of each head, of `attention_units` tanh units.
    network_penalty : float, default=1e-4
        The coefficient :math:`\rho`.
    readout : {"all", "last_batch"}, default="all"
        The rows over which attention is averaged: all training rows, or the last batch of training
        as in the published code.
    must_keep : iterable of int, default=()
        Features that are multiplied by 1.
    generator : torch.Generator, optional
        Source of the initial weights.
    device, dtype
        Where and in which precision the parameters live.

    Notes
    -----
    NOTE[DIFF] paper: each head has two logits and a softmax; code: the same, one head after the
    other; here: one logit, their difference, and a sigmoid, all heads in one product, because
    it is the same function of half the weights. Under Adam the difference of two logits moves
    up to twice as far in a step as one logit does.

    NOTE[DIFF] paper: the mean attention over samples; code: over the last batch of training,
    before or after its step as it happens; here: over all training rows, because a hundred rows
    are a noisy sample. ``readout="last_batch"`` takes the last batch, before its step.

    NOTE[DIFF] paper: a learning network with one hidden layer of 500 units, SGD of rate 0.8;
    code: the same, the penalty on its two matrices; here: the network and the optimizer of all
    methods, the penalty on all matrices, because methods should differ in their gates alone.

    NOTE[DIFF] paper: for few rows the attention starts from another method's weights ("hybrid
    initialization"); code: at random; here: at random, because no procedure was published.

    NOTE[DIFF] paper: heads are shallow networks; code: of one layer; here: of one layer, or
    with one hidden layer of tanh units, because the encoder has tanh units.

    References
    ----------
    N. Gui, D. Ge, Z. Hu, "AFS: An Attention-Based Mechanism for Supervised Feature Selection",
    AAAI 2019.

    Examples
    --------
    >>> gate = AFSGate(20)
    >>> gate(torch.rand(5, 20)).shape
    torch.Size([5, 20])
    >>> gate.statistic(torch.rand(5, 20)).shape
    torch.Size([20])
    """

    kept: Tensor | None
    last_attention: Tensor | None

    def __init__(
        self,
        n_features: int,
        *,
        attention_units: int = 32,
        head_depth: Literal[0, 1] = 0,
        network_penalty: float = 1e-4,
        readout: Literal["all", "last_batch"] = "all",
        must_keep: Iterable[int] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        _check(attention_units, head_depth, network_penalty, readout)
        self.network_penalty = float(network_penalty)
        self.readout = readout
        place: dict[str, Any] = {"device": device, "dtype": dtype}

        def drawn(*shape: int) -> Tensor:
            return _drawn(shape, dtype, generator).to(device)

        def difference(*shape: int) -> Tensor:
            return drawn(*shape) - drawn(*shape)

        self.encoder_weight = nn.Parameter(drawn(attention_units, n_features))
        self.encoder_bias = nn.Parameter(torch.full((attention_units,), _SPREAD, **place))
        self.hidden_weight = self.hidden_bias = None
        if head_depth == 1:
            self.hidden_weight = nn.Parameter(drawn(n_features, attention_units, attention_units))
            self.hidden_bias = nn.Parameter(
                torch.full((n_features, attention_units), _SPREAD, **place)
            )
        self.head_weight = nn.Parameter(difference(n_features, attention_units))
        self.head_bias = nn.Parameter(torch.zeros(n_features, **place))
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))
        last = torch.full((n_features,), 0.5, **place) if readout == "last_batch" else None
        self.register_buffer("last_attention", last)

    def attention(self, x: Tensor) -> Tensor:
        """Return the attention that each row pays to each feature, 0 to 1.

        **Shape**: that of the input, (rows, n_features).
        """
        check_rows(x, self.n_entries)
        code = functional.linear(x, self.encoder_weight, self.encoder_bias).tanh()
        return self._head_logits(code).sigmoid()

    def _head_logits(self, code: Tensor) -> Tensor:
        if self.hidden_weight is None or self.hidden_bias is None:
            return functional.linear(code, self.head_weight, self.head_bias)
        hidden = torch.einsum("...e,dae->...da", code, self.hidden_weight) + self.hidden_bias
        return torch.einsum("...da,da->...d", hidden.tanh(), self.head_weight) + self.head_bias

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the attention of each row."""
        attention = self.attention(x)
        if self.training and self.last_attention is not None:
            mean = attenuate(attention.detach(), sample_weight, self.process_group)
            self.last_attention.copy_(mean)
        return hold_open(attention, self.kept)

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return half the squares of the network's matrices, weighted."""
        if self.network_penalty == 0.0:
            return None
        return self.network_penalty * elastic_net(matrices(network), 0.0)

    @torch.no_grad()
    def statistic(
        self,
        x: Tensor,
        sample_weight: Tensor | None = None,
        *,
        network: nn.Module | None = None,
    ) -> Tensor | None:
        """Return the mean attention over the rows, in float64; None for the last batch."""
        if self.last_attention is not None:
            return None
        total = torch.zeros(self.n_entries, dtype=torch.float64, device=x.device)
        weight_sum = torch.zeros((), dtype=torch.float64, device=x.device)
        numbers_a_row = (self.head_bias if self.hidden_bias is None else self.hidden_bias).numel()
        for rows, weight in row_blocks(x, sample_weight, numbers_a_row):
            total += weight @ self.attention(rows).double()
            weight_sum += weight.sum()
        return total / weight_sum

    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the mean attention."""
        if self.last_attention is not None:
            return Importance(self.last_attention.to(torch.float64, copy=True))
        if statistic is None:
            raise InputError("importance needs the statistic of the training rows; got None.")
        return Importance(statistic)

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        depth = 0 if self.hidden_weight is None else 1
        return f"{self.n_entries}, attention_units={self.encoder_bias.numel()}, head_depth={depth}"


def _check(attention_units: int, head_depth: int, network_penalty: float, readout: str) -> None:
    if (
        isinstance(attention_units, bool)
        or not isinstance(attention_units, int)
        or attention_units < 1
    ):
        raise InputError(f"attention_units must be a positive integer; got {attention_units!r}.")
    if head_depth not in (0, 1):
        raise InputError(f"head_depth must be 0 or 1; got {head_depth!r}.")
    if not network_penalty >= 0.0:
        raise InputError(f"network_penalty must not be negative; got {network_penalty!r}.")
    if readout not in ("all", "last_batch"):
        raise InputError(f'readout must be "all" or "last_batch"; got {readout!r}.')


def _drawn(
    shape: tuple[int, ...], dtype: torch.dtype | None, generator: torch.Generator | None
) -> Tensor:
    """Return truncated normal weights, drawn on the CPU for every device."""
    weight = torch.empty(shape, dtype=dtype)
    bound = 2.0 * _SPREAD
    return nn.init.trunc_normal_(weight, 0.0, _SPREAD, -bound, bound, generator=generator)
