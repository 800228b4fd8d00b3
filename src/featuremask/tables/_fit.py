"""Learning how the columns of a table become numbers."""

import warnings
from collections.abc import Sequence

from featuremask.exceptions import FeatureMaskWarning, InputError, InputTypeError
from featuremask.tables._codes import fit_codes
from featuremask.tables._column import Column, read_column
from featuremask.tables._encoder import TableEncoder
from featuremask.tables._encoding import FittedColumn, TableEncoding
from featuremask.tables._family import family_of
from featuremask.tables._frame import OpenFrame, check_usable, open_frame
from featuremask.tables._problems import ProblemCounter
from featuremask.tables._records import ColumnRecord, Family, Kind
from featuremask.tables._rules import needs_float64, why_left_out
from featuremask.tables._wording import listed, plural

__all__ = ["fit_table"]

_KINDS: dict[Family, Kind] = {
    "number": "number",
    "boolean": "boolean",
    "category": "category",
    "date": "date",
    "time": "date",
    "duration": "duration",
}

_NAMED = 100
"""How many columns of one kind the warning about columns left out names."""


def fit_table(frame: object, encoder: TableEncoder | None = None) -> TableEncoding:
    """Learn how the columns of a table become numbers.

    Parameters
    ----------
    frame : data frame of shape (n_rows, n_columns)
        A pandas, polars or Arrow table, or a `Table`.
    encoder : TableEncoder or None, default=None
        The options; None takes their defaults.

    Returns
    -------
    TableEncoding
        The encoding. Its numbers are float32 if that does for all columns; float64 if some column
        holds integers beyond 2**24, numbers beyond the range of float32, or numbers that rounding
        to float32 could move by more than a thousandth of their standard deviation.

    Raises
    ------
    InputTypeError
        If it is no data frame; if columns hold strings, categories, dates or durations and the
        option for them is "error"; if columns hold lists, structures, bytes, complex numbers or
        mixed objects.
    InputError
        If there are no rows or columns, no column is left, values are infinite, or values are
        missing and ``missing="error"``.

    Warns
    -----
    FeatureMaskWarning
        If columns were left out; it names them.

    See Also
    --------
    TableEncoder : The options and the rules by which columns are left out.

    Examples
    --------
    >>> import datetime
    >>> import polars as pl
    >>> frame = pl.DataFrame({"age": [31, None, 25], "color": ["red", "red", None]})
    >>> encoding = fit_table(frame, TableEncoder(missing="auto", categorical="auto"))
    >>> encoding.code_names
    ('age', 'age: missing', 'color=red', 'color: missing')
    >>> encoding.encode(frame)
    array([[31.,  0.,  1.,  0.],
           [28.,  1.,  1.,  0.],
           [25.,  0.,  0.,  1.]], dtype=float32)
    """
    encoder = encoder or TableEncoder()
    table = open_frame(frame)
    _check_size(table)
    families = [family_of(series) for series in table.series]
    _check_families(table, families, encoder)
    problems = ProblemCounter()
    columns: list[FittedColumn] = []
    wide = False
    for place, (name, family) in enumerate(zip(table.names, families, strict=True)):
        column = read_column(name, table.series[place], family)
        problems.add(name, column)
        columns.append(_fit_column(place, name, column, encoder))
        codes = columns[-1].codes
        wide = wide or (
            codes is not None and needs_float64(codes.numbers(column), whole=column.whole)
        )
    problems.report().raise_if_any(allow_missing=encoder.missing == "auto")
    encoding = TableEncoding(encoder, tuple(columns), "float64" if wide else "float32")
    _report_left_out(encoding)
    return encoding


def _check_size(table: OpenFrame) -> None:
    for what, size in (("sample", table.n_rows), ("feature", len(table.names))):
        if size == 0:
            shape = (table.n_rows, len(table.names))
            raise InputError(
                f"Found array with 0 {what}(s) ({shape=}) while a minimum of 1 is required. "
                "Pass a table with rows and columns."
            )


def _check_families(table: OpenFrame, families: Sequence[Family], encoder: TableEncoder) -> None:
    check_usable(table, families)
    categories = table.holding(families, "category")
    if encoder.categorical == "error" and categories:
        raise InputTypeError(
            "with categorical='error' columns must hold numbers, got strings, categories or "
            f"objects in {listed(categories)}. Set categorical='auto' to encode them, or encode "
            "or drop them."
        )
    dates = table.holding(families, "date", "time", "duration")
    if encoder.dates == "error" and dates:
        raise InputTypeError(
            "with dates='error' columns must hold numbers, got dates, times or durations in "
            f"{listed(dates)}. Set dates='auto' to encode their parts, or encode or drop them."
        )


def _fit_column(place: int, name: str, column: Column, encoder: TableEncoder) -> FittedColumn:
    judged = encoder.categorical == "auto" or column.family not in ("number", "boolean")
    no_value = bool(column.gaps.all())
    verdict = why_left_out(name, column) if judged or no_value else None
    if verdict is not None:
        return FittedColumn(ColumnRecord(name, place, *verdict), column.family, None)
    codes = fit_codes(column, fill_gaps=encoder.missing == "auto")
    record = ColumnRecord(name, place, _KINDS[column.family], plural(codes.width, "code"))
    return FittedColumn(record, column.family, codes, column.zone)


def _report_left_out(encoding: TableEncoding) -> None:
    records = encoding.left_out
    if not records:
        return
    kinds = sorted({record.kind for record in records})
    parts = [
        f"{kind}: "
        + listed([f"{r.column!r} ({r.reason})" for r in records if r.kind == kind], _NAMED)
        for kind in kinds
    ]
    message = f"{len(records)} of {plural(len(encoding.columns), 'column')} left out; " + "; ".join(
        parts
    )
    if len(records) == len(encoding.columns):
        raise InputError(f"no column is left to select from: {message}. Pass other columns.")
    warnings.warn(
        f"{message}. Drop them to silence this warning, or turn them into numbers or into fewer "
        "levels to use them.",
        FeatureMaskWarning,
        stacklevel=3,
    )
