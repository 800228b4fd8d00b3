"""Methods side by side."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from featuremask.exceptions import InputError
from featuremask.plot._figures import BLUE, GRAY, label
from featuremask.plot._points import gathered
from featuremask.plot._rows import middles, named_rows

__all__ = ["ComparisonDisplay"]


@dataclass(eq=False)
class ComparisonDisplay:
    """Scores of methods: each run a small dot, the mean a large one with its deviation.

    Parameters
    ----------
    scores : mapping
        From the name of a method to its scores, one a run.
    score : str, default="accuracy"
        What is measured.
    higher_is_better : bool, default=True
        The best method is on top.

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    scores: Mapping[str, Sequence[float]]
    score: str = "accuracy"
    higher_is_better: bool = True
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    def __post_init__(self) -> None:
        if not self.scores or not all(self.scores.values()):
            raise InputError("Each method needs at least one score.")

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        score: str = "accuracy",
        higher_is_better: bool = True,
        ax: Any = None,
    ) -> Self:
        """Plot records of single runs, each a mapping with "method" and the score.

        Examples
        --------
        >>> from featuremask.plot import ComparisonDisplay
        >>> runs = [{"method": "fm", "accuracy": 0.9}, {"method": "random", "accuracy": 0.5}]
        >>> ComparisonDisplay.from_records(runs).scores
        {'fm': [0.9], 'random': [0.5]}
        """
        found = gathered(records, ("method",), score)
        scores = {str(method): values for (method,), values in found.items()}
        return cls(scores, score, higher_is_better).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the methods; returns the display."""
        means = {name: statistics.fmean(values) for name, values in self.scores.items()}
        order = sorted(means, key=means.__getitem__, reverse=self.higher_is_better)
        ax, edges = named_rows(ax, order)
        for place, name in zip(middles(edges), order, strict=True):
            values = self.scores[name]
            spread = statistics.stdev(values) if len(values) > 1 else None
            ax.errorbar(
                means[name], place, xerr=spread, fmt="o", color=BLUE, ms=7, capsize=3, lw=1.6
            )
            ax.plot(values, [place + 0.24] * len(values), "|", color=GRAY, ms=6, mew=1.2)
            text = f"{means[name]:.3f}" + ("" if spread is None else f" ± {spread:.3f}")
            ax.annotate(
                text,
                (1.01, place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                annotation_clip=False,
            )
        ax.set_xlabel(label(self.score), parse_math=False)
        ax.grid(axis="x", alpha=0.2)
        self.ax_, self.figure_ = ax, ax.figure
        return self
