"""Many selectors at once against as many fits, and against their products."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from featuremask.benchmarking._clock import Timer, best_of
from featuremask.gates import FeatureMask
from featuremask.selectors import FeatureMaskSelector, fit_together
from featuremask.sources import batch_edges

__all__ = ["by_members", "many_at_once"]

N, D, CLASSES, UNITS = 1_248, 617, 26, 128
"""The shape of Isolet."""

_SINGLE = 3
"""Fits that are timed for all that would be made one by one."""

Table = dict[str, dict[str, float]]


def many_at_once(
    timer: Timer, members: int, batches: list[int], epochs: int, repeats: int
) -> Table:
    """Return the seconds of many fits by batch size: one by one, together, their products alone.

    The products are those of the columns that are open.
    """
    found: Table = {}
    for batch in batches:
        measurements: dict[str, Callable[[], float]] = {}
        for strategy in ("narrowing", "joint"):
            one = partial(_selectors, timer, strategy, batch, epochs)
            measurements |= {
                f"{strategy}, one by one": partial(_one_by_one, timer, one, members),
                f"{strategy}, together": partial(_together, timer, one, members),
                f"{strategy}, products": timer.settled(
                    partial(_products, timer, strategy, batch, epochs, members)
                ),
            }
        for name, seconds in best_of(measurements, repeats).items():
            found.setdefault(name, {})[str(batch)] = seconds
    return found


def by_members(timer: Timer, counts: list[int], epochs: int, repeats: int) -> dict[str, float]:
    """Return the seconds of fits that are made together by their number."""
    one = partial(_selectors, timer, "narrowing", "auto", epochs)
    return best_of({str(n): partial(_together, timer, one, n) for n in counts}, repeats)


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, D), dtype=np.float32), rng.integers(0, CLASSES, N)


def _selectors(
    timer: Timer, strategy: str, batch: int | str, epochs: int, n: int
) -> list[FeatureMaskSelector]:
    words: dict[str, Any] = {"strategy": strategy, "batch_size": batch, "max_epochs": epochs}
    threads = timer.threads or torch.get_num_threads()
    return [FeatureMaskSelector(50, random_state=i, n_jobs=threads, **words) for i in range(n)]


def _one_by_one(
    timer: Timer, make: Callable[[int], list[FeatureMaskSelector]], members: int
) -> float:
    selectors, (x, y) = make(min(members, _SINGLE)), _data()

    def work() -> None:
        for selector in selectors:
            selector.fit(x, y)

    return timer.seconds(work) * members / len(selectors)


def _together(
    timer: Timer, make: Callable[[int], list[FeatureMaskSelector]], members: int
) -> float:
    selectors, (x, y) = make(members), _data()
    return timer.seconds(lambda: fit_together(selectors, x, y))


def _widths(strategy: str, epochs: int, steps: int) -> list[int]:
    """Return the number of columns that are open in each epoch."""
    gate = FeatureMask(D, mask_units=1, narrowing=strategy == "narrowing")
    gate(torch.zeros(2, D))
    widths = []
    for epoch in range(epochs):
        passing = gate.passing_columns()
        widths.append(D if passing is None else passing.numel())
        for step in range(steps):
            gate.anneal((epoch * steps + step) / (epochs * steps))
    return widths


def _products(timer: Timer, strategy: str, batch: int, epochs: int, members: int) -> float:
    """Compute the products of each step that nothing avoids, of all members as one.

    They are those of rows and weights: four at the first layers of mask and network, three at each
    later layer.
    """
    steps = len(batch_edges(N, batch)) - 1
    rows, at_a_time = math.ceil(N / steps), min(members, 10)

    later = [
        (
            torch.rand(at_a_time, rows, i),
            torch.rand(at_a_time, o, i),
            torch.rand(at_a_time, rows, o),
        )
        for i, o in itertools.pairwise((UNITS, 64, CLASSES))
    ]

    def work() -> None:
        for width in _widths(strategy, epochs, steps):
            block = torch.rand(at_a_time, rows, width)
            weight = torch.rand(at_a_time, UNITS, width)
            back = torch.rand(at_a_time, rows, UNITS)
            for _ in range(steps):
                for _ in range(2):
                    torch.bmm(block, weight.mT)
                    torch.bmm(back.mT, block)
                for x, w, gradient in later:
                    torch.bmm(x, w.mT)
                    torch.bmm(gradient.mT, x)
                    torch.bmm(gradient, w)

    return timer.seconds(work) * members / at_a_time
