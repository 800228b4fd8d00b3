"""From files to rows for training and rows held out, and what is odd about the columns."""

import hashlib
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from featuremask.exceptions import FeatureMaskError, FeatureMaskWarning, InputError
from featuremask.files import Data, format_of, matching, read_files
from featuremask.tables import (
    Column,
    ColumnRecord,
    Hint,
    Table,
    TableEncoder,
    TableEncoding,
    duplicate_hints,
    fit_table,
    leakage_hints,
    row_number_hints,
    shift_hints,
)
from featuremask.workflow._progress import Progress
from featuremask.workflow._request import Request
from featuremask.workflow._split import split

__all__ = ["AUTO", "Prepared", "Side", "file_facts", "leaks", "prepare"]

AUTO = TableEncoder(missing="auto", categorical="auto", dates="auto")
"""How the command reads tables."""

_NAMED = 10


@dataclass(frozen=True, eq=False)
class Side:
    """The rows of one side of the split.

    Attributes
    ----------
    index : ndarray of int
        Their positions among all rows with a target.
    X : Table, ndarray or csr_array
        As the selector takes them.
    y : ndarray or None
        Their target.
    codes : ndarray or csr_array
        Their columns as numbers without gaps.
    """

    index: NDArray[np.intp]
    X: Any
    y: NDArray[Any] | None
    codes: Any


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a selection starts from.

    Attributes
    ----------
    request : Request
    files : tuple of Path
    names : tuple of str
        Columns that take part.
    column_of : ndarray of int
        The column of each code.
    gap_marks : ndarray of bool
        Which codes say no more than that a value is missing.
    train, test : Side
    left_out : tuple of ColumnRecord
        Columns that take no part.
    kinds : tuple of str
        Of the columns that take part.
    n_gaps : int
        Values that are missing in these.
    hints : tuple of Hint
    warnings : tuple of str
    """

    request: Request
    files: tuple[Path, ...]
    names: tuple[str, ...]
    column_of: NDArray[np.intp]
    gap_marks: NDArray[np.bool_]
    train: Side
    test: Side
    left_out: tuple[ColumnRecord, ...]
    kinds: tuple[str, ...]
    n_gaps: int
    hints: tuple[Hint, ...]
    warnings: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Rows of both sides."""
        return len(self.train.index) + len(self.test.index)

    def groups(self) -> dict[str, list[int]] | None:
        """Return the positions of the columns of each group that was asked for."""
        gone = {record.column for record in self.left_out}
        found = {
            label: self._places(columns, f"group {label!r}", gone)
            for label, columns in self.request.groups.items()
        }
        return {label: places for label, places in found.items() if places} or None

    def kept(self) -> list[int]:
        """Return the positions of the columns to keep."""
        for record in self.left_out:
            if record.column in self.request.keep:
                raise InputError(
                    f"the column {record.column!r} is to be kept, but is left out as "
                    f"{record.kind}: {record.reason}. Turn it into numbers or fewer levels, or do "
                    "not ask to keep it."
                )
        return self._places(self.request.keep, "keep", set())

    def _places(self, patterns: tuple[str, ...], what: str, gone: set[str]) -> list[int]:
        known = [*self.names, *sorted(gone)]
        names = [name for name in matching(patterns, known, what) if name not in gone]
        return [self.names.index(name) for name in names]


def prepare(request: Request, progress: Progress) -> Prepared:
    """Read the files, split the rows, and look at the columns.

    Parameters
    ----------
    request : Request
        What is asked for.
    progress : Progress
        Told what is done.

    Returns
    -------
    Prepared
        All that a selection needs.
    """
    files, _ = format_of(request.paths)
    progress.say(f"reading {files[0]}" + (f" and {len(files) - 1} more" if files[1:] else ""))
    data = read_files(request.paths, request.aside(), request.drop)
    notes: list[str] = []
    data, y = _with_target(data, request, notes)
    progress.say(f"looking at {data.n_rows:,} rows of {len(data.names):,} columns")
    look = _look(data, notes)
    data = data.without({record.column for record in look.left_out})
    train, test = split(data, y, request)
    whole = _encoding(data.take(train), notes)
    sides = [_side(data.take(rows), rows, y, whole) for rows in (train, test)]
    fill = _mean(sides[0].codes)
    return Prepared(
        request=request,
        files=tuple(files),
        names=data.names,
        column_of=np.arange(len(data.names)) if whole is None else whole.code_groups,
        gap_marks=np.zeros(len(data.names), dtype=bool) if whole is None else whole.gap_codes,
        train=_filled(sides[0], fill),
        test=_filled(sides[1], fill),
        left_out=look.left_out,
        kinds=look.kinds,
        n_gaps=_count_gaps(data),
        hints=look.hints + _shift(request, data, whole, notes),
        warnings=tuple(dict.fromkeys(notes)),
    )


def _with_target(
    data: Data, request: Request, notes: list[str]
) -> tuple[Data, NDArray[Any] | None]:
    if request.target is None:
        return data, None
    column = data.aside[request.target]
    if column.family not in ("number", "boolean", "category"):
        raise InputError(
            f"the target {request.target!r} must hold numbers, classes or text; got the family "
            f"{column.family!r}. Convert it, for example to a number of days."
        )
    known = np.flatnonzero(~column.gaps)
    if len(known) == 0:
        raise InputError(f"the target {request.target!r} has no value. Name another column.")
    if len(known) < data.n_rows:
        notes.append(
            f"{data.n_rows - len(known):,} of {data.n_rows:,} rows have no value of the target "
            f"{request.target!r} and are left out."
        )
        data = data.take(known)
    return data, _values(data.aside[request.target])


