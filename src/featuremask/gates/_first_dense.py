"""The dense layer that a network begins with."""

from torch import nn

__all__ = ["first_dense", "has_hooks"]


def first_dense(network: nn.Module) -> nn.Linear | None:
    """Return the dense layer a network begins with, if it plainly does.

    A subclass of `nn.Linear`, or one with hooks, may do more than multiply and is not taken.

    Examples
    --------
    >>> first_dense(nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    Linear(in_features=3, out_features=2, bias=True)
    >>> first_dense(nn.Sequential(nn.ReLU(), nn.Linear(3, 2))) is None
    True
    """
    while type(network) is nn.Sequential and len(network) and not has_hooks(network):
        network = network[0]
    plain = type(network) is nn.Linear and not has_hooks(network)
    return network if plain and isinstance(network, nn.Linear) else None


def has_hooks(module: nn.Module) -> bool:
    """Return whether hooks are called around the forward or backward pass of a module."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
    )
