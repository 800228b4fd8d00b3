"""The errors and warnings of featuremask.

Every message says which rule was broken, the value that was received, and what to do.
"""

__all__ = [
    "CheckpointError",
    "FeatureMaskError",
    "FeatureMaskWarning",
    "FileFormatError",
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
    """Training was asked to stop from another thread."""


class CheckpointError(FeatureMaskError, RuntimeError):
    """A checkpoint is damaged or belongs to another fit."""


class FileFormatError(FeatureMaskError, ValueError):
    """A file is damaged, foreign, or of a version that cannot be read."""


class FeatureMaskWarning(UserWarning):
    """Base of all warnings that featuremask gives."""
