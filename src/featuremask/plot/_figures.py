"""Figures and axes that all pictures share: their making, their colors, their labels."""

import importlib.util
import io
import textwrap
from typing import Any

import numpy as np

from featuremask.exceptions import InputError, MissingExtraError

__all__ = [
    "BLUE",
    "GRAY",
    "INK",
    "LIGHT",
    "NO_NAME",
    "ORANGE",
    "as_png",
    "label",
    "new_axes",
    "new_figure",
]

BLUE, ORANGE, INK, GRAY, LIGHT = "#0b63a5", "#d55e00", "#1a1d21", "#767d86", "#c3c9d0"
"""Told apart by their lightness where there is no color."""

NO_NAME = "(no name)"
_LINE = 34


def new_figure(width: float, height: float) -> Any:
    """Return a figure that is known to nobody else, in inches."""
    _check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def as_png(figure: Any, dpi: int) -> bytes:
    """Return a figure as the content of a file, the same for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def new_axes(ax: Any, width: float, height: float, columns: int = 1) -> Any:
    """Return the axes that were passed, or those of a new figure of pyplot, side by side."""
    if ax is None:
        _check_matplotlib()
        import matplotlib.pyplot as plt

        return plt.subplots(1, columns, figsize=(width, height), layout="constrained")[1]
    if np.size(ax) != columns:
        raise InputError(f"ax must be {columns} matplotlib Axes; got {np.size(ax)}.")
    return ax


def _check_matplotlib() -> None:
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError(
            "Pictures need matplotlib; install it with pip install 'featuremask[plot]'."
        )


def label(name: object) -> str:
    r"""Return a name to show: whole, in lines, without what moves the text around it.

    Examples
    --------
    >>> label("a" * 40), label("two\nlines"), label("")
    ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\naaaaaa', 'two·lines', '(no name)')
    """
    shown = "".join(letter if letter.isprintable() else "·" for letter in str(name))
    return "\n".join(textwrap.wrap(shown, _LINE)) or NO_NAME
