"""Several methods on the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featuremask._files import write_atomically
from featuremask._words import METHODS
from featuremask.evaluation import jaccard
from featuremask.reporting import Curve, Point
from featuremask.workflow._fit import fit
from featuremask.workflow._judge import Judge, counts_to_try, measure_curve
from featuremask.workflow._prepare import prepare
from featuremask.workflow._progress import Progress, Silent
from featuremask.workflow._request import Request
from featuremask.workflow._write import as_csv, make_folder

__all__ = ["Comparison", "compare", "comparison_lines", "write_comparison"]


@dataclass(frozen=True)
class Comparison:
    """What one method chose, and what it is worth.

    Attributes
    ----------
    method : str
    k : int
        How many were chosen, groups counted as one.
    chosen : tuple of str
        Names of the chosen columns, best first.
    curve : Curve
    seconds : float
        Wall time of training.
    warnings : tuple of str
    """

    method: str
    k: int
    chosen: tuple[str, ...]
    curve: Curve
    seconds: float
    warnings: tuple[str, ...]


def compare(
    request: Request, methods: Sequence[str] = tuple(METHODS), progress: Progress | None = None
) -> list[Comparison]:
    """Select by several methods on the same rows and judge them on the same rows held out.

    Parameters
    ----------
    request : Request
        What is asked for; its method is not looked at.
    methods : sequence of str
        Keys of `METHODS`.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    list of Comparison
        One for each method, in order.
    """
    progress = progress or Silent()
    prepared = prepare(request, progress)
    found = []
    for method in methods:
        progress.say(f"training {METHODS[method]}")
        fitted = fit(prepared, method=method, verbose=progress.shows)
        selector = fitted.selector
        places = np.asarray(selector.group_ranking_)
        counts = counts_to_try(int(places.max()), fitted.k)
        judge = Judge(prepared, selector.objective_)
        curve = measure_curve(judge, places, counts, request.seed, progress)
        order = np.argsort(selector.ranking_)
        chosen = tuple(prepared.names[place] for place in order if selector.support_[place])
        found.append(Comparison(method, fitted.k, chosen, curve, fitted.seconds, fitted.warnings))
    return found


def comparison_lines(found: Sequence[Comparison]) -> list[str]:
    """Return a table: a line for each method, a column for each number of columns.

    The last columns are the share of chosen columns that a method has in common with the first
    one (of all that either chose), and the time of training.
    """
    first = found[0]
    counts = [point.k for point in first.curve.chosen]
    everything = first.curve.all_columns
    assert everything is not None
    lines = [
        f"{first.curve.score} by number of columns; {first.curve.how}; all {everything.k} columns: "
        f"{everything.mean:.3f}",
        f"{'':10}" + "".join(f"{k:>7}" for k in counts) + f"{'alike':>8}{'seconds':>9}",
    ]
    for one in found:
        alike = jaccard(*_numbered(first.chosen, one.chosen))
        cells = _cells(one.curve.chosen, counts)
        lines.append(f"{one.method:10}{cells}{alike:8.2f}{one.seconds:9.1f}")
    return [*lines, f"{'at random':10}{_cells(first.curve.random, counts)}".rstrip()]


def _cells(points: Sequence[Point], counts: Sequence[int]) -> str:
    scores = {point.k: point.mean for point in points}
    return "".join(f"{scores[k]:7.3f}" if k in scores else f"{'':7}" for k in counts)


def _numbered(one: Sequence[str], other: Sequence[str]) -> tuple[list[int], list[int]]:
    known = {name: i for i, name in enumerate(dict.fromkeys([*one, *other]))}
    return [known[name] for name in one], [known[name] for name in other]


def write_comparison(found: Sequence[Comparison], folder: Path) -> list[Path]:
    """Write a comparison to ``comparison.csv`` and ``comparison.txt``.

    Parameters
    ----------
    found : sequence of Comparison
        What `compare` returned.
    folder : Path
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        The files.
    """
    make_folder(folder)
    rows = [
        (one.method, p.k, p.mean, round(one.seconds, 3), "yes" if p.k == one.k else "no")
        for one in found
        for p in one.curve.chosen
    ]
    table, text = folder / "comparison.csv", folder / "comparison.txt"
    head = ("method", "k", found[0].curve.score, "seconds", "chosen_k")
    write_atomically(table, as_csv(head, rows))
    write_atomically(text, ("\n".join(comparison_lines(found)) + "\n").encode())
    return [table, text]
