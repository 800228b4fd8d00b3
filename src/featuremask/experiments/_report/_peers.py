"""The page that sets methods beside each other: mean ranks, wins, times, all cells."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.evaluation import CLASSIFIERS
from featuremask.experiments._report._cells import Cell, Grid
from featuremask.experiments._report._drawing import critical_difference
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import Block, Figure, Heading, Items, Table, Text
from featuremask.experiments._report._tables import plain_table
from featuremask.experiments._spec import DatasetSpec, MethodSpec

__all__ = ["Field", "critical_width", "peers_page", "tied_groups"]

_GOALS = {"classification": "Supervised", "reconstruction": "Unsupervised"}
_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Field:
    """The accuracies of the methods that have begun, in the blocks that all of these have ended.

    Attributes
    ----------
    titles : tuple of str
        Methods.
    blocks : tuple of (DatasetSpec, int, str)
        Dataset, number of features, classifier.
    accuracies : ndarray of shape (n_blocks, n_methods)
        Minus infinity where a method ended without a result.
    planned : int
        Blocks there should be.
    absent : tuple of str
        Methods that have ended no run yet.
    """

    titles: tuple[str, ...]
    blocks: tuple[tuple[DatasetSpec, int, str], ...]
    accuracies: NDArray[np.float64]
    planned: int
    absent: tuple[str, ...] = ()

    @property
    def ranks(self) -> NDArray[np.float64]:
        """Ranks within the blocks, 1 the best; equal accuracies share the mean of theirs."""
        from scipy.stats import rankdata

        return np.asarray(rankdata(-self.accuracies, axis=1))

    def wins(self, k: int) -> NDArray[np.int64]:
        """Return how often each method is best, alone or with others, at a number of features."""
        rows = self.accuracies[[block[1] == k for block in self.blocks]]
        if len(rows) == 0:
            return np.zeros(len(self.titles), dtype=np.int64)
        return np.asarray((rows >= rows.max(axis=1, keepdims=True) - 1e-12).sum(axis=0))


def peers_page(material: Material) -> Iterator[Block]:
    """Yield the page: for each objective its ranks, then all cells."""
    yield Text(
        "Every number and picture here is computed from the records of single runs in the folder "
        "of results. All methods see the same split and the same classifiers; numbers are mean ± "
        "standard deviation over seeds of the accuracy on the test rows. Methods in which nothing "
        'is random run once. "not run" marks what has no record.'
    )
    for objective, title in _GOALS.items():
        grids = [g for g in material.grids if g.experiment.objectives[0] == objective]
        if grids:
            yield Heading(title)
            yield from _ranking(objective, title, grids)
            yield from _times(material, grids)
            for grid in grids:
                yield from _cells(grid, objective)
    yield from _caps(material)


def _ranking(objective: str, title: str, grids: Sequence[Grid]) -> Iterator[Block]:
    field = _field(objective, grids)
    if field.absent:
        yield Text(f"Not run yet, and without a rank: {', '.join(field.absent)}.")
    if len(field.blocks) == 0:
        yield Text("No block has been ended by all methods that have begun: there are no ranks.")
        return
    ranks = field.ranks.mean(axis=0)
    ks = sorted({block[1] for block in field.blocks})
    rows = []
    for i in np.argsort(ranks, kind="stable"):
        wins = [int(field.wins(k)[i]) for k in ks]
        rows.append([field.titles[i], f"{ranks[i]:.2f}", *map(str, wins), str(sum(wins))])
    counts = [sum(block[1] == k for block in field.blocks) for k in ks]
    head = [f"k = {k}, of {n}" for k, n in zip(ks, counts, strict=True)]
    yield Table(
        ["", "mean rank", *head, "all"],
        rows,
        f"Mean rank and wins, ties counted for each, over {len(field.blocks)} of {field.planned} "
        "blocks of dataset, number of features and classifier; a run that failed ranks last.",
    )
    width = critical_width(len(field.titles), len(field.blocks))
    named = dict(zip(field.titles, map(float, ranks), strict=True))
    yield Figure(
        f"ranks-{title.lower()}",
        f"{title}: mean ranks over {len(field.blocks)} blocks. Bars join methods that differ by "
        f"less than Nemenyi's critical difference at {_LEVEL:.0%}. Blocks of one dataset share "
        "rankings and rows and are not independent, so that the true one is larger.",
        partial(
            critical_difference,
            ranks=named,
            difference=width,
            groups=tied_groups(sorted(named.values()), width),
        ),
    )


def _field(objective: str, grids: Sequence[Grid]) -> Field:
    methods = _methods(grids)
    names = {m.name for m in methods}
    whole = [g for g in grids if names <= {m.name for m in g.experiment.methods}]
    blocks = {
        (data, k, classifier): grid
        for grid in whole
        for data in grid.experiment.datasets
        for k in grid.experiment.ks
        for classifier in grid.experiment.classifiers
    }
    rows = []
    for (data, k, classifier), grid in blocks.items():
        where: dict[str, Any] = {"classifier": classifier, "k": k, "objective": objective}
        rows.append([_accuracy(grid.cell(data.name, m.name, **where)) for m in methods])
    table = np.array(rows, dtype=np.float64).reshape(len(blocks), len(methods))
    begun: NDArray[np.bool_] = np.asarray(~np.isnan(table).all(axis=0))
    ended = np.asarray(~np.isnan(table[:, begun]).any(axis=1) & (table > 0.0).any(axis=1))
    return Field(
        tuple(m.title for m, there in zip(methods, begun, strict=True) if there),
        tuple(block for block, there in zip(blocks, ended, strict=True) if there),
        table[ended][:, begun],
        len(blocks),
        tuple(m.title for m, there in zip(methods, begun, strict=True) if not there),
    )


def _methods(grids: Sequence[Grid]) -> list[MethodSpec]:
    """Return the methods of selection; bounds take no part in ranks."""
    methods = {m.name: m for g in grids for m in g.experiment.methods if not m.all_features}
    return list(methods.values())


def _accuracy(cell: Cell | None) -> float:
    """Return the mean; minus infinity if all that ended failed; NaN if nothing has ended."""
    if cell is None or (not cell.results and not cell.failures):
        return math.nan
    return -math.inf if cell.mean is None else cell.mean


def critical_width(n_methods: int, n_blocks: int) -> float:
    """Return Nemenyi's critical difference of mean ranks.

    Examples
    --------
    >>> round(critical_width(5, 30), 3)
    1.114
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - _LEVEL, n_methods, np.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6.0 * n_blocks))


