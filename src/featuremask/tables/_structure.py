"""Columns that repeat each other, and columns that count the rows."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.tables._blocks import row_blocks
from featuremask.tables._hints import CodeTable, Hint
from featuremask.tables._wording import listed

__all__ = ["duplicate_hints", "row_number_hints"]

_MIN_ROWS = 20
"""In fewer rows, numbers may well rise by chance."""


def duplicate_hints(
    codes: ArrayLike, names: Sequence[str], groups: ArrayLike | None = None
) -> tuple[Hint, ...]:
    """Find columns that hold the same values in every row.

    The columns are compared exactly, by a hash of their values. Columns of several codes are the
    same if their codes are, in any order: a category whose levels were renamed is found too.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_codes)
        Numbers; read block by block.
    names : sequence of str
        The names of the columns.
    groups : array-like of int of shape (n_codes,) or None, default=None
        For each code, the position of its column in `names`; None for one code a column.

    Returns
    -------
    tuple of Hint
        One for each set of equal columns.

    Examples
    --------
    >>> duplicate_hints([[1, 2, 1], [3, 3, 3]], ["a", "b", "c"])[0].columns
    ('a', 'c')
    """
    table = CodeTable.of(codes, names, groups)
    digests = _digests(table.codes)
    alike: dict[tuple[bytes, ...], list[str]] = {}
    for name, places in table.members():
        alike.setdefault(tuple(sorted(digests[i] for i in places)), []).append(name)
    return tuple(
        Hint(
            "duplicates",
            tuple(same),
            f"the columns {listed([repr(name) for name in same])} hold the same values in every "
            "row: one of them is enough, and which of them is selected means nothing.",
        )
        for same in alike.values()
        if len(same) > 1
    )


def _digests(codes: NDArray[np.number]) -> list[bytes]:
    hashes = [hashlib.blake2b(digest_size=16) for _ in range(codes.shape[1])]
    for block in row_blocks(codes):
        columns = block.T.copy(order="C")
        if columns.dtype.kind == "f":
            columns += 0  # -0 becomes 0
            columns[np.isnan(columns)] = np.nan  # one NaN for all
        for state, column in zip(hashes, columns, strict=True):
            state.update(column.tobytes())
    return [state.digest() for state in hashes]


def row_number_hints(
    codes: ArrayLike, names: Sequence[str], groups: ArrayLike | None = None
) -> tuple[Hint, ...]:
    """Find columns that count the rows, or only rise or fall from row to row.

    A column counts the rows if each row adds one. It rises if no row is below the one before and
    at least half of them are above it. Tables of fewer than 20 rows give no hint.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_codes)
        Numbers; read block by block.
    names : sequence of str
        The names of the columns.
    groups : array-like of int of shape (n_codes,) or None, default=None
        For each code, the position of its column in `names`; None for one code a column.

    Returns
    -------
    tuple of Hint
        One for each such column.

    Examples
    --------
    >>> rows = np.arange(30)
    >>> [h.columns for h in row_number_hints(np.c_[rows, rows % 7], ["line", "weekday"])]
    [('line',)]
    """
    table = CodeTable.of(codes, names, groups)
    steps = len(table.codes) - 1
    if steps + 1 < _MIN_ROWS:
        return ()
    rises, falls, ones = _count_steps(table.codes)
    monotone = ((rises * 2 >= steps) & (falls == 0)) | ((falls * 2 >= steps) & (rises == 0))
    hints = []
    for name, places in table.members():
        if np.any(ones[places] == steps):
            hints.append(_row_number(name, "is the number of the row"))
        elif np.any(monotone[places]):
            hints.append(_row_number(name, "only rises or only falls from row to row"))
    return tuple(hints)


def _count_steps(codes: NDArray[np.number]) -> tuple[NDArray[np.int64], ...]:
    """Count for each code the steps up, those not upward or flat, and those of exactly one."""
    rises, falls, ones = np.zeros((3, codes.shape[1]), dtype=np.int64)
    last = np.asarray(codes[:1], dtype=np.float64)
    for block in row_blocks(codes[1:]):
        rows = np.concatenate([last, block])
        rises += np.count_nonzero(rows[1:] > rows[:-1], axis=0)
        falls += np.count_nonzero(rows[1:] < rows[:-1], axis=0)
        ones += np.count_nonzero(rows[1:] == rows[:-1] + 1, axis=0)
        last = rows[-1:]
        unordered = np.isnan(rows).any(axis=0)
        rises[unordered], falls[unordered] = 1, 1  # a gap: neither rising nor falling
    return rises, falls, ones


def _row_number(name: str, what: str) -> Hint:
    return Hint(
        "row_number",
        (name,),
        f"the column {name!r} {what}: it tells where a row stands in the table, not what it is. "
        "Leave it out unless the order has a meaning; if the order is that of time, test on "
        "later rows than those trained on.",
    )
