"""Fit many times in one process and tell how memory and open files have grown.

    python tests/numbers/soak.py --fits 1000

The first tenth of the fits warms up: caches fill, and the allocator takes what it needs.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import torch

import featuremask

WORDS = {"max_epochs": 2, "hidden_units": (8,), "random_state": 0}


def resident_mb() -> float:
    """Return the memory that the process has in use."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def open_files() -> int:
    """Return how many files the process has open."""
    return len(os.listdir("/proc/self/fd"))


def soak(fits: int) -> dict[str, float]:
    """Fit, transform, save and load, by all selectors in turn."""
    torch.set_num_threads(1)
    names = [name for name in featuremask.__all__ if name.endswith("Selector")]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 40))
    y = X[:, 0] > 0
    warm = max(len(names), fits // 10)
    start = time.monotonic()
    before = (0.0, 0, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "selector.fm"
        for number in range(warm + fits):
            if number == warm:
                before = (resident_mb(), open_files(), threading.active_count())
            name = names[number % len(names)]
            more = {"max_tries": 1} if name == "ConcreteSelector" else {}
            selector = getattr(featuremask, name)(5, **WORDS, **more).fit(X, y)
            selector.save(path)
            featuremask.load(path).transform(X)
    return {
        "fits": fits,
        "growth_mb": round(resident_mb() - before[0], 2),
        "files": open_files() - before[1],
        "threads": threading.active_count() - before[2],
        "seconds": round(time.monotonic() - start),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=1000)
    sys.stdout.write(json.dumps(soak(parser.parse_args().fits)) + "\n")


if __name__ == "__main__":
    main()
