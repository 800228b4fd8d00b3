"""Norms of weights that penalties are made of."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

__all__ = ["elastic_net", "matrices"]


def elastic_net(weights: Iterable[Tensor], l1_ratio: float) -> Tensor:
    """Return ``(1 - l1_ratio) / 2`` of the summed squares plus `l1_ratio` of the summed sizes.

    Examples
    --------
    >>> elastic_net([torch.tensor([1.0, -2.0])], 0.5)
    tensor(2.7500)
    """
    return sum((_elastic(weight, l1_ratio) for weight in weights), start=torch.zeros(()))


def _elastic(weight: Tensor, l1_ratio: float) -> Tensor:
    if l1_ratio == 0.0:
        return 0.5 * weight.square().sum()
    if l1_ratio == 1.0:
        return weight.abs().sum()
    return (1.0 - l1_ratio) / 2.0 * weight.square().sum() + l1_ratio * weight.abs().sum()


def matrices(network: nn.Module) -> list[Tensor]:
    """Return the weights of a network that are penalized: all but its biases."""
    return [weight for weight in network.parameters() if weight.ndim >= 2]
