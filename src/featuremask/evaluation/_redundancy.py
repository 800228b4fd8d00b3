"""How alike columns are."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError

__all__ = ["alike", "like_groups", "like_order"]


_BLOCK = 256


def alike(
    numbers: ArrayLike,
    chosen: ArrayLike,
    column_of: ArrayLike | None = None,
    n_columns: int | None = None,
    aside: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return the magnitude of correlation of some columns with all.

    Gaps count as the mean of their column. A column that holds one value is like no other. Of
    columns that are several numbers, the two numbers count that are most alike.

    Parameters
    ----------
    numbers : array-like of shape (n_rows, n_numbers)
        Rows; some thousand are enough.
    chosen : array-like of int, shape (n_chosen,)
        Positions of the columns to compare with all.
    column_of : array-like of int, shape (n_numbers,), optional
        The column that each number belongs to, where that is not its own.
    n_columns : int, optional
        How many columns there are, if the last have no number.
    aside : array-like of bool, shape (n_numbers,), optional
        Numbers that count only if all others of their column hold one value, such as marks of gaps:
        two columns with gaps in the same rows need not say the same.

    Returns
    -------
    ndarray of shape (n_chosen, n_columns)
        From 0 to 1.

    Examples
    --------
    >>> alike([[1, 2, 0], [2, 4, 1], [3, 6, 0]], [0]).round(3)
    array([[1., 1., 0.]])
    """
    rows = np.asarray(numbers, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        raise InputError(f"alike needs two or more rows of numbers; got shape {rows.shape}.")
    columns = np.arange(rows.shape[1]) if column_of is None else np.asarray(column_of)
    order = np.argsort(columns, kind="stable")
    present, starts = np.unique(columns[order], return_index=True)
    unit = _unit(rows[:, order])
    if aside is not None:
        _set_aside(unit, starts, np.asarray(aside, dtype=bool)[order])
    numbers_of = dict(
        zip(present.tolist(), np.split(np.arange(len(order)), starts[1:]), strict=True)
    )
    wanted = np.asarray(chosen).ravel().tolist()
    found = np.zeros((len(wanted), int(columns.max()) + 1 if n_columns is None else n_columns))
    with_numbers = [i for i, column in enumerate(wanted) if column in numbers_of]
    for begin in range(0, len(with_numbers), _BLOCK):
        block = with_numbers[begin : begin + _BLOCK]
        parts = [numbers_of[wanted[i]] for i in block]
        products = np.abs(unit[:, np.concatenate(parts)].T @ unit)
        ends = np.cumsum([0, *(len(part) for part in parts[:-1])])
        best = np.maximum.reduceat(np.maximum.reduceat(products, ends, axis=0), starts, axis=1)
        found[np.ix_(np.asarray(block), present)] = best
    return np.minimum(found, 1.0)


def _set_aside(unit: NDArray[Any], starts: NDArray[np.intp], aside: NDArray[np.bool_]) -> None:
    """Make some numbers like no other, where another of their column tells something."""
    telling = np.logical_or.reduceat(unit.any(axis=0) & ~aside, starts)
    widths = np.diff([*starts.tolist(), unit.shape[1]])
    unit[:, aside & np.repeat(telling, widths)] = 0.0


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return columns of mean 0 and length 1; of length 0 where all values are the same."""
    gap = np.isnan(rows)
    count = np.maximum(len(rows) - gap.sum(axis=0), 1)
    scale = np.maximum(np.nanmax(np.abs(rows), axis=0, initial=0.0), np.finfo(float).tiny)
    filled = np.where(gap, 0.0, rows) / scale
    centered = filled - filled.sum(axis=0) / count
    centered[gap] = 0.0
    length = np.sqrt(np.square(centered).sum(axis=0))
    length[length < 1e-7] = np.inf
    return np.asarray(centered / length)


def like_groups(similarity: ArrayLike, threshold: float) -> list[list[int]]:
    """Return columns in groups in which each two are at least so alike.

    Parameters
    ----------
    similarity : array-like of shape (n, n)
        Of `alike`, from the chosen columns to the chosen columns.
    threshold : float
        Smallest similarity of two members, in (0, 1].

    Returns
    -------
    list of list of int
        Groups of two or more, in the order of their first members.

    Examples
    --------
    >>> like_groups([[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]], 0.8)
    [[0, 2]]
    """
    from scipy.cluster.hierarchy import fcluster

    if not 0.0 < threshold <= 1.0:
        raise InputError(f"threshold must be in (0, 1]; got {threshold!r}.")
    tree = _tree(similarity, "complete")
    if tree is None:
        return []
    labels = fcluster(tree, 1.0 - threshold + 1e-12, "distance")
    members: dict[int, list[int]] = {}
    for i, label in enumerate(labels.tolist()):
        members.setdefault(label, []).append(i)
    return [group for group in members.values() if len(group) > 1]


def like_order(similarity: ArrayLike) -> NDArray[np.intp]:
    """Return an order in which columns that are alike stand together.

    Parameters
    ----------
    similarity : array-like of shape (n, n)
        As in `like_groups`.

    Examples
    --------
    >>> like_order([[1.0, 0.2, 0.9], [0.2, 1.0, 0.1], [0.9, 0.1, 1.0]])
    array([1, 0, 2])
    """
    from scipy.cluster.hierarchy import leaves_list

    tree = _tree(similarity, "average")
    return np.arange(len(np.asarray(similarity))) if tree is None else leaves_list(tree).astype(int)


def _tree(similarity: ArrayLike, how: str) -> Any:
    """Return columns joined to ever larger groups; None of a single one."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    likeness = np.asarray(similarity, dtype=np.float64)
    if likeness.ndim != 2 or likeness.shape[0] != likeness.shape[1]:
        raise InputError(f"similarity must be square; got shape {likeness.shape}.")
    if len(likeness) < 2:
        return None
    distance = np.maximum(1.0 - np.minimum(likeness, likeness.T), 0.0)
    np.fill_diagonal(distance, 0.0)
    return linkage(squareform(distance, checks=False), how)
