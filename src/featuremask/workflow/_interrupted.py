"""What is left of a selection that was interrupted: the ranking so far, and how far it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from featuremask.exceptions import FitInterrupted
from featuremask.workflow._prepare import Prepared

__all__ = ["SelectionInterrupted", "judging", "training"]

Rank = tuple[int, str, float, float]


class SelectionInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a selection whose training had begun; this holds the ranking by then.

    Attributes
    ----------
    stage : str
        "training", or "judging" where the ranking is that of the whole training.
    progress : float
        How far the training was, from 0 to 1.
    columns : list of (int, str, float, float)
        Rank, name, score and share of the columns that took part, best first.
    where : str
        Where it was written; empty if it was not.
    """

    def __init__(self, stage: str, progress: float, columns: list[Rank]) -> None:
        super().__init__(stage, progress)
        self.stage = stage
        self.progress = progress
        self.columns = columns
        self.where = ""

    def __str__(self) -> str:
        done = f"{self.progress:.0%} of the training was done"
        if self.stage == "judging":
            done = "training was done, judging was not"
        kept = f"; the ranking by then is in {self.where}" if self.where else ""
        return f"By then {done}{kept}."


@contextmanager
def training(prepared: Prepared) -> Iterator[None]:
    """Add the ranking so far to an interruption of the block, which fits a selector."""
    try:
        yield
    except FitInterrupted as stop:
        columns = _ranked(prepared, stop.ranking, stop.scores, stop.shares)
        raise SelectionInterrupted("training", stop.progress, columns) from stop


@contextmanager
def judging(prepared: Prepared, selector: Any) -> Iterator[None]:
    """Add the ranking of a fitted selector to an interruption of the block."""
    try:
        yield
    except KeyboardInterrupt as stop:
        found = (selector.ranking_, selector.scores_, selector.feature_importances_)
        raise SelectionInterrupted("judging", 1.0, _ranked(prepared, *found)) from stop


def _ranked(prepared: Prepared, ranking: Any, scores: Any, shares: Any) -> list[Rank]:
    return [
        (rank, prepared.names[place], float(scores[place]), float(shares[place]))
        for rank, place in enumerate(np.argsort(ranking).tolist(), 1)
    ]
