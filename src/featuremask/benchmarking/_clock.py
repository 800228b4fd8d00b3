"""Timing: variants take turns, and the best time of each counts."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import torch

from featuremask.networks import GatedNetwork, Standardize
from featuremask.objectives import Objective
from featuremask.sources import Source
from featuremask.training import Callback, TrainingOptions, TrainingState, fit_network

__all__ = ["Clock", "Timer", "best_of"]

Clock = Literal["wall", "cpu"]

_NOW: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


class _Marks(Callback):
    """When the epochs ended."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self.ends: list[float] = []

    def on_epoch_end(self, state: TrainingState) -> None:
        self.ends.append(self._now())


@dataclass(frozen=True)
class Timer:
    """A clock, and PyTorch's threads while it runs.

    On a machine that is busy otherwise, "cpu" with one thread tells what "wall" cannot.
    """

    clock: Clock = "wall"
    threads: int | None = None

    def seconds(self, work: Callable[[], object]) -> float:
        """Return how long a computation takes."""
        now = _NOW[self.clock]
        start = now()
        work()
        return now() - start

    def epoch(
        self,
        model: GatedNetwork,
        objective: Objective,
        source: Source,
        batch_size: int,
        *,
        standardize: Standardize | None = None,
        autocast: bool = False,
    ) -> float:
        """Return the time of an epoch in the product's loop, once it is under way."""
        marks = _Marks(_NOW[self.clock])
        options = TrainingOptions(
            epochs=2, batch_size=batch_size, threads=self.threads, autocast=autocast
        )
        fit_network(model, objective, source, options, standardize=standardize, callbacks=[marks])
        return marks.ends[1] - marks.ends[0]

    def settled(self, work: Callable[[], float]) -> Callable[[], float]:
        """Return a measurement that runs with this timer's number of threads."""

        def run() -> float:
            usual = torch.get_num_threads()
            torch.set_num_threads(usual if self.threads is None else self.threads)
            try:
                return work()
            finally:
                torch.set_num_threads(usual)

        return run


def best_of(measurements: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Return the best of several turns of each, so that noise hits all alike.

    Examples
    --------
    >>> times = iter([3.0, 9.0, 2.0, 8.0])
    >>> best_of({"one": lambda: next(times), "other": lambda: next(times)}, 2)
    {'one': 2.0, 'other': 8.0}
    """
    best: dict[str, float] = {}
    for _ in range(repeats):
        for name, measure in measurements.items():
            best[name] = min(measure(), best.get(name, float("inf")))
    return best
