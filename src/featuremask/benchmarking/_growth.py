"""How time grows with rows, columns and stored entries."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import torch
from scipy import sparse

from featuremask.benchmarking._clock import Timer, best_of
from featuremask.gates import FeatureMask
from featuremask.networks import GatedNetwork, Standardize, mlp
from featuremask.objectives import Classes
from featuremask.sources import ArraySource, Source

__all__ = ["exponent", "in_columns", "in_density", "in_rows"]

_BATCH = 256
_SPARSE_STEPS = 60
"""Of an epoch: weights are laid out anew at its ends where somebody looks at them, as clocks do."""

_WIDE_ROWS, _WIDE_STEPS = 32, 3
_LONG = 0.02
"""Seconds of a step from which on its growth is fitted, if there are two such points."""

Curve = dict[str, float]


def exponent(curve: Mapping[str, float]) -> float:
    """Return the power by which time grows, where steps are long enough to tell.

    Examples
    --------
    >>> round(exponent({"100": 0.1, "200": 0.4}), 6)
    2.0
    """
    points = [(float(size), seconds) for size, seconds in curve.items()]
    long = [point for point in points if point[1] >= _LONG]
    sizes, seconds = np.log(np.array(long if len(long) > 1 else points)).T
    return float(np.polyfit(sizes, seconds, 1)[0])


def _model(n_columns: int) -> GatedNetwork:
    generator = torch.Generator().manual_seed(0)
    gate = FeatureMask(n_columns, generator=generator)
    return GatedNetwork(gate, mlp(n_columns, (128, 64), 2, generator=generator))


def _labels(n: int) -> torch.Tensor:
    return torch.arange(n) % 2


def in_rows(timer: Timer, sizes: list[int], repeats: int, n_columns: int = 784) -> Curve:
    """Return the seconds of an epoch by the number of rows."""

    def epoch(n: int) -> float:
        x = np.random.default_rng(0).random((n, n_columns), dtype=np.float32)
        source = ArraySource(x, _labels(n))
        return timer.epoch(_model(n_columns), Classes(2), source, _BATCH)

    return best_of({str(n): partial(epoch, n) for n in sizes}, repeats)


def in_columns(timer: Timer, sizes: list[int], repeats: int) -> Curve:
    """Return the seconds of a step by the number of columns."""

    def step(n_columns: int) -> float:
        n = _WIDE_STEPS * _WIDE_ROWS
        x = np.random.default_rng(0).random((n, n_columns), dtype=np.float32)
        source, model = ArraySource(x, _labels(n)), _model(n_columns)
        return timer.epoch(model, Classes(2), source, _WIDE_ROWS) / _WIDE_STEPS

    return best_of({str(d): partial(step, d) for d in sizes}, repeats)


def in_density(
    timer: Timer, densities: list[float], n_columns: int, repeats: int
) -> dict[str, float]:
    """Return the seconds of a step on sparse rows by the stored entries of a batch.

    The entry "passes" is what is left at no entries, in passes of the optimizer over the
    parameters; "entry" the seconds of a stored entry; "optimizer" those of a pass.
    """
    measurements = {
        str(density): partial(_sparse_step, timer, density, n_columns) for density in densities
    }
    optimizer = timer.settled(lambda: _optimizer_pass(timer, n_columns))
    best = best_of({**measurements, "optimizer": optimizer}, repeats)
    sizes = np.array([_BATCH * n_columns * density for density in densities])
    seconds = np.array([best[str(density)] for density in densities])
    entry, rest = np.polyfit(sizes, seconds, 1, w=1.0 / seconds)
    found = {str(round(size)): best[str(d)] for size, d in zip(sizes, densities, strict=True)}
    return {
        **found,
        "optimizer": best["optimizer"],
        "entry": float(entry),
        "passes": float(rest) / best["optimizer"],
    }


def _sparse_source(density: float, n_columns: int) -> Source:
    n, stored = _SPARSE_STEPS * _BATCH, max(1, math.ceil(density * n_columns))
    rng = np.random.default_rng(0)
    columns = rng.integers(0, n_columns, n * stored)
    parts = (rng.random(n * stored, dtype=np.float32), columns, np.arange(0, n + 1) * stored)
    x = sparse.csr_matrix(parts, (n, n_columns))
    x.sum_duplicates()
    return ArraySource(x, _labels(n))


def _sparse_step(timer: Timer, density: float, n_columns: int) -> float:
    scaling = Standardize(torch.full((n_columns,), density), torch.ones(n_columns))
    source = _sparse_source(density, n_columns)
    model = _model(n_columns)
    seconds = timer.epoch(model, Classes(2), source, _BATCH, standardize=scaling)
    return seconds / _SPARSE_STEPS


def _optimizer_pass(timer: Timer, n_columns: int) -> float:
    parameters = list(_model(n_columns).parameters())
    optimizer = torch.optim.Adam(parameters, fused=True)
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    return timer.seconds(optimizer.step)
