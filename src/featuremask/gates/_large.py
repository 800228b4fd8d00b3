"""Products with weights that are large, or of several members at once.

They are written where those of the last step were (`keep_gradients`). The weights of several
members lie along a leading axis, as do their rows.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from featuremask._gradients import (
    gradient_memory,
    keeps_gradients,
    passed_on,
    scratch_memory,
)
from featuremask._tall import tall_product

__all__ = ["is_cast", "masked_linear", "one_row_linear"]

_LARGE = 2**22
"""Numbers of a weight from which on it pays to keep the memory."""


def masked_linear(x: Tensor, dense: nn.Linear, multiplier: Tensor | None = None) -> Tensor:
    """Return ``linear(x * multiplier, weight, bias)``, the multiplier folded into the weight.

    Examples
    --------
    >>> dense = nn.Linear(2, 1)
    >>> m = torch.tensor([2.0, 3.0])
    >>> torch.allclose(masked_linear(torch.ones(4, 2), dense, m), dense(m).expand(4, 1))
    True
    """
    weight, bias = dense.weight, dense.bias
    if (weight.ndim == 3 or _is_large(weight)) and isinstance(x, Tensor):
        product: Tensor = _Folded.apply(x, weight, multiplier)  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return product if bias is None else product.add_(bias.unsqueeze(-2))
    return functional.linear(x, weight if multiplier is None else weight * multiplier, bias)


def one_row_linear(row: Tensor, dense: nn.Linear) -> Tensor:
    """Return what a dense layer makes of one row."""
    if dense.weight.ndim == 2 and not _is_large(dense.weight):
        return functional.linear(row, dense.weight, dense.bias)
    product: Tensor = _OneRow.apply(row, dense.weight)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return product if dense.bias is None else product + dense.bias


def _is_large(weight: Tensor) -> bool:
    return weight.numel() >= _LARGE and keeps_gradients() and not is_cast(weight)


def is_cast(x: Tensor) -> bool:
    """Return whether autocast shortens products on the device of a tensor."""
    kind = x.device.type
    return torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)


class _Folded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, multiplier: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight, multiplier)
        if multiplier is None:
            return x @ weight.mT
        folded = torch.mul(weight, multiplier.unsqueeze(-2), out=scratch_memory(weight))
        return x @ folded.mT

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, multiplier = ctx.saved_tensors
        (gradient,) = grad_outputs
        of_x = of_multiplier = None
        if ctx.needs_input_grad[0]:
            of_x = gradient @ (weight if multiplier is None else weight * multiplier.unsqueeze(-2))
        of_weight = torch.matmul(gradient.mT, x, out=gradient_memory(weight))
        if multiplier is not None:
            of_multiplier = torch.mul(of_weight, weight, out=scratch_memory(weight)).sum(-2)
            of_weight.mul_(multiplier.unsqueeze(-2))
        return of_x, passed_on(weight, of_weight), of_multiplier


class _OneRow(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, row: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(row, weight)
        if row.ndim == 2:
            return (row.unsqueeze(-2) @ weight.mT).squeeze(-2)
        return tall_product(weight, row)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, Tensor | None]:
        row, weight = ctx.saved_tensors
        (gradient,) = grad_outputs
        if row.ndim == 1:
            of_weight = torch.outer(gradient, row, out=gradient_memory(weight))
            return gradient @ weight, passed_on(weight, of_weight)
        column = gradient.unsqueeze(-1)
        of_weight = torch.mul(column, row.unsqueeze(-2), out=gradient_memory(weight))
        return (column.mT @ weight).squeeze(-2), passed_on(weight, of_weight)
