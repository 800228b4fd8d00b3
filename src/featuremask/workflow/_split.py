"""Which rows the selector sees, and which are held out to judge it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.files import Data
from featuremask.tables import Column
from featuremask.workflow._request import Request

__all__ = ["HELD_OUT", "split"]

HELD_OUT = 0.2
"""Share of the rows, or of the groups of rows, that is held out."""

_MIN_ROWS = 10
_MAX_CLASSES = 100

Rows = NDArray[np.intp]


def split(data: Data, y: NDArray[Any] | None, request: Request) -> tuple[Rows, Rows]:
    """Return the rows to train on and the rows to hold out, each in order.

    A fifth of the rows is held out: at random, with the shares of the classes kept; or whole
    groups of rows; or the latest rows.

    Parameters
    ----------
    data : Data
        All rows.
    y : ndarray or None
        Their target.
    request : Request
        What to split by, and the seed.

    Returns
    -------
    train, test : ndarray of int
        Positions of rows.

    Raises
    ------
    InputError
        If there are too few rows, groups or times.
    """
    if data.n_rows < _MIN_ROWS:
        raise InputError(
            f"at least {_MIN_ROWS} rows are needed, to hold some out; got {data.n_rows}."
        )
    if request.time is not None:
        return _by_time(data.aside[request.time], request.time)
    if request.split_by is not None:
        return _by_group(data.aside[request.split_by], request.split_by, request.seed)
    return _at_random(data.n_rows, y, request.seed)


def _at_random(n_rows: int, y: NDArray[Any] | None, seed: int) -> tuple[Rows, Rows]:
    from sklearn.model_selection import train_test_split

    labels = y if y is not None and _has_classes(y) else None
    train, test = train_test_split(
        np.arange(n_rows), test_size=HELD_OUT, random_state=seed, stratify=labels
    )
    return np.sort(train), np.sort(test)


def _has_classes(y: NDArray[Any]) -> bool:
    values, counts = np.unique(y, return_counts=True)
    few = len(values) <= min(_MAX_CLASSES, int(HELD_OUT * len(y)))
    return bool(few and counts.min() >= 2)


def _by_group(column: Column, name: str, seed: int) -> tuple[Rows, Rows]:
    if column.gaps.any():
        raise InputError(f"the column {name!r} to split by has gaps. Fill them, or drop the rows.")
    _, group = np.unique(column.values.astype(str), return_inverse=True)
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        raise InputError(f"the column {name!r} to split by has one value; at least 2 are needed.")
    order = np.random.default_rng(seed).permutation(n_groups)
    held = np.isin(group, order[: max(1, round(HELD_OUT * n_groups))])
    return np.flatnonzero(~held), np.flatnonzero(held)


def _by_time(column: Column, name: str) -> tuple[Rows, Rows]:
    if column.family not in ("number", "date", "time", "duration") or column.gaps.any():
        raise InputError(
            f"the column {name!r} must give a time for each row: dates or numbers without gaps; "
            f"got the family {column.family!r} and {int(column.gaps.sum())} gaps."
        )
    first_held = np.sort(column.values)[int((1 - HELD_OUT) * len(column.values))]
    held = column.values >= first_held
    if held.all():
        raise InputError(
            f"the column {name!r} must have earlier and later rows; one time makes up too much."
        )
    return np.flatnonzero(~held), np.flatnonzero(held)
