"""Which type the cells of a text column have, and their values."""

import datetime
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from featuremask.tables import Column, date_column

__all__ = ["GAPS", "Cells", "Guess"]

GAPS = frozenset(
    {"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "None", "NaT"}
)
"""What stands for a missing value, blanks around it aside."""

_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})").fullmatch
_NUMBER = re.compile(
    r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?[iI]nf(inity)?"
).fullmatch
_BOOLEAN = re.compile(r"true|false", re.IGNORECASE).fullmatch
_DATE = re.compile(
    r"[0-9]{4}([-/])[0-9]{2}\1[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
    r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
).fullmatch


def _is_date(cell: str) -> bool:
    if not _DATE(cell):
        return False
    try:
        _date(cell)
    except ValueError:
        return False
    return True


def _date(cell: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(cell.replace("/", "-"))


_TYPES: dict[str, Callable[[str], object]] = {
    "integer": _INTEGER,
    "number": _NUMBER,
    "boolean": _BOOLEAN,
    "date": _is_date,
}
"""From the narrowest on; what fits none is text."""


class Guess:
    """The narrowest type that fits all cells of a column that were looked at.

    Whole numbers, numbers with a decimal point, true and false, dates of ISO 8601 (with or
    without a time of day), or else text. Numbers with leading zeros, as in postal codes, are text.

    Examples
    --------
    >>> guess = Guess()
    >>> guess.look_at(["1", "NA", "2.5"])
    >>> guess.type, guess.has_gaps
    ('number', True)
    """

    def __init__(self) -> None:
        self._fitting = dict(_TYPES)
        self.has_gaps = False
        self.has_values = False

    def look_at(self, cells: Iterable[str]) -> None:
        """Take more cells into account.

        Parameters
        ----------
        cells : iterable of str
            As they are in the file.
        """
        values = {cell.strip() for cell in set(cells)}
        self.has_gaps |= not GAPS.isdisjoint(values)
        values -= GAPS
        self.has_values |= bool(values)
        for name, fits in list(self._fitting.items()):
            if not all(map(fits, values)):
                del self._fitting[name]

    @property
    def type(self) -> str:
        """The type: "integer", "number", "boolean", "date", "text" or "empty"."""
        return next(iter(self._fitting), "text") if self.has_values else "empty"


class Cells:
    """The values of one column, added portion by portion.

    Parameters
    ----------
    name : str
        The name of the column.
    guess : Guess
        What is known of all of its cells.

    Examples
    --------
    >>> guess = Guess()
    >>> guess.look_at(["1", "NA"])
    >>> reader = Cells("age", guess)
    >>> reader.add(["1", "NA"])
    >>> reader.column().values
    array([ 1., nan])
    """

    def __init__(self, name: str, guess: Guess) -> None:
        self._name = name
        self._type = guess.type
        if self._type == "integer" and guess.has_gaps:
            self._type = "number"
        self._parts: list[NDArray[np.generic]] = []
        self._levels: dict[str, str] = {}

    def add(self, cells: Sequence[str]) -> None:
        """Read more cells.

        Parameters
        ----------
        cells : sequence of str
            As they are in the file.
        """
        self._parts.append(self._read(cells))

    def _read(self, cells: Sequence[str]) -> NDArray[np.generic]:
        if self._type == "integer":
            return np.array([int(cell) for cell in cells], dtype=np.int64)
        known = [None if cell.strip() in GAPS else cell for cell in cells]
        if self._type in ("number", "empty"):
            return np.array([np.nan if c is None else float(c) for c in known])
        if self._type == "boolean":
            return np.array(
                [np.nan if c is None else float(c.strip().lower() == "true") for c in known]
            )
        out = np.empty(len(cells), dtype=object)
        if self._type == "date":
            out[:] = [None if c is None else _date(c.strip()) for c in known]
        else:
            out[:] = [None if c is None else self._levels.setdefault(c, c) for c in known]
        return out

    def column(self) -> Column:
        """Return what was read.

        Returns
        -------
        Column
            Of the family "number", "boolean", "date", "category" or "empty".
        """
        values = np.concatenate(self._parts)
        if self._type == "date":
            return date_column(self._name, values.tolist())
        if self._type == "text":
            return Column("category", values, np.array([v is None for v in values.tolist()]))
        gaps = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
        family = "number" if self._type == "integer" else self._type
        return Column(family, values, gaps)  # type: ignore[arg-type]  # one of the families
