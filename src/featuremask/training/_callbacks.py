"""What can be done at the end of each epoch."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from featuremask._progress import seconds_left
from featuremask.exceptions import InputError
from featuremask.gates import Importance
from featuremask.networks import GatedNetwork

__all__ = ["Callback", "EarlyStopping", "ImportanceRecorder", "ProgressBar", "TrainingState"]


@dataclass
class TrainingState:
    """Where training stands; what callbacks see.

    Attributes
    ----------
    model : GatedNetwork
    optimizer : torch.optim.Optimizer
    generator : torch.Generator
        Source of all noise.
    callbacks : sequence of Callback
    total_steps : int
        Updates after which training ends.
    read_out : callable
        Returns the importance over all training rows as the gate stands.
    epoch, step : int
        Finished epochs and updates.
    history : list of dict
        One plain record an epoch.
    stopped : bool
        Whether training has ended.
    """

    model: GatedNetwork
    optimizer: torch.optim.Optimizer
    generator: torch.Generator
    callbacks: "Sequence[Callback]"
    total_steps: int
    read_out: Callable[[], Importance]
    epoch: int = 0
    step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    stopped: bool = False


class Callback:
    """Base of callbacks: override what you need.

    What a callback must remember over a restart it gives out as `tensors` and `values`.
    """

    def on_fit_begin(self, state: TrainingState) -> None:
        """Prepare, before the first epoch."""

    def on_epoch_end(self, state: TrainingState) -> bool | None:
        """Look at an epoch that has ended; return True to end training."""
        return None

    def on_fit_end(self, state: TrainingState) -> None:
        """Finish, after the last epoch."""

    def on_fit_failed(self, state: TrainingState) -> None:
        """Let go of what is held, after an error or an interruption."""

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors to keep in a checkpoint."""
        return {}

    def values(self) -> dict[str, Any]:
        """Return the plain values to keep in a checkpoint."""
        return {}

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Take back what was kept."""


class EarlyStopping(Callback):
    """End training when the validation loss no longer falls, and go back to the best epoch.

    Parameters
    ----------
    patience : int, default=10
        Epochs without improvement after which to stop.
    tolerance : float, default=0.0
        Smallest fall that counts, as a share of the best loss.
    restore_best : bool, default=True
        Whether to go back to the weights of the best epoch.
    """

    def __init__(
        self, patience: int = 10, tolerance: float = 0.0, restore_best: bool = True
    ) -> None:
        if patience < 1:
            raise InputError(f"patience must be at least 1 epoch; got {patience!r}.")
        self.patience = patience
        self.tolerance = tolerance
        self.restore_best = restore_best
        self._forget()

    def _forget(self) -> None:
        self._best = float("inf")
        self._waited = 0
        self._state: dict[str, Tensor] = {}

    def on_fit_begin(self, state: TrainingState) -> None:
        """Forget what was seen in an earlier fit."""
        self._forget()

    def on_epoch_end(self, state: TrainingState) -> bool:
        """Compare the validation loss with the best one."""
        loss = state.history[-1].get("validation_loss")
        if loss is None:
            raise InputError(
                "EarlyStopping needs a validation part; set early_stopping=True on the selector, "
                "or pass validation= to fit_network."
            )
        if loss < self._best - self.tolerance * abs(self._best) or self._best == float("inf"):
            self._best, self._waited = loss, 0
            if self.restore_best:
                self._state = {k: v.clone() for k, v in state.model.state_dict().items()}
        else:
            self._waited += 1
        return self._waited >= self.patience

    def on_fit_end(self, state: TrainingState) -> None:
        """Go back to the best weights."""
        if self._state:
            state.model.load_state_dict(self._state)

    def tensors(self) -> dict[str, Tensor]:
        """Return the best weights."""
        return self._state

    def values(self) -> dict[str, Any]:
        """Return the best loss and the epochs waited."""
        return {"best": self._best, "waited": self._waited}

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Take back what was kept."""
        self._state, self._best, self._waited = tensors, values["best"], values["waited"]


class ImportanceRecorder(Callback):
    """Keep the importance over all training rows after each n-th epoch.

    Parameters
    ----------
    every : int, default=1

    Attributes
    ----------
    epochs : list of int
    scores : list of Tensor
    shares : list of Tensor
        The same importance as a non-negative amount.
    """

    def __init__(self, every: int = 1) -> None:
        if every < 1:
            raise InputError(f"every must be at least 1 epoch; got {every!r}.")
        self.every = every
        self.epochs: list[int] = []
        self.scores: list[Tensor] = []
        self.shares: list[Tensor] = []

    def on_fit_begin(self, state: TrainingState) -> None:
        """Forget what was seen in an earlier fit."""
        self.epochs, self.scores, self.shares = [], [], []

    def on_epoch_end(self, state: TrainingState) -> None:
        """Read the gate out."""
        if state.epoch % self.every == 0:
            self.epochs.append(state.epoch)
            found = state.read_out()
            shares = found.scores.clamp(min=0.0) if found.shares is None else found.shares
            self.scores.append(found.scores.clone())
            self.shares.append(shares.clone())

    def tensors(self) -> dict[str, Tensor]:
        """Return scores and shares so far."""
        pairs = zip(self.scores, self.shares, strict=True)
        return {
            str(epoch): torch.stack(pair) for epoch, pair in zip(self.epochs, pairs, strict=True)
        }

    def restore(self, tensors: dict[str, Tensor], values: dict[str, Any]) -> None:
        """Take back what was kept."""
        self.epochs = sorted(int(epoch) for epoch in tensors)
        kept = [tensors[str(epoch)] for epoch in self.epochs]
        self.scores, self.shares = [pair[0] for pair in kept], [pair[1] for pair in kept]


class ProgressBar(Callback):
    """Show how far training is: a bar on a terminal, some plain lines elsewhere.

    Parameters
    ----------
    lines : int, default=10
        Number of lines where there is no terminal.
    """

    def __init__(self, lines: int = 10) -> None:
        self.lines = lines
        self._bar: Any = None
        self._task: Any = None
        self._shown = 0
        self._start = 0.0

    def on_fit_begin(self, state: TrainingState) -> None:
        """Open the bar."""
        self._start, self._shown = time.monotonic(), 0
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("fit", total=state.total_steps)

    def on_epoch_end(self, state: TrainingState) -> None:
        """Move the bar, or print a line now and then."""
        loss = state.history[-1]["loss"]
        if self._bar is not None:
            self._bar.update(self._task, completed=state.step, description=f"loss {loss:.4f}")
            return
        due = int(self.lines * state.step / state.total_steps)
        if due > self._shown:
            self._shown = due
            seconds = time.monotonic() - self._start
            share = state.step / state.total_steps
            sys.stderr.write(
                f"epoch {state.epoch}: loss {loss:.4f}, {100 * share:.0f} % after {seconds:.1f} s, "
                f"{seconds_left(seconds, share):.0f} s left\n"
            )

    def on_fit_end(self, state: TrainingState) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def on_fit_failed(self, state: TrainingState) -> None:
        """Close the bar, so that the terminal gets its cursor back."""
        self.on_fit_end(state)
