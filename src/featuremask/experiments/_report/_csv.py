"""The files of summaries."""

import csv
import io
from collections.abc import Iterable

from featuremask.experiments._report._cells import Cell
from featuremask.experiments._report._published import Published

__all__ = ["COLUMNS", "csv_of"]

COLUMNS = (
    "experiment",
    "dataset",
    "method",
    "classifier",
    "k",
    "objective",
    "n_seeds",
    "mean",
    "std",
    "paper_mean",
    "paper_std",
)


def csv_of(cells: Iterable[Cell], published: Published) -> str:
    """Return one line for each cell that has a result."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in cells:
        if cell.mean is not None:
            printed = published.of(cell)
            writer.writerow(
                [
                    cell.experiment,
                    cell.dataset.name,
                    cell.method.name,
                    cell.classifier,
                    cell.n_columns,
                    cell.objective,
                    len(cell.results),
                    f"{cell.mean:.6f}",
                    _number(cell.std, 6),
                    "" if printed is None else _number(printed.mean, 3),
                    "" if printed is None else _number(printed.std, 3),
                ]
            )
    return text.getvalue()


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
