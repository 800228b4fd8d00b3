"""The kinds of files, by the endings of their names."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from featuremask._files import open_atomically
from featuremask.exceptions import InputError
from featuremask.files._archives import read_mat, read_npz, reduce_mat, reduce_npz
from featuremask.files._arrow import read_feather, read_parquet, reduce_feather, reduce_parquet
from featuremask.files._csv import read_csv, reduce_csv
from featuremask.files._data import Data, Picks
from featuremask.files._h5ad import read_h5ad, reduce_h5ad
from featuremask.files._paths import find_files, suffix_of

__all__ = ["FORMATS", "Format", "format_of", "read_files", "reduce_files"]


@dataclass(frozen=True)
class Format:
    """How files of one kind are read and written.

    Attributes
    ----------
    ending : str
        Of files that are written.
    read : callable
        From files, columns to put aside and columns to drop to `Data`.
    reduce : callable
        Writes some columns of files to another, and returns the number of rows.
    """

    ending: str
    read: Callable[[Sequence[Path], Sequence[str], Sequence[str]], Data]
    reduce: Callable[[Sequence[Path], BinaryIO, Picks], int]


_CSV = Format(".csv", read_csv, reduce_csv)
_FEATHER = Format(".feather", read_feather, reduce_feather)

FORMATS: dict[str, Format] = {
    ".csv": _CSV,
    ".csv.gz": _CSV,
    ".tsv": _CSV,
    ".parquet": Format(".parquet", read_parquet, reduce_parquet),
    ".feather": _FEATHER,
    ".arrow": _FEATHER,
    ".npz": Format(".npz", read_npz, reduce_npz),
    ".mat": Format(".mat", read_mat, reduce_mat),
    ".h5ad": Format(".h5ad", read_h5ad, reduce_h5ad),
}
"""By the ending of a file's name."""


def format_of(paths: Iterable[str | Path]) -> tuple[list[Path], Format]:
    """Return the files that paths stand for, and how they are read and written.

    Parameters
    ----------
    paths : iterable of path
        Files, folders or patterns, all of one kind.

    Returns
    -------
    files : list of Path
        In order.
    kind : Format
        By the ending of their names.
    """
    files = find_files(paths, FORMATS)
    return files, FORMATS[suffix_of(files[0])]


def read_files(
    paths: Iterable[str | Path], aside: Sequence[str] = (), drop: Sequence[str] = ()
) -> Data:
    """Read rows from one or more files of one kind.

    CSV (with ``.csv.gz`` and ``.tsv``) and NPZ need no extra; Parquet and Feather need pyarrow,
    h5ad needs h5py.
    The cells of a CSV file are numbers, dates of ISO 8601, true and false, or text; a column has
    the narrowest type that fits all of its cells, gaps aside. An archive or a MATLAB file has an
    array "X" of rows and columns, and vectors of the same rows.

    Parameters
    ----------
    paths : iterable of path
        Files, folders or patterns; the rows of all files follow each other.
    aside : sequence of str
        Columns that are no features, such as the target.
    drop : sequence of str
        Columns, or patterns of columns, that are left out.

    Returns
    -------
    Data
        The rows.
    """
    files, kind = format_of(paths)
    return kind.read(files, tuple(dict.fromkeys(aside)), drop)


def reduce_files(paths: Iterable[str | Path], out: Path, picks: Picks) -> int:
    """Copy some columns of files to another of the same kind, whole or not at all.

    CSV, Parquet and Feather files stream through memory in portions; their cells and types stay
    as they are.

    Parameters
    ----------
    paths : iterable of path
        Files, folders or patterns.
    out : Path
        Where to write.
    picks : Picks
        The columns to write.

    Returns
    -------
    int
        The number of rows.
    """
    files, kind = format_of(paths)
    if FORMATS.get(suffix_of(out)) is not kind or suffix_of(out).endswith(".gz"):
        raise InputError(
            f"the file to write must be of the kind that is read, {kind.ending}; got {out.name!r}."
        )
    with open_atomically(out) as stream:
        return kind.reduce(files, stream, picks)
