"""One column read into plain NumPy arrays, the same from every data frame library."""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputTypeError
from featuremask.tables._records import Family

__all__ = ["MICROSECONDS_PER_DAY", "Column", "date_column", "read_column"]

MICROSECONDS_PER_DAY = 86_400_000_000.0
_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Column:
    """The values of one column.

    Parameters
    ----------
    family : str
        What the values are.
    values : ndarray of shape (n_rows,)
        Numbers and booleans as numbers, NaN in gaps; categories as str, None in gaps; dates and
        times as microseconds (of the instant, since 1970 UTC), durations as days, NaN in gaps.
    gaps : ndarray of bool of shape (n_rows,)
        Where a value is missing.
    wall : ndarray of shape (n_rows,) or None
        Of dates and times, the microseconds that the clock on the wall shows.
    zone : str or None
        Of dates, the time zone of that clock; None for a date without one.
    whole : bool
        Whether numbers came as integers; gaps make them floats here.
    """

    family: Family
    values: NDArray[Any]
    gaps: NDArray[np.bool_]
    wall: NDArray[np.float64] | None = None
    zone: str | None = None
    whole: bool = False


def read_column(
    name: str, series: nw.Series[Any] | Column, family: Family, zone: str | None = None
) -> Column:
    """Read a column.

    Parameters
    ----------
    name : str
        The name of the column, for messages.
    series : narwhals.Series or Column
        The column, which may have been read already.
    family : str
        The family to read it as; a column of gaps alone can be read as any.
    zone : str or None, default=None
        Of dates with a time zone, the zone of the wall clock; None leaves them in their own.

    Returns
    -------
    Column
        The values.

    Raises
    ------
    InputTypeError
        If some dates have a time zone and some have none.

    Examples
    --------
    >>> import narwhals as nw
    >>> import polars as pl
    >>> series = nw.from_native(pl.Series([3, None, 5]), series_only=True)
    >>> read_column("age", series, "number").values
    array([ 3., nan,  5.])
    """
    if isinstance(series, Column):
        return _blank(family, len(series.gaps), zone) if series.gaps.all() else series
    if series.null_count() == len(series):
        return _blank(family, len(series), zone)
    if family == "date":
        return _read_dates(name, series, zone)
    values, gaps = _READERS[family](series)
    wall = values if family == "time" else None
    return Column(family, values, gaps, wall, whole=series.dtype.is_integer())


def _blank(family: Family, n_rows: int, zone: str | None) -> Column:
    gaps = np.ones(n_rows, dtype=np.bool_)
    if family == "category":
        return Column(family, np.full(n_rows, None, dtype=object), gaps)
    values = np.full(n_rows, np.nan)
    return Column(family, values, gaps, wall=values, zone=zone)


