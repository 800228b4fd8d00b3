"""CSV files, read by Python's own reader: columns get types by rules, cells are copied as they are.

A file is read twice, so that its text is never held as a whole: once to see of which type each
column is, once for its values.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from featuremask.exceptions import FileFormatError
from featuremask.files._cells import Cells, Guess
from featuremask.files._data import Data, Picks, matching, picked_places
from featuremask.files._paths import suffix_of
from featuremask.tables import Table

__all__ = ["read_csv", "reduce_csv"]

_DELIMITERS = ",;\t|"
_ROWS_AT_ONCE = 10_000
Row = list[str]


def read_csv(paths: Sequence[Path], aside: Sequence[str], drop: Sequence[str]) -> Data:
    """Read the rows of CSV files.

    Parameters
    ----------
    paths : sequence of Path
        Files with the same header.
    aside : sequence of str
        Columns that are no features.
    drop : sequence of str
        Columns, or patterns of columns, that are not read.

    Returns
    -------
    Data
        A table and what was put aside.
    """
    header = _same_header(paths)
    dropped = matching(drop, header, "drop")
    places = [place for place, name in enumerate(header) if name not in dropped]
    guesses = [Guess() for _ in places]
    n_rows = 0
    for chunk in _chunks(paths, header):
        n_rows += len(chunk)
        for guess, cells in zip(guesses, _columns(chunk, places), strict=True):
            guess.look_at(cells)
    if n_rows == 0:
        raise FileFormatError(f"{paths[0]} has a header and no rows; a table needs rows.")
    readers = [Cells(header[p], g) for p, g in zip(places, guesses, strict=True)]
    for chunk in _chunks(paths, header):
        for reader, cells in zip(readers, _columns(chunk, places), strict=True):
            reader.add(cells)
    names = tuple(header[place] for place in places)
    table = Table(names, tuple(reader.column() for reader in readers), n_rows)
    matching(aside, names, "the choice of target or split")
    rest = table.drop(aside)
    return Data(rest, rest.names, {name: table[name] for name in aside})


def reduce_csv(paths: Sequence[Path], out: BinaryIO, picks: Picks) -> int:
    """Copy some columns, cell by cell as they are.

    Parameters
    ----------
    paths : sequence of Path
        Files with the same header.
    out : binary file
        Where to write.
    picks : Picks
        The columns to write.

    Returns
    -------
    int
        The number of rows.
    """
    header = _same_header(paths)
    places = picked_places(picks, header, paths[0])
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=_delimiter(paths[0]), lineterminator="\n")
    writer.writerow([header[place] for place in places])
    n_rows = 0
    for chunk in _chunks(paths, header):
        n_rows += len(chunk)
        writer.writerows([row[place] for place in places] for row in chunk)
    text.detach()
    return n_rows


def _columns(chunk: list[Row], places: list[int]) -> Iterable[Sequence[str]]:
    columns = list(zip(*chunk, strict=True))
    return [columns[place] for place in places]


def _same_header(paths: Sequence[Path]) -> list[str]:
    first = _header(paths[0])
    for path in paths[1:]:
        if _header(path) != first:
            raise FileFormatError(
                f"{path} must have the same columns in the same order as {paths[0]}; its header "
                "differs."
            )
    twice = sorted({name for name in first if first.count(name) > 1})
    if twice:
        raise FileFormatError(f"{paths[0]} has several columns called {twice}; rename them.")
    return first


def _header(path: Path) -> list[str]:
    found = next(_rows(path), None)
    if found is None:
        raise FileFormatError(f"{path} is empty; a CSV file begins with the names of its columns.")
    return found


def _chunks(paths: Sequence[Path], header: list[str]) -> Iterator[list[Row]]:
    """Yield rows in portions, each row checked to have a cell for each column."""
    for path in paths:
        rows = _rows(path)
        next(rows)
        n_done = 0
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            for place, row in enumerate(chunk):
                if len(row) != len(header):
                    raise FileFormatError(
                        f"{path}: row {n_done + place + 1} below the header has {len(row)} cells, "
                        f"the header has {len(header)}. Quote cells that hold the delimiter."
                    )
            n_done += len(chunk)
            yield chunk


def _rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file that are not blank."""
    delimiter = _delimiter(path)
    with _open(path) as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            yield from (row for row in reader if row)
        except csv.Error as error:
            raise FileFormatError(
                f"{path}, line {reader.line_num} cannot be read as CSV: {error}."
            ) from error
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{path} must be text in UTF-8 ({error}); save it so.") from error
        except (OSError, EOFError) as error:
            raise FileFormatError(f"{path} cannot be read: {error}.") from error


def _open(path: Path) -> TextIO:
    opened: Callable[..., Any] = gzip.open if suffix_of(path).endswith(".gz") else open
    text: TextIO = opened(path, "rt", encoding="utf-8-sig", newline="")
    return text


def _delimiter(path: Path) -> str:
    """Return the delimiter that splits the first line into most cells."""
    try:
        with _open(path) as text:
            line = text.readline()
    except (UnicodeDecodeError, OSError, EOFError):
        return ","  # told, with its reason, when rows are read
    counts = [len(next(csv.reader([line], delimiter=sign), [])) for sign in _DELIMITERS]
    return _DELIMITERS[int(np.argmax(counts))]
