"""Which family of values a column holds, told from its type or, for objects, from its values."""

import datetime
import decimal
import fractions
from typing import Any, get_args

import narwhals as nw
import numpy as np

from featuremask.tables._column import Column
from featuremask.tables._records import Family

__all__ = ["ACCEPTED", "family_of"]

_TYPED: tuple[tuple[type[nw.dtypes.DType], Family], ...] = (
    (nw.Boolean, "boolean"),
    (nw.Categorical, "category"),
    (nw.Enum, "category"),
    (nw.Date, "date"),
    (nw.Datetime, "date"),
    (nw.Time, "time"),
    (nw.Duration, "duration"),
)

_VALUE_FAMILIES: tuple[tuple[tuple[type, ...], Family], ...] = (
    ((bool, np.bool_), "boolean"),  # before int, whose subclass bool is
    ((str,), "category"),
    ((datetime.date,), "date"),  # datetime and pandas' Timestamp derive from it
    ((datetime.time,), "time"),
    ((datetime.timedelta,), "duration"),
    ((int, float, decimal.Decimal, fractions.Fraction, np.integer, np.floating), "number"),
)

ACCEPTED: dict[Family, frozenset[Family]] = {
    family: frozenset({family, "empty"}) for family in get_args(Family)
} | {
    "number": frozenset({"number", "boolean", "empty"}),
    "boolean": frozenset({"number", "boolean", "empty"}),
}
"""For each family that was fitted, the families that may be encoded with it."""


def family_of(series: nw.Series[Any] | Column) -> Family:
    """Tell which family of values a column holds.

    A column of objects belongs to a family if all its values do, gaps aside.

    Parameters
    ----------
    series : narwhals.Series or Column
        The column, which may have been read already.

    Returns
    -------
    {"number", "boolean", "category", "date", "time", "duration", "empty", "unusable"}
        The family: "empty" for a column of gaps alone that has no type of its own, "unusable" for
        lists, structures, bytes, complex numbers and mixed objects.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"], "c": [[1], [2]]})
    >>> [family_of(column) for column in nw.from_native(frame).iter_columns()]
    ['number', 'category', 'unusable']
    """
    if isinstance(series, Column):
        return series.family
    dtype = series.dtype
    if dtype.is_numeric():
        return "number"
    if isinstance(dtype, nw.String):
        return "empty" if _is_all_gaps(series) else "category"
    for known, family in _TYPED:
        if isinstance(dtype, known):
            return family
    if isinstance(dtype, (nw.Object, nw.Unknown)):
        return _family_of_objects(series)
    return "unusable"


def _is_all_gaps(series: nw.Series[Any]) -> bool:
    return series.null_count() == len(series)


def _family_of_objects(series: nw.Series[Any]) -> Family:
    gaps = series.is_null().to_numpy()
    types = {type(value) for value, gap in zip(series.to_list(), gaps, strict=True) if not gap}
    if not types:
        return "empty"
    families = {_family_of_type(kind) for kind in types}
    if families == {"number", "boolean"}:
        return "number"
    return families.pop() if len(families) == 1 else "unusable"


def _family_of_type(kind: type) -> Family:
    for types, family in _VALUE_FAMILIES:
        if issubclass(kind, types):
            return family
    return "unusable"
