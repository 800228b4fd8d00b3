"""Make a grid on two workers of a backend, kill one in the middle, and say what was recorded.

A program of its own. One job besides kills every worker that takes it.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.experiments.fakes import experiment, fake_accuracy, fake_data, fake_select

from featuremask.experiments import RunOptions, Store, plan, run
from featuremask.experiments._bench import Bench

JOBS = plan(experiment(seeds=tuple(range(8))))
DEADLY = JOBS[-1].fit.key
AT_RECORDS = 12


def selecting(run: Any, data: Any) -> Any:
    """Select as the fake does, in the time of a small fit; note the process."""
    folder = Path(os.environ["PROCESSES"])
    (folder / str(os.getpid())).touch()
    time.sleep(0.05)
    if run.key == DEADLY:
        (folder / "deadly").open("a").write("x")
        os.kill(os.getpid(), signal.SIGKILL)
    return fake_select(run, data)


def kill_one(results: Path, processes: Path) -> None:
    """Kill a worker once some runs are recorded."""
    until = time.monotonic() + 120
    while len(Store(results).read()) < AT_RECORDS and time.monotonic() < until:
        time.sleep(0.02)
    first = min(path for path in processes.iterdir() if path.name.isdigit())
    (processes / "killed").touch()
    os.kill(int(first.name), signal.SIGKILL)


def main(folder: Path, backend: str) -> None:
    """Print the statuses, the keys of all lines, and whether results are those of one process."""
    results, processes = folder / "results", folder / "processes"
    processes.mkdir()
    os.environ["PROCESSES"] = str(processes)
    threading.Thread(target=kill_one, args=(results, processes), daemon=True).start()
    bench = Bench(fake_data, selecting, {"accuracy": fake_accuracy})
    events: list[Any] = []
    run(JOBS, results, RunOptions(2, backend=backend), bench=bench, report=events.append)
    lines = [p.read_bytes().splitlines() for p in results.glob("*/*/*.jsonl")]
    said = {
        "killed": [event.label for event in events if event.status == "killed"],
        "keys": [json.loads(line)["key"] for some in lines for line in some],
        "results": {record.key: record.result for record in Store(results).read()},
        "processes": sum(path.name.isdigit() for path in processes.iterdir()),
        "one_was_killed": (processes / "killed").exists(),
        "deaths": len((processes / "deadly").read_text()),
    }
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
