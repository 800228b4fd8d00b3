"""Columns that are distributed otherwise in a second table."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError
from featuremask.tables._hints import CodeTable, Hint
from featuremask.tables._sampling import some_rows

__all__ = ["shift_hints"]

ALPHA = 0.001
"""The chance of any hint at all for two tables of one distribution."""

MIN_DISTANCE = 0.1
"""A smaller distance is no hint, however many rows prove it."""

_ROWS = 5_000
_CODES_AT_ONCE = 64


def shift_hints(
    codes: ArrayLike,
    other: ArrayLike,
    names: Sequence[str],
    groups: ArrayLike | None = None,
) -> tuple[Hint, ...]:
    """Find columns whose values are distributed otherwise in a second table.

    The measure is the distance of Kolmogorov and Smirnov: the largest difference between the
    shares of rows up to a value. It is a hint from 0.1 on, if it is also beyond what chance
    explains: with probability 0.999 two tables of one distribution give no hint at all, however
    many columns they have (Bonferroni). Gaps count as values above all others. At most 5,000 rows
    of each table are looked at.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_codes)
        The numbers of the first table.
    other : array-like of shape (n_other_rows, n_codes)
        The numbers of the second one, encoded in the same way.
    names : sequence of str
        The names of the columns.
    groups : array-like of int of shape (n_codes,) or None, default=None
        For each code, the position of its column in `names`; None for one code a column.

    Returns
    -------
    tuple of Hint
        One for each column that moved.

    Raises
    ------
    InputError
        If the tables differ in width.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> old, new = rng.normal(size=(500, 2)), rng.normal(size=(400, 2)) + [0, 1]
    >>> shift_hints(old, new, ["height", "price"])[0].columns
    ('price',)
    """
    first, second = CodeTable.of(codes, names, groups), CodeTable.of(other, names, groups)
    if not len(first.codes) or not len(second.codes):
        raise InputError(
            f"both tables must have rows, got {len(first.codes)} and {len(second.codes)}. "
            "Leave out the empty one."
        )
    distances = _distances(first.codes, second.codes)
    limit = max(MIN_DISTANCE, _chance(len(first.codes), len(second.codes), len(distances)))
    return tuple(
        Hint(
            "shift",
            (name,),
            f"the column {name!r} is distributed otherwise in the second table (distance "
            f"{distance:.2f} of at most 1). What is learned from it may not hold there.",
        )
        for name, distance in first.best(distances)
        if distance > limit
    )


def _chance(n_rows: int, n_other: int, n_codes: int) -> float:
    """Return the distance that chance passes for any code with probability ALPHA at most."""
    n, m = min(n_rows, _ROWS), min(n_other, _ROWS)
    return float(np.sqrt(np.log(2 * n_codes / ALPHA) / 2 * (n + m) / (n * m)))


def _distances(one: NDArray[np.number], two: NDArray[np.number]) -> NDArray[np.float64]:
    rows, others = some_rows(len(one), _ROWS), some_rows(len(two), _ROWS)
    distances = np.zeros(one.shape[1])
    for start in range(0, one.shape[1], _CODES_AT_ONCE):
        part = slice(start, start + _CODES_AT_ONCE)
        distances[part] = [
            _distance(a, b) for a, b in zip(one[rows, part].T, two[others, part].T, strict=True)
        ]
    return distances


def _distance(one: NDArray[np.number], two: NDArray[np.number]) -> float:
    a, b = np.sort(one), np.sort(two)  # gaps come last
    both = np.concatenate([a, b])
    shares = [np.searchsorted(x, both, side="right") / len(x) for x in (a, b)]
    return float(np.max(np.abs(shares[0] - shares[1])))
