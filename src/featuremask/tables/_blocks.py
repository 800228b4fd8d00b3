"""An array in blocks of rows of bounded size."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BLOCK_BYTES", "row_blocks"]

BLOCK_BYTES = 2**24
"""A block holds about this many bytes, and at least one row."""


def row_blocks(array: NDArray[Any], block_bytes: int = BLOCK_BYTES) -> Iterator[NDArray[Any]]:
    """Yield views of consecutive rows.

    Parameters
    ----------
    array : ndarray of shape (n_rows, n_columns)
        The array, which may be a memory map.
    block_bytes : int, default=BLOCK_BYTES
        The size of a block.

    Yields
    ------
    ndarray
        Some rows.

    Examples
    --------
    >>> [len(block) for block in row_blocks(np.zeros((5, 2)), block_bytes=32)]
    [2, 2, 1]
    """
    row_bytes = max(1, array.shape[1] * array.itemsize)
    step = max(1, block_bytes // row_bytes)
    for start in range(0, len(array), step):
        yield np.asarray(array[start : start + step])
