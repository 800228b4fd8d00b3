"""A run is killed without warning and goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.experiments.fakes import Counting, experiment

from featuremask.experiments import Store, plan, run

ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys, time
from pathlib import Path
from featuremask.experiments import plan, run
from featuremask.experiments._bench import Bench
from tests.experiments.fakes import experiment, fake_accuracy, fake_data, fake_select

def slow_select(run, data):
    time.sleep(0.05)
    return fake_select(run, data)

bench = Bench(fake_data, slow_select, {"accuracy": fake_accuracy})
run(plan(experiment(seeds=tuple(range(20)))), Path(sys.argv[1]), bench=bench)
"""


def _start(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(folder)], env=environment)


def _wait_for_records(folder: Path, count: int) -> None:
    until = time.monotonic() + 60
    while len(Store(folder).read()) < count:
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_killed_run_goes_on_without_loss_or_repetition(tmp_path: Path) -> None:
    process = _start(tmp_path)
    _wait_for_records(tmp_path, 10)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {record.key for record in Store(tmp_path).read()}
    jobs = plan(experiment(seeds=tuple(range(20))))
    counting = Counting()
    run(jobs, tmp_path, bench=counting.bench)
    assert 10 <= len(before) < 160
    assert len(counting.fits) + len(counting.measures) == 160 - len(before)
    keys = [
        line.split('"', 4)[3]
        for path in tmp_path.glob("*/*/*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert len(keys) == len(set(keys)) == 160
