"""The mask of images as an image."""

from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.plot._figures import new_axes
from featuremask.plot._pictures import Picture, draw_pictures

__all__ = ["MaskDisplay"]


@dataclass(eq=False)
class MaskDisplay:
    """The importance of each pixel, and the pixels that were chosen, as images.

    Parameters
    ----------
    importance : ndarray of shape (height, width)
    chosen : ndarray of bool, shape (height, width)

    Attributes
    ----------
    axes_, figure_
        Of matplotlib, after `plot`.
    """

    importance: NDArray[np.float64]
    chosen: NDArray[np.bool_]
    axes_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        image_shape: tuple[int, int],
        *,
        order: Literal["C", "F"] = "C",
        ax: Any = None,
    ) -> Self:
        """Plot the mask of a fitted selector whose columns are the pixels of images.

        Parameters
        ----------
        selector : BaseSelector
            Fitted.
        image_shape : (int, int)
            Height and width.
        order : {"C", "F"}, default="C"
            Whether pixels are stored row by row, or column by column.
        ax : two matplotlib Axes, optional
            For the importance and for the chosen pixels.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from featuremask import RandomSelector
        >>> from featuremask.plot import MaskDisplay
        >>> selector = RandomSelector(10, random_state=0).fit(*load_digits(return_X_y=True))
        >>> int(MaskDisplay.from_estimator(selector, (8, 8)).chosen.sum())
        10
        """
        n_columns = len(selector.ranking_)
        if image_shape[0] * image_shape[1] != n_columns:
            raise InputError(
                f"image_shape must have as many pixels as the data has columns, {n_columns}; got "
                f"{image_shape[0]} x {image_shape[1]}."
            )
        return cls(
            np.reshape(selector.feature_importances_, image_shape, order=order),
            np.reshape(selector.support_, image_shape, order=order),
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw both images; returns the display."""
        self.axes_ = np.ravel(new_axes(ax, 6.8, 3.7, columns=2))
        k = int(self.chosen.sum())
        pictures = [
            Picture("importance", self.importance),
            Picture(f"the {k:,} selected", self.chosen.astype(float)),
        ]
        draw_pictures(self.axes_, pictures)
        self.figure_ = self.axes_[0].figure
        return self
