"""A score against the number of features."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from featuremask.plot._figures import BLUE, GRAY, INK, ORANGE, label, new_axes
from featuremask.plot._points import gathered

__all__ = ["SelectionCurveDisplay"]

_STYLES = (
    {"color": BLUE, "ls": "-", "marker": "o"},
    {"color": GRAY, "ls": "--", "marker": "s"},
    {"color": ORANGE, "ls": "-.", "marker": "^"},
    {"color": "#009e73", "ls": ":", "marker": "D"},
    {"color": "#7b4fa3", "ls": (0, (5, 1, 1, 1, 1, 1)), "marker": "v"},
    {"color": "#8c6d31", "ls": (0, (1, 1)), "marker": "P"},
)
_LOGARITHMIC_FROM = 30


@dataclass(eq=False)
class SelectionCurveDisplay:
    """Curves of a score against the number of features, with bands of one standard deviation.

    Parameters
    ----------
    curves : mapping
        From a label to points (k, mean, standard deviation or None).
    all_features : float, optional
        The score of all features.
    k : int, optional
        A number to mark.
    score : str, default="accuracy"
        What is measured.

    Attributes
    ----------
    ax_, figure_
        Of matplotlib, after `plot`.
    """

    curves: Mapping[str, Sequence[tuple[int, float, float | None]]]
    all_features: float | None = None
    k: int | None = None
    score: str = "accuracy"
    ax_: Any = field(init=False, default=None)
    figure_: Any = field(init=False, default=None)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        score: str = "accuracy",
        all_features: float | None = None,
        k: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot records of single runs, each a mapping with "method", "k" and the score.

        Runs of the same method and k become a mean and a standard deviation.

        Examples
        --------
        >>> from featuremask.plot import SelectionCurveDisplay
        >>> runs = [{"method": "fm", "k": k, "accuracy": 1 - 0.5 / k} for k in (1, 2, 2, 4)]
        >>> SelectionCurveDisplay.from_records(runs).curves
        {'fm': [(1, 0.5, None), (2, 0.75, 0.0), (4, 0.875, None)]}
        """
        found = gathered(records, ("method", "k"), score)
        curves: dict[str, list[tuple[int, float, float | None]]] = {}
        for (method, count), values in sorted(found.items(), key=lambda item: int(item[0][1])):
            spread = statistics.stdev(values) if len(values) > 1 else None
            curves.setdefault(str(method), []).append(
                (int(count), statistics.fmean(values), spread)
            )
        order = dict.fromkeys(str(method) for method, _ in found)
        named = {method: curves[method] for method in order}
        return cls(named, all_features, k, score).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        selector: Any,
        dataset: Any,
        *,
        ks: Iterable[int] | None = None,
        classifier: str = "rf",
        seeds: Iterable[int] = (0, 1, 2),
        ax: Any = None,
    ) -> Self:
        """Judge a fitted selector's best features by a classifier, beside random ones and all.

        Parameters
        ----------
        selector : BaseSelector
            Fitted to the training rows alone.
        dataset : featuremask.datasets.Dataset
            Or anything with `X_train`, `y_train`, `X_test` and `y_test`.
        ks : iterable of int, optional
            Numbers of columns; doubled from 1 on if None.
        classifier : str, default="rf"
            One of `featuremask.evaluation.CLASSIFIERS`.
        seeds : iterable of int
            Of the classifier, and of the random columns.
        ax : matplotlib Axes, optional
        """
        from featuremask.evaluation import evaluate

        n_columns = len(selector.ranking_)
        counts = sorted(set(_doubled(n_columns) if ks is None else ks))
        runs = []
        for seed in seeds:
            drawn = np.random.default_rng(seed).permutation(n_columns) + 1
            for name, ranking in (("best features", selector.ranking_), ("random features", drawn)):
                for count in counts:
                    found = evaluate(ranking, dataset, count, classifier, seed)
                    runs.append({"method": name, "k": count, "accuracy": found.accuracy})
        everything = [
            evaluate(selector.ranking_, dataset, n_columns, classifier, seed).accuracy
            for seed in seeds
        ]
        k = int(selector.support_.sum())
        return cls.from_records(runs, all_features=statistics.fmean(everything), k=k, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; returns the display."""
        ax = new_axes(ax, 7.0, 4.3)
        for i, (name, points) in enumerate(self.curves.items()):
            style: dict[str, Any] = dict(_STYLES[i % len(_STYLES)])
            x, mean = [p[0] for p in points], [p[1] for p in points]
            ax.plot(x, mean, label=label(name), lw=2.0, ms=5.0, mfc="white", mew=1.4, **style)
            band = [(k, m, s) for k, m, s in points if s is not None]
            if band:
                at, middle, spread = (np.array(values) for values in zip(*band, strict=True))
                ax.fill_between(
                    at, middle - spread, middle + spread, color=style["color"], alpha=0.16, lw=0
                )
        if self.all_features is not None:
            ax.axhline(self.all_features, color=INK, lw=1.3, ls=(0, (1, 2)), label="all features")
        if self.k is not None:
            ax.axvline(self.k, color=INK, lw=1.0, label=f"selected: {self.k:,}")
        _mark_counts(ax, sorted({p[0] for points in self.curves.values() for p in points}))
        ax.set_xlabel("number of features")
        ax.set_ylabel(label(self.score), parse_math=False)
        ax.grid(axis="y", color=INK, alpha=0.15)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        for text in ax.legend(fontsize=9, frameon=False).get_texts():
            text.set_parse_math(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _doubled(n_columns: int) -> list[int]:
    return [*(2**i for i in range(n_columns.bit_length()) if 2**i < n_columns), n_columns]


def _mark_counts(ax: Any, counts: list[int]) -> None:
    """Mark numbers of features; by logarithms, and only those with room, if there are many."""
    if counts[-1] <= _LOGARITHMIC_FROM:
        ax.xaxis.get_major_locator().set_params(integer=True)
        return
    ax.set_xscale("log")
    room = (counts[-1] / counts[0]) ** (1 / 14)
    marked = [counts[-1]]
    for count in reversed(counts):
        if marked[-1] >= room * count:
            marked.append(count)
    ax.set_xticks(marked, [f"{count:,}" for count in marked])
    ax.minorticks_off()
