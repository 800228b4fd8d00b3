"""The importance of the best features as bars."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.plot._figures import BLUE, INK, LIGHT, NO_NAME
from featuremask.plot._rows import middles, named_rows

__all__ = ["ImportanceDisplay"]

_MOST_MEMBERS = 3


@dataclass(eq=False)
class ImportanceDisplay:
    """Bars of importance, the best feature on top; those that were chosen are dark.

    Parameters
    ----------
    names : list of str
        Best first. Columns of a group share one bar.
    shares : ndarray
        Their shares of the importance of all.
    chosen : ndarray of bool
        Which are selected.
    n_features : int
        How many there are in all.

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    names: list[str]
    shares: NDArray[np.float64]
    chosen: NDArray[np.bool_]
    n_features: int
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(cls, selector: Any, *, most: int = 20, ax: Any = None) -> Self:
        """Plot the importance of a fitted selector's best features.

        Parameters
        ----------
        selector : BaseSelector
            Fitted.
        most : int, default=20
            How many bars.
        ax : matplotlib Axes, optional
            Where to plot; a new figure if None.

        Returns
        -------
        ImportanceDisplay

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from featuremask import RandomSelector
        >>> from featuremask.plot import ImportanceDisplay
        >>> selector = RandomSelector(2, random_state=0).fit(*load_iris(return_X_y=True))
        >>> display = ImportanceDisplay.from_estimator(selector)
        >>> display.names, display.chosen.tolist()
        (['x3', 'x2', 'x0', 'x1'], [True, True, False, False])
        """
        table, places = selector.selection_table(), np.sort(selector.group_ranking_)
        first = np.flatnonzero(np.diff(places, prepend=0))
        members = np.split(np.arange(len(places)), first[1:])[:most]
        return cls(
            [_joined(table["column"][part].tolist()) for part in members],
            np.array([table["share"][part].sum() for part in members]),
            np.array([bool(table["selected"][part[0]]) for part in members]),
            int(places[-1]),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars; returns the display."""
        ax, edges = named_rows(ax, self.names)
        colors = [BLUE if chosen else LIGHT for chosen in self.chosen]
        bars = ax.barh(
            middles(edges), self.shares, height=0.68, color=colors, edgecolor=INK, lw=0.6
        )
        ax.bar_label(bars, [f"{share:.1%}" for share in self.shares], padding=4, fontsize=8)
        ax.set_xlim(0, max(1.15 * float(np.max(self.shares)), 1e-12))
        ax.set_xlabel("share of the importance (dark: selected)")
        ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
        if len(self.names) < self.n_features:
            ax.set_title(f"the best {len(self.names)} of {self.n_features:,}", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _joined(names: list[Any]) -> str:
    more = len(names) - _MOST_MEMBERS
    shown = [str(name).strip() or NO_NAME for name in names[:_MOST_MEMBERS]]
    return " + ".join(shown) + (f" + {more} more" if more > 0 else "")
