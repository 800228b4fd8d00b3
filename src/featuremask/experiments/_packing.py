"""Arrays in a line of text: a few kilobytes for the ranking and scores of a fit."""

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError

__all__ = ["pack_integers", "pack_scores", "unpack_integers", "unpack_scores"]

_STEPS = 65_535


def pack_integers(values: NDArray[Any], dtype: str = "<u2") -> str:
    """Return non-negative integers as text.

    Examples
    --------
    >>> unpack_integers(pack_integers(np.array([3, 0, 700]))).tolist()
    [3, 0, 700]
    """
    packed = np.asarray(values).astype(dtype)
    if not np.array_equal(packed, values):
        raise ValueError(f"values do not fit into {dtype}")
    return base64.b64encode(zlib.compress(packed.tobytes(), 9)).decode()


def unpack_integers(text: str, dtype: str = "<u2") -> NDArray[np.int64]:
    """Return the integers of a text of `pack_integers`."""
    try:
        data = zlib.decompress(base64.b64decode(text, validate=True))
        return np.frombuffer(data, dtype).astype(np.int64)
    except (ValueError, zlib.error) as error:
        raise FileFormatError(f"A record holds an array that cannot be read: {error}.") from error


def pack_scores(scores: NDArray[np.float64]) -> dict[str, Any]:
    """Return real numbers as text, to 1/65,535 of their range.

    Examples
    --------
    >>> packed = pack_scores(np.array([0.0, 0.5, 2.0]))
    >>> unpack_scores(packed).round(3).tolist()
    [0.0, 0.5, 2.0]
    """
    low, high = float(np.min(scores)), float(np.max(scores))
    width = high - low
    steps = np.zeros(len(scores)) if width == 0.0 else (scores - low) / width * _STEPS
    return {"low": low, "high": high, "data": pack_integers(np.rint(steps))}


def unpack_scores(packed: dict[str, Any]) -> NDArray[np.float64]:
    """Return the numbers of `pack_scores`."""
    steps = unpack_integers(packed["data"])
    return np.asarray(packed["low"] + (packed["high"] - packed["low"]) * steps / _STEPS)
