"""Columns that are said by the names of folders: hive partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._extras import needed
from featuremask.exceptions import InputError, InputTypeError
from featuremask.sources._parquet_files import ParquetFile

__all__ = ["Partitions"]


@dataclass(frozen=True)
class Partitions:
    """The columns that folders named ``key=value`` add.

    Attributes
    ----------
    kinds : dict of str to type
        From the name of a column to int, float or str: the first that reads all its values.
    """

    kinds: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.kinds)

    @classmethod
    def of(cls, files: Sequence[ParquetFile]) -> "Partitions":
        """Read the folders of all files."""
        names = list(files[0].partition)
        for file in files:
            if list(file.partition) != names:
                raise InputError(
                    f"{str(file.path)!r} lies below the partitions {list(file.partition)!r} and "
                    f"{str(files[0].path)!r} below {names!r}; all files need the same ones."
                )
            double = sorted(set(names) & set(file.schema.names))
            if double:
                raise InputError(
                    f"{str(file.path)!r} has the column {double[0]!r}, which its folders name too; "
                    "rename one of them."
                )
        return cls({name: _kind([file.partition[name] for file in files]) for name in names})

    def check_number(self, name: str) -> None:
        """Raise if this is a column of folders that is no number."""
        if self.kinds.get(name) is str:
            raise InputTypeError(
                f"The folders {name}=... name text; features must be numbers. Leave the column out "
                f"with drop=[{name!r}]."
            )

    def number(self, name: str, file: ParquetFile) -> float:
        """Return the value for the rows of a file; NaN where there is none."""
        value = file.partition[name]
        return float("nan") if value is None else float(value)

    def arrow_type(self, name: str) -> Any:
        """Return the type of a column."""
        arrow = needed("pyarrow", "io")
        return {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}[self.kinds[name]]

    def repeated(self, name: str, file: ParquetFile, n_rows: int) -> Any:
        """Return the column for rows of a file."""
        value = file.partition[name]
        value = None if value is None else self.kinds[name](value)
        return needed("pyarrow", "io").repeat(value, n_rows).cast(self.arrow_type(name))

    def values(self, name: str, files: Sequence[ParquetFile]) -> NDArray[Any]:
        """Return the value of each file."""
        found = [file.partition[name] for file in files]
        if None in found:
            raise InputError(
                f"A folder {name}=... names no value; targets and weights need one in each row."
            )
        return np.array([self.kinds[name](value) for value in found])


def _kind(values: Sequence[str | None]) -> Any:
    """Return the first of int, float and str that reads all values."""
    for kind in (int, float):
        try:
            for value in values:
                kind("0" if value is None else value)
        except ValueError:
            continue
        return kind
    return str
