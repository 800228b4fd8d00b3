"""Which columns hold values that no network can take: counted without copying the array."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables._blocks import BLOCK_BYTES, row_blocks
from featuremask.tables._rules import FLOAT32_MAX, FLOAT32_WHOLE
from featuremask.tables._wording import listed, plural

__all__ = ["BadValues", "count_bad_values"]

Counts = tuple[tuple[str | int, int], ...]
_SHOWN = 5


@dataclass(frozen=True)
class BadValues:
    """Columns with values that cannot be used, and how many each has.

    Parameters
    ----------
    missing : tuple of (str or int, int), default=()
        Columns with gaps (NaN, None, NaT or null): the name, or the position in an array without
        names, and the count.
    infinite : tuple of (str or int, int), default=()
        Columns with infinite values.
    too_large : tuple of (str or int, int), default=()
        Columns with finite values beyond the range of float32, if float32 is asked for.
    rounded : tuple of (str or int, int), default=()
        Columns of whole numbers beyond 2**24, which float32 may round. No error, but worth a
        warning.

    Examples
    --------
    >>> BadValues(infinite=(("age", 2), ("income", 1))).message()
    "X has 3 infinite values (inf) in 2 columns: 'age' (2), 'income' (1). No option takes them:
    clip or replace them."
    """

    missing: Counts = ()
    infinite: Counts = ()
    too_large: Counts = ()
    rounded: Counts = ()

    def message(self, *, allow_missing: bool = False) -> str:
        """Say what is wrong and what to do.

        Parameters
        ----------
        allow_missing : bool, default=False
            Whether gaps are fine.

        Returns
        -------
        str
            The message of an error; empty if nothing is wrong.
        """
        parts = []
        if self.missing and not allow_missing:
            parts.append(
                f"X has {_where(self.missing, 'missing value', '(NaN)')}. Set missing='auto' to "
                "fill them and to mark them with a code of their own, or fill them in X."
            )
        if self.infinite:
            parts.append(
                f"X has {_where(self.infinite, 'infinite value', '(inf)')}. No option takes "
                "them: clip or replace them."
            )
        if self.too_large:
            parts.append(
                f"X has {_where(self.too_large, 'value', 'beyond the range of float32')}. "
                f"The largest is {FLOAT32_MAX:.3g}: rescale them or set dtype='float64'."
            )
        return " ".join(parts)

    def rounding_message(self) -> str:
        """Say that whole numbers may be rounded.

        Returns
        -------
        str
            The message of a warning; empty if no number may be.
        """
        if not self.rounded:
            return ""
        where = _where(self.rounded, "whole number", "beyond 2**24, which float32 may round")
        return f"X has {where}. Set dtype='float64' if their last digits matter."

    def raise_if_any(self, *, allow_missing: bool = False) -> None:
        """Raise the message as an error, if there is one.

        Parameters
        ----------
        allow_missing : bool, default=False
            Whether gaps are fine.

        Raises
        ------
        InputError
            If something is wrong.
        """
        if message := self.message(allow_missing=allow_missing):
            raise InputError(message)


def _where(counts: Counts, noun: str, which: str) -> str:
    total = sum(count for _, count in counts)
    columns = listed([f"{_shown(name)} ({count})" for name, count in counts], _SHOWN)
    return f"{plural(total, noun)} {which} in {plural(len(counts), 'column')}: {columns}"


def _shown(name: str | int) -> str:
    return repr(name) if isinstance(name, str) else f"column {name}"


def count_bad_values(
    array: Any,
    names: Sequence[str] | None = None,
    *,
    dtype: Literal["float32", "float64"] = "float32",
) -> BadValues:
    """Count the values of a numeric array that cannot be used, column by column.

    The array is read block by block and never copied whole, so that it may be a memory map larger
    than memory.

    Parameters
    ----------
    array : array-like or sparse matrix of shape (n_rows, n_columns)
        The numbers. A sparse matrix is read as CSR.
    names : sequence of str or None, default=None
        The names of the columns; None calls them by their position.
    dtype : {"float32", "float64"}, default="float32"
        What the numbers will be converted to.

    Returns
    -------
    BadValues
        The columns and counts.

    Raises
    ------
    InputTypeError
        If the array does not hold real numbers.
    InputError
        If it is not two-dimensional, or the number of names differs from that of its columns.

    Examples
    --------
    >>> import numpy as np
    >>> count_bad_values(np.array([[1.0, np.inf], [np.nan, 2.0]]), ["age", "income"])
    BadValues(missing=(('age', 1),), infinite=(('income', 1),), too_large=(), rounded=())
    """
    matrix: Any = array.tocsr() if sparse.issparse(array) else np.asanyarray(array)
    _check_array(matrix, names)
    counts = np.zeros((4, matrix.shape[1]), dtype=np.int64)
    narrow = dtype == "float32"
    if sparse.issparse(matrix):
        _count_sparse(matrix, narrow, counts)
    else:
        _count_dense(matrix, narrow, counts)
    return BadValues(*(_named(row, names) for row in counts))


def _check_array(matrix: Any, names: Sequence[str] | None) -> None:
    if matrix.dtype.kind == "c":
        raise InputTypeError(
            "Complex data not supported: pass real and imaginary parts as columns of their own."
        )
    if matrix.dtype.kind not in "biuf":
        raise InputTypeError(
            f"an array of real numbers is expected, got dtype {matrix.dtype}. Convert it, for "
            "example X.astype(float), or pass a data frame with categorical='auto'."
        )
    if matrix.ndim != 2:
        raise InputError(
            f"an array of rows and columns is expected, got {matrix.shape=}. Reshape it to two "
            "dimensions."
        )
    if names is not None and len(names) != matrix.shape[1]:
        raise InputError(
            f"one name for each column is expected, got {len(names)} names for "
            f"{matrix.shape[1]} columns. Pass as many names as columns."
        )


def _named(counts: NDArray[np.int64], names: Sequence[str] | None) -> Counts:
    places = np.flatnonzero(counts).tolist()
    return tuple((i if names is None else str(names[i]), int(counts[i])) for i in places)


def _count_dense(matrix: NDArray[Any], narrow: bool, counts: NDArray[np.int64]) -> None:
    if matrix.flags.f_contiguous and not matrix.flags.c_contiguous:
        first = 0  # columns lie together: read some whole columns at a time
        for block in row_blocks(matrix.T):
            for problem, mask in _problems(block, narrow):
                counts[problem, first : first + len(block)] += np.count_nonzero(mask, axis=1)
            first += len(block)
        return
    for block in row_blocks(matrix):
        for problem, mask in _problems(block, narrow):
            counts[problem] += np.count_nonzero(mask, axis=0)


def _count_sparse(matrix: Any, narrow: bool, counts: NDArray[np.int64]) -> None:
    step = max(1, BLOCK_BYTES // matrix.data.itemsize)
    for start in range(0, len(matrix.data), step):
        columns = matrix.indices[start : start + step]
        for problem, mask in _problems(matrix.data[start : start + step], narrow):
            counts[problem] += np.bincount(columns[mask], minlength=matrix.shape[1])


def _problems(block: NDArray[Any], narrow: bool) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield the number of a problem and where it is; nothing, quickly, for a clean block."""
    if block.size == 0 or block.dtype.kind == "b":
        return
    lowest, highest = block.min(), block.max()
    if block.dtype.kind in "iu":
        if narrow and (highest > FLOAT32_WHOLE or lowest < -FLOAT32_WHOLE):
            yield 3, (block > FLOAT32_WHOLE) | (block < -FLOAT32_WHOLE)
        return
    wide = narrow and block.dtype.itemsize > 4
    limit = FLOAT32_MAX if wide else np.inf
    if np.isfinite(lowest) and np.isfinite(highest) and -limit <= lowest and highest <= limit:
        return
    yield 0, np.isnan(block)
    yield 1, np.isinf(block)
    if wide:
        yield 2, np.isfinite(block) & (np.abs(block) > limit)