def _values(column: Column) -> NDArray[Any]:
    values = column.values
    return np.array(values.tolist()) if values.dtype == object else values


@dataclass(frozen=True)
class _Look:
    left_out: tuple[ColumnRecord, ...]
    kinds: tuple[str, ...]
    hints: tuple[Hint, ...]


def _look(data: Data, notes: list[str]) -> _Look:
    """Find columns to leave out, duplicates and row numbers, over all rows in their order."""
    encoding = _encoding(data, notes)
    if encoding is not None:
        codes, names, groups = encoding.encode(data.X), data.names, encoding.code_groups
    elif sparse.issparse(data.X):
        return _Look((), ("number",) * len(data.names), _without_constant((), data, notes))
    else:
        codes, names, groups = data.X, data.names, None
    hints = duplicate_hints(codes, names, groups) + row_number_hints(codes, names, groups)
    if encoding is None:
        hints = _without_constant(hints, data, notes)
        return _Look((), ("number",) * len(data.names), hints)
    return _Look(encoding.left_out, tuple(record.kind for record in encoding.kept), hints)


def _without_constant(hints: tuple[Hint, ...], data: Data, notes: list[str]) -> tuple[Hint, ...]:
    """Name the columns of a matrix that hold one value; that they are equal is no hint."""
    ends = [data.X.min(axis=0), data.X.max(axis=0)]
    low, high = (end.toarray().ravel() if sparse.issparse(end) else end for end in ends)
    same = np.flatnonzero(low == high).tolist()
    if not same:
        return hints
    constant = [data.names[place] for place in same]
    shown = ", ".join(map(repr, constant[:_NAMED])) + (" ..." if constant[_NAMED:] else "")
    notes.append(f"{len(constant)} columns hold one value and are ranked last: {shown}.")
    return tuple(hint for hint in hints if not set(hint.columns) <= set(constant))


def _encoding(data: Data, notes: list[str]) -> TableEncoding | None:
    """Learn how a table becomes numbers; what is warned of goes to the notes."""
    if not isinstance(data.X, Table):
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FeatureMaskWarning)
        encoding = fit_table(data.X, AUTO)
    notes += [str(warning.message) for warning in caught]
    return encoding


def _side(
    data: Data, rows: NDArray[np.intp], y: NDArray[Any] | None, encoding: TableEncoding | None
) -> Side:
    codes = data.X if encoding is None else encoding.encode(data.X)
    return Side(rows, data.X, None if y is None else y[rows], codes)


def _mean(codes: Any) -> NDArray[np.float64] | None:
    """Return the mean of each column of a dense matrix that has gaps."""
    if sparse.issparse(codes) or codes.dtype.kind != "f" or not np.isnan(codes).any():
        return None
    counts = np.maximum(np.count_nonzero(~np.isnan(codes), axis=0), 1)
    return np.asarray(np.nansum(codes, axis=0, dtype=np.float64) / counts)


def _filled(side: Side, fill: NDArray[np.float64] | None) -> Side:
    if fill is None and (sparse.issparse(side.codes) or side.codes.dtype.kind != "f"):
        return side
    gaps = np.isnan(side.codes.data if sparse.issparse(side.codes) else side.codes)
    if not gaps.any():
        return side
    means = np.zeros(side.codes.shape[1]) if fill is None else fill
    return replace(side, codes=np.where(gaps, means.astype(side.codes.dtype), side.codes))


def _count_gaps(data: Data) -> int:
    if isinstance(data.X, Table):
        return sum(int(np.count_nonzero(column.gaps)) for column in data.X.series)
    values = data.X.data if sparse.issparse(data.X) else data.X
    return int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0


def _shift(
    request: Request, data: Data, encoding: TableEncoding | None, notes: list[str]
) -> tuple[Hint, ...]:
    """Compare with the later rows that were named, as far as they can be compared."""
    if not request.test:
        return ()
    if sparse.issparse(data.X):
        notes.append("the test files are not compared: the rows are sparse.")
        return ()
    later = read_files(request.test)
    missing = [name for name in data.names if name not in later.names]
    if missing:
        raise InputError(
            f"the test files must have the columns of the others; {missing[0]!r} is missing."
        )
    gone = set(later.names) - set(data.names)
    later = later.without(gone)
    try:
        if encoding is None:
            return shift_hints(data.X, later.X, data.names)
        table = later.X
        assert isinstance(table, Table)
        codes, others = encoding.encode(data.X), encoding.encode(table.select(data.names))
    except FeatureMaskError as error:
        notes.append(f"the test files are not compared: {error}")
        return ()
    return shift_hints(codes, others, data.names, encoding.code_groups)


def leaks(prepared: Prepared, objective: str) -> tuple[Hint, ...]:
    """Return hints about columns that alone tell the target.

    Parameters
    ----------
    prepared : Prepared
        The rows; those of training are looked at.
    objective : str
        What the selector learned.

    Returns
    -------
    tuple of Hint
        None without a target, or for sparse rows.
    """
    side = prepared.train
    if side.y is None or sparse.issparse(side.codes):
        return ()
    task: Any = objective
    return leakage_hints(side.codes, prepared.names, side.y, task=task, groups=prepared.column_of)


def file_facts(path: Path) -> dict[str, Any]:
    """Return path, size and SHA-256 of a file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"path": str(path), "bytes": path.stat().st_size, "sha256": digest}
