"""What was read from files, and which columns are written to others."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError, InputError
from featuremask.tables import Column, Table

__all__ = ["Data", "Picks", "column_of_array", "matching", "numbered", "picked_places"]

_MAX_NAMES = 20


@dataclass(frozen=True, eq=False)
class Data:
    """Rows to select from, and columns of the same rows that are put aside.

    Parameters
    ----------
    X : Table, ndarray or csr_array
        The rows.
    names : tuple of str
        The names of its columns; "x0", "x1", ... for a matrix without names.
    aside : mapping of str to Column
        Columns that are no features: the target, and what rows are split by.
    """

    X: Any
    names: tuple[str, ...]
    aside: Mapping[str, Column]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    def take(self, rows: NDArray[Any]) -> "Data":
        """Return some rows.

        Parameters
        ----------
        rows : ndarray of int
            Positions of rows.

        Returns
        -------
        Data
            These rows, what is put aside included.
        """
        X = self.X.take(rows) if isinstance(self.X, Table) else self.X[rows]
        aside = Table(tuple(self.aside), tuple(self.aside.values()), self.n_rows).take(rows)
        return Data(X, self.names, dict(zip(aside.names, aside.series, strict=True)))

    def without(self, names: Collection[str]) -> "Data":
        """Return the same rows with fewer columns.

        Parameters
        ----------
        names : collection of str
            The columns to leave out.

        Returns
        -------
        Data
            With the others, in order.
        """
        if not names:
            return self
        keep = [place for place, name in enumerate(self.names) if name not in names]
        left = tuple(self.names[place] for place in keep)
        X = self.X.select(left) if isinstance(self.X, Table) else self.X[:, keep]
        return replace(self, X=X, names=left)


@dataclass(frozen=True)
class Picks:
    """Which columns are written.

    Parameters
    ----------
    places : tuple of int
        Positions among the columns that the selector was fitted to.
    n_columns : int
        How many these were.
    names : tuple of str or None, default=None
        Names of the chosen columns; None if there were none, and positions count.
    also : tuple of str, default=()
        Columns, or arrays of an archive, that are written too.
    """

    places: tuple[int, ...]
    n_columns: int
    names: tuple[str, ...] | None = None
    also: tuple[str, ...] = ()


def picked_places(picks: Picks, header: Sequence[str], where: object) -> list[int]:
    """Return the positions in a file of the columns to write, in the order of the file.

    Parameters
    ----------
    picks : Picks
        What to write.
    header : sequence of str
        The columns of the file.
    where : object
        The file, for messages.

    Returns
    -------
    list of int
        Positions in `header`.

    Raises
    ------
    InputError
        If the file lacks some of the columns.

    Examples
    --------
    >>> picked_places(Picks((0, 2), 3, ("a", "c"), also=("y",)), ["y", "c", "b", "a"], "x.csv")
    [0, 1, 3]
    """
    names = picks.names
    if names is None:
        rest = [name for name in header if name not in picks.also]
        if len(rest) != picks.n_columns:
            raise InputError(
                f"{where} must have the {picks.n_columns} columns that the selector was fitted to, "
                f"got {len(rest)}. The selector knows no names, so columns go by position."
            )
        names = tuple(rest[place] for place in picks.places)
    wanted = [*names, *picks.also]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(f"{where} has no column {missing[0]!r}; {_known(header)}.")
    return sorted({list(header).index(name) for name in wanted})


def _known(header: Sequence[str]) -> str:
    more = " and more" if len(header) > _MAX_NAMES else ""
    return f"it has {list(header[:_MAX_NAMES])}{more}"


def matching(patterns: Iterable[str], names: Sequence[str], what: str) -> list[str]:
    """Return the names that are meant by names or patterns, in the order of `names`.

    Parameters
    ----------
    patterns : iterable of str
        Names; or patterns with ``*``, ``?`` and ``[...]`` where no column is called so.
    names : sequence of str
        The columns there are.
    what : str
        Where the patterns come from, for messages.

    Returns
    -------
    list of str
        Each name once.

    Raises
    ------
    InputError
        If a pattern fits no name.

    Examples
    --------
    >>> matching(["id", "raw_*"], ["id", "age", "raw_a", "raw_b"], "--drop")
    ['id', 'raw_a', 'raw_b']
    """
    found: set[str] = set()
    for pattern in patterns:
        fits = [n for n in names if n == pattern] or [n for n in names if fnmatchcase(n, pattern)]
        if not fits:
            raise InputError(f"{what} names the unknown column {pattern!r}; {_known(names)}.")
        found.update(fits)
    return [name for name in names if name in found]


def numbered(n_columns: int) -> tuple[str, ...]:
    """Return names for the columns of a matrix that has none.

    Parameters
    ----------
    n_columns : int
        How many.

    Returns
    -------
    tuple of str
        "x0", "x1" and so on.
    """
    return tuple(f"x{place}" for place in np.arange(n_columns).tolist())


def column_of_array(path: Path, name: str, values: NDArray[Any]) -> Column:
    """Return an array of one value a row as a column.

    Parameters
    ----------
    path : Path
        The file, for messages.
    name : str
        What the array is called there.
    values : ndarray of shape (n_rows,)
        Numbers or text.

    Returns
    -------
    Column
        Of the family "number", "boolean" or "category".

    Raises
    ------
    FileFormatError
        If it holds anything else.
    """
    if values.dtype.kind in "USO":
        labels = np.array(values.astype(str).tolist(), dtype=object)
        return Column("category", labels, np.zeros(len(labels), dtype=np.bool_))
    if values.dtype.kind not in "fiub":
        raise FileFormatError(
            f"{path}: the array {name!r} must hold numbers or text; got the type {values.dtype}."
        )
    gaps = np.isnan(values.astype(np.float64))
    return Column("boolean" if values.dtype.kind == "b" else "number", values, gaps)
