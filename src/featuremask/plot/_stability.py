"""Which features are chosen again and again."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.evaluation import nogueira
from featuremask.exceptions import InputError
from featuremask.plot._figures import BLUE, INK
from featuremask.plot._rows import middles, named_rows

__all__ = ["StabilityDisplay"]


@dataclass(eq=False)
class StabilityDisplay:
    """A map of repeated selections: a feature a row, a selection a column, dark where chosen.

    Parameters
    ----------
    names : sequence of str
    supports : ndarray of bool, shape (n_selections, n_features)
    most : int, default=30
        Rows that are shown: the features that were chosen most often.

    Attributes
    ----------
    stability : float or None
        The index of Nogueira, Sechidis and Brown; None where all or nothing is selected.
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    names: Sequence[str]
    supports: NDArray[np.bool_]
    most: int = 30
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @property
    def stability(self) -> float | None:
        """How far the selections agree: 1 if they are equal, 0 by chance."""
        return None if self.supports.mean() in (0.0, 1.0) else nogueira(self.supports)

    @classmethod
    def from_supports(
        cls,
        supports: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        most: int = 30,
        ax: Any = None,
    ) -> Self:
        """Plot selections that are given as rows of booleans.

        Examples
        --------
        >>> from featuremask.plot import StabilityDisplay
        >>> display = StabilityDisplay.from_supports([[1, 1, 0], [1, 0, 1]], ["a", "b", "c"])
        >>> round(display.stability, 2)
        -0.5
        """
        chosen = np.asarray(supports, dtype=bool)
        if chosen.ndim != 2 or len(chosen) < 2:
            raise InputError(f"supports has two or more rows; got an array of {chosen.shape=}.")
        given = [f"x{i}" for i in range(chosen.shape[1])] if names is None else list(names)
        if len(given) != chosen.shape[1]:
            raise InputError(
                f"names has one name for each of the {chosen.shape[1]} features; got {len(given)}."
            )
        return cls(given, chosen, most).plot(ax=ax)

    @classmethod
    def from_estimator(cls, selection: Any, *, most: int = 30, ax: Any = None) -> Self:
        """Plot what the fits of a fitted `StabilitySelection` took."""
        names = getattr(selection, "feature_names_in_", None)
        return cls.from_supports(selection.supports_, names, most=most, ax=ax)

    @classmethod
    def from_estimators(cls, selectors: Sequence[Any], *, most: int = 30, ax: Any = None) -> Self:
        """Plot what selectors chose that were fitted to the same columns, say with other seeds."""
        supports = np.array([selector.support_ for selector in selectors])
        names = selectors[0].selection_table()["column"][selectors[0].ranking_ - 1]
        return cls.from_supports(supports, names.tolist(), most=most, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map; returns the display."""
        often = self.supports.mean(axis=0)
        order = np.argsort(-often, kind="stable")[: self.most]
        order = order[often[order] > 0.0] if often.any() else order
        ax, edges = named_rows(ax, [self.names[i] for i in order])
        n = len(self.supports)
        ax.pcolormesh(
            np.arange(n + 1) + 0.5,
            edges,
            self.supports[:, order].T,
            cmap=_two_shades(),
            vmin=0,
            vmax=1,
            edgecolors="white",
            linewidth=0.8,
        )
        for place, share in zip(middles(edges), often[order], strict=True):
            ax.text(n + 0.7, place, f"{share:.0%}", va="center", fontsize=8, color=INK)
        ax.set_xlim(0.5, n + 0.5)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("selection (dark: chosen; right: how often)")
        if self.stability is not None:
            ax.set_title(f"stability {self.stability:.2f}", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _two_shades() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap(["#eef1f4", BLUE])
