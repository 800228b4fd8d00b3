"""The MAT 5 format of MATLAB, versions 5 to 7: tagged elements, some of them deflated.

Only what numeric and sparse arrays need. Every length is compared with what is there before it is
used; a file that does not add up raises ValueError, and no forged size allocates memory.
(The parser of SciPy is not used: a damaged file can make it read outside its tables.)

A file is a header of 128 bytes and then elements: a type and a length of 4 bytes each, the data,
and padding to 8 bytes, except after deflated data. A short element keeps type and length in 2 bytes
each and up to 4 bytes of data. A variable is an element of type 14 that holds elements: flags,
dimensions, name, values.
"""

import math
import struct
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEADER_BYTES", "Variable", "variables"]

HEADER_BYTES = 128
_MATRIX, _COMPRESSED = 14, 15
_STORED = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
_INT32, _UINT32 = 5, 6
_KINDS = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse"} | dict.fromkeys(
    range(6, 16), "numeric"
)
_COMPLEX_FLAG = 0x08


@dataclass(frozen=True)
class Variable:
    """A variable whose flags, dimensions and name are read, and whose values are not.

    Parameters
    ----------
    name : str
        Its name.
    kind : str
        "numeric", "sparse", "cell", "struct", "object", "char" or "unknown".
    is_complex : bool
        Whether it has an imaginary part.
    shape : tuple of int
        Its dimensions as the file says; to be believed only after `dense` or `sparse_parts`.
    rest : _Elements
        The elements that hold the values.
    """

    name: str
    kind: str
    is_complex: bool
    shape: tuple[int, ...]
    rest: "_Elements"

    def dense(self) -> NDArray[Any]:
        """Read the values of a numeric array, as they are stored.

        Returns
        -------
        array
            In column-major order, as in the file.
        """
        values = self.rest.numbers()
        if math.prod(self.shape) != values.size:
            raise ValueError(f"{self.name!r} says it is {self.shape} and has {values.size} values")
        return values.reshape(self.shape, order="F")

    def sparse_parts(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Read the three arrays of a sparse matrix; whether they fit together is not checked.

        Returns
        -------
        values, rows, starts : array
            Values, their rows, and where each column starts, of equal meaning as in SciPy's CSC.
        """
        rows, starts = self.rest.numbers((_INT32,)), self.rest.numbers((_INT32,))
        if starts.size == 0 or not 0 <= starts[-1] <= rows.size:
            raise ValueError(f"{self.name!r} has column starts that do not fit its rows")
        count = int(starts[-1])
        return self.rest.numbers()[:count], rows[:count], starts


def variables(content: bytes, max_bytes: int) -> Iterator[Variable]:
    """Go through the variables of a file.

    Parameters
    ----------
    content : bytes
        The whole file.
    max_bytes : int
        Limit on all variables together, inflated.

    Yields
    ------
    Variable
        The next one.
    """
    order = "<" if content[HEADER_BYTES - 2 : HEADER_BYTES] == b"IM" else ">"
    elements = _Elements(memoryview(content)[HEADER_BYTES:], order)
    while elements:
        kind, data = elements.next()
        if kind == _COMPRESSED:
            inflated = _inflate(data, max_bytes)
            max_bytes -= len(inflated)
            kind, data = _Elements(memoryview(inflated), order).next()
        if kind == _MATRIX:
            yield _open(_Elements(data, order))


class _Elements:
    """The elements of a block, one after the other."""

    def __init__(self, data: memoryview, order: str) -> None:
        self._data = data
        self._order = order

    def __bool__(self) -> bool:
        return len(self._data) > 0

    def next(self) -> tuple[int, memoryview]:
        """Give type and data of the next element, and move on."""
        if len(self._data) < 8:
            raise ValueError(f"an element is cut off, {len(self._data)} bytes are left")
        first, length = struct.unpack(self._order + "II", self._data[:8])
        if first >> 16:
            kind, length, start, end = first & 0xFFFF, first >> 16, 4, 8
        else:
            kind, start = first, 8
            end = 8 + (length if kind == _COMPRESSED else -(-length // 8) * 8)
        if start + length > min(len(self._data), end):
            raise ValueError(f"an element of {length} bytes has {len(self._data) - start} only")
        data, self._data = self._data[start : start + length], self._data[end:]
        return kind, data

    def numbers(self, allowed: Container[int] = _STORED) -> NDArray[Any]:
        """Give the next element as a flat array of the type in which it is stored."""
        kind, data = self.next()
        if kind not in allowed:
            raise ValueError(f"an element of type {kind} stands where numbers belong")
        return np.frombuffer(data, dtype=np.dtype(self._order + _STORED[kind]))


def _open(elements: _Elements) -> Variable:
    """Read what stands before the values."""
    flags, dimensions = elements.numbers((_UINT32,)), elements.numbers((_INT32,))
    if flags.size != 2 or dimensions.size < 2 or dimensions.min() < 0:
        raise ValueError(f"a variable has {flags.size} flags and dimensions {dimensions.tolist()}")
    name = bytes(elements.next()[1]).decode("ascii", errors="replace")
    return Variable(
        name=name,
        kind=_KINDS.get(int(flags[0]) & 0xFF, "unknown"),
        is_complex=bool(int(flags[0]) >> 8 & _COMPLEX_FLAG),
        shape=tuple(dimensions.tolist()),
        rest=elements,
    )


def _inflate(deflated: memoryview, max_bytes: int) -> bytes:
    inflater = zlib.decompressobj()
    inflated = inflater.decompress(deflated, max_bytes + 1)
    if len(inflated) > max_bytes:
        raise ValueError("it holds more bytes than are accepted; raise the limit if you trust it")
    if not inflater.eof:
        raise ValueError("a deflated element is cut off")
    return inflated
