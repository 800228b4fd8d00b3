"""Pictures for the report, with matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._files import write_atomically
from featuremask.plot._figures import as_png, new_figure

__all__ = ["Series", "critical_difference", "curves", "image_grid", "radars", "scatters"]

Series = Mapping[str, Sequence[float | None]]

_DPI = 110
_STYLES: dict[str, dict[str, Any]] = {
    "FM (paper)": {"color": "#0072b2", "lw": 2.4},
    "FM": {"color": "#56b4e9", "lw": 2.4},
    "RawF": {"color": "#000000", "lw": 1.2, "ls": "--"},
    "RSF": {"color": "#999999", "lw": 1.2, "ls": "--"},
    "AFS": {"color": "#e69f00"},
    "CancelOut": {"color": "#d55e00"},
    "BSF": {"color": "#009e73"},
    "DFS": {"color": "#cc79a7"},
    "FSDNN": {"color": "#8c6d31"},
    "ConAE": {"color": "#7b4fa3"},
}


def _save(figure: Any, path: Path) -> None:
    write_atomically(path, as_png(figure, _DPI))


def _plain(ax: Any) -> None:
    ax.set_xticks([])
    ax.set_yticks([])


def image_grid(
    path: Path,
    rows: Sequence[tuple[str, Sequence[tuple[str, NDArray[Any]]]]],
    *,
    dark: bool = True,
) -> None:
    """Draw rows of images, each row with a label, each image with a title, from 0 to its largest.

    Values that are NaN are left gray.
    """
    width = max(len(images) for _, images in rows)
    figure = new_figure(1.25 * width + 1.0, 1.45 * len(rows))
    axes = figure.subplots(len(rows), width, squeeze=False)
    for line, (label, images) in zip(axes, rows, strict=True):
        for ax in line:
            _plain(ax)
            ax.set_axis_off()
        for ax, (title, image) in zip(line, images, strict=False):
            ax.set_axis_on()
            ax.set_facecolor("#c9d8e8")
            ax.imshow(image, cmap="Greys" if dark else "Greys_r", vmin=0)
            ax.set_title(title, fontsize=9)
        line[0].set_ylabel(label, fontsize=9)
    _save(figure, path)


def scatters(
    path: Path,
    panels: Sequence[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]],
    columns: int = 5,
) -> None:
    """Draw clouds of points, each with title, x, y and classes."""
    n_rows = -(-len(panels) // columns)
    figure = new_figure(2.9 * columns, 3.0 * n_rows)
    axes = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for ax in axes:
        _plain(ax)
        ax.set_axis_off()
    for ax, (title, x, y, classes) in zip(axes, panels, strict=False):
        ax.set_axis_on()
        ax.scatter(x, y, c=classes, s=2.0, cmap="tab10", linewidths=0, rasterized=True)
        ax.set_title(title, fontsize=10)
    _save(figure, path)


def curves(
    path: Path,
    x: Sequence[float],
    series: Series,
    *,
    labels: tuple[str, str],
    deviations: Series | None = None,
    low: float | None = None,
) -> None:
    """Draw one line a series over a logarithmic axis; what is None is left out."""
    figure = new_figure(7.6, 4.6)
    ax = figure.subplots()
    for name, values in series.items():
        shown = [(a, b) for a, b in zip(x, values, strict=True) if b is not None]
        if not shown:
            continue
        style: dict[str, Any] = {"lw": 1.5, "marker": "o", "ms": 3.5, **_STYLES.get(name, {})}
        ax.plot([a for a, _ in shown], [b for _, b in shown], label=name, **style)
        band = None if deviations is None else deviations.get(name)
        if band is not None and all(d is not None for d in band) and len(shown) == len(x):
            mean, spread = np.asarray(values, float), np.asarray(band, float)
            ax.fill_between(x, mean - spread, mean + spread, color=style.get("color"), alpha=0.12)
    ax.set_xscale("log")
    ax.set_xticks(list(x), [f"{value:g}" for value in x], minor=False)
    ax.minorticks_off()
    ax.set_xlabel(labels[0])
    ax.set_ylabel(labels[1])
    if low is not None:
        ax.set_ylim(bottom=low)
    ax.grid(alpha=0.25)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize=8, ncols=2)
    _save(figure, path)


def radars(path: Path, spokes: Sequence[str], panels: Sequence[tuple[str, Series]]) -> None:
    """Draw one polygon a series over spokes, one panel a dataset; incomplete ones are left out."""
    figure = new_figure(3.5 * len(panels), 4.3)
    axes = figure.subplots(1, len(panels), squeeze=False, subplot_kw={"projection": "polar"})[0]
    angles = np.linspace(0, 2 * np.pi, len(spokes), endpoint=False)
    closed = np.append(angles, angles[0])
    handles: dict[str, Any] = {}
    for ax, (title, series) in zip(axes, panels, strict=True):
        lowest = 1.0
        for name, values in series.items():
            if any(value is None for value in values):
                continue
            around = np.asarray([*values, values[0]], float)
            lowest = min(lowest, float(around.min()))
            (handles[name],) = ax.plot(closed, around, **{"lw": 1.3, **_STYLES.get(name, {})})
        ax.set_xticks(angles, spokes, fontsize=9)
        ax.set_ylim(np.floor(lowest * 10) / 10 - 0.02, 1.0)
        ax.tick_params(axis="y", labelsize=7)
        ax.set_title(title, fontsize=11, pad=14)
    if handles:
        figure.legend(
            list(handles.values()),
            list(handles),
            loc="outside lower center",
            ncols=min(10, 3 * len(panels)),
            fontsize=9,
        )
    _save(figure, path)


def critical_difference(
    path: Path, ranks: Mapping[str, float], difference: float, groups: Sequence[tuple[float, float]]
) -> None:
    """Draw mean ranks on a line, best on the left, and bars over those that do not differ."""
    ordered = sorted(ranks.items(), key=lambda pair: pair[1])
    half = (len(ordered) + 1) // 2
    height = 1.6 + 0.24 * half + 0.16 * len(groups)
    figure = new_figure(9.0, height)
    ax = figure.subplots()
    low, high = 1.0, float(max(len(ordered), 2))
    base = -0.5 - 0.7 * len(groups)
    for value in range(1, int(high) + 1):
        ax.plot([value, value], [0.0, 0.25], color="black", lw=0.8)
        ax.text(value, 0.45, str(value), ha="center", va="bottom", fontsize=8)
    ax.plot([low, high], [0.0, 0.0], color="black", lw=1.0)
    for number, (start, stop) in enumerate(groups):
        y = -0.5 - 0.7 * number
        ax.plot([start - 0.05, stop + 0.05], [y, y], color="#d55e00", lw=3.0)
    for number, (name, rank) in enumerate(ordered):
        left = number < half
        y = base - 1.0 - (number if left else len(ordered) - 1 - number)
        side = low - 0.3 if left else high + 0.3
        style = {"color": "#0072b2", "lw": 1.4} if name.startswith("FM") else {"color": "#777777"}
        ax.plot([rank, rank, side], [0.0, y, y], **{"lw": 0.8, **style})
        ax.text(
            side + (-0.1 if left else 0.1),
            y,
            f"{name}  {rank:.2f}",
            ha="right" if left else "left",
            va="center",
            fontsize=9,
            color=style["color"] if name.startswith("FM") else "black",
        )
    ax.plot([low, low + difference], [1.9, 1.9], color="#d55e00", lw=3.0)
    ax.text(low, 2.2, f"critical difference {difference:.2f}", fontsize=8, va="bottom")
    width = high - low
    ax.set_xlim(low - 0.55 * width, high + 0.55 * width)
    ax.set_ylim(base - 1.5 - half, 3.4)
    ax.set_axis_off()
    _save(figure, path)
