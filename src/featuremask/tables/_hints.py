"""Hints: what in a table may make a selection meaningless."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError

__all__ = ["CodeTable", "Hint", "HintKind"]

HintKind = Literal["predicts_target", "duplicates", "row_number", "shift"]


@dataclass(frozen=True)
class Hint:
    """Something about a table that a person should look at.

    Parameters
    ----------
    kind : {"predicts_target", "duplicates", "row_number", "shift"}
        What was found.
    columns : tuple of str
        The columns it was found in.
    message : str
        What it means and what to do, in words.
    """

    kind: HintKind
    columns: tuple[str, ...]
    message: str


@dataclass(frozen=True, eq=False)
class CodeTable:
    """An array of codes, and which codes belong to which column.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_codes)
        Numbers, which may be a memory map.
    names : tuple of str
        The names of the columns.
    groups : ndarray of int of shape (n_codes,)
        For each code, the position of its column in `names`.
    """

    codes: NDArray[np.number]
    names: tuple[str, ...]
    groups: NDArray[np.intp]

    @classmethod
    def of(
        cls, codes: ArrayLike, names: Sequence[str], groups: ArrayLike | None = None
    ) -> "CodeTable":
        """Check the parts and put them together.

        Parameters
        ----------
        codes : array-like of shape (n_rows, n_codes)
            Numbers.
        names : sequence of str
            The names of the columns.
        groups : array-like of int of shape (n_codes,) or None, default=None
            For each code, the position of its column in `names`; None for one code a column.

        Returns
        -------
        CodeTable
            The table.

        Raises
        ------
        InputError
            If the shapes do not fit.

        Examples
        --------
        >>> CodeTable.of([[1, 2, 3]], ["age", "city"], [0, 1, 1]).members()
        [('age', array([0])), ('city', array([1, 2]))]
        """
        array = np.asanyarray(codes)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InputError(
                "rows and columns of real numbers are expected, got "
                f"{array.shape=} and {array.dtype=}. Encode the table first."
            )
        n_codes = array.shape[1]
        places = np.arange(n_codes) if groups is None else np.asarray(groups)
        if places.shape != (n_codes,) or np.any((places < 0) | (places >= len(names))):
            raise InputError(
                "each code must belong to one of the named columns, got "
                f"{n_codes} codes, {len(places)} groups and {len(names)} names. Pass the "
                "code_groups and column_names of the encoding."
            )
        return cls(array, tuple(names), places.astype(np.intp))

    def members(self) -> list[tuple[str, NDArray[np.intp]]]:
        """Return the codes of each column that has any.

        Returns
        -------
        list of (str, ndarray)
            The name of the column and the positions of its codes.
        """
        order = np.argsort(self.groups, kind="stable")
        present, first = np.unique(self.groups[order], return_index=True)
        parts = np.split(order, first[1:])
        return [(self.names[g], part) for g, part in zip(present.tolist(), parts, strict=True)]

    def best(self, scores: NDArray[np.float64]) -> list[tuple[str, float]]:
        """Return for each column the highest score of its codes.

        Parameters
        ----------
        scores : ndarray of shape (n_codes,)
            One score for each code.

        Returns
        -------
        list of (str, float)
            The name of the column and its score.
        """
        return [(name, float(scores[codes].max())) for name, codes in self.members()]
