"""One training of a fit that may take several."""

from dataclasses import dataclass, replace

from featuremask.selectors._specs import Seeds
from featuremask.training import Checkpoint, TrainingOptions

__all__ = ["Attempt"]


@dataclass(frozen=True)
class Attempt:
    """Which training of a fit this is. Each starts from other weights and takes twice as long.

    Attributes
    ----------
    number : int
        0 for the first, which is as usual.
    max_seconds : float or None
        What is left of the wall time of the fit; None if it has no bound.
    """

    number: int = 0
    max_seconds: float | None = None

    def seeds(self, seeds: Seeds) -> Seeds:
        """Return seeds of its own."""
        return Seeds(
            seeds.gate + self.number, seeds.network + self.number, seeds.training + self.number
        )

    def options(self, options: TrainingOptions) -> TrainingOptions:
        """Return the training options, prolonged."""
        if self.number == 0:
            return options
        factor = 2**self.number
        return replace(
            options,
            epochs=None if options.epochs is None else factor * options.epochs,
            steps=None if options.steps is None else factor * options.steps,
            max_seconds=self.max_seconds,
        )

    def checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """Return a checkpoint in a folder of its own."""
        if self.number == 0:
            return checkpoint
        return Checkpoint(
            checkpoint.folder / f"attempt-{self.number + 1}",
            checkpoint.every_epochs,
            checkpoint.every_seconds,
            checkpoint.identity,
        )
