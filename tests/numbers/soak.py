"""Do what a service does, over and over in one process, and tell how memory and files have grown.

    python tests/numbers/soak.py --fits 1000
    python tests/numbers/soak.py --minutes 10

Each round fits by one of the selectors in turn, saves, loads, transforms, fits from a file that is
streamed, and copies the chosen columns to another file. The first tenth warms up: caches fill, and
the allocator takes what it needs.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import torch

import featuremask
from featuremask.workflow import apply_selector

WORDS = {"max_epochs": 2, "hidden_units": (8,), "random_state": 0}
NAMES = [name for name in featuremask.__all__ if name.endswith("Selector")]


def resident_mb() -> float:
    """Return the memory that the process has in use."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def state() -> tuple[float, int, int]:
    """Return the memory in use, and how many files are open and threads alive."""
    return resident_mb(), len(os.listdir("/proc/self/fd")), threading.active_count()


class Rounds:
    """What is done over and over."""

    def __init__(self, folder: Path, streams: bool) -> None:
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(300, 40))
        self.y = self.X[:, 0] > 0
        self.selector, self.table = folder / "selector.fm", folder / "table.parquet"
        self.out = folder / "out.parquet"
        self.streams = streams
        columns = {f"c{n}": self.X[:, n] for n in range(40)} | {"y": self.y.astype(int)}
        pa.parquet.write_table(pa.table(columns), self.table, row_group_size=100)

    def one(self, number: int) -> None:
        """Make one round."""
        name = NAMES[number % len(NAMES)]
        more: dict[str, Any] = {"max_tries": 1} if name == "ConcreteSelector" else {}
        selector = getattr(featuremask, name)(5, **WORDS, **more).fit(self.X, self.y)
        selector.save(self.selector)
        featuremask.load(self.selector).transform(self.X)
        if self.streams:
            streamed = featuremask.FeatureMaskSelector(5, **WORDS).fit(str(self.table), "y")
            streamed.save(self.selector)
            apply_selector(self.selector, [self.table], self.out, ["y"])


def soak(rounds: Rounds, goes_on: Callable[[int, bool], bool]) -> dict[str, float]:
    """Make rounds, those of the warming up first, while told to go on."""
    torch.set_num_threads(1)
    start, number = time.monotonic(), 0
    while goes_on(number, True) or number < 2 * len(NAMES):
        rounds.one(number)
        number += 1
    warm, before, samples = number, state(), []
    while goes_on(number, False):
        rounds.one(number)
        number += 1
        if number % 50 == 0:
            samples.append(resident_mb())
    after = state()
    return {
        "fits": number - warm,
        "growth_mb": round(after[0] - before[0], 2),
        "most_mb": round(max([after[0], *samples]), 1),
        "files": after[1] - before[1],
        "threads": after[2] - before[2],
        "seconds": round(time.monotonic() - start),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--minutes", type=float, help="rounds with streaming, instead of fits")
    arguments = parser.parse_args()
    start, most = time.monotonic(), 60 * (arguments.minutes or 0.0)

    def by_count(number: int, warming: bool) -> bool:
        return number < arguments.fits // 10 + (0 if warming else arguments.fits)

    def by_clock(number: int, warming: bool) -> bool:
        return time.monotonic() - start < (0.1 * most if warming else most)

    streams = arguments.minutes is not None
    with tempfile.TemporaryDirectory() as folder:
        found = soak(Rounds(Path(folder), streams), by_clock if streams else by_count)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
