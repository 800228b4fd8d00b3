"""The codes of a column of dates or times of the day."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featuremask.tables._column import MICROSECONDS_PER_DAY, Column
from featuremask.tables._number_codes import mean_of

__all__ = ["CYCLES", "DateCodes"]

_THURSDAY = 3  # the day of the week of 1970-01-01, counted from Monday


def _part_of_year(wall: NDArray[np.float64]) -> NDArray[np.float64]:
    days = wall.astype("datetime64[us]").astype("datetime64[D]")
    years = days.astype("datetime64[Y]")
    start, end = years.astype("datetime64[D]"), (years + 1).astype("datetime64[D]")
    return np.asarray((days - start) / (end - start), dtype=np.float64)


def _part_of_week(wall: NDArray[np.float64]) -> NDArray[np.float64]:
    days = np.floor(wall / MICROSECONDS_PER_DAY)
    return np.asarray(np.mod(days + _THURSDAY, 7) / 7)


def _part_of_day(wall: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.mod(wall, MICROSECONDS_PER_DAY) / MICROSECONDS_PER_DAY)


CYCLES: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "day of year": _part_of_year,
    "day of week": _part_of_week,
    "time of day": _part_of_day,
}
"""What repeats, and where in it a moment lies, from 0 to less than 1."""


@dataclass(frozen=True)
class DateCodes:
    """The days since an origin, and sine and cosine of what repeats.

    Parameters
    ----------
    origin : float
        The moment from which days are counted, in microseconds since 1970 UTC.
    cycles : tuple of str, default=()
        Which cycles have a sine and a cosine, keys of `CYCLES`.
    fill : float or None, default=None
        The days that stand in a gap, whose sines and cosines are 0; None leaves NaN.
    flag_gaps : bool, default=False
        Whether a last code is 1 in gaps and 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> day = 86_400e6
    >>> moments = np.array([0.0, 7 * day])
    >>> column = Column("date", moments, np.zeros(2, dtype=bool), wall=moments)
    >>> codes = DateCodes.fit(column, fill_gaps=False)
    >>> codes.labels("bought")
    ['bought: days', 'bought: day of year (sin)', 'bought: day of year (cos)']
    """

    type: ClassVar[str] = "date"

    origin: float
    cycles: tuple[str, ...] = ()
    fill: float | None = None
    flag_gaps: bool = False

    @classmethod
    def fit(cls, column: Column, *, fill_gaps: bool) -> "DateCodes":
        """Learn the origin and which cycles vary.

        Parameters
        ----------
        column : Column
            The training values.
        fill_gaps : bool
            Whether gaps are filled, and flagged if the training values have any.

        Returns
        -------
        DateCodes
            The codes. The origin is the earliest date; midnight for times of the day, which have
            only the cycle of the day.
        """
        present = column.values[~column.gaps]
        wall = column.wall if column.wall is not None else column.values
        names = ("time of day",) if column.family == "time" else tuple(CYCLES)
        cycles = tuple(n for n in names if _varies(CYCLES[n](wall[~column.gaps])))
        origin = 0.0 if column.family == "time" else float(present.min())
        if not fill_gaps:
            return cls(origin, cycles)
        fill = mean_of((column.values - origin) / MICROSECONDS_PER_DAY)
        return cls(origin, cycles, fill, bool(column.gaps.any()))

    @property
    def width(self) -> int:
        """How many codes the column has."""
        return 1 + 2 * len(self.cycles) + self.flag_gaps

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
        names = [f"{name}: days"]
        for cycle in self.cycles:
            names += [f"{name}: {cycle} (sin)", f"{name}: {cycle} (cos)"]
        return [*names, f"{name}: missing"] if self.flag_gaps else names

    def write(self, column: Column, out: NDArray[Any]) -> None:
        """Write the codes of some rows.

        Parameters
        ----------
        column : Column
            The rows' values.
        out : ndarray of shape (n_rows, width)
            Where to write; zeros at first.
        """
        out[:, 0] = self.numbers(column)
        wall = column.wall if column.wall is not None else column.values
        wall = np.where(column.gaps, 0.0, wall)
        for place, cycle in enumerate(self.cycles):
            angle = 2 * np.pi * CYCLES[cycle](wall)
            out[:, 1 + 2 * place] = np.where(column.gaps, 0.0, np.sin(angle))
            out[:, 2 + 2 * place] = np.where(column.gaps, 0.0, np.cos(angle))
        if self.fill is not None:
            out[column.gaps, 0] = self.fill
        if self.flag_gaps:
            out[:, -1] = column.gaps

    def numbers(self, column: Column) -> NDArray[np.float64]:
        """Return the code that is a number of any size: the days since the origin.

        Parameters
        ----------
        column : Column
            The values.

        Returns
        -------
        ndarray of shape (n_rows,)
            Days, NaN in gaps.
        """
        return np.asarray((column.values - self.origin) / MICROSECONDS_PER_DAY)

    def to_dict(self) -> dict[str, Any]:
        """Return the codes as plain values.

        Returns
        -------
        dict
            Without the type.
        """
        return {
            "origin": self.origin,
            "cycles": list(self.cycles),
            "fill": self.fill,
            "flag_gaps": self.flag_gaps,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "DateCodes":
        """Read what `to_dict` returned.

        Parameters
        ----------
        values : mapping
            The plain values.

        Returns
        -------
        DateCodes
            The codes.
        """
        cycles = tuple(values["cycles"])
        if unknown := set(cycles) - set(CYCLES):
            raise ValueError(f"unknown cycles {sorted(unknown)}")
        fill = values["fill"]
        return cls(
            float(values["origin"]),
            cycles,
            None if fill is None else float(fill),
            bool(values["flag_gaps"]),
        )


def _varies(parts: NDArray[np.float64]) -> bool:
    return bool(np.any(parts != parts[0]))
