"""A data frame of any library, opened: names, columns and the number of rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
from narwhals.exceptions import DuplicateError

from featuremask.exceptions import InputError, InputTypeError
from featuremask.tables._column import Column
from featuremask.tables._records import Family
from featuremask.tables._wording import listed

__all__ = ["OpenFrame", "check_same_names", "check_usable", "open_frame"]

_MAX_NAMES = 5
"""How many names a message about differing names shows; scikit-learn's number."""


@dataclass(frozen=True)
class OpenFrame:
    """A data frame whose columns can be read one after the other.

    Parameters
    ----------
    names : tuple of str
        The names of the columns, in order.
    series : tuple of narwhals.Series or Column
        The columns, in order.
    n_rows : int
        The number of rows.
    """

    names: tuple[str, ...]
    series: tuple[nw.Series[Any] | Column, ...]
    n_rows: int

    def holding(self, families: Sequence[Family], *wanted: Family) -> list[str]:
        """Return the columns of some families, quoted and with their types.

        Parameters
        ----------
        families : sequence of str
            The family of each column.
        *wanted : str
            Which families are asked for.

        Returns
        -------
        list of str
            To be listed in a message.
        """
        rows = zip(self.names, self.series, families, strict=True)
        return [
            f"{name!r} ({getattr(series, 'dtype', family)})"
            for name, series, family in rows
            if family in wanted
        ]


def open_frame(frame: object) -> OpenFrame:
    """Open a pandas, polars or Arrow table, or a `Table`.

    Names that are all of another type than str (positions, or the tuples of a multi-level
    header) are kept as their text.

    Parameters
    ----------
    frame : data frame
        The table.

    Returns
    -------
    OpenFrame
        Its names and columns.

    Raises
    ------
    InputTypeError
        If it is no data frame held in memory, or some names are str and some are not.
    InputError
        If two columns have the same name.

    Examples
    --------
    >>> import polars as pl
    >>> open_frame(pl.DataFrame({"age": [31, 44], "city": ["Rome", "Oslo"]})).names
    ('age', 'city')
    """
    if isinstance(frame, OpenFrame):
        return frame
    native: Any = frame
    try:
        table = nw.from_native(native, eager_only=True)
    except DuplicateError as error:
        raise InputError(
            f"column names must be unique: {' '.join(str(error).split())}. Rename the columns."
        ) from error
    except TypeError as error:
        raise InputTypeError(_not_a_frame(frame)) from error
    return OpenFrame(_names_of(table.columns), tuple(table.iter_columns()), len(table))


def _not_a_frame(frame: object) -> str:
    kind = f"{type(frame).__module__.split('.')[0]}.{type(frame).__qualname__}"
    if hasattr(frame, "collect"):
        remedy = "Collect it into memory first: frame.collect()"
    elif hasattr(frame, "to_frame"):
        remedy = "Make it a table of one column first: series.to_frame()"
    else:
        remedy = "Make it one of these first; numeric arrays need no encoding"
    return f"a pandas, polars or Arrow table held in memory is expected, got {kind}. {remedy}."


def _names_of(columns: Iterable[object]) -> tuple[str, ...]:
    given = list(columns)
    is_text = [isinstance(name, str) for name in given]
    if any(is_text) and not all(is_text):
        types = sorted({type(name).__name__ for name in given})
        raise InputTypeError(
            f"column names must all be strings or none of them, got the types {types}, such as "
            f"{listed([repr(name) for name in given if not isinstance(name, str)], 3)}. "
            "Rename them, for example X.columns = X.columns.astype(str)."
        )
    return tuple(str(name) for name in given)


def check_usable(table: OpenFrame, families: Sequence[Family]) -> None:
    """Check that no column holds values of a kind that is never read.

    Parameters
    ----------
    table : OpenFrame
        The table.
    families : sequence of str
        The family of each of its columns.

    Raises
    ------
    InputTypeError
        If a column is unusable; the message names it.
    """
    if unusable := table.holding(families, "unusable"):
        raise InputTypeError(
            "columns must hold numbers, booleans, categories, strings, dates, times or "
            "durations, got lists, structures, bytes, complex numbers or objects of mixed types "
            f"in {listed(unusable)}. Split them into columns of one type, or drop them."
        )


def check_same_names(fitted: Sequence[str], given: Sequence[str]) -> None:
    """Check that a table has the columns of the fitted one, in the same order.

    Parameters
    ----------
    fitted : sequence of str
        The names seen by the fit.
    given : sequence of str
        The names of the table at hand.

    Raises
    ------
    InputError
        If they differ, in scikit-learn's words.

    Examples
    --------
    >>> check_same_names(["a", "b"], ["a", "b"])
    """
    if list(fitted) == list(given):
        return
    unexpected = sorted(set(given) - set(fitted))
    missing = sorted(set(fitted) - set(given))
    message = "The feature names should match those that were passed during fit.\n"
    if unexpected:
        message += "Feature names unseen at fit time:\n" + _bullets(unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _bullets(missing)
    if not missing and not unexpected:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(message)


def _bullets(names: Sequence[str]) -> str:
    shown = "".join(f"- {name}\n" for name in names[:_MAX_NAMES])
    return shown + "- ...\n" if len(names) > _MAX_NAMES else shown