def tied_groups(ranks: Sequence[float], width: float) -> list[tuple[float, float]]:
    """Return the longest stretches of ascending ranks that are no wider than a difference.

    Examples
    --------
    >>> tied_groups([1.0, 1.5, 2.4, 4.0], 1.0)
    [(1.0, 1.5), (1.5, 2.4)]
    """
    groups: list[tuple[float, float]] = []
    for start in ranks:
        stop = max(rank for rank in ranks if rank <= start + width)
        if stop > start and (not groups or stop > groups[-1][1]):
            groups.append((start, stop))
    return groups


def _times(material: Material, grids: Sequence[Grid]) -> Iterator[Block]:
    """Yield the mean wall time of a fit."""
    seconds: dict[tuple[str, str], list[float]] = {}
    datasets = {d.name: d.title for g in grids for d in g.experiment.datasets}
    for grid in grids:
        for job in grid.jobs:
            record = material.records.get(job.fit.key)
            if record is not None and record.ok:
                place = (job.fit.method.name, job.fit.dataset.name)
                seconds.setdefault(place, []).append(record.seconds)
    rows = []
    for method in _methods(grids):
        spans = [seconds.get((method.name, data)) for data in datasets]
        rows.append([method.title, *("not run" if s is None else _span(s) for s in spans)])
    yield Table(
        ["", *datasets.values()],
        rows,
        "Wall time of a fit, the mean over all fits, loading not counted; methods that are "
        "trained for a number of features need one for each.",
    )


def _span(seconds: Sequence[float]) -> str:
    mean = sum(seconds) / len(seconds)
    return f"{mean:.0f} s" if mean >= 10.0 else f"{mean:.1f} s"


def _cells(grid: Grid, objective: str) -> Iterator[Block]:
    """Yield accuracies by dataset: methods by numbers of features, one table a classifier."""
    experiment = grid.experiment
    for data in experiment.datasets:
        yield Heading(data.title, 3)
        for classifier in experiment.classifiers:
            where: dict[str, Any] = {"classifier": classifier, "objective": objective}
            rows = [
                (m.title, [grid.cell(data.name, m.name, k=k, **where) for k in experiment.ks])
                for m in experiment.methods
            ]
            head = ["", *(f"k = {k}" for k in experiment.ks)]
            yield plain_table(rows, head, CLASSIFIERS[classifier].title)


def _caps(material: Material) -> Iterator[Block]:
    """Yield what limits the methods run under."""
    yield Heading("Limits")
    specs = {m.name: m for g in material.grids for m in g.experiment.methods}
    capped = [
        f"{m.title}: at most {m.settings['rows']:,} training rows, drawn by class"
        for m in specs.values()
        if "rows" in m.settings
    ]
    limits = sorted({g.experiment.time_limit for g in material.grids})
    hours = ", ".join(f"{limit / 60:.0f}" for limit in limits)
    yield Items((*capped, f"A fit or a measure is given up after {hours} minutes."))
