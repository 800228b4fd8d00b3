"""All measurements of one run, and the table of them."""

import os
import platform
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from featuremask.benchmarking._clock import Timer
from featuremask.benchmarking._epochs import epochs, steps
from featuremask.benchmarking._growth import exponent, in_columns, in_density, in_rows
from featuremask.benchmarking._members import by_members, many_at_once
from featuremask.benchmarking._memory import peak_memory

__all__ = ["Results", "run_benchmarks", "table"]

_BATCHES = [128, 256, 1024]


@dataclass(frozen=True)
class Results:
    """What one run has measured, times in seconds.

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
    epochs: dict[str, dict[str, float]]
    steps: dict[str, float]
    rows: dict[str, float]
    columns: dict[str, float]
    density: dict[str, float]
    members: dict[str, dict[str, float]]
    by_members: dict[str, float]
    memory: dict[str, dict[str, float]]

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
    member_batches=(32, 64, 128, 256, 512),
    member_epochs=30,
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
    timer: Timer, *, quick: bool = False, say: Callable[[str], None] = lambda message: None
) -> Results:
    """Measure everything in one run.

    Parameters
    ----------
    timer : Timer
    quick : bool, default=False
        Small sizes, about a minute.
    say : callable
        Is told what is measured next.
    """
    sizes = _QUICK if quick else _FULL
    repeats = sizes.repeats
    say("epochs on MNIST shapes")
    by_epoch = epochs(timer, sizes.rows, _BATCHES, repeats)
    say("a step of each method")
    by_method = steps(timer, min(sizes.rows, 15_360), repeats)
    say("growth in rows")
    by_rows = in_rows(timer, list(sizes.by_rows), repeats)
    say("growth in columns")
    by_columns = in_columns(timer, list(sizes.by_columns), repeats)
    say("growth in stored entries")
    by_density = in_density(timer, list(sizes.densities), sizes.sparse_columns, repeats)
    say("many selectors at once")
    by_batch = many_at_once(
        timer, sizes.members, list(sizes.member_batches), sizes.member_epochs, repeats - 1
    )
    by_number = by_members(timer, list(sizes.by_members), sizes.member_epochs, repeats - 1)
    say("peak memory")
    memory = {f"{kind}, {n:,} x {d:,}": peak_memory(kind, n, d) for kind, n, d in sizes.memory}
    return Results(
        _machine(timer) | {"sizes": "quick" if quick else "full"},
        by_epoch,
        by_method,
        by_rows | {"exponent": exponent(by_rows)},
        by_columns | {"exponent": exponent(by_columns)},
        by_density,
        by_batch,
        by_number | {"exponent": exponent(by_number)},
        memory,
    )


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


def table(results: Results) -> str:
    """Return the results as a table to print."""
    floor = results.epochs["floor"]
    lines = [", ".join(f"{name} {value}" for name, value in results.machine.items()), ""]
    lines.append(_line("seconds an epoch (times the floor)", [f"batch {b}" for b in floor]))
    for name, row in results.epochs.items():
        lines.append(_line(name, [f"{row[b]:.3f} ({row[b] / floor[b]:.2f})" for b in floor]))
    lines += ["", _line("a step, 256 x 784", ["ms", "/ FM"])]
    for name, seconds in results.steps.items():
        cells = [f"{1e3 * seconds:.2f}", f"{seconds / results.steps['FM']:.2f}"]
        lines.append(_line(name, cells))
    for title, curve in (
        ("seconds an epoch, by rows", results.rows),
        ("seconds a step, by columns", results.columns),
        ("seconds a step, by stored entries", results.density),
        ("seconds of fits together, by members", results.by_members),
    ):
        lines += ["", _line(title, list(curve)), _line("", [f"{v:.3g}" for v in curve.values()])]
    lines += _member_lines(results.members)
    lines += ["", _line("peak memory of fit, MB", ["data", "parameters", "extra", "bound"])]
    for name, row in results.memory.items():
        lines.append(_line(name, [f"{value:,.0f}" for value in row.values()]))
    return "\n".join(lines)


def _member_lines(members: dict[str, dict[str, float]]) -> list[str]:
    """Return the lines of many fits at once, against fits one by one and against products."""
    batches = list(next(iter(members.values()), {}))
    lines = ["", _line("seconds of many fits, 1248 x 617", [f"batch {b}" for b in batches])]
    for name, row in members.items():
        lines.append(_line(name, [f"{row[b]:.2f}" for b in batches]))
        strategy, _, how = name.partition(", ")
        if how == "products":
            together = members[f"{strategy}, together"]
            alone = members[f"{strategy}, one by one"]
            cells = [f"{together[b] / alone[b]:.2f}, {together[b] / row[b]:.2f}" for b in batches]
            lines.append(_line("  together / one by one, / products", cells))
    return lines


def _line(name: str, cells: list[str]) -> str:
    return f"{name:36}" + "".join(f"{cell:>16}" for cell in cells)
