"""The results as a page with a plot of the growth curves."""

import importlib.util
import io
import json
from pathlib import Path
from typing import Any

from featuremask._files import write_atomically
from featuremask.benchmarking._results import Results
from featuremask.benchmarking._table import table

__all__ = ["write_results"]

_WORDS = ("exponent", "optimizer", "entry", "passes")


def write_results(results: Results, page: Path) -> list[Path]:
    """Write a page of Markdown, the numbers as JSON, and a plot where matplotlib is installed.

    Returns
    -------
    list of Path
        The files that were written.
    """
    picture = page.with_suffix(".png")
    curves = (results.rows, results.columns, results.density)
    plots = all(curves) and importlib.util.find_spec("matplotlib") is not None
    text = [
        "# How fast featuremask is",
        "Written by `featuremask bench speed`. All figures are of one run, variants taking turns; "
        "the best time of each counts. Read ratios, not seconds: they hold elsewhere too. The "
        "floor is the four matrix products of an epoch that the mask and its network cannot avoid. "
        f'The clock is "{results.machine["clock"]}"; "cpu" counts processor time and is what a '
        "machine that is busy otherwise can tell.",
        "Many fits have the shape of Isolet (1,248 x 617, mask and network of 128 units); those "
        "one by one are three, counted as many. Their products are those of all dense layers at "
        "the columns that are open: four at the first layers of mask and network, three at each "
        "later one.",
        f"```\n{table(results)}\n```",
    ]
    if plots:
        text.append(f"![Growth of time]({picture.name})")
        write_atomically(picture, _plot(results))
    numbers = page.with_suffix(".json")
    write_atomically(page, ("\n\n".join(text) + "\n").encode())
    write_atomically(numbers, (json.dumps(results.as_dict(), indent=1) + "\n").encode())
    return [page, numbers, *([picture] if plots else [])]


def _short(size: float) -> str:
    """Return a number of things in few characters, such as "300k"."""
    for unit, word in ((1e6, "M"), (1e3, "k")):
        if size >= unit:
            return f"{size / unit:.3g}{word}"
    return f"{size:g}"


def _plot(results: Results) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes: Any = figure.subplots(1, 3)
    for ax, title, label, curve in zip(
        axes,
        ("An epoch", "A step of 32 rows", "A step of 256 sparse rows"),
        ("rows", "columns", "stored entries"),
        (results.rows, results.columns, results.density),
        strict=True,
    ):
        points = {float(size): value for size, value in curve.items() if size not in _WORDS}
        ax.loglog(list(points), list(points.values()), "o-", color="#30507a")
        ax.set_xticks(list(points), map(_short, points))
        ax.set_yticks(list(points.values()), [f"{value:.2g}" for value in points.values()])
        ax.minorticks_off()
        power = curve.get("exponent")
        ax.set_title(title if power is None else f"{title}: power {power:.2f}", fontsize=10)
        ax.set_xlabel(label)
        ax.set_ylabel("seconds")
        ax.spines[["top", "right"]].set_visible(False)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    return buffer.getvalue()
