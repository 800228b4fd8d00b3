"""From what a user names to what reads it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from featuremask.sources._arrow import ArrowSource
from featuremask.sources._npy import NpySource
from featuremask.sources._parquet import ParquetSource
from featuremask.sources._stored import Stored

__all__ = ["open_source"]


def open_source(data: Any, columns: Sequence[str] | None = None) -> Stored | None:
    """Return what reads a path, a source or a stream of Arrow; None for anything else.

    Parameters
    ----------
    data
        What the user named. A source is taken as it is.
    columns : sequence of str, optional
        The features, where columns have names; all if None.

    Examples
    --------
    >>> open_source([[1.0, 2.0]]) is None
    True
    """
    if isinstance(data, Stored):
        return data
    if isinstance(data, str | os.PathLike):
        if Path(data).suffix == ".npy":
            return NpySource(data)
        return ParquetSource(data, columns=columns)
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowSource(data, columns=columns)
    return None
