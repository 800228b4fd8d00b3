"""The options of the encoding of a table."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from featuremask.exceptions import InputError

__all__ = ["Mode", "TableEncoder"]

Mode = Literal["error", "auto"]


@dataclass(frozen=True, kw_only=True)
class TableEncoder:
    """How the columns of a table become numbers.

    Each option is ``"error"``, so that surprises are loud, or ``"auto"``. With all three at
    ``"error"``, columns of numbers and booleans pass through one to one and everything else is an
    error.

    Parameters
    ----------
    missing : {"error", "auto"}, default="error"
        What becomes of gaps (None, NaN, NaT, null). With "auto", a gap among numbers, booleans,
        dates or durations holds the training mean, and a column with gaps in training gets one
        more code that marks them; among categories a gap is a level of its own. A column without
        any value is left out. Infinite values are always an error.
    categorical : {"error", "auto"}, default="error"
        What becomes of strings and categories. With "auto", each level has a code that is 1 or 0.
        Levels in fewer than ``min(10, n_rows / 100)`` training rows share one code, which is also
        that of levels never seen; without rare levels in training there is no such code, and a
        level never seen has zeros. Constant columns, identifiers and text are left out with a
        warning, see Notes.
    dates : {"error", "auto"}, default="error"
        What becomes of dates, times and durations. With "auto", a duration is its number of days;
        a date is the days since the earliest training date, and sine and cosine of its place in
        the year, in the week and in the day as far as they vary; a time of day is its part of the
        day, with sine and cosine.

    See Also
    --------
    fit_table : Learn the encoding of a table.

    Notes
    -----
    Left out with ``categorical="auto"``, and for dates and durations with ``dates="auto"``:

    - *constant*: one value and no gap;
    - *identifier*: integers without gaps, all different and more than 20, that count the rows
      from 0 or 1 or whose name reads as an identifier (first or last word id, uuid or guid; or
      all of it index, idx, key, row, rowid, rownum, row number, "Unnamed: 0"); or strings and
      categories with more than 20 levels and more than one level for every two values;
    - *text*: strings and categories with more than 100 levels.

    Examples
    --------
    >>> TableEncoder(categorical="auto")
    TableEncoder(missing='error', categorical='auto', dates='error')
    """

    missing: Mode = "error"
    categorical: Mode = "error"
    dates: Mode = "error"

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value not in get_args(Mode):
                raise InputError(
                    f"{field.name} must be 'error' or 'auto', got {value!r}. Set one of them."
                )
