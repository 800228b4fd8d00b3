"""A fit that is killed at any moment and started again ends in the bits of one that was not."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("killing.py")
KILLS = int(os.environ.get("FEATUREMASK_KILLS", "8"))


def run(folder: Path, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(PROGRAM), str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.timeout(60 + 10 * KILLS)
def test_a_fit_that_is_killed_at_random_moments_ends_in_the_same_bits(tmp_path: Path) -> None:
    seed = time.time_ns() % 10**6  # a failure shows it in the command
    found = run(tmp_path, "--kills", str(KILLS), "--seed", str(seed))
    assert found["kills"] == KILLS
    assert found["epochs"] > 10


@pytest.mark.slow
def test_a_fit_that_is_killed_within_a_write_ends_in_the_same_bits(tmp_path: Path) -> None:
    assert run(tmp_path, "--epochs", "6")["kills"] == 9
