"""The bad values of a table, counted while its columns are read."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.tables._bad_values import BadValues
from featuremask.tables._column import Column
from featuremask.tables._rules import FLOAT32_MAX

__all__ = ["ProblemCounter"]


class ProblemCounter:
    """Counts gaps, infinite values and values too large, column by column.

    Parameters
    ----------
    narrow : bool, default=False
        Whether values beyond the range of float32 are too large.

    Examples
    --------
    >>> counter = ProblemCounter()
    >>> values = np.array([1.0, np.inf])
    >>> counter.add("age", Column("number", values, np.isnan(values)))
    >>> counter.report().infinite
    (('age', 1),)
    """

    def __init__(self, *, narrow: bool = False) -> None:
        self._narrow = narrow
        self._found: dict[str, list[tuple[str | int, int]]] = {
            "missing": [],
            "infinite": [],
            "too_large": [],
        }

    def add(self, name: str, column: Column) -> None:
        """Count the problems of a column.

        Parameters
        ----------
        name : str
            Its name.
        column : Column
            Its values.
        """
        self._note("missing", name, column.gaps)
        values = column.values
        if values.dtype.kind != "f":
            return
        self._note("infinite", name, np.isinf(values))
        if self._narrow and values.dtype.itemsize > 4:
            self._note("too_large", name, np.isfinite(values) & (np.abs(values) > FLOAT32_MAX))

    def _note(self, problem: str, name: str, mask: NDArray[Any]) -> None:
        if count := int(np.count_nonzero(mask)):
            self._found[problem].append((name, count))

    def report(self) -> BadValues:
        """Return what was found.

        Returns
        -------
        BadValues
            The columns and counts.
        """
        return BadValues(**{problem: tuple(counts) for problem, counts in self._found.items()})
