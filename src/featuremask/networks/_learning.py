"""The learning networks: what is trained behind the gate."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.networks._seeded import Dropout

__all__ = ["SLOPE", "mirrored", "mlp"]

SLOPE = 0.2
"""Slope of the LeakyReLU below zero, as in the paper."""


def mlp(
    n_inputs: int,
    hidden_units: Sequence[int],
    n_outputs: int,
    *,
    dropout: float = 0.0,
    generator: torch.Generator | None = None,
    dtype: torch.dtype | None = None,
) -> nn.Sequential:
    """Return the paper's g: dense layers with LeakyReLU, dropout, and a linear output layer.

    Weights start as PyTorch's own dense layers do, U(-1/sqrt(n), 1/sqrt(n)) of n inputs.

    Parameters
    ----------
    n_inputs, n_outputs : int
        Widths of the two ends.
    hidden_units : sequence of int
        Widths of the hidden layers.
    dropout : float, default=0.0
        Rate before the output layer; no layer if 0.
    generator : torch.Generator, optional
        Source of the initial weights.

    Examples
    --------
    >>> mlp(784, (128, 64), 10, dropout=0.3)
    Sequential(
      (0): Linear(in_features=784, out_features=128, bias=True)
      (1): LeakyReLU(negative_slope=0.2)
      (2): Linear(in_features=128, out_features=64, bias=True)
      (3): LeakyReLU(negative_slope=0.2)
      (4): Dropout(rate=0.3)
      (5): Linear(in_features=64, out_features=10, bias=True)
    )
    """
    widths = [n_inputs, *hidden_units, n_outputs]
    if any(not isinstance(n, int) or n < 1 for n in widths):
        raise InputError(f"The widths of a network must be positive integers; got {widths!r}.")
    layers: list[nn.Module] = []
    for i, (n_in, n_out) in enumerate(itertools.pairwise(widths)):
        last = i == len(widths) - 2
        if last and dropout != 0.0:
            layers.append(Dropout(dropout))
        layers.append(_linear(n_in, n_out, generator, dtype))
        if not last:
            layers.append(nn.LeakyReLU(SLOPE))
    return nn.Sequential(*layers)


def mirrored(hidden_units: Sequence[int]) -> tuple[int, ...]:
    """Return the hidden widths of an autoencoder with this encoder.

    Examples
    --------
    >>> mirrored((128, 64))
    (128, 64, 128)
    """
    return (*hidden_units, *reversed(hidden_units[:-1]))


def _linear(
    n_inputs: int, n_outputs: int, generator: torch.Generator | None, dtype: torch.dtype | None
) -> nn.Linear:
    layer = nn.Linear(n_inputs, n_outputs, device="meta", dtype=dtype)
    bound = 1.0 / math.sqrt(n_inputs)

    def drawn(*shape: int) -> nn.Parameter:
        values = torch.empty(shape, device="cpu", dtype=dtype)
        return nn.Parameter(values.uniform_(-bound, bound, generator=generator))

    layer.weight, layer.bias = drawn(n_outputs, n_inputs), drawn(n_outputs)
    return layer
