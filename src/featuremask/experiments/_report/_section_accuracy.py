"""Sections 1, 2, 4 and 5: accuracies beside the paper's."""

from collections.abc import Iterator
from functools import partial

from featuremask.evaluation import CLASSIFIERS
from featuremask.experiments._report._cells import Grid, mean_of, std_of
from featuremask.experiments._report._drawing import Series, curves, radars
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import Block, Figure, Heading, Items, Table, Text
from featuremask.experiments._report._tables import beside_paper, difference, far, plain_table
from featuremask.experiments._spec import MethodSpec

__all__ = ["classifiers_section", "curve_section", "supervised_section", "unsupervised_section"]


def supervised_section(material: Material) -> Iterator[Block]:
    """Yield Table II, what differs, the chosen settings and the studies that belong to it."""
    yield Heading("1. Supervised, random forest")
    yield beside_paper(material, "table2")
    yield from _flagged(material, "table2")
    yield from _other_splits(material)
    yield from _chosen_settings(material)
    yield Heading("Epochs", 3)
    yield _variants(material, "epochs")
    yield _variants(material, "epochs-small")
    yield Heading("Scaling of PCMAC", 3)
    grid = material.grid("pcmac-scaling")
    datasets = grid.experiment.datasets
    yield plain_table(
        [(m.title, [grid.cell(d.name, m.name) for d in datasets]) for m in _methods(grid)],
        ["", *(d.title for d in datasets)],
        "The selectors see the scaled columns; so does the forest, to which scaling says nothing.",
    )


def unsupervised_section(material: Material) -> Iterator[Block]:
    """Yield Table III."""
    yield Heading("5. Unsupervised, random forest")
    yield Text("The settings are those of the supervised runs.")
    yield beside_paper(material, "table3")
    yield from _flagged(material, "table3")


def classifiers_section(material: Material) -> Iterator[Block]:
    """Yield the radar figure and its numbers."""
    grid = material.grid("classifiers")
    datasets, keys = grid.experiment.datasets, grid.experiment.classifiers
    yield Heading("2. Five classifiers")
    panels: list[tuple[str, Series]] = []
    for data in datasets:
        series = {}
        for method in grid.experiment.methods:
            cells = [grid.cell(data.name, method.name, classifier=key) for key in keys]
            series[method.title] = [mean_of(cell) for cell in cells]
        panels.append((data.title, series))
    yield Figure(
        "classifiers",
        "Accuracy of five classifiers on the selected features; methods whose five cells are not "
        "all there are left out.",
        partial(radars, spokes=[key.upper() for key in keys], panels=panels),
    )
    for data in datasets:
        rows = [
            (m.title, [grid.cell(data.name, m.name, classifier=key) for key in keys])
            for m in grid.experiment.methods
        ]
        yield plain_table(rows, ["", *(CLASSIFIERS[key].title for key in keys)], data.title)


def curve_section(material: Material) -> Iterator[Block]:
    """Yield accuracy by number of features."""
    grid = material.grid("k-curve")
    data, ks = grid.experiment.datasets[0], grid.experiment.ks
    yield Heading("4. Numbers of features")
    rows = [(m.title, [grid.cell(data.name, m.name, k=k) for k in ks]) for m in _methods(grid)]
    means = {title: [mean_of(cell) for cell in cells] for title, cells in rows}
    spreads = {title: [std_of(cell) for cell in cells] for title, cells in rows}
    yield Figure(
        "k-curve",
        f"Accuracy of a random forest by number of features, {data.title}; the band is one "
        "standard deviation over the seeds. ConAE is trained for each number.",
        partial(
            curves,
            x=ks,
            series=means,
            labels=("features", "accuracy"),
            deviations=spreads,
        ),
    )
    yield plain_table(rows, ["", *(f"k = {k}" for k in ks)])


def _other_splits(material: Material) -> Iterator[Block]:
    """Yield the means over splits that nothing was chosen on."""
    yield Heading("Other splits", 3)
    grid = material.grid("splits")
    goals = {"classification": "with the target", "reconstruction": "without"}
    sources = dict.fromkeys(data.source for data in grid.experiment.datasets)
    columns = [(source, goal) for goal in grid.experiment.objectives for source in sources]
    rows = []
    for method in _methods(grid):
        cells = [grid.pooled(source, method.name, objective=goal) for source, goal in columns]
        rows.append((method.title, cells))
    yield plain_table(
        rows,
        ["", *(f"{source}, {goals[goal]}" for source, goal in columns)],
        "Mean ± standard deviation over splits and seeds.",
    )


def _methods(grid: Grid) -> tuple[MethodSpec, ...]:
    return grid.experiment.methods


def _variants(material: Material, name: str) -> Table:
    grid = material.grid(name)
    datasets = grid.experiment.datasets
    return plain_table(
        [(m.title, [grid.cell(d.name, m.name) for d in datasets]) for m in _methods(grid)],
        ["", *(d.title for d in datasets)],
    )


def _flagged(material: Material, name: str) -> Iterator[Block]:
    """Yield the cells of reference methods that lie far below the paper's."""
    grid, found = material.grid(name), []
    for method in material.references(name):
        for data in grid.experiment.datasets:
            cell = grid.cell(data.name, method.name)
            if cell is not None and far(cell, material.published):
                gap = difference(cell, material.published)
                if gap is not None and gap < 0:
                    found.append(f"{method.title} on {data.title}: {gap:+.3f}")
    if found:
        yield Text(
            "More than two standard deviations below the paper's; no win of FM over these counts "
            "as a finding about the method:"
        )
        yield Items(tuple(found))


def _chosen_settings(material: Material) -> Iterator[Block]:
    """Yield what the search has found, with the accuracy on held-out rows."""
    yield Heading("Settings of the reference methods", 3)
    search = material.search
    if search is None or search.search is None:
        return
    part = search.search.hold_out
    yield Text(
        f"Searched for with up to {search.search.trials} trials for each method and dataset, on "
        f"{part.fraction:.0%} of the training rows (of at most {part.rows:,} rows) that were held "
        "out, by the accuracy of a random forest. The first trial is the method's own settings. "
        "FM is not tuned."
    )
    rows = []
    for method in search.methods:
        for data in search.datasets:
            trials = material.trials(method.name, data.name)
            if trials:
                fit, best = max(trials, key=lambda pair: pair[1])
                own = method.settings_on(data)
                found = {w: v for w, v in fit.run["settings"].items() if w not in own}
                words = ", ".join(f"{w} = {v}" for w, v in sorted(found.items())) or "its own"
                rows.append([method.title, data.title, str(len(trials)), f"{best:.3f}", words])
    head = ["", "dataset", "trials", "held-out accuracy", "settings"]
    yield Table(head, rows) if rows else Text("The search has not run.")
