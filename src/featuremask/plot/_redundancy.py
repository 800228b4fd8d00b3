"""Which of the selected columns say the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.evaluation import alike, like_order
from featuremask.plot._figures import label, new_axes

__all__ = ["RedundancyDisplay"]

_CELL, _LINE, _MARGIN = 0.26, 0.17, 2.6
_WRITTEN = 15


@dataclass(eq=False)
class RedundancyDisplay:
    """The magnitude of correlation of each two selected columns; those alike stand together.

    Parameters
    ----------
    names : sequence of str
    similarity : ndarray of shape (n, n)
        From 0 (white) to 1 (black).

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    names: Sequence[str]
    similarity: NDArray[np.float64]
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(cls, selector: Any, X: Any, *, most: int = 40, ax: Any = None) -> Self:
        """Plot how alike the columns are that a fitted selector chose, on a sample of rows.

        Parameters
        ----------
        selector : BaseSelector
            Fitted.
        X : array-like, sparse matrix or data frame
        most : int, default=40
            Columns that are shown, the best first.
        ax : matplotlib Axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from featuremask import RandomSelector
        >>> from featuremask.plot import RedundancyDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> selector = RandomSelector(2, random_state=0).fit(X, y)
        >>> RedundancyDisplay.from_estimator(selector, X).similarity.round(2)
        array([[1.  , 0.96],
               [0.96, 1.  ]])
        """
        from featuremask.selectors._sample import sample_rows

        rows = sample_rows(selector, X)
        best = np.argsort(selector.ranking_)[: int(selector.support_.sum())][:most]
        similarity = alike(
            rows.numbers, best, rows.column_of, len(selector.ranking_), rows.gap_marks
        )[:, best]
        order = like_order(similarity)
        names = selector.selected_names_[order].tolist()
        return cls(names, similarity[np.ix_(order, order)]).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map; returns the display."""
        labels = [label(name) for name in self.names]
        n = len(labels)
        lines = 1 + max(text.count("\n") for text in labels)
        side = max(_CELL, _LINE * lines) * n + _MARGIN
        ax = new_axes(ax, side + 0.8, side)
        image = ax.imshow(self.similarity, cmap="Greys", vmin=0, vmax=1)
        ax.set_xticks(range(n), labels, rotation=90, parse_math=False, fontsize=9)
        ax.set_yticks(range(n), labels, parse_math=False, fontsize=9)
        ax.tick_params(length=0)
        if n <= _WRITTEN:
            for (row, column), value in np.ndenumerate(self.similarity):
                color = "white" if value > 0.6 else "black"
                ax.text(
                    column, row, f"{value:.1f}", ha="center", va="center", fontsize=7, color=color
                )
        ax.figure.colorbar(image, ax=ax, shrink=0.8, label="magnitude of correlation")
        self.ax_, self.figure_ = ax, ax.figure
        return self
