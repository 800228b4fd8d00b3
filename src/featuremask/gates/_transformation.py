"""The non-linear transformation of the FM-module, from rows to logits (eq. 3 of the paper)."""

import itertools
import math
from collections.abc import Callable
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._first_dense import has_hooks
from featuremask.gates._large import masked_linear, one_row_linear

__all__ = ["ACTIVATIONS", "INITIALIZATIONS", "DenseTransformation", "Initialization", "TwoStage"]

Initialization = Literal["xavier", "uniform", "normal", "ones", "authors"]
INITIALIZATIONS: tuple[Initialization, ...] = ("xavier", "uniform", "normal", "ones", "authors")

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sigmoid": torch.sigmoid,
    "leaky_relu": lambda x: nn.functional.leaky_relu(x, 0.2),
}


@runtime_checkable
class TwoStage(Protocol):
    """A transformation whose second stage is affine, so that the mean may be taken before it.

    `decode(mean(encode(x))) == mean(decode(encode(x)))`. Any other module from rows to logits
    serves as a transformation too; its logits are then averaged themselves.
    """

    code_units: int

    def encode(self, x: Tensor) -> Tensor:
        """Return the hidden code, (rows, code_units)."""

    def decode(self, code: Tensor) -> Tensor:
        """Return the logits of a code or of a mean of codes: an affine map."""


class DenseTransformation(nn.Module):
    """Dense layers with a non-linearity, then a linear one: `W2 tanh(W1 x + b1) + b2`.

    Parameters
    ----------
    n_inputs, n_outputs : int
        Width of a row and number of logits.
    units : int, default=128
        Width E of the hidden layers. It does not depend on the number of features.
    depth : int, default=1
        Number of hidden layers.
    activation : str, default="tanh"
        One of `ACTIVATIONS`.
    init : str, default="xavier"
        Distribution of the initial weights; biases start at zero. "uniform" is U(-0.05, 0.05),
        "normal" N(0, 0.05), "ones" constant, "authors" Xavier for the hidden layers and
        U(0.9, 1.1) for the last.
    generator : torch.Generator, optional
        Source of the initial weights; PyTorch's global one if None.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        *,
        units: int = 128,
        depth: int = 1,
        activation: str = "tanh",
        init: Initialization = "xavier",
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _check(units=units, depth=depth, activation=activation, init=init)
        widths = [n_inputs, *[units] * depth]
        self.code_units = units
        self.activation = activation
        self.hidden = nn.ModuleList(
            _empty_linear(i, o, device=device, dtype=dtype) for i, o in itertools.pairwise(widths)
        )
        self.output = _empty_linear(units, n_outputs, device=device, dtype=dtype)
        self.reset_parameters(init, generator)

    def reset_parameters(
        self, init: Initialization = "xavier", generator: torch.Generator | None = None
    ) -> None:
        """Draw the weights anew."""
        hidden_init: Initialization = "xavier" if init == "authors" else init
        for layer in self.hidden:
            _draw(layer, hidden_init, generator)
        _draw(self.output, init, generator)

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"activation={self.activation!r}"

    def column_axes(self) -> list[tuple[nn.Parameter, int]]:
        """Return the parameters with an axis of one entry an input or a logit, and that axis."""
        first = self.hidden[0]
        assert isinstance(first, nn.Linear)
        output: list[tuple[nn.Parameter, int]] = [
            (parameter, 0) for parameter in self.output.parameters()
        ]
        return [(next(first.parameters()), 1), *output]

    def encode(self, x: Tensor) -> Tensor:
        """Return the hidden code of each row."""
        activate = ACTIVATIONS[self.activation]
        for layer in self.hidden:
            assert isinstance(layer, nn.Linear)
            plain = x.ndim == layer.weight.ndim and not has_hooks(layer)
            x = activate(masked_linear(x, layer) if plain else layer(x))
        return x

    def decode(self, code: Tensor) -> Tensor:
        """Return the logits that belong to a hidden code, or to a mean of them."""
        output = self.output
        if code.ndim == output.weight.ndim - 1 and not has_hooks(output):
            return one_row_linear(code, output)
        logits: Tensor = output(code)
        return logits

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of each row."""
        return self.decode(self.encode(x))


def _check(*, units: int, depth: int, activation: str, init: str) -> None:
    if not isinstance(units, int) or units < 1:
        raise InputError(f"mask_units must be a positive integer; got {units!r}.")
    if not isinstance(depth, int) or depth < 1:
        raise InputError(f"depth must be a positive number of hidden layers; got {depth!r}.")
    if activation not in ACTIVATIONS:
        raise InputError(f"activation must be one of {sorted(ACTIVATIONS)}; got {activation!r}.")
    if init not in INITIALIZATIONS:
        raise InputError(f"init must be one of {list(INITIALIZATIONS)}; got {init!r}.")


def _empty_linear(
    n_inputs: int,
    n_outputs: int,
    *,
    device: torch.device | str | None,
    dtype: torch.dtype | None,
) -> nn.Linear:
    """Return a layer whose weights are not drawn yet; drawing would use the global generator."""
    layer = nn.Linear(n_inputs, n_outputs, device="meta", dtype=dtype)
    # Not layer.to_empty(), whose first call loads half of torch's compiler and adds filters.
    layer.weight = nn.Parameter(torch.empty(n_outputs, n_inputs, device=device, dtype=dtype))
    layer.bias = nn.Parameter(torch.empty(n_outputs, device=device, dtype=dtype))
    return layer


@torch.no_grad()
def _draw(layer: nn.Module, init: Initialization, generator: torch.Generator | None) -> None:
    """Fill a layer; drawn on the CPU, so that a seed means the same on every device."""
    assert isinstance(layer, nn.Linear)
    nn.init.zeros_(layer.bias)
    weight = layer.weight
    if weight.is_meta:
        return  # there is nothing to fill
    drawn = torch.empty(weight.shape, dtype=weight.dtype, device="cpu")
    if init == "xavier":
        bound = math.sqrt(6.0 / sum(weight.shape))
        drawn.uniform_(-bound, bound, generator=generator)
    elif init == "uniform":
        drawn.uniform_(-0.05, 0.05, generator=generator)
    elif init == "normal":
        drawn.normal_(0.0, 0.05, generator=generator)
    elif init == "ones":
        drawn.fill_(1.0)
    else:
        drawn.uniform_(0.9, 1.1, generator=generator)
    weight.copy_(drawn)
