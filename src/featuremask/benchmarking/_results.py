"""All measurements of one run."""

import os
import platform
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch

from featuremask.benchmarking._clock import Timer
from featuremask.benchmarking._epochs import epochs, steps
from featuremask.benchmarking._growth import exponent, in_columns, in_density, in_rows
from featuremask.benchmarking._members import by_members, many_at_once
from featuremask.benchmarking._memory import peak_memory

__all__ = ["SECTIONS", "Results", "run_benchmarks"]

_BATCHES = [128, 256, 1024]

SECTIONS = {
    "epochs": "epochs on MNIST shapes",
    "steps": "a step of each method",
    "rows": "growth in rows",
    "columns": "growth in columns",
    "entries": "growth in stored entries",
    "members": "many selectors at once",
    "memory": "peak memory",
}
"""What can be measured, and its name in words."""


@dataclass(frozen=True)
class Results:
    """What one run has measured, times in seconds. What was left out is empty.

    Attributes
    ----------
    machine : dict
    epochs : dict
        Epoch of each variant, by batch size.
    steps : dict
        Step of each method at batch 256.
    rows, columns : dict
        Epoch by rows, step by columns, and the "exponent" of each.
    density : dict
        Step on sparse rows by stored entries of a batch; see `in_density`.
    members : dict
        Many fits of the shape of Isolet by batch size: one by one, together, their products.
    by_members : dict
        Fits that are made together by their number, and the "exponent".
    memory : dict
        Peak memory of fits, in megabytes.
    """

    machine: dict[str, Any]
    epochs: dict[str, dict[str, float]] = field(default_factory=dict)
    steps: dict[str, float] = field(default_factory=dict)
    rows: dict[str, float] = field(default_factory=dict)
    columns: dict[str, float] = field(default_factory=dict)
    density: dict[str, float] = field(default_factory=dict)
    members: dict[str, dict[str, float]] = field(default_factory=dict)
    by_members: dict[str, float] = field(default_factory=dict)
    memory: dict[str, dict[str, float]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True)
class _Sizes:
    rows: int
    repeats: int
    by_rows: tuple[int, ...]
    by_columns: tuple[int, ...]
    densities: tuple[float, ...]
    sparse_columns: int
    members: int
    member_batches: tuple[int, ...]
    member_epochs: int
    by_members: tuple[int, ...]
    memory: tuple[tuple[str, int, int], ...]


_FULL = _Sizes(
    rows=30_000,
    repeats=3,
    by_rows=(5_000, 10_000, 20_000, 40_000),
    by_columns=(1_000, 10_000, 100_000, 300_000, 1_000_000),
    densities=(0.0002, 0.001, 0.002, 0.004),
    sparse_columns=100_000,
    members=50,
    member_batches=(64, 128, 512),
    member_epochs=20,
    by_members=(2, 5, 10, 25, 50),
    memory=(
        ("dense", 200_000, 784),
        ("dense", 650_000, 826),
        ("sparse", 20_000, 100_000),
    ),
)
_QUICK = _Sizes(
    rows=7_680,
    repeats=2,
    by_rows=(2_000, 4_000, 8_000),
    by_columns=(1_000, 10_000, 100_000),
    densities=(0.0005, 0.002, 0.004),
    sparse_columns=20_000,
    members=10,
    member_batches=(128,),
    member_epochs=10,
    by_members=(2, 5, 10),
    memory=(("dense", 40_000, 784), ("sparse", 2_000, 20_000)),
)


def run_benchmarks(
    timer: Timer,
    *,
    quick: bool = False,
    only: Collection[str] = (),
    say: Callable[[str], None] = lambda message: None,
) -> Results:
    """Measure everything in one run.

    Parameters
    ----------
    timer : Timer
    quick : bool, default=False
        Small sizes, about a minute.
    only : collection of str, default=()
        The sections to measure, of `SECTIONS`; all if empty.
    say : callable
        Is told what is measured next.
    """
    sizes = _QUICK if quick else _FULL
    repeats = sizes.repeats
    sections: dict[str, Callable[[], dict[str, Any]]] = {
        "epochs": lambda: {"epochs": epochs(timer, sizes.rows, _BATCHES, repeats)},
        "steps": lambda: {"steps": steps(timer, min(sizes.rows, 15_360), repeats)},
        "rows": lambda: {"rows": _fitted(in_rows(timer, list(sizes.by_rows), repeats))},
        "columns": lambda: {"columns": _fitted(in_columns(timer, list(sizes.by_columns), repeats))},
        "entries": lambda: {
            "density": in_density(timer, list(sizes.densities), sizes.sparse_columns, repeats)
        },
        "members": lambda: _of_members(timer, sizes),
        "memory": lambda: {
            "memory": {
                f"{kind}, {n:,} x {d:,}": peak_memory(kind, n, d) for kind, n, d in sizes.memory
            }
        },
    }
    found: dict[str, Any] = {}
    for name, measure in sections.items():
        if not only or name in only:
            say(SECTIONS[name])
            found |= measure()
    return Results(_machine(timer) | {"sizes": "quick" if quick else "full"}, **found)


def _fitted(curve: dict[str, float]) -> dict[str, float]:
    return curve | {"exponent": exponent(curve)}


def _of_members(timer: Timer, sizes: _Sizes) -> dict[str, Any]:
    n_epochs, repeats = sizes.member_epochs, sizes.repeats - 1
    return {
        "members": many_at_once(
            timer, sizes.members, list(sizes.member_batches), n_epochs, repeats
        ),
        "by_members": _fitted(by_members(timer, list(sizes.by_members), n_epochs, repeats)),
    }


def _machine(timer: Timer) -> dict[str, Any]:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads() if timer.threads is None else timer.threads,
        "clock": timer.clock,
        "load": round(load, 1),
        "platform": platform.platform(),
        "torch": torch.__version__,
    }
