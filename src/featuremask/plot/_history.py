"""How training went: the loss, and how sharp the mask became."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.plot._figures import BLUE, GRAY, ORANGE, new_axes

__all__ = ["HistoryDisplay", "effective_number"]


def effective_number(shares: Any) -> float:
    """Return how many features a mask lets through, counted by the entropy of their shares.

    It is n for n equal shares, and 1 if one feature has all.

    Examples
    --------
    >>> effective_number([1.0, 1.0, 0.0]), effective_number([0.0, 5.0])
    (2.0, 1.0)
    """
    values: NDArray[np.float64] = np.maximum(np.asarray(shares, dtype=np.float64), 0.0)
    if not values.sum() > 0.0:
        return float(len(values))
    part = values[values > 0.0] / values.sum()
    return round(float(np.exp(-np.sum(part * np.log(part)))), 9)


@dataclass(eq=False)
class HistoryDisplay:
    """The loss over the epochs; beside it, if it was recorded, how many features the mask spans.

    Parameters
    ----------
    history : sequence of mapping
        One record an epoch: "epoch", "loss" and, if there is one, "validation_loss".
    sharpness : sequence of (int, float), optional
        Epochs and the effective number of features then.

    Attributes
    ----------
    axes_, figure_
        Of matplotlib, after `plot`.
    """

    history: Sequence[dict[str, Any]]
    sharpness: Sequence[tuple[int, float]] = ()
    axes_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(cls, selector: Any, *, recorder: Any = None, ax: Any = None) -> Self:
        """Plot the training of a fitted selector.

        Parameters
        ----------
        selector : BaseSelector
            Fitted by training.
        recorder : featuremask.training.ImportanceRecorder, optional
            One that was among the callbacks of the fit: then the sharpness of the mask is shown.
        ax : matplotlib Axes, optional
            Two of them with a recorder.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from featuremask import FeatureMaskSelector
        >>> from featuremask.plot import HistoryDisplay
        >>> from featuremask.training import ImportanceRecorder
        >>> recorder = ImportanceRecorder()
        >>> selector = FeatureMaskSelector(max_epochs=3, callbacks=[recorder], random_state=0)
        >>> selector = selector.fit(*load_iris(return_X_y=True))
        >>> display = HistoryDisplay.from_estimator(selector, recorder=recorder)
        >>> [epoch for epoch, _ in display.sharpness]
        [1, 2, 3]
        """
        if not selector.history_:
            raise InputError(
                f"The history of a selector that was trained is plotted; "
                f"{type(selector).__name__} was not trained."
            )
        sharpness: list[tuple[int, float]] = []
        if recorder is not None:
            pairs = zip(recorder.epochs, recorder.shares, strict=True)
            sharpness = [(epoch, effective_number(shares.cpu())) for epoch, shares in pairs]
        return cls(selector.history_, sharpness).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw loss and sharpness; returns the display."""
        panels = 2 if self.sharpness else 1
        self.axes_ = np.ravel(new_axes(ax, 5.2 * panels, 3.6, columns=panels))
        loss = self.axes_[0]
        epochs = [record["epoch"] for record in self.history]
        loss.plot(epochs, [r["loss"] for r in self.history], color=BLUE, lw=2.0, label="training")
        held = [(r["epoch"], r["validation_loss"]) for r in self.history if "validation_loss" in r]
        if held:
            loss.plot(*zip(*held, strict=True), color=ORANGE, lw=1.8, ls="--", label="held back")
            loss.legend(frameon=False, fontsize=9)
        loss.set_ylabel("loss")
        if self.sharpness:
            ax = self.axes_[1]
            ax.plot(*zip(*self.sharpness, strict=True), color=GRAY, lw=2.0)
            ax.set_ylim(bottom=0.0)
            ax.set_ylabel("features the mask spans")
        for ax in self.axes_:
            ax.set_xlabel("epoch")
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.grid(axis="y", alpha=0.2)
            for side in ("top", "right"):
                ax.spines[side].set_visible(False)
        self.figure_ = self.axes_[0].figure
        return self
