"""The mean over the rows of a batch, which may be spread over processes."""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

__all__ = ["attenuate", "sum_across_ranks", "weighted_mean"]


class _SumAcrossRanks(torch.autograd.Function):
    """Sum over the ranks of a process group, in the forward and in the backward pass.

    The backward pass of a sum over ranks is the sum over ranks of the incoming gradients.
    """

    @staticmethod
    def forward(ctx: Any, values: Tensor, group: dist.ProcessGroup) -> Tensor:
        ctx.group = group
        total = values.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, op=dist.ReduceOp.SUM, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        total = grad_outputs[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, op=dist.ReduceOp.SUM, group=ctx.group)
        return total, None


def sum_across_ranks(values: Tensor, process_group: dist.ProcessGroup) -> Tensor:
    """Return the sum over the ranks of a group, with its gradient."""
    total: Tensor = _SumAcrossRanks.apply(values, process_group)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return total


def attenuate(
    values: Tensor,
    sample_weight: Tensor | None = None,
    process_group: dist.ProcessGroup | None = None,
) -> Tensor:
    """Return the mean over rows, rows counted by their weight.

    With a process group the mean is over the rows of all its ranks: the sums and the weights
    travel in one all-reduce of as many numbers as a row has, and one.

    **Shape**: `values` is (rows, n), `sample_weight` (rows,); the result is (n,). All three may
    have a leading axis of members.

    Examples
    --------
    >>> attenuate(torch.tensor([[1.0], [4.0]]), torch.tensor([2.0, 1.0]))
    tensor([2.])
    """
    if process_group is None:
        if sample_weight is None:
            return values.mean(-2)
        if values.ndim == 3:  # of several members
            weight = sample_weight.to(values.dtype).unsqueeze(-2)
            return (weight @ values).squeeze(-2) / sample_weight.sum(-1, keepdim=True)
        return (sample_weight.to(values.dtype) @ values) / sample_weight.sum()
    wide = torch.promote_types(values.dtype, torch.float32)  # half floats cannot count rows
    if sample_weight is None:
        sample_weight = values.new_ones(values.shape[0])
    sample_weight = sample_weight.to(wide)
    packed = torch.cat([sample_weight @ values.to(wide), sample_weight.sum()[None]])
    total = sum_across_ranks(packed, process_group)
    return (total[:-1] / total[-1]).to(values.dtype)


def weighted_mean(values: Tensor, sample_weight: Tensor | None = None) -> Tensor:
    """Return the mean over rows in float64, for statistics that are averaged further.

    Examples
    --------
    >>> weighted_mean(torch.tensor([[1.0], [4.0]]), torch.tensor([2.0, 1.0]))
    tensor([2.], dtype=torch.float64)
    """
    weight = None if sample_weight is None else sample_weight.double()
    return attenuate(values.double(), weight)