def _read_numbers(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    dtype = series.dtype
    if dtype.is_integer():
        return _read_integers(series)
    if dtype.is_float():
        values = series.to_numpy()
    elif dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        values = series.cast(nw.Float64).to_numpy()
    else:
        return _convert(series, float)
    return values, np.isnan(values)


def _read_integers(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    gaps = series.is_null().to_numpy()
    filled = series.fill_null(0) if gaps.any() else series
    if isinstance(series.dtype, (nw.Int128, nw.UInt128)):  # NumPy has no such integers
        values: NDArray[Any] = np.array(filled.to_list(), dtype=np.float64)
    else:
        values = filled.to_numpy()
    if gaps.any():
        values = np.where(gaps, np.nan, values.astype(np.float64))
    return values, gaps


def _convert(
    series: nw.Series[Any], number_of: Callable[[Any], float]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    gaps = series.is_null().to_numpy()
    values = [
        np.nan if gap else number_of(value)
        for value, gap in zip(series.to_list(), gaps, strict=True)
    ]
    numbers = np.array(values, dtype=np.float64)
    return numbers, np.isnan(numbers)


def _read_labels(series: nw.Series[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    gaps = series.is_null().to_numpy()
    values = series.to_list()
    labels: dict[Any, str | None] = {value: _label(value) for value in set(values)}
    out = np.empty(len(values), dtype=object)
    out[:] = [labels[value] for value in values]
    out[gaps] = None
    return out, gaps


def _label(value: Any) -> str | None:
    """Return one text for equal categories: 2 and 2.0 are the same level."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None if value is None else str(value)


def _read_durations(series: nw.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if not isinstance(series.dtype, nw.Duration):
        return _convert(series, lambda value: value / _MICROSECOND / MICROSECONDS_PER_DAY)
    gaps = series.is_null().to_numpy()
    microseconds = series.dt.total_microseconds().to_numpy().astype(np.float64)
    return np.where(gaps, np.nan, microseconds / MICROSECONDS_PER_DAY), gaps


def _read_times(series: nw.Series[Any]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return _convert(series, _microseconds_of_time)


def _microseconds_of_time(value: datetime.time) -> float:
    seconds = (value.hour * 60 + value.minute) * 60 + value.second
    return seconds * 1e6 + value.microsecond


def _read_dates(name: str, series: nw.Series[Any], zone: str | None) -> Column:
    dtype = series.dtype
    if not isinstance(dtype, (nw.Date, nw.Datetime)):
        return _read_date_objects(name, series, zone)
    own_zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    local = series
    if own_zone is not None:
        if zone is not None and zone != own_zone:
            series = series.dt.convert_time_zone(zone)
        local = _on_the_wall(series)
    gaps = series.is_null().to_numpy()
    return Column(
        "date",
        _microseconds(series, gaps),
        gaps,
        wall=_microseconds(local, gaps),
        zone=None if own_zone is None else zone or own_zone,
    )


def _on_the_wall(series: nw.Series[Any]) -> nw.Series[Any]:
    """Return what the clocks of a time zone show.

    Of Arrow types, pandas before version 3 gives the clocks of UTC; Arrow itself is asked.
    """
    if hasattr(getattr(series.to_native(), "dtype", None), "pyarrow_dtype"):
        series = nw.from_native(series.to_frame().to_arrow(), eager_only=True)[series.name]
    return series.dt.replace_time_zone(None)


def _microseconds(series: nw.Series[Any], gaps: NDArray[np.bool_]) -> NDArray[np.float64]:
    stamps = series.dt.timestamp("us").to_numpy().astype(np.float64)
    return np.where(gaps, np.nan, stamps)


def _read_date_objects(name: str, series: nw.Series[Any], zone: str | None) -> Column:
    gaps = series.is_null().to_numpy()
    dates = [None if gap else v for v, gap in zip(series.to_list(), gaps, strict=True)]
    return date_column(name, dates, zone)


def date_column(
    name: str, dates: Sequence[datetime.date | None], zone: str | None = None
) -> Column:
    """Return a column of dates.

    Parameters
    ----------
    name : str
        The name of the column, for messages.
    dates : sequence of date, datetime or None
        The values, None in gaps.
    zone : str or None, default=None
        Of dates with a time zone, the zone of the wall clock; None for UTC.

    Returns
    -------
    Column
        The values.

    Raises
    ------
    InputTypeError
        If some dates have a time zone and some have none.

    Examples
    --------
    >>> import datetime
    >>> date_column("born", [datetime.date(1970, 1, 2), None]).values
    array([8.64e+10,      nan])
    """
    gaps = np.array([date is None for date in dates], dtype=np.bool_)
    aware = {getattr(date, "tzinfo", None) is not None for date in dates if date is not None}
    if len(aware) > 1:
        raise InputTypeError(
            f"column {name!r} mixes dates with and without a time zone. Convert them to one zone."
        )
    if aware == {False}:
        wall = _since_epoch(dates)
        return Column("date", wall, gaps, wall=wall)
    clock = ZoneInfo(zone or "UTC")
    wall = _since_epoch([_moved(date, clock) for date in dates])
    instant = _since_epoch([_moved(date, datetime.UTC) for date in dates])
    return Column("date", instant, gaps, wall=wall, zone=zone or "UTC")


def _moved(date: datetime.date | None, zone: datetime.tzinfo) -> datetime.datetime | None:
    return date.astimezone(zone) if isinstance(date, datetime.datetime) else None


def _since_epoch(dates: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if d is None else _microseconds_of_date(d) for d in dates])


def _microseconds_of_date(value: datetime.date) -> float:
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return float((value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND)


_READERS: dict[Family, Callable[[nw.Series[Any]], tuple[NDArray[Any], NDArray[np.bool_]]]] = {
    "number": _read_numbers,
    "boolean": _read_numbers,
    "category": _read_labels,
    "duration": _read_durations,
    "time": _read_times,
}
