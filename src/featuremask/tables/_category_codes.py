"""The codes of a column of categories."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featuremask.tables._column import Column
from featuremask.tables._rules import count_levels, rare_below

__all__ = ["CategoryCodes"]

_NO_CODE = -1


@dataclass(frozen=True)
class CategoryCodes:
    """One code for each level, 1 where a row has that level and 0 elsewhere.

    Parameters
    ----------
    levels : tuple of str
        The levels that have a code of their own, sorted.
    rare : bool, default=False
        Whether one more code stands for all other levels, among them those never seen before. If
        not, such levels have zeros in all codes.
    flag_gaps : bool, default=False
        Whether gaps are a level of their own. If not, they count as a level never seen.

    Examples
    --------
    >>> import numpy as np
    >>> codes = CategoryCodes(("blue", "red"), rare=True)
    >>> labels = np.array(["red", "mauve"], dtype=object)
    >>> out = np.zeros((2, codes.width))
    >>> codes.write(Column("category", labels, np.zeros(2, dtype=bool)), out)
    >>> out
    array([[0., 1., 0.],
           [0., 0., 1.]])
    >>> codes.labels("color")
    ['color=blue', 'color=red', 'color: rare']
    """

    type: ClassVar[str] = "category"

    levels: tuple[str, ...]
    rare: bool = False
    flag_gaps: bool = False

    @classmethod
    def fit(cls, column: Column) -> "CategoryCodes":
        """Learn the levels.

        Parameters
        ----------
        column : Column
            The training values.

        Returns
        -------
        CategoryCodes
            The codes: levels in too few rows share the code for rare levels.
        """
        counts = count_levels(column.values)
        smallest = rare_below(len(column.values))
        common = sorted(level for level, rows in counts.items() if rows >= smallest)
        return cls(tuple(common), len(common) < len(counts), bool(column.gaps.any()))

    @property
    def width(self) -> int:
        """How many codes the column has."""
        return len(self.levels) + self.rare + self.flag_gaps

    def labels(self, name: str) -> list[str]:
        """Name the codes.

        Parameters
        ----------
        name : str
            The name of the column.

        Returns
        -------
        list of str
            One name for each code.
        """
        names = [f"{name}={level}" for level in self.levels]
        if self.rare:
            names.append(f"{name}: rare")
        if self.flag_gaps:
            names.append(f"{name}: missing")
        return names

    def write(self, column: Column, out: NDArray[Any]) -> None:
        """Write the codes of some rows.

        Parameters
        ----------
        column : Column
            The rows' values.
        out : ndarray of shape (n_rows, width)
            Where to write; zeros at first.
        """
        places, other = self._places, self._other
        codes = np.array([places.get(label, other) for label in column.values], dtype=np.intp)
        rows = np.flatnonzero(codes != _NO_CODE)
        out[rows, codes[rows]] = 1

    def numbers(self, column: Column) -> NDArray[Any]:
        """Return the code that is a number of any size: there is none.

        Parameters
        ----------
        column : Column
            The values.

        Returns
        -------
        ndarray of shape (0,)
            Nothing, since all codes are 0 or 1.
        """
        return np.empty(0)

    @cached_property
    def _places(self) -> dict[str | None, int]:
        places: dict[str | None, int] = {level: i for i, level in enumerate(self.levels)}
        places[None] = self.width - 1 if self.flag_gaps else self._other
        return places

    @property
    def _other(self) -> int:
        return len(self.levels) if self.rare else _NO_CODE

    def to_dict(self) -> dict[str, Any]:
        """Return the codes as plain values.

        Returns
        -------
        dict
            Without the type.
        """
        return {"levels": list(self.levels), "rare": self.rare, "flag_gaps": self.flag_gaps}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "CategoryCodes":
        """Read what `to_dict` returned.

        Parameters
        ----------
        values : mapping
            The plain values.

        Returns
        -------
        CategoryCodes
            The codes.
        """
        levels = tuple(str(level) for level in values["levels"])
        return cls(levels, bool(values["rare"]), bool(values["flag_gaps"]))
