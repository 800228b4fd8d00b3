"""Several gated networks of one shape as one, their tensors stacked along a leading axis."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from featuremask.gates import first_dense, has_hooks, masked_linear
from featuremask.networks._gated import GatedNetwork
from featuremask.networks._seeded import Dropout

__all__ = ["Members"]

_PLAIN_LAYERS = (nn.LeakyReLU, nn.ReLU, nn.Tanh, nn.Sigmoid, nn.Identity, Dropout)
"""Layers that do the same to each row, with no parameters of their own."""


class _StackedLinear(nn.Linear):
    """A dense layer whose weights have a leading axis of members, as its rows have."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the product of each member."""
        return masked_linear(x, self)


class Members(GatedNetwork):
    """Gated networks of one shape that are trained as one.

    Parameters and buffers have a leading axis of members, rows come as (members, rows, features).
    A member's numbers are those it has alone, to rounding. It is a network for training only:
    `unstack` gives each member what it has learned.

    Parameters
    ----------
    models : sequence of GatedNetwork
        Of which `fit_together` is true. They are copied.
    """

    def __init__(self, models: Sequence[GatedNetwork]) -> None:
        first = models[0]
        super().__init__(copy.deepcopy(first.gate), _with_stacked_layers(first.network))
        shared = {f"gate.{name}" for name in first.gate.shared()}
        states = [model.state_dict() for model in models]
        for name, own in list(self.named_parameters()):
            _set(self, name, nn.Parameter(_stacked(states, name), own.requires_grad))
        for name, _ in list(self.named_buffers()):
            if name not in shared:
                _set(self, name, _stacked(states, name))
        self.gate.enter(None)
        self._shared = shared
        self.train(first.training)

    @staticmethod
    def fit_together(models: Sequence[GatedNetwork]) -> bool:
        """Whether models can be stacked: one shape, plain layers, gates that take an axis more."""
        first = models[0]
        if not all(_is_plain(model) for model in models):
            return False
        shared = {f"gate.{name}" for name in first.gate.shared()}
        mine = first.state_dict()
        return all(
            repr(model) == repr(first) and _same_shapes(mine, model.state_dict(), shared)
            for model in models[1:]
        )

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the outputs of all members.

        **Shape**: `x` is (members, rows, features), the result (members, rows, outputs).
        """
        if self.columns is not None:
            index = self.columns.unsqueeze(1).expand(-1, x.shape[1], -1)
            x = x.gather(2, index)
        return self._output(x, sample_weight)

    def column_axes(self) -> list[tuple[nn.Parameter, int]]:
        """Return the parameters with an axis of one entry a feature, and that axis."""
        return [(parameter, axis + 1) for parameter, axis in super().column_axes()]

    @torch.no_grad()
    def unstack(self, models: Sequence[GatedNetwork]) -> None:
        """Give the models what their members have learned."""
        state = self.state_dict()
        for i, model in enumerate(models):
            shapes = {name: value.shape for name, value in model.state_dict().items()}
            model.load_state_dict(
                {
                    name: value if name in self._shared else value[i].view(shapes[name])
                    for name, value in state.items()
                }
            )


def _is_plain(model: GatedNetwork) -> bool:
    """Whether a model folds a mask into dense layers, and nothing else happens in it."""
    if type(model) is not GatedNetwork or not model.takes_sparse() or not model.gate.stacks():
        return False
    known = (nn.Sequential, nn.Linear, *_PLAIN_LAYERS)
    modules = list(model.network.modules())
    if any(type(module) not in known or has_hooks(module) for module in modules):
        return False
    return all(parameter.requires_grad for parameter in model.parameters())


def _same_shapes(one: dict[str, Tensor], other: dict[str, Tensor], shared: set[str]) -> bool:
    if one.keys() != other.keys():
        return False
    return all(
        value.shape == other[name].shape
        and value.dtype == other[name].dtype
        and (name not in shared or torch.equal(value, other[name]))
        for name, value in one.items()
    )


def _with_stacked_layers(network: nn.Module) -> nn.Module:
    """Return a copy whose dense layers, but for the first, take an axis more."""
    first = first_dense(network)

    def copied(module: nn.Module) -> nn.Module:
        if isinstance(module, nn.Sequential):
            return nn.Sequential(*[copied(layer) for layer in module])
        if isinstance(module, nn.Linear) and module is not first:
            has_bias = module.bias is not None
            return _StackedLinear(
                module.in_features, module.out_features, bias=has_bias, device="meta"
            )
        return copy.deepcopy(module)

    return copied(network)


def _stacked(states: Sequence[dict[str, Tensor]], name: str) -> Tensor:
    """Return a tensor of all members; a single number becomes an axis of its own."""
    values = torch.stack([state[name] for state in states])
    return values.unsqueeze(1) if values.ndim == 1 else values


def _set(module: nn.Module, name: str, value: Tensor) -> None:
    path, _, last = name.rpartition(".")
    setattr(module.get_submodule(path), last, value)
