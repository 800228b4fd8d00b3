"""Many fits, one after the other and at once."""

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from featuremask import FeatureMaskSelector

FITS = int(os.environ.get("FEATUREMASK_FITS", "100"))
MINUTES = float(os.environ.get("FEATUREMASK_MINUTES", "0.4"))


def scores(seed: int) -> bytes:
    """Fit a small problem and return every bit of its scores."""
    X = np.random.default_rng(0).normal(size=(300, 20))
    words = {"max_epochs": 3, "hidden_units": (8,), "random_state": seed}
    return FeatureMaskSelector(5, **words).fit(X, X[:, 0] > 0).scores_.tobytes()


def soaked(*options: str) -> dict[str, float]:
    """Run the program that fits over and over, and return what it measured."""
    program = Path(__file__).with_name("soak.py")
    command = [sys.executable, str(program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    sys.stdout.write(f"{found}\n")
    return found


@pytest.mark.slow
@pytest.mark.timeout(60 + 2 * FITS)
def test_many_fits_take_no_more_memory_or_files_than_some() -> None:
    found = soaked("--fits", str(FITS))
    assert (found["files"], found["threads"]) == (0, 0)
    assert found["growth_mb"] < 20


@pytest.mark.slow
@pytest.mark.timeout(120 + 120 * MINUTES)
def test_fits_files_and_streams_for_some_minutes_leave_nothing_behind() -> None:
    found = soaked("--minutes", str(MINUTES))
    assert found["fits"] > 10
    assert (found["files"], found["threads"]) == (0, 0)
    assert found["growth_mb"] < 20


@pytest.mark.slow
def test_sixty_four_threads_fit_at_once_as_one_after_the_other() -> None:
    seeds = [number % 4 for number in range(64)]
    expected = {seed: scores(seed) for seed in set(seeds)}
    with ThreadPoolExecutor(64) as pool:
        found = list(pool.map(scores, seeds))
    assert found == [expected[seed] for seed in seeds]


@pytest.mark.slow
def test_eight_processes_fit_at_once_as_one_alone() -> None:
    expected = scores(1)
    context = get_context("forkserver")
    context.set_forkserver_preload(["torch", "sklearn", "featuremask.selectors"])
    with ProcessPoolExecutor(8, mp_context=context) as pool:
        assert list(pool.map(scores, [1] * 8)) == [expected] * 8
