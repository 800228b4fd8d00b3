"""Feature scores and rows as small pictures side by side, with matplotlib or without."""

import html
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._files import write_atomically
from featuremask.plot._figures import ORANGE, as_png, new_figure

__all__ = ["Picture", "draw_pictures", "write_pictures"]

_CELL = 22
_GAP = 34


@dataclass(frozen=True)
class Picture:
    """A grid of numbers that is shown in shades of gray.

    Attributes
    ----------
    title : str
    values : ndarray of shape (height, width)
        The largest is the darkest.
    marked : ndarray of bool, shape (height, width), optional
        Cells that get a frame.
    """

    title: str
    values: NDArray[Any]
    marked: NDArray[np.bool_] | None = None


def write_pictures(stem: Path, pictures: list[Picture]) -> Path:
    """Write pictures side by side: a PNG where matplotlib is installed, else an SVG.

    Parameters
    ----------
    stem : Path
        Where to write, without the ending.
    pictures : list of Picture

    Returns
    -------
    Path
        The file that was written.
    """
    if importlib.util.find_spec("matplotlib") is None:
        path = stem.with_suffix(".svg")
        write_atomically(path, _svg(pictures).encode())
    else:
        path = stem.with_suffix(".png")
        write_atomically(path, _png(pictures))
    return path


def _shade(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the values scaled to 0 (white) to 1 (black)."""
    low, high = float(np.min(values)), float(np.max(values))
    return np.asarray((values - low) / (high - low) if high > low else np.zeros(values.shape))


def draw_pictures(axes: Sequence[Any], pictures: Sequence[Picture]) -> None:
    """Draw pictures into axes of matplotlib, one into each."""
    from matplotlib.patches import Rectangle

    for ax, picture in zip(axes, pictures, strict=True):
        ax.imshow(_shade(picture.values), cmap="Greys", vmin=0, vmax=1)
        ax.set_title(picture.title, parse_math=False, fontsize=11)
        ax.set_xticks([])
        ax.set_yticks([])
        if picture.marked is not None:
            for row, column in np.argwhere(picture.marked):
                corner = (column - 0.45, row - 0.45)
                ax.add_patch(Rectangle(corner, 0.9, 0.9, fill=False, ec=ORANGE, lw=2))


def _png(pictures: list[Picture]) -> bytes:
    figure = new_figure(3.4 * len(pictures), 3.7)
    draw_pictures(figure.subplots(1, len(pictures), squeeze=False)[0], pictures)
    return as_png(figure, dpi=120)


def _svg(pictures: list[Picture]) -> str:
    width = sum(p.values.shape[1] * _CELL + _GAP for p in pictures) + _GAP
    height = max(p.values.shape[0] for p in pictures) * _CELL + 2 * _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    left = _GAP
    for picture in pictures:
        parts.extend(_svg_picture(picture, left))
        left += picture.values.shape[1] * _CELL + _GAP
    return "\n".join([*parts, "</svg>\n"])


def _svg_picture(picture: Picture, left: int) -> list[str]:
    parts = [f'<text x="{left}" y="{_GAP - 10}">{html.escape(picture.title)}</text>']
    for (row, column), shade in np.ndenumerate(_shade(picture.values)):
        gray = round(255 * (1.0 - shade))
        marked = picture.marked is not None and picture.marked[row, column]
        stroke = f' stroke="{ORANGE}" stroke-width="2"' if marked else ""
        parts.append(
            f'<rect x="{left + column * _CELL + 1}" y="{_GAP + row * _CELL + 1}" '
            f'width="{_CELL - 2}" height="{_CELL - 2}" fill="rgb({gray},{gray},{gray})"{stroke}/>'
        )
    return parts
