"""Which columns are meant: groups and columns to keep, by name or position."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError

__all__ = ["column_groups", "column_positions"]


def column_positions(
    columns: Iterable[Any], names: Sequence[Any] | None, n_columns: int, what: str
) -> list[int]:
    """Return the positions of columns that are given by name or position.

    Examples
    --------
    >>> column_positions(["b", 0], ["a", "b"], 2, "must_keep")
    [1, 0]
    """
    known = {} if names is None else {name: i for i, name in enumerate(names)}
    positions: list[int] = []
    for column in columns:
        if isinstance(column, str) or column in known:
            if column not in known:
                hint = "the data has no column names" if names is None else "see its columns"
                raise InputError(f"{what} names the unknown column {column!r}; {hint}.")
            positions.append(known[column])
        else:
            positions.append(_position(column, n_columns, what))
    twice = sorted({p for p in positions if positions.count(p) > 1})
    if twice:
        raise InputError(f"{what} names a column twice: position {twice[0]}.")
    return positions


def _position(column: Any, n_columns: int, what: str) -> int:
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise InputError(f"{what} holds column names or positions; got {column!r}.")
    if not 0 <= column < n_columns:
        raise InputError(
            f"{what} holds positions of columns, 0 to {n_columns - 1}; got {column!r}."
        )
    return int(column)


def column_groups(
    groups: Mapping[Hashable, Iterable[Any]] | Sequence[Hashable] | None,
    names: Sequence[Any] | None,
    n_columns: int,
) -> NDArray[np.int64]:
    """Return the number of the group of each column, numbered by first appearance.

    Parameters
    ----------
    groups : mapping, sequence of length n_columns, or None
        From a label to the columns of the group, or a label for each column. A column in no group
        (or of label None) is a group of its own.
    names : sequence or None
        Column names.
    n_columns : int

    Examples
    --------
    >>> column_groups({"color": ["red", "green"]}, ["size", "red", "green"], 3)
    array([0, 1, 1])
    """
    labels: list[Any] = [None] * n_columns
    if isinstance(groups, Mapping):
        for label, columns in groups.items():
            for position in column_positions(columns, names, n_columns, "feature_groups"):
                if labels[position] is not None:
                    raise InputError(
                        f"A column belongs to one group; position {position} is in "
                        f"{labels[position][0]!r} and {label!r}."
                    )
                labels[position] = (label,)
    elif groups is not None:
        given = list(groups)
        if len(given) != n_columns:
            raise InputError(
                f"feature_groups must have one label for each of the {n_columns} columns, or map "
                f"labels to columns; got {len(given)} labels."
            )
        labels = [None if label is None else (label,) for label in given]
    number: dict[Any, int] = {}
    own = (object() for _ in labels)
    return np.array(
        [number.setdefault(next(own) if label is None else label, len(number)) for label in labels],
        dtype=np.int64,
    )
