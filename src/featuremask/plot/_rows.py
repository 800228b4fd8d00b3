"""Named rows along the vertical axis, the first on top."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.plot._figures import label, new_axes

__all__ = ["middles", "named_rows"]

_WIDTH = 7.0
_ROW, _MARGIN = 0.27, 1.0
_LINE = 0.62
_SIZE = 9


def named_rows(ax: Any, names: Sequence[object]) -> tuple[Any, NDArray[np.float64]]:
    """Return axes with one row a name, high enough for its lines, and where the rows meet.

    The rows lie between the edges that are returned; their middles are those of the names.
    """
    labels = [label(name) for name in names]
    heights = [max(1.0, _LINE * (text.count("\n") + 1)) for text in labels]
    edges = np.cumsum([0.0, *heights])
    ax = new_axes(ax, _WIDTH, _MARGIN + _ROW * edges[-1])
    ax.set_yticks(middles(edges), labels, parse_math=False, fontsize=_SIZE)
    ax.set_ylim(edges[-1] + 0.1, -0.1)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax, edges


def middles(edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middles of the rows between edges."""
    return (edges[1:] + edges[:-1]) / 2
