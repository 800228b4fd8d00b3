"""A result in files, each written whole or not at all."""

import csv
import io
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from featuremask._files import sole_writer, write_atomically
from featuremask.exceptions import FileFormatError, InputError
from featuremask.files import Picks, format_of, reduce_files
from featuremask.reporting import Summary, summarize, write_report
from featuremask.training import launched_rank
from featuremask.workflow._interrupted import SelectionInterrupted
from featuremask.workflow._progress import Progress
from featuremask.workflow._request import Request
from featuremask.workflow._result import RankedColumn, Result
from featuremask.workflow._select import select

__all__ = [
    "SELECTOR",
    "as_csv",
    "make_folder",
    "read_run",
    "result_as_dict",
    "select_to_folder",
    "spreadsheet_safe",
    "write_result",
]

SELECTOR = "selector.fm"
_RUN = "run.json"
_PARTIAL = "partial.json"
_PARTIAL_RANKING = "partial-ranking.csv"
_FORMAT = "featuremask-run"
_VERSION = 1
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0")


def select_to_folder(
    request: Request, folder: Path, progress: Progress | None = None
) -> tuple[Result, list[Path]]:
    """Select columns and write the result to a folder, which is made first.

    Of several processes that a launcher has started the first one writes; the others are silent.

    Parameters
    ----------
    request : Request
        What is asked for.
    folder : Path
        Where to write.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    result : Result
        The selection.
    written : list of Path
        See `write_result`; none where another process writes.

    Raises
    ------
    SelectionInterrupted
        If it is interrupted once training has begun. The folder then has the ranking by then in
        ``partial-ranking.csv``, and how far it was in ``partial.json``; other files there are left
        alone.
    """
    if launched_rank() > 0:
        return select(request), []
    make_folder(folder)
    try:
        result = select(request, progress)
    except SelectionInterrupted as stop:
        stop.where = str(_write_partial(request, stop, folder))
        raise
    written = write_result(result, folder)
    for name in (_PARTIAL_RANKING, _PARTIAL):
        (folder / name).unlink(missing_ok=True)  # of an earlier run that was interrupted
    return result, written


def write_result(result: Result, folder: Path) -> list[Path]:
    """Write a result to a folder; other files there are left alone.

    Of two processes that write to one folder the second waits, so that its files are of one result.

    Parameters
    ----------
    result : Result
        What `select` returned.
    folder : Path
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        ``selected.csv``, ``ranking.csv``, the reduced table (``reduced`` with the ending of what
        was read: the chosen columns and the target), ``selector.fm``, ``report.html`` and
        ``run.json``, which is written last.
    """
    make_folder(folder)
    with sole_writer(folder):
        return _written(result, folder)


def _written(result: Result, folder: Path) -> list[Path]:
    _, kind = format_of(result.request.paths)
    written = {
        "selected": folder / "selected.csv",
        "ranking": folder / "ranking.csv",
        "reduced": folder / f"reduced{kind.ending}",
        "selector": folder / SELECTOR,
        "report": folder / "report.html",
        "run": folder / _RUN,
    }
    write_atomically(written["selected"], as_csv(_HEAD, map(_row, result.chosen)))
    rows = ((*_row(c), "yes" if c.selected else "no", c.note) for c in result.columns)
    write_atomically(written["ranking"], as_csv((*_HEAD, "selected", "note"), rows))
    reduce_files(result.request.paths, written["reduced"], _picks(result))
    result.selector.save(written["selector"])
    write_report(_summary(result), written["report"])
    run = result_as_dict(result) | {"files": {k: path.name for k, path in written.items()}}
    write_atomically(written["run"], json.dumps(run, indent=1).encode())
    return list(written.values())


def _write_partial(request: Request, stop: SelectionInterrupted, folder: Path) -> Path:
    """Write what is left of a selection under names of its own, and return where the ranking is."""
    path = folder / _PARTIAL_RANKING
    write_atomically(path, as_csv(("rank", "column", "score", "share"), stop.columns))
    said = {
        "partial": True,
        "stage": stop.stage,
        "training_done": round(stop.progress, 4),
        "command": request.command(),
        "settings": request.to_dict(),
    }
    write_atomically(folder / _PARTIAL, json.dumps(said, indent=1).encode())
    return path


