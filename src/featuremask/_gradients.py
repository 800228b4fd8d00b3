"""Memory for the gradients of large weights, kept from one step of training to the next.

Memory of more than about 32 MB is fetched from the system when it is asked for and returned when
it is let go. A gradient of that size, made anew in each step, costs more in page faults than the
optimizer needs for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

__all__ = [
    "gradient_memory",
    "keep_gradients",
    "keeps_gradients",
    "passed_on",
    "scratch_memory",
]

_Kept = ContextVar[dict[Tensor, Tensor] | None]
_gradients: _Kept = ContextVar("memory of gradients", default=None)
_scratch: _Kept = ContextVar("memory of what is soon forgotten", default=None)


@contextmanager
def keep_gradients() -> Iterator[None]:
    """Keep the memory of gradients for the block. Outside each gradient has its own."""
    tokens = [(kept, kept.set({})) for kept in (_gradients, _scratch)]
    try:
        yield
    finally:
        for kept, token in tokens:
            kept.reset(token)


def keeps_gradients() -> bool:
    """Whether memory is kept here and now."""
    return _gradients.get() is not None


def gradient_memory(weight: Tensor) -> Tensor:
    """Return memory for the gradient of a weight, in the order of the weight; not cleared."""
    in_use = not weight.is_leaf or weight.grad is not None
    return _like(weight, None if in_use else _gradients.get())


def scratch_memory(weight: Tensor) -> Tensor:
    """Return memory of the size of a weight, for what is forgotten before it is asked for again."""
    return _like(weight, _scratch.get())


def _like(weight: Tensor, kept: dict[Tensor, Tensor] | None) -> Tensor:
    memory = None if kept is None else kept.get(weight)
    if memory is None or memory.shape != weight.shape or memory.stride() != weight.stride():
        memory = torch.empty_like(weight)
        if kept is not None:
            kept[weight] = memory
    return memory


def passed_on(weight: Tensor, gradient: Tensor) -> Tensor | None:
    """Return what the backward pass is to return for a gradient in such memory.

    Autograd copies a gradient that something else refers to; one that is kept is set here.
    """
    kept = _gradients.get()
    if kept is None or kept.get(weight) is not gradient:
        return gradient
    weight.grad = gradient
    return None
