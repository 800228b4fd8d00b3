"""The idx format of MNIST: a magic number, big-endian sizes, then bytes.

====== ===== =====================================================
offset bytes meaning
====== ===== =====================================================
0      2     zero
2      1     type of the values; 0x08 is an unsigned byte
3      1     number of dimensions d
4      4 d   the dimensions, unsigned 32-bit big-endian
4+4d   ...   the values, last dimension fastest
====== ===== =====================================================
"""

import math
import struct

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError

__all__ = ["parse_idx"]

_UNSIGNED_BYTE = 0x08


def parse_idx(content: bytes, *, ndim: int, where: str = "the idx file") -> NDArray[np.uint8]:
    """Parse an idx file of unsigned bytes.

    Parameters
    ----------
    content : bytes
        The whole file, inflated.
    ndim : int
        The number of dimensions it must have.
    where : str, default="the idx file"
        The name to use in error messages.

    Returns
    -------
    array of uint8
        The values; the caller's own copy.

    Examples
    --------
    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 8, 9]), ndim=1)
    array([7, 8, 9], dtype=uint8)
    """
    header = 4 + 4 * ndim
    if len(content) < header:
        raise FileFormatError(
            f"{where} is cut off: its header needs {header} bytes, there are {len(content)}; "
            f"get it again"
        )
    expected = bytes([0, 0, _UNSIGNED_BYTE, ndim])
    if content[:4] != expected:
        raise FileFormatError(
            f"{where} is not an idx file of unsigned bytes with {ndim} dimensions: it starts with "
            f"{content[:4].hex()}, expected {expected.hex()}; get it again"
        )
    shape = struct.unpack(f">{ndim}I", content[4:header])
    promised, found = math.prod(shape), len(content) - header
    if promised != found:
        raise FileFormatError(
            f"{where} promises {' x '.join(map(str, shape))} = {promised} values and holds "
            f"{found}; it is cut off or damaged, get it again"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape).copy()
