"""Adam, as PyTorch's fused one computes it, with less work around each step."""

from typing import Any

import torch
from torch import Tensor

__all__ = ["LeanAdam"]


class LeanAdam(torch.optim.Adam):
    """PyTorch's fused Adam with one counter of steps for all parameters.

    The numbers are those of ``torch.optim.Adam(..., fused=True)``, bit for bit, as long as all
    parameters have gradients: one that has none for a step is left as it is, but the step counts.
    On a small network half of that optimizer's time goes into counting each parameter's steps and
    sorting parameters by device and type.

    Stacked members may each have a learning rate of their own, "rates" of a group.
    """

    def __init__(self, groups: list[dict[str, Any]], rate: float) -> None:
        super().__init__(groups, rate, fused=True)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # no closures here
        """Make a step with the gradients as they stand."""
        everyone = [p for group in self.param_groups for p in group["params"]]
        if any(p.dtype != everyone[0].dtype or p.device != everyone[0].device for p in everyone):
            super().step()
            return
        count = self._count(everyone)
        count += 1.0
        state, before, moving = self.state, None, []
        for group in self.param_groups:
            if before is not None and not _alike(group, before):
                self._step_group(before, moving, count)
                moving = []
            before = group
            for p in group["params"]:
                if p.grad is not None:
                    own = state[p]
                    moving.append(_in_order(p, p.grad, own["exp_avg"], own["exp_avg_sq"]))
        if before is not None:
            self._step_group(before, moving, count)

    def _step_group(
        self, group: dict[str, Any], moving: list[tuple[Tensor, ...]], count: Tensor
    ) -> None:
        rates: tuple[float, ...] | None = group.get("rates")
        if rates is None:
            self._move(group, group["lr"], moving, count)
            return
        for rate in dict.fromkeys(rates):
            members = [i for i, own in enumerate(rates) if own == rate]
            slices = [tuple(kind[i] for kind in four) for four in moving for i in members]
            self._move(group, rate, slices, count)

    def _move(
        self, group: dict[str, Any], rate: float, moving: list[tuple[Tensor, ...]], count: Tensor
    ) -> None:
        if not moving:
            return
        parameters, gradients, means, squares = (list(kind) for kind in zip(*moving, strict=True))
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            [],
            [count] * len(moving),
            lr=rate,
            beta1=group["betas"][0],
            beta2=group["betas"][1],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
        )

    def _count(self, everyone: list[Tensor]) -> Tensor:
        """Return the counter that all parameters share; a state that was loaded has one each."""
        first: Tensor | None = self.state[everyone[0]].get("step")
        if first is None:
            first = torch.zeros((), dtype=torch.float32, device=everyone[0].device)
            for parameter in everyone:
                self.state[parameter] = {
                    "step": first,
                    "exp_avg": torch.zeros_like(parameter),
                    "exp_avg_sq": torch.zeros_like(parameter),
                }
        elif self.state[everyone[-1]]["step"] is not first:
            for parameter in everyone:
                self.state[parameter]["step"] = first
        return first


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether groups are stepped in the same way, and so in one call."""
    return all(one[name] == other[name] for name in ("lr", "weight_decay", "betas", "eps"))


def _in_order(parameter: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
    """Return tensors of one shape in the order of memory; the fused kernel copies any others."""
    if parameter.ndim == 2 and not parameter.is_contiguous():
        return tuple(tensor.t() for tensor in (parameter, *others))
    return (parameter, *others)
