"""What is learned: the target and the loss of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Literal

from torch import Tensor, nn
from torch.nn import functional

from featuremask.exceptions import InputError

__all__ = [
    "BinaryLabels",
    "Classes",
    "Loss",
    "Objective",
    "OfMembers",
    "Reconstruction",
    "Regression",
    "loss_function",
]

Kind = Literal["classification", "regression", "reconstruction"]

Loss = Callable[[Tensor, Tensor], Tensor]
"""From output and target to the loss of each row, (rows,) or (rows, n_outputs)."""

_LOSSES: dict[str, Loss] = {
    "squared_error": lambda output, target: (output - target).square(),
    "huber": lambda output, target: functional.huber_loss(output, target, reduction="none"),
    "absolute_error": lambda output, target: (output - target).abs(),
}


def loss_function(loss: str | nn.Module | Loss) -> Loss:
    """Return the loss of a name, or the user's own."""
    if callable(loss):
        return loss
    if loss not in _LOSSES:
        raise InputError(
            f"loss must be one of {sorted(_LOSSES)} or a callable of (output, target) that "
            f"returns one value a row; got {loss!r}."
        )
    return _LOSSES[loss]


class Objective(ABC):
    """A target and a loss.

    Attributes
    ----------
    kind : {"classification", "regression", "reconstruction"}
        The family it belongs to.
    n_outputs : int
        Width of the head that the learning network needs.
    """

    kind: Kind
    n_outputs: int

    @abstractmethod
    def row_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each row, (rows,)."""

    def loss(self, output: Tensor, target: Tensor, sample_weight: Tensor | None) -> Tensor:
        """Return the mean loss over the rows, rows counted by their weight."""
        losses = self.row_losses(output, target)
        if sample_weight is None:
            return losses.mean()
        return sample_weight @ losses / sample_weight.sum()


class OfMembers(Objective):
    """The objective of members that are trained together: each has its own rows and loss.

    Parameters
    ----------
    one : Objective
        That of each member.
    """

    def __init__(self, one: Objective) -> None:
        self.kind = one.kind
        self.n_outputs = one.n_outputs
        self._one = one

    def row_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the loss of each row, (members, rows)."""
        losses = self._one.row_losses(output.flatten(0, 1), target.flatten(0, 1))
        return losses.view(output.shape[:2])

    def loss(self, output: Tensor, target: Tensor, sample_weight: Tensor | None) -> Tensor:
        """Return the mean loss of each member, (members,)."""
        losses = self.row_losses(output, target)
        if sample_weight is None:
            return losses.mean(1)
        return (sample_weight * losses).sum(1) / sample_weight.sum(1)


class Classes(Objective):
    """One of several classes: softmax and cross-entropy.

    Parameters
    ----------
    n_classes : int
        Targets are 0 to n_classes - 1.
    loss : callable, optional
        Replaces cross-entropy; receives logits (rows, n_classes) and class indices (rows,).
    """

    kind = "classification"

    def __init__(self, n_classes: int, loss: Loss | None = None) -> None:
        self.n_outputs = n_classes
        self._loss = loss

    def row_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of each row."""
        if self._loss is None:
            return functional.cross_entropy(output, target, reduction="none")
        return _per_row(self._loss(output, target), output)

    def loss(self, output: Tensor, target: Tensor, sample_weight: Tensor | None) -> Tensor:
        """Return the mean loss over the rows, rows counted by their weight."""
        if self._loss is None and sample_weight is None:
            return functional.cross_entropy(output, target)
        return super().loss(output, target, sample_weight)


class BinaryLabels(Objective):
    """Several labels, each present or absent: sigmoid and binary cross-entropy, averaged.

    Parameters
    ----------
    n_labels : int
        Targets are (rows, n_labels) of 0 and 1.
    loss : callable, optional
        Replaces binary cross-entropy; receives logits and targets.
    """

    kind = "classification"

    def __init__(self, n_labels: int, loss: Loss | None = None) -> None:
        self.n_outputs = n_labels
        self._loss = loss

    def row_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the mean binary cross-entropy of each row."""
        if self._loss is None:
            losses = functional.binary_cross_entropy_with_logits(output, target, reduction="none")
            return losses.mean(1)
        return _per_row(self._loss(output, target), output)


class Regression(Objective):
    """One or several numbers.

    Parameters
    ----------
    n_targets : int
        Targets are (rows, n_targets).
    loss : str or callable, default="squared_error"
        "squared_error", "huber", "absolute_error", or a callable.
    """

    kind: Kind = "regression"

    def __init__(self, n_targets: int, loss: str | Loss = "squared_error") -> None:
        self.n_outputs = n_targets
        self._loss = loss_function(loss)
        self._squared = loss == "squared_error"

    def row_losses(self, output: Tensor, target: Tensor) -> Tensor:
        """Return the mean loss over the targets of each row."""
        return _per_row(self._loss(output, target), output)

    def loss(self, output: Tensor, target: Tensor, sample_weight: Tensor | None) -> Tensor:
        """Return the mean loss over the rows, rows counted by their weight."""
        if self._squared and sample_weight is None:
            return functional.mse_loss(output, target)
        return super().loss(output, target, sample_weight)


class Reconstruction(Regression):
    """The input itself, as it stands before the gate: no target is needed."""

    kind: Kind = "reconstruction"


def _per_row(losses: Tensor, output: Tensor) -> Tensor:
    if losses.ndim == 0 or losses.shape[0] != output.shape[0]:
        raise InputError(
            "A loss must return one value a row, (rows,) or (rows, n_outputs), so that rows can be "
            f"weighted (reduction='none'); got shape {tuple(losses.shape)} for "
            f"{output.shape[0]} rows."
        )
    return losses if losses.ndim == 1 else losses.flatten(1).mean(1)
