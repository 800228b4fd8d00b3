"""The errors and warnings of featuremask.

Every message says which rule was broken, the value that was received, and what to do.
"""

from typing import Any

__all__ = [
    "CheckpointError",
    "FeatureMaskError",
    "FeatureMaskWarning",
    "FileFormatError",
    "FitInterrupted",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "OutOfMemoryError",
    "TrainingDivergedError",
    "TrainingInterruptedError",
]


class FeatureMaskError(Exception):
    """Base of all errors that featuremask raises on purpose."""


class InputError(FeatureMaskError, ValueError):
    """A value that was passed in breaks a rule."""


class InputTypeError(FeatureMaskError, TypeError):
    """A value that was passed in has a type that cannot be used."""


class MissingExtraError(FeatureMaskError, ImportError):
    """An optional dependency is needed and not installed."""


class OutOfMemoryError(FeatureMaskError, MemoryError):
    """Memory could not be had."""


class TrainingDivergedError(FeatureMaskError, ArithmeticError):
    """The loss became NaN or infinite."""


class TrainingInterruptedError(FeatureMaskError, RuntimeError):
    """Training was asked to stop from another thread.

    Attributes
    ----------
    epoch : int
        The epoch it was in, from 1.
    progress : float
        How far it was, from 0 to 1.
    importance : Importance or None
        What the gate said then; None before the first step, and where several processes train.
    """

    epoch: int = 1
    progress: float = 0.0
    importance: Any = None


class FitInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a fit; the selector is as it was before, and this holds the ranking so far.

    It is a `KeyboardInterrupt`, so that nobody has to know of it. Of more than 65,536 rows, the
    first ones alone were read to rank the columns.

    Attributes
    ----------
    epoch : int
        The epoch it was in, from 1.
    progress : float
        How far training was, from 0 to 1.
    scores, shares, ranking, group_ranking : ndarray of shape (n_columns,)
        What `scores_`, `feature_importances_`, `ranking_` and `group_ranking_` would be if training
        had ended there.
    """

    def __init__(self, epoch: int, progress: float, ranking: Any) -> None:
        super().__init__(f"It was in epoch {epoch}, with {progress:.0%} of the training done.")
        self.epoch = epoch
        self.progress = progress
        self.scores = ranking.scores
        self.shares = ranking.shares
        self.ranking = ranking.ranks
        self.group_ranking = ranking.group_ranks


class CheckpointError(FeatureMaskError, RuntimeError):
    """A checkpoint is damaged or belongs to another fit."""


class FileFormatError(FeatureMaskError, ValueError):
    """A file is damaged, foreign, or of a version that cannot be read."""


class FeatureMaskWarning(UserWarning):
    """Base of all warnings that featuremask gives."""
