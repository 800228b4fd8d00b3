"""Rows that lie in files, block by block: the contract of what reads them."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._extras import needed
from featuremask.exceptions import InputError

__all__ = ["PIECE_BYTES", "WINDOW_BYTES", "Stored"]

PIECE_BYTES = 2**24
"""About how much is decoded at a time."""

WINDOW_BYTES = 2**27
"""Size of a window of shuffled rows; while one is used, the next is read."""


class Stored(ABC):
    """Rows in files that need not fit into memory.

    A block (a row group of Parquet, a run of rows of an array) is the unit of reading and of
    shuffling. The features are read again in each epoch; the target and the weights of all rows are
    read once and held in memory.

    Attributes
    ----------
    names : list of str or None
        Of the features; None where the columns have no names.
    shape : tuple of int
        Rows and features.
    block_rows : ndarray of int
        Rows of each block, none of them zero.
    whole : ndarray of bool
        Which features are integers of more than 16 bits.
    folder : Path
        Where the data lies.
    window_bytes : int
        About how much is in memory and shuffled at a time, and as much again is read ahead. A
        window holds at least one batch.
    """

    names: list[str] | None
    shape: tuple[int, int]
    block_rows: NDArray[np.int64]
    whole: NDArray[np.bool_]
    folder: Path
    window_bytes: int

    @abstractmethod
    def read(self, block: int, columns: NDArray[np.int64] | None = None) -> Iterator[NDArray[Any]]:
        """Yield the rows of a block in order, a few megabytes at a time, as numbers.

        Parameters
        ----------
        block : int
        columns : ndarray of int, optional
            The features to read; all if None.
        """

    @abstractmethod
    def dtype(self, columns: NDArray[np.int64]) -> np.dtype[Any]:
        """Return the dtype that holds these features without loss."""

    def schema(self, columns: NDArray[np.int64], beside: Sequence[str]) -> Any:
        """Return the Arrow schema of some features, behind other columns of the files."""
        if beside:
            raise InputError(f"There is no column {beside[0]!r}: the columns have no names.")
        arrow = needed("pyarrow", "io")
        kind = arrow.from_numpy_dtype(self.dtype(columns))
        return arrow.schema([(f"x{column}", kind) for column in columns])

    def tables(self, block: int, schema: Any) -> Iterator[Any]:
        """Yield the rows of a block as Arrow tables of that schema."""
        arrow = needed("pyarrow", "io")
        columns = np.array([int(name.removeprefix("x")) for name in schema.names])
        for x in self.read(block, columns):
            yield arrow.table([arrow.array(column) for column in x.T.copy()], schema=schema)

    @abstractmethod
    def target(self) -> NDArray[Any] | None:
        """Return the target of all rows; None if none was named."""

    @abstractmethod
    def sample_weight(self) -> NDArray[Any] | None:
        """Return the weights of all rows; None if none were named."""

    @abstractmethod
    def with_target(self, target: Any) -> "Stored":
        """Return the same rows with another target."""

    @abstractmethod
    def header(self) -> Any:
        """Return an array or table without rows that has the features' names and number."""

    @property
    @abstractmethod
    def key(self) -> str:
        """What tells the same files and features, read the same way, from others."""

    @property
    @abstractmethod
    def version(self) -> str:
        """What changes when the files do: their sizes, times and schema."""
