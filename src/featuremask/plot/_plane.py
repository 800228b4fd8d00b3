"""Rows as points in the plane."""

import importlib.util
import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.plot._figures import INK, label, new_axes

__all__ = ["MapDisplay", "plane_model"]

_NEIGHBORS = 15
_MOST_CLASSES = 10
_COLORS = (
    ("#0b63a5", "o"),
    ("#e69f00", "^"),
    ("#1a1d21", "s"),
    ("#56b4e9", "D"),
    ("#d55e00", "v"),
    ("#009e73", "P"),
    ("#cc79a7", "X"),
    ("#8c6d31", "<"),
    ("#7b4fa3", ">"),
    ("#767d86", "*"),
)


def plane_model(seed: int, neighbors: int) -> tuple[str, Any]:
    """Return what puts rows into the plane, with its name: UMAP if it is installed, else PCA."""
    if importlib.util.find_spec("umap") is None:
        from sklearn.decomposition import PCA

        return "PCA", PCA(2, random_state=seed)
    with warnings.catch_warnings():  # it warns of a part that is not used here
        warnings.simplefilter("ignore", ImportWarning)
        from umap import UMAP
    return "UMAP", UMAP(n_neighbors=neighbors, random_state=seed, n_jobs=1)


@dataclass(eq=False)
class MapDisplay:
    """Rows in the plane, near each other if they are alike in the selected columns.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
    target : ndarray of shape (n_rows,) or None
        Classes (colors and shapes) or numbers (shades).
    by : str
        How they got into the plane: "UMAP" or "PCA".

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    points: NDArray[np.float64]
    target: NDArray[Any] | None
    by: str
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls, selector: Any, X: Any, y: Any = None, *, seed: int = 0, ax: Any = None
    ) -> Self:
        """Plot a sample of rows by the columns that a fitted selector chose.

        Parameters
        ----------
        selector : BaseSelector
            Fitted.
        X : array-like, sparse matrix or data frame
        y : array-like of shape (n_rows,), optional
            Classes or numbers.
        seed : int, default=0
        ax : matplotlib Axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from featuremask import RandomSelector
        >>> from featuremask.plot import MapDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> display = MapDisplay.from_estimator(RandomSelector(3, random_state=0).fit(X, y), X, y)
        >>> display.points.shape
        (150, 2)
        """
        from featuremask.selectors._sample import sample_rows

        rows = sample_rows(selector, X)
        chosen = rows.numbers[:, selector.support_[rows.column_of]].astype(np.float64)
        if chosen.shape[1] < 2:
            raise InputError(
                "A map needs at least two numbers in the selected columns; got "
                f"{chosen.shape[1]}. Raise n_features_to_select."
            )
        mean, spread = np.nanmean(chosen, axis=0), np.nanstd(chosen, axis=0)
        scaled = np.nan_to_num((chosen - mean) / np.where(spread > 0.0, spread, 1.0))
        name, model = plane_model(seed, min(_NEIGHBORS, len(scaled) - 1))
        target = None if y is None else np.asarray(y)[rows.index]
        return cls(np.asarray(model.fit_transform(scaled), float), target, name).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the points; returns the display."""
        ax = new_axes(ax, 6.4, 4.8)
        target = self.target
        if target is None:
            ax.scatter(*self.points.T, s=9, color=_COLORS[0][0], alpha=0.7, lw=0)
        elif len(np.unique(target)) <= _MOST_CLASSES:
            self._classes(ax, target)
        else:
            numbers = (
                target if target.dtype.kind in "iuf" else np.unique(target, return_inverse=True)[1]
            )
            shades = ax.scatter(*self.points.T, c=numbers, s=12, cmap="cividis", lw=0)
            ax.figure.colorbar(shades, ax=ax, shrink=0.8, label="target")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_title(f"{len(self.points):,} rows by the selected columns ({self.by})", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _classes(self, ax: Any, target: NDArray[Any]) -> None:
        for (color, marker), name in zip(_COLORS, np.unique(target).tolist(), strict=False):
            some = self.points[target == name]
            ax.scatter(
                *some.T,
                s=20,
                color=color,
                marker=marker,
                alpha=0.75,
                lw=0.3,
                ec=INK,
                label=label(name),
            )
        legend = ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        for text in legend.get_texts():
            text.set_parse_math(False)
