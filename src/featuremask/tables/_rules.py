"""The rules by which columns are left out and levels merged, with their thresholds.

A column of numbers or booleans is judged only under ``categorical="auto"``; categories, dates and
durations are judged whenever they are encoded.
"""

import re
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.tables._column import Column
from featuremask.tables._records import Kind

__all__ = [
    "FLOAT32_MAX",
    "FLOAT32_WHOLE",
    "MAX_LEVELS",
    "MIN_IDENTIFIER_ROWS",
    "RARE_FRACTION",
    "RARE_ROWS",
    "count_levels",
    "needs_float64",
    "rare_below",
    "reads_as_identifier",
    "why_left_out",
]

MAX_LEVELS = 100
"""A category of more levels than this is left out as text."""

MIN_IDENTIFIER_ROWS = 20
"""A column is called an identifier only if it has more than this many different values."""

RARE_ROWS = 10
"""A level seen in fewer rows than this may be rare..."""

RARE_FRACTION = 0.01
"""...and is, if they are also less than this part of all rows."""

FLOAT32_MAX = float(np.finfo(np.float32).max)
"""The largest number in float32."""

FLOAT32_WHOLE = 2**24
"""Up to here float32 holds every whole number."""

_LOST_SPREAD = 1e-3
"""float64 is kept if rounding to float32 moves a value by more than this part of the spread."""

_ROW_NAMES = frozenset({"index", "idx", "key", "row", "rowid", "rownum", "rownumber", "unnamed0"})
_ID_WORDS = frozenset({"id", "uuid", "guid"})


def reads_as_identifier(name: str) -> bool:
    """Tell whether a name reads as that of an identifier.

    It does if its first or last word is id, uuid or guid, or if all of it is index, idx, key, row,
    rowid, rownum, row number or pandas' "Unnamed: 0".

    Parameters
    ----------
    name : str
        The name of a column.

    Returns
    -------
    bool
        Whether it does.

    Examples
    --------
    >>> [reads_as_identifier(name) for name in ("customer_id", "userId", "ID", "width", "paid")]
    [True, True, True, False, False]
    """
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    words = re.findall(r"[a-z0-9]+", spaced.lower())
    if not words:
        return False
    return "".join(words) in _ROW_NAMES or words[0] in _ID_WORDS or words[-1] in _ID_WORDS


def why_left_out(name: str, column: Column) -> tuple[Kind, str] | None:
    """Tell whether the rules leave a column out, as what and why.

    Parameters
    ----------
    name : str
        The name of the column.
    column : Column
        Its values in the training table.

    Returns
    -------
    (kind, reason) or None
        None for a column to keep. In this order:

        - *constant*: no value at all, or one value and no gap;
        - *identifier*: whole numbers stored as integers, without a gap, all different, more than
          ``MIN_IDENTIFIER_ROWS`` of them, that either count the rows from 0 or 1, or whose name
          reads as an identifier; or text with more than ``MIN_IDENTIFIER_ROWS`` levels, more
          than one for every two values;
        - *text*: a category of more than ``MAX_LEVELS`` levels.

    Examples
    --------
    >>> import numpy as np
    >>> numbers = Column("number", np.arange(1, 41), np.zeros(40, dtype=bool))
    >>> why_left_out("visit", numbers)
    ('identifier', 'counts the rows')
    """
    present = column.values[~column.gaps] if column.gaps.any() else column.values
    if len(present) == 0:
        return "constant", "has no value"
    if len(present) == len(column.values) and bool(np.all(present == present[0])):
        return "constant", "holds one value"
    if column.family == "number":
        return _why_integers_left_out(name, column)
    if column.family == "category":
        return _why_levels_left_out(len(set(present)), len(present))
    return None


def _why_integers_left_out(name: str, column: Column) -> tuple[Kind, str] | None:
    values = column.values
    if values.dtype.kind not in "iu" or len(values) <= MIN_IDENTIFIER_ROWS:
        return None
    first, last = int(values[0]), int(values[-1])
    rises = bool(np.all(values[1:] > values[:-1]))
    if rises and first in (0, 1) and last - first == len(values) - 1:
        return "identifier", "counts the rows"
    if reads_as_identifier(name) and len(np.unique(values)) == len(values):
        return "identifier", "whole numbers, all different, named as an identifier"
    return None


def _why_levels_left_out(n_levels: int, n_values: int) -> tuple[Kind, str] | None:
    if n_levels > MIN_IDENTIFIER_ROWS and 2 * n_levels > n_values:
        return "identifier", f"{n_levels} different texts in {n_values} rows"
    if n_levels > MAX_LEVELS:
        return "text", f"{n_levels} levels are more than {MAX_LEVELS}"
    return None


def rare_below(n_rows: int) -> float:
    """Return the number of rows below which a level is rare.

    Parameters
    ----------
    n_rows : int
        The rows of the training table.

    Returns
    -------
    float
        ``min(RARE_ROWS, RARE_FRACTION * n_rows)``: no level is rare in 100 rows or fewer.

    Examples
    --------
    >>> rare_below(100), rare_below(50_000)
    (1.0, 10.0)
    """
    return float(min(RARE_ROWS, RARE_FRACTION * n_rows))


def count_levels(labels: NDArray[Any]) -> Counter[str]:
    """Count the rows of each level, gaps aside.

    Parameters
    ----------
    labels : ndarray of object
        Texts, None in gaps.

    Returns
    -------
    Counter
        Rows per level.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(count_levels(np.array(["b", "a", None, "b"], dtype=object)).items())
    [('a', 1), ('b', 2)]
    """
    counts = Counter(labels.tolist())
    counts.pop(None, None)
    return counts


def needs_float64(values: NDArray[Any], *, whole: bool = False) -> bool:
    """Tell whether a column of numbers would lose too much in float32.

    Parameters
    ----------
    values : ndarray
        Numbers, NaN in gaps.
    whole : bool, default=False
        Whether they came as integers and are floats for their gaps alone.

    Returns
    -------
    bool
        True for whole numbers stored as integers beyond 2**24, for numbers beyond the range of
        float32, and where rounding could move a value by more than a thousandth of the standard
        deviation (such as seconds since 1970).

    Examples
    --------
    >>> import numpy as np
    >>> needs_float64(np.array([0.1, 0.7])), needs_float64(np.array([1.7e9, 1.7e9 + 1]))
    (False, True)
    """
    if values.dtype.kind == "b" or values.dtype in (np.float16, np.float32):
        return False
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return False
    largest = max(abs(float(finite.max())), abs(float(finite.min())))
    if whole or values.dtype.kind in "iu":
        return largest > FLOAT32_WHOLE
    if largest > FLOAT32_MAX:
        return True
    rounding = max(largest * 2.0**-24, 2.0**-150)
    return 0 < float(np.std(finite)) * _LOST_SPREAD < rounding
