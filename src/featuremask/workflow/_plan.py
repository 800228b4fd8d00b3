"""How long a selection will take, and how much memory, before it is made."""

import resource
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from featuremask.training import Callback, TrainingState
from featuremask.workflow._fit import fit
from featuremask.workflow._judge import Judge, counts_to_try, scores_of
from featuremask.workflow._prepare import prepare
from featuremask.workflow._progress import Progress, Silent
from featuremask.workflow._request import Request

__all__ = ["Plan", "plan"]

_TRIAL_SECONDS = 1.0

_HALF = 0.5**0.6
"""Steps for half of the rows, as a share of those for all."""


@dataclass(frozen=True)
class Plan:
    """What a selection would take, as far as a short trial tells.

    Attributes
    ----------
    n_train, n_test, n_columns, n_codes : int
        Rows for training and rows held out; columns, and the numbers they become.
    steps : int
        Updates of the weights.
    read_seconds, train_seconds, judge_seconds : float
        Wall time of reading (measured), training and judging (predicted).
    peak_bytes : int
        Memory of the process at its peak, measured in the trial.
    """

    n_train: int
    n_test: int
    n_columns: int
    n_codes: int
    steps: int
    read_seconds: float
    train_seconds: float
    judge_seconds: float
    peak_bytes: int

    @property
    def seconds(self) -> float:
        """Wall time of all."""
        return self.read_seconds + self.train_seconds + self.judge_seconds

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return asdict(self) | {"seconds": self.seconds}

    def lines(self) -> list[str]:
        """Return it in words."""
        return [
            f"{self.n_train:,} rows to train on, {self.n_test:,} held out; {self.n_columns:,} "
            f"columns in {self.n_codes:,} numbers",
            f"time: about {self.seconds:.0f} s ({self.read_seconds:.0f} reading, "
            f"{self.train_seconds:.0f} training in {self.steps:,} steps, "
            f"{self.judge_seconds:.0f} judging)",
            f"memory: about {self.peak_bytes / 1e9:.1f} GB",
        ]


class _Trial(Callback):
    """Ends training early, and notes how long a step took once the first epoch was over."""

    def __init__(self) -> None:
        self.total = 0
        self.seconds_per_step = 0.0

    def on_fit_begin(self, state: TrainingState) -> None:
        """Start the clock."""
        self.total, self._begun, self._start = state.total_steps, 0, time.perf_counter()

    def on_epoch_end(self, state: TrainingState) -> bool:
        """Look at the clock; start it anew after the first epoch, which warms up."""
        seconds = time.perf_counter() - self._start
        self.seconds_per_step = seconds / (state.step - self._begun)
        if self._begun == 0:
            self._begun, self._start = state.step, time.perf_counter()
        return seconds > _TRIAL_SECONDS


def plan(request: Request, progress: Progress | None = None) -> Plan:
    """Predict time and memory of a selection: read the files, train for some seconds.

    A mask that narrows makes later steps cheaper than the first, so the time of training is an
    upper estimate; a method that may train several times is counted once.

    Parameters
    ----------
    request : Request
        What would be asked for.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    Plan
        The prediction.
    """
    progress = progress or Silent()
    start = time.perf_counter()
    prepared = prepare(request, progress)
    read = time.perf_counter() - start
    progress.say("training for a moment")
    trial = _Trial()
    fitted = fit(prepared, callbacks=[trial], checkpoint=None)
    judge = Judge(prepared, fitted.selector.objective_)
    places = fitted.selector.group_ranking_
    start = time.perf_counter()
    for k in (1, places.max()):  # the least and the most that is judged
        judge.score(places <= k)
    once = (time.perf_counter() - start) / 2
    train = min(trial.seconds_per_step * trial.total, request.max_seconds or np.inf)
    return Plan(
        n_train=len(prepared.train.index),
        n_test=len(prepared.test.index),
        n_columns=len(prepared.names),
        n_codes=len(prepared.column_of),
        steps=trial.total,
        read_seconds=read,
        train_seconds=train * (1 + request.resamples * _HALF),
        judge_seconds=once * scores_of(counts_to_try(int(places.max()), fitted.k)),
        peak_bytes=_peak_bytes(),
    )


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
