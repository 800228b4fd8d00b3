"""A table in plain memory, for files that are read without a data frame library."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError
from featuremask.tables._column import Column, read_column
from featuremask.tables._family import family_of
from featuremask.tables._frame import OpenFrame, check_usable, open_frame
from featuremask.tables._wording import listed

__all__ = ["Table"]


@dataclass(frozen=True, eq=False)
class Table(OpenFrame):
    """Columns of one length, each with its name. Selectors take it as they take a data frame.

    Parameters
    ----------
    names : tuple of str
        The names of the columns, all different.
    series : tuple of Column
        The columns, in the same order.
    n_rows : int
        Their length.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"age": [31, 44], "city": ["Rome", "Oslo"]}))
    >>> table.shape, table.drop(["city"]).names
    ((2, 2), ('age',))
    """

    series: tuple[Column, ...]

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            twice = sorted({name for name in self.names if self.names.count(name) > 1})
            raise InputError(
                f"column names must be unique, got {listed([repr(name) for name in twice])} more "
                "than once. Rename the columns."
            )

    @classmethod
    def of(cls, frame: object) -> "Table":
        """Read a data frame of any library.

        Parameters
        ----------
        frame : data frame
            A pandas, polars or Arrow table.

        Returns
        -------
        Table
            Its columns, read.

        Raises
        ------
        InputTypeError
            If it is no data frame, or columns hold lists, structures or mixed objects.
        """
        opened = open_frame(frame)
        families = [family_of(series) for series in opened.series]
        check_usable(opened, families)
        columns = [
            read_column(name, series, family)
            for name, series, family in zip(opened.names, opened.series, families, strict=True)
        ]
        return cls(opened.names, tuple(columns), opened.n_rows)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    @overload
    def __getitem__(self, key: str) -> Column: ...

    @overload
    def __getitem__(self, key: Any) -> "Table": ...

    def __getitem__(self, key: Any) -> "Column | Table":
        """Return the column of a name, or some rows: what scikit-learn asks of an array."""
        if isinstance(key, str):
            return self.series[self.names.index(key)]
        return self.take(key[0] if isinstance(key, tuple) else key)

    def select(self, names: Sequence[str]) -> "Table":
        """Return some columns, in the order in which they are named.

        Parameters
        ----------
        names : sequence of str
            Columns of the table.

        Returns
        -------
        Table
            These columns; nothing is copied.
        """
        return Table(tuple(names), tuple(self[name] for name in names), self.n_rows)

    def drop(self, names: Iterable[str]) -> "Table":
        """Return the table without some columns.

        Parameters
        ----------
        names : iterable of str
            Columns to leave out.

        Returns
        -------
        Table
            The others, in order; nothing is copied.
        """
        gone = set(names)
        return self.select([name for name in self.names if name not in gone])

    def take(self, rows: ArrayLike) -> "Table":
        """Return some rows.

        Parameters
        ----------
        rows : array-like of int or bool
            Positions of rows, or for each row whether it is taken.

        Returns
        -------
        Table
            These rows, in the order in which they are named.
        """
        index: NDArray[Any] = np.asarray(rows)
        if index.dtype == np.bool_:
            index = np.flatnonzero(index)
        return Table(self.names, tuple(_taken(c, index) for c in self.series), len(index))


def _taken(column: Column, rows: NDArray[Any]) -> Column:
    return replace(
        column,
        values=column.values[rows],
        gaps=column.gaps[rows],
        wall=None if column.wall is None else column.wall[rows],
    )
