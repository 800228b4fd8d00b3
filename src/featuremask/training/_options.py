"""How a network is trained, in one frozen object."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from featuremask.exceptions import InputError
from featuremask.training._adam import LeanAdam

__all__ = ["OPTIMIZERS", "SCHEDULES", "TrainingOptions"]

OptimizerFactory = Callable[[list[dict[str, Any]], float], torch.optim.Optimizer]

OPTIMIZERS: dict[str, OptimizerFactory] = {
    "adam": LeanAdam,
    "adamw": lambda groups, rate: torch.optim.AdamW(groups, rate, fused=True),
    "sgd": lambda groups, rate: torch.optim.SGD(groups, rate, momentum=0.9),
}

SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": lambda progress: 1.0,
    "linear": lambda progress: 1.0 - progress,
    "cosine": lambda progress: 0.5 + 0.5 * float(torch.cos(torch.tensor(progress * torch.pi))),
}


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How a network is trained.

    Training ends by the first of `epochs`, `steps` and `max_seconds`; one of the first two is
    needed.

    Attributes
    ----------
    epochs : int, optional
        Passes over the data.
    steps : int, optional
        Updates of the weights.
    max_seconds : float, optional
        Wall time. What a gate schedules follows the clock then, where it is ahead of the steps.
    batch_size : int, default=256
        Rows of a batch. An epoch is split evenly into batches of about this size.
    optimizer : {"adam", "adamw", "sgd"} or callable, default="adam"
        A callable receives parameter groups and the learning rate.
    learning_rate : float, default=1e-3
    schedule : {"constant", "linear", "cosine"} or callable, default="constant"
        Factor on the learning rate as a function of progress in [0, 1).
    weight_decay : float, default=0.0
        For the matrices of the learning network. Gates and biases have none.
    clip_gradient : float, optional
        Largest norm of the gradient of all parameters.
    device : torch.device
    dtype : torch.dtype
        Precision of the rows; the parameters bring their own.
    autocast : bool, default=False
        Compute matrix products in bfloat16. Parameters, the mask's logits and the loss keep their
        precision. It pays where the processor multiplies bfloat16 in hardware.
    seed : int, default=0
        Of the order of rows and of all noise.
    threads : int, optional
        PyTorch's threads while training; None leaves the caller's setting.
    flush_subnormals : bool, default=True
        Treat subnormal floats as zero while training. A sharp mask drives weights and gradients
        into them, and a CPU handles them many times slower.
    """

    epochs: int | None = None
    steps: int | None = None
    max_seconds: float | None = None
    batch_size: int = 256
    optimizer: str | OptimizerFactory = "adam"
    learning_rate: float = 1e-3
    schedule: Literal["constant", "linear", "cosine"] | Callable[[float], float] = "constant"
    weight_decay: float = 0.0
    clip_gradient: float | None = None
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    dtype: torch.dtype = torch.float32
    autocast: bool = False
    seed: int = 0
    threads: int | None = None
    flush_subnormals: bool = True

    def __post_init__(self) -> None:
        if self.epochs is None and self.steps is None:
            raise InputError("epochs or steps must be given, so that training ends; got neither.")
        for name in ("epochs", "steps", "batch_size", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1; got {value!r}.")
        for name in ("learning_rate", "max_seconds", "clip_gradient"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"{name} must be positive; got {value!r}.")
        if self.weight_decay < 0:
            raise InputError(f"weight_decay must not be negative; got {self.weight_decay!r}.")
        for name, known in (("optimizer", OPTIMIZERS), ("schedule", SCHEDULES)):
            value = getattr(self, name)
            if not callable(value) and value not in known:
                raise InputError(
                    f"{name} must be one of {sorted(known)} or a callable; got {value!r}."
                )

    def total_steps(self, steps_per_epoch: int) -> int:
        """Return the number of updates after which training ends."""
        bounds = [self.steps, None if self.epochs is None else self.epochs * steps_per_epoch]
        return min(bound for bound in bounds if bound is not None)

    def make_optimizer(
        self,
        gate: torch.nn.Module,
        network: torch.nn.Module,
        rates: Sequence[float] | None = None,
    ) -> torch.optim.Optimizer:
        """Return an optimizer of both, with weight decay on the network's matrices alone.

        `rates` are the learning rates of stacked members.
        """
        axes = 2 if rates is None else 3
        decayed = [p for p in network.parameters() if p.ndim >= axes]
        others = [p for p in network.parameters() if p.ndim < axes]
        groups: list[dict[str, Any]] = [
            {"params": decayed, "weight_decay": self.weight_decay},
            {"params": others, "weight_decay": 0.0},
            {"params": list(gate.parameters()), "weight_decay": 0.0},
        ]
        groups = [group for group in groups if group["params"]]
        if rates is not None and len(set(rates)) > 1:
            groups = [group | {"rates": tuple(rates)} for group in groups]
        make = OPTIMIZERS[self.optimizer] if isinstance(self.optimizer, str) else self.optimizer
        with warnings.catch_warnings():  # a first optimizer loads modules that add filters
            return make(groups, self.learning_rate)

    def rate_factor(self, progress: float) -> float:
        """Return the factor on the learning rate."""
        schedule = self.schedule if callable(self.schedule) else SCHEDULES[self.schedule]
        return schedule(progress)
