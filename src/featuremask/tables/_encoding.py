"""A fitted encoding: a table in, an array of numbers out."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FileFormatError, InputTypeError
from featuremask.tables._codes import Codes, codes_from_dict, codes_to_dict
from featuremask.tables._column import Column, read_column
from featuremask.tables._encoder import TableEncoder
from featuremask.tables._family import ACCEPTED, family_of
from featuremask.tables._frame import OpenFrame, check_same_names, open_frame
from featuremask.tables._problems import ProblemCounter
from featuremask.tables._records import ColumnRecord, Family, Kind
from featuremask.tables._wording import listed

__all__ = ["FittedColumn", "TableEncoding"]


@dataclass(frozen=True)
class FittedColumn:
    """What was learned about one column.

    Parameters
    ----------
    record : ColumnRecord
        What it is and why it was kept or left out.
    family : str
        What its values are.
    codes : NumberCodes, CategoryCodes, DateCodes or None
        Its codes, None if it was left out.
    zone : str or None, default=None
        Of dates with a time zone, the zone of the clock that day of year, day of week and time of
        day are read from.
    """

    record: ColumnRecord
    family: Family
    codes: Codes | None
    zone: str | None = None


@dataclass(frozen=True)
class TableEncoding:
    """How the columns of one table become numbers, as learned by `fit_table`.

    Parameters
    ----------
    encoder : TableEncoder
        The options of the fit.
    columns : tuple of FittedColumn
        All columns of the table, in order.
    dtype : {"float32", "float64"}
        The type of the numbers.

    See Also
    --------
    fit_table : Learns an encoding.

    Examples
    --------
    >>> import polars as pl
    >>> from featuremask.tables import TableEncoder, fit_table
    >>> frame = pl.DataFrame({"age": [31, 44, 25], "city": ["Rome", "Oslo", "Rome"]})
    >>> encoding = fit_table(frame, TableEncoder(categorical="auto"))
    >>> encoding.encode(frame)
    array([[31.,  0.,  1.],
           [44.,  1.,  0.],
           [25.,  0.,  1.]], dtype=float32)
    >>> encoding.code_names
    ('age', 'city=Oslo', 'city=Rome')
    >>> encoding.code_groups
    array([0, 1, 1])
    """

    FORMAT: ClassVar[str] = "featuremask-table-encoding"
    VERSION: ClassVar[int] = 1

    encoder: TableEncoder
    columns: tuple[FittedColumn, ...]
    dtype: Literal["float32", "float64"]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of all columns of the table, in order."""
        return tuple(column.record.column for column in self.columns)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What each column of the table is, in order."""
        return tuple(column.record.kind for column in self.columns)

    @property
    def kept(self) -> tuple[ColumnRecord, ...]:
        """The columns that have codes."""
        return tuple(c.record for c in self.columns if c.codes is not None)

    @property
    def left_out(self) -> tuple[ColumnRecord, ...]:
        """The columns that have none, and why."""
        return tuple(c.record for c in self.columns if c.codes is None)

    @cached_property
    def code_names(self) -> tuple[str, ...]:
        """A name for each code, to be read; names may repeat if the columns' names are odd."""
        names: list[str] = []
        for column in self.columns:
            if column.codes is not None:
                names += column.codes.labels(column.record.column)
        return tuple(names)

    @cached_property
    def code_groups(self) -> NDArray[np.intp]:
        """For each code, the position in the table of the column it belongs to."""
        groups = np.repeat(np.arange(len(self.columns), dtype=np.intp), self._widths)
        groups.flags.writeable = False
        return groups

    @cached_property
    def gap_codes(self) -> NDArray[np.bool_]:
        """For each code, whether all it says is that the value is missing."""
        marks = np.zeros(self.n_codes, dtype=bool)
        ends = np.cumsum(self._widths)
        flagged = [c.codes is not None and c.codes.flag_gaps for c in self.columns]
        marks[ends[flagged] - 1] = True
        marks.flags.writeable = False
        return marks

    @property
    def n_codes(self) -> int:
        """The number of codes, the width of the encoded array."""
        return sum(self._widths)

    @property
    def is_one_to_one(self) -> bool:
        """Whether every column has exactly one code, its own number (0 or 1 for a boolean)."""
        return all(
            column.family in ("number", "boolean") and width == 1
            for column, width in zip(self.columns, self._widths, strict=True)
        )

    @property
    def _widths(self) -> list[int]:
        return [0 if c.codes is None else c.codes.width for c in self.columns]

    def encode(self, frame: object) -> NDArray[np.floating[Any]]:
        """Return the numbers of a table.

        Each row's numbers depend on that row and on the fit alone. Columns that were left out
        must be there, but their values are not looked at.

        Parameters
        ----------
        frame : data frame of shape (n_rows, n_columns)
            A pandas, polars or Arrow table with the columns of the fitted one, in order. It may
            come from another library than the fitted one.

        Returns
        -------
        ndarray of shape (n_rows, n_codes)
            The codes, in float32 or float64 as `dtype` says.

        Raises
        ------
        InputTypeError
            If it is no data frame, or a column now holds values of another family.
        InputError
            If columns are missing, extra or in another order, or values are missing without
            ``missing="auto"``, infinite, or beyond the range of `dtype`.
        """
        table = open_frame(frame)
        check_same_names(self.column_names, table.names)
        out = np.zeros((table.n_rows, self.n_codes), dtype=self.dtype)
        problems = ProblemCounter(narrow=self.dtype == "float32")
        start = 0
        for place, width in enumerate(self._widths):
            fitted = self.columns[place]
            if fitted.codes is None:
                continue
            column = self._read(table, place)
            problems.add(fitted.record.column, column)
            with np.errstate(over="ignore"):  # counted as a problem, with the column's name
                fitted.codes.write(column, out[:, start : start + width])
            start += width
        problems.report().raise_if_any(allow_missing=self.encoder.missing == "auto")
        return out

    def _read(self, table: OpenFrame, place: int) -> Column:
        fitted, series = self.columns[place], table.series[place]
        name, family = fitted.record.column, family_of(series)
        if family not in ACCEPTED[fitted.family]:
            raise InputTypeError(
                f"column {name!r} held values of the family {fitted.family!r} in fit, got "
                f"{family!r} ({getattr(series, 'dtype', 'read from a file')}). Convert it to what "
                "it was."
            )
        column = read_column(name, series, fitted.family, fitted.zone)
        if column.zone != fitted.zone:
            raise InputTypeError(
                f"column {name!r} had {_zone(fitted.zone)} in fit, got {_zone(column.zone)}. "
                "Convert it to what it was."
            )
        return column

    def to_dict(self) -> dict[str, Any]:
        """Return the encoding as plain values, fit for JSON.

        Returns
        -------
        dict
            What `from_dict` reads.

        Examples
        --------
        >>> import polars as pl
        >>> from featuremask.tables import fit_table
        >>> encoding = fit_table(pl.DataFrame({"age": [31, 44]}))
        >>> TableEncoding.from_dict(encoding.to_dict()) == encoding
        True
        """
        columns = [
            {
                **asdict(column.record),
                "family": column.family,
                "codes": None if column.codes is None else codes_to_dict(column.codes),
                "zone": column.zone,
            }
            for column in self.columns
        ]
        return {
            "format": self.FORMAT,
            "version": self.VERSION,
            "encoder": asdict(self.encoder),
            "dtype": self.dtype,
            "columns": columns,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "TableEncoding":
        """Read what `to_dict` returned.

        Parameters
        ----------
        values : mapping
            Plain values.

        Returns
        -------
        TableEncoding
            An encoding equal to the one that was written.

        Raises
        ------
        FileFormatError
            If the values are not those of an encoding, or of a version that cannot be read.
        """
        if values.get("format") != cls.FORMAT or values.get("version") != cls.VERSION:
            raise FileFormatError(
                f"a table encoding of format {cls.FORMAT!r} and version {cls.VERSION} is "
                f"expected, got {values.get('format')!r} and {values.get('version')!r}. Fit it "
                "again, or read it with the version of featuremask that wrote it."
            )
        try:
            columns = tuple(_column_from_dict(entry) for entry in values["columns"])
            dtype = _member(values["dtype"], ("float32", "float64"))
            return cls(TableEncoder(**values["encoder"]), columns, dtype)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"the table encoding is damaged: {type(error).__name__}: {error}. Fit it again."
            ) from error


def _column_from_dict(entry: Mapping[str, Any]) -> FittedColumn:
    rest = dict(entry)
    codes, zone = rest.pop("codes"), rest.pop("zone")
    family = _member(rest.pop("family"), get_args(Family))
    record = ColumnRecord(**rest)
    _member(record.kind, get_args(Kind))
    return FittedColumn(record, family, None if codes is None else codes_from_dict(codes), zone)


def _member(value: Any, allowed: tuple[str, ...]) -> Any:
    if value not in allowed:
        raise ValueError(f"{value!r} is none of {listed([repr(item) for item in allowed])}")
    return value


def _zone(zone: str | None) -> str:
    return "no time zone" if zone is None else f"the time zone {zone!r}"
