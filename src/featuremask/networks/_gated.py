"""A gate and a learning network as one network."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates import Gate, MaskGate, first_dense, has_hooks, masked_linear
from featuremask.sources import as_sparse

__all__ = ["GatedNetwork", "first_dense"]


class GatedNetwork(nn.Module):
    """A gate in front of a learning network.

    Where the gate's multiplier is one vector for the batch and the network begins with a plain
    dense layer on the masked axis, the multiplier is folded into that layer's weight:
    ``linear(x * m, W) == linear(x, W * m)``. The gradient of the multiplier then needs no product
    of the size of the batch.

    Parameters
    ----------
    gate : Gate
        What stands before the network.
    network : nn.Module
        What sees the gated input.
    fold : bool, default=True
        Fold where possible. False always multiplies, for comparison.

    Examples
    --------
    >>> from featuremask import FeatureMask
    >>> model = GatedNetwork(FeatureMask(20), nn.Sequential(nn.Linear(20, 8), nn.ReLU()))
    >>> model(torch.rand(5, 20)).shape
    torch.Size([5, 8])
    """

    def __init__(self, gate: Gate, network: nn.Module, *, fold: bool = True) -> None:
        super().__init__()
        self.gate = gate
        self.network = network
        self.fold = fold
        self.columns: Tensor | None = None

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the network's output for the gated input."""
        if self.columns is not None:
            x = x.index_select(1, self.columns)
        return self._output(x, sample_weight)

    def _output(self, x: Tensor, sample_weight: Tensor | None) -> Tensor:
        dense = self._foldable(x)
        if dense is None:
            output: Tensor = self.network(self.gate(x, sample_weight))
            return output
        assert isinstance(self.gate, MaskGate)
        multiplier = self.gate.multiplier(x, sample_weight)
        if as_sparse(x) is not None:
            return _after_first(self.network, dense(x * multiplier))
        if multiplier.ndim != dense.weight.ndim - 1:
            output = self.network(x * multiplier)
            return output
        return _after_first(self.network, masked_linear(x, dense, multiplier))

    def _foldable(self, x: Tensor) -> nn.Linear | None:
        if not self.fold or not isinstance(self.gate, MaskGate) or has_hooks(self.gate):
            return None
        dense = first_dense(self.network)
        if dense is None or x.ndim != dense.weight.ndim:
            return None
        return dense if dense.in_features == x.shape[-1] else None

    def takes_sparse(self) -> bool:
        """Whether rows may be `SparseRows`: the gate takes them, and a dense layer is next."""
        if not (self.fold and isinstance(self.gate, MaskGate) and self.gate.takes_sparse()):
            return False
        dense = first_dense(self.network)
        fits = dense is not None and dense.in_features == self.gate.out_features
        return fits and not has_hooks(self.gate)

    def column_axes(self) -> list[tuple[nn.Parameter, int]]:
        """Return the parameters with an axis of one entry a feature, and that axis.

        None where the mask is not folded into a first layer on all features.
        """
        dense = first_dense(self.network)
        axes = self.gate.column_axes()
        if not axes or not self.fold or dense is None or has_hooks(self.gate):
            return []
        if dense.in_features != self.gate.out_features:
            return []
        return [*axes, (next(dense.parameters()), 1)]

    def enter(self, columns: Tensor | None) -> None:
        """Work on these features of whole rows alone, for which all is cut; on all if None."""
        self.columns = columns
        dense = first_dense(self.network)
        assert dense is not None
        dense.in_features = self.gate.out_features if columns is None else columns.shape[-1]
        self.gate.enter(columns)

    def prune(self, k: int | Sequence[int] | Tensor) -> nn.Module:
        """Return a network of its own for the chosen columns alone, the mask folded in.

        Its output equals that of this network in evaluation mode with the multiplier of all other
        columns set to zero.

        Parameters
        ----------
        k : int or sequence of int or of bool
            Number of columns of largest multiplier to keep, or the columns themselves, or whether
            to keep each column.

        Returns
        -------
        nn.Module
            Takes ``(rows, k)``: the chosen columns in ascending order.
        """
        dense = first_dense(self.network)
        if dense is None or not isinstance(self.gate, MaskGate):
            raise InputError(
                "prune needs a network that begins with a plain nn.Linear behind a gate that "
                f"multiplies; got {type(self.network).__name__} behind {type(self.gate).__name__}."
            )
        multiplier = _fixed_multiplier(self.gate, dense)
        cut = _cut(dense, multiplier, _columns(k, multiplier))
        return nn.Sequential(cut, *copy.deepcopy(_rest(self.network))).train(self.training)


def _rest(network: nn.Module) -> list[nn.Module]:
    """Return the modules behind the first dense layer, in order."""
    if type(network) is not nn.Sequential:
        return []
    return [*_rest(network[0]), *list(network)[1:]]


def _after_first(network: nn.Module, hidden: Tensor) -> Tensor:
    for module in _rest(network):
        hidden = module(hidden)
    return hidden


@torch.no_grad()
def _fixed_multiplier(gate: MaskGate, dense: nn.Linear) -> Tensor:
    """Return the multiplier of evaluation mode, if it is the same whatever the rows."""
    was_training = gate.training
    gate.eval()
    try:
        row = dense.weight.new_zeros(1, dense.in_features)
        multiplier = gate.multiplier(row)
        fixed = multiplier.ndim == 1 and torch.equal(multiplier, gate.multiplier(row + 1.0))
    finally:
        gate.train(was_training)
    if not fixed:
        raise InputError(
            "prune needs a gate whose multiplier in evaluation mode is the same for all rows; that "
            f"of {type(gate).__name__} depends on them. Freeze it first, or use another gate."
        )
    return multiplier


@torch.no_grad()
def _cut(dense: nn.Linear, multiplier: Tensor, columns: Tensor) -> nn.Linear:
    """Return the layer for some of its columns, the multiplier folded in."""
    cut = copy.deepcopy(dense)
    cut.in_features = columns.numel()
    cut.weight = nn.Parameter((dense.weight * multiplier)[:, columns])
    return cut


def _columns(k: int | Sequence[int] | Tensor, multiplier: Tensor) -> Tensor:
    n = multiplier.numel()
    chosen = torch.as_tensor(k, device=multiplier.device)
    if chosen.ndim == 0:
        if not 1 <= int(chosen) <= n:
            raise InputError(f"prune keeps 1 to {n} columns; got k={k!r}.")
        return multiplier.abs().argsort(descending=True, stable=True)[: int(chosen)].sort().values
    if chosen.dtype == torch.bool and chosen.shape == multiplier.shape:
        chosen = chosen.nonzero()[:, 0]
    columns = chosen.to(torch.int64).sort().values
    twice = bool((columns[1:] == columns[:-1]).any())
    listed = chosen.dtype != torch.bool and columns.ndim == 1 and columns.numel() > 0
    if not listed or twice or int(columns[0]) < 0 or int(columns[-1]) >= n:
        raise InputError(f"prune keeps columns among 0 to {n - 1}, each once; got {k!r}.")
    return columns