def make_folder(folder: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(
            f"{str(folder)!r} is to be a folder, and is or lies below a file. Name another one."
        ) from error


_HEAD = ("rank", "column", "score", "share", "stability")


def _row(column: RankedColumn) -> tuple[Any, ...]:
    numbers = (column.score, column.share, column.stability)
    return (column.rank, column.name, *("" if value is None else value for value in numbers))


def as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    r"""Return a table that a spreadsheet shows and never executes.

    Examples
    --------
    >>> as_csv(["column"], [["=1+1"], ["a,b"]])
    b'column\n\'=1+1\n"a,b"\n'
    """
    safe = (
        [spreadsheet_safe(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return "".join(map(_csv_line, (head, *safe))).encode()


def _csv_line(cells: Sequence[Any]) -> str:
    """Return a line; both characters that may end one are quoted in a cell."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def spreadsheet_safe(name: str) -> str:
    """Return a name with a ``'`` before what a spreadsheet would take for a formula.

    Examples
    --------
    >>> spreadsheet_safe("=HYPERLINK(1)"), spreadsheet_safe("age")
    ("'=HYPERLINK(1)", 'age')
    """
    return f"'{name}" if name.startswith(_FORMULA) else name


def _summary(result: Result) -> Summary:
    """Return what the report says."""
    with warnings.catch_warnings():
        # A matrix has no names; those of its columns are with the selector.
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        summary = summarize(
            result.selector,
            result.X,
            result.y,
            curve=result.curve,
            stability=_stability(result),
            hints=result.hints,
            warnings=result.warnings,
            repeat=[result.request.command()],
            title=", ".join(Path(path).name for path in result.request.paths),
        )
    left_out = tuple((record.column, record.reason) for record in result.data.left_out)
    data = replace(summary.data, left_out=left_out, n_held_out=result.data.n_test)
    return replace(summary, data=data)


def _stability(result: Result) -> list[float] | None:
    """Return the stability of the columns that took part, in the order of the data."""
    names = result.selector._names().tolist()
    known = {column.name: column.stability for column in result.columns}
    values = [known[name] for name in names]
    found = [value for value in values if value is not None]
    return found if len(found) == len(names) else None


def _picks(result: Result) -> Picks:
    names = tuple(column.name for column in result.chosen)
    also = () if result.request.target is None else (result.request.target,)
    return Picks((), result.data.n_columns, names, also)


def result_as_dict(result: Result) -> dict[str, Any]:
    """Return all of a result but the selector as plain values, fit for JSON."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "command": result.request.command(),
        "settings": result.request.to_dict(),
        "headline": result.headline(),
        "objective": result.objective,
        "k": result.k,
        "selected": [column.name for column in result.chosen],
        "curve": asdict(result.curve),
        "hints": [asdict(hint) for hint in result.hints],
        "warnings": list(result.warnings),
        "data": asdict(result.data),
        "versions": result.versions,
        "seconds": result.seconds,
    }


def read_run(folder: Path) -> tuple[Request, dict[str, str]]:
    """Return what was asked for in the run whose results are in a folder, and of which files.

    Parameters
    ----------
    folder : Path
        As `write_result` wrote it.

    Returns
    -------
    request : Request
        The same request.
    sums : dict of str
        The SHA-256 of each file that was read, by its path.
    """
    path = folder / _RUN
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {str(path)!r}. Name the folder that `featuremask select` wrote."
        )
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        known = values["format"] == _FORMAT and values["version"] <= _VERSION
        settings = values["settings"]
        sums = {str(file["path"]): str(file["sha256"]) for file in values["data"]["files"]}
    except (ValueError, TypeError, KeyError) as error:
        raise FileFormatError(f"{str(path)!r} is no record of a run: {error!r}.") from error
    if not known:
        raise FileFormatError(
            f"{str(path)!r} is of format {values['format']!r} and version {values['version']!r}; "
            f"{_FORMAT!r} up to {_VERSION} is expected. Upgrade featuremask to read it."
        )
    return Request.from_dict(settings), sums
