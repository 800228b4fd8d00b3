"""Sections 7, 8 and 9: ablation, time, depth, initial weights, batch size."""

from collections.abc import Iterator
from functools import partial

from featuremask.experiments._report._cells import mean_of, std_of
from featuremask.experiments._report._drawing import curves
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import Block, Figure, Heading, Table, Text
from featuremask.experiments._report._tables import plain_table

__all__ = ["ablation_section", "sensitivity_section", "timing_section", "variant_of"]

_COMPLEXITY = (
    ("AFS", "O(BDE)", "O(NDE)"),
    ("ConAE", "O(BDK)", "O(DK)"),
    ("CancelOut", "O(BD)", "O(D)"),
    ("BSF", "O(BD)", "O(D)"),
    ("DFS", "O(BD)", "O(D)"),
    ("FSDNN", "none", "O(NDN1)"),
    ("FM", "O(BDE)", "O(NDE)"),
)


def variant_of(name: str) -> str:
    """Return what sets a variant apart, from its name."""
    return name.partition("/")[2]


def ablation_section(material: Material) -> Iterator[Block]:
    """Yield Table IV in both readings."""
    grid = material.grid("ablation")
    data = grid.experiment.datasets[0]
    yield Heading("7. Ablation")
    rows = []
    for method in grid.experiment.methods:
        cell = grid.cell(data.name, method.name)
        if cell is None:
            continue
        printed = material.published.of(cell)
        gap = "–" if printed is None or cell.mean is None else f"{cell.mean - printed.mean:+.3f}"
        paper = "–" if printed is None else printed.text
        rows.append([variant_of(method.name), cell.text, paper, gap])
    yield Table(
        ["", "ours", "the paper's", "difference"],
        rows,
        f"Table IV, {data.title}, random forest. BA: batch-wise attenuation. FMN: feature mask "
        "normalization. Without FMN the raw logits multiply the rows; the paper does not say "
        "whether it then ranks by the logits or by their magnitude.",
    )


def timing_section(material: Material) -> Iterator[Block]:
    """Yield complexities and measured times."""
    yield Heading("8. Time")
    yield Table(
        ["", "a step", "read-out"],
        _COMPLEXITY,
        "What selection adds to the learning network. B: rows of a batch, N: training rows, D: "
        "features, E: hidden units of the mask or attention, K: features to select, N1: units of "
        "the first layer.",
    )
    grid = material.grid("timing")
    methods = grid.experiment.methods
    sizes = list(dict.fromkeys(variant_of(m.name) for m in methods))
    families = list(dict.fromkeys(m.family for m in methods))
    times = times_of(material)
    rows = []
    for family in families:
        title = next(m.title for m in methods if m.family == family).partition(",")[0]
        seconds = [times.get((family, size)) for size in sizes]
        rows.append([title, *("not run" if s is None else f"{s:.0f} s" for s in seconds)])
    yield Table(
        ["", *(f"network of {size}" for size in sizes)],
        rows,
        f"Time of a fit of 100 epochs on {grid.experiment.datasets[0].title}, read-out included, "
        f"one run at a time, {grid.experiment.threads} thread.",
    )


def times_of(material: Material) -> dict[tuple[str, str], float]:
    """Return seconds by method and size of network."""
    times = {}
    for job in material.grid("timing").jobs:
        record = material.records.get(job.fit.key)
        if record is not None and record.ok:
            times[job.fit.method.family, variant_of(job.fit.method.name)] = record.seconds
    return times


def sensitivity_section(material: Material) -> Iterator[Block]:
    """Yield the studies of depth, initial weights and batch size."""
    yield Heading("9. Sensitivity")
    for name, printed in (
        ("depth", "The paper: 0.950 to 0.959."),
        ("init", "The paper: the standard deviation over the four is within 0.004."),
        ("batch-size", "The paper: 0.930 for 4 rows, 0.947 for 8, 0.951 to 0.956 for 16 to 1,024."),
    ):
        grid = material.grid(name)
        data = grid.experiment.datasets[0]
        yield Heading(grid.experiment.title, 3)
        yield Text(printed)
        yield plain_table(
            [(variant_of(m.name), [grid.cell(data.name, m.name)]) for m in grid.experiment.methods],
            ["", "accuracy"],
        )
    yield _batch_figure(material)


def _batch_figure(material: Material) -> Figure:
    grid = material.grid("batch-size")
    data = grid.experiment.datasets[0]
    cells = [grid.cell(data.name, m.name) for m in grid.experiment.methods]
    sizes = [int(variant_of(m.name).partition("=")[2]) for m in grid.experiment.methods]
    return Figure(
        "batch-size",
        f"Accuracy by batch size at a fixed number of updates, {data.title}.",
        partial(
            curves,
            x=sizes,
            series={"FM (paper)": [mean_of(cell) for cell in cells]},
            labels=("rows of a batch", "accuracy"),
            deviations={"FM (paper)": [std_of(cell) for cell in cells]},
        ),
    )
