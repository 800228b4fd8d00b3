"""Which rows a hint looks at: a fixed, random choice, so that the hint repeats."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["rows_of_each_class", "some_rows"]


def some_rows(n_rows: int, at_most: int) -> NDArray[np.intp]:
    """Choose rows at random, in random order.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    at_most : int
        How many are chosen at most.

    Returns
    -------
    ndarray of int
        The same choice for the same numbers.

    Examples
    --------
    >>> sorted(some_rows(3, at_most=10).tolist()), len(some_rows(100, at_most=10))
    ([0, 1, 2], 10)
    """
    return np.random.default_rng(0).permutation(n_rows)[:at_most]


def rows_of_each_class(
    classes: NDArray[np.intp], at_most: int, at_least: int
) -> list[NDArray[np.intp]]:
    """Choose rows of each class at random, in random order.

    Parameters
    ----------
    classes : ndarray of int of shape (n_rows,)
        The class of each row, from 0.
    at_most : int
        How many rows are chosen of a class at most.
    at_least : int
        Classes of fewer rows are passed over.

    Returns
    -------
    list of ndarray of int
        The rows of each class that has enough.

    Examples
    --------
    >>> chosen = rows_of_each_class(np.array([0, 0, 1, 0]), at_most=5, at_least=2)
    >>> [sorted(rows.tolist()) for rows in chosen]
    [[0, 1, 3]]
    """
    order = np.random.default_rng(0).permutation(len(classes))
    by_class = order[np.argsort(classes[order], kind="stable")]
    parts = np.split(by_class, np.cumsum(np.bincount(classes))[:-1])
    return [part[:at_most] for part in parts if len(part) >= at_least]
