"""The error of a dataset that cannot be had."""

from featuremask.exceptions import FeatureMaskError

__all__ = ["DatasetError"]


class DatasetError(FeatureMaskError, OSError):
    """A dataset's file is not here and could not be fetched.

    The message names the file, the places that were searched, and where to put it by hand.
    """
