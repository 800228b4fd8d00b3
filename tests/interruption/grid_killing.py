"""Kill workers of an experiment grid at random moments until the grid is whole, and count.

A program of its own: it loads the library once and forks for each worker. Two workers at a time
share the folder. At the end every run must be there once, with the result of a grid left in peace.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from tests.experiments.fakes import experiment, fake_accuracy, fake_data, fake_select

from featuremask.experiments import Job, Store, plan, run
from featuremask.experiments._bench import Bench

SEEDS = 12
WORKERS = 2


def slow_select(*arguments: Any) -> Any:
    """Select as the fake does, in the time of a small fit."""
    time.sleep(0.005)
    return fake_select(*arguments)


def jobs() -> list[Job]:
    """A grid of two methods, two datasets and some seeds."""
    return plan(experiment(seeds=tuple(range(SEEDS))))


def worker(folder: Path) -> int:
    """Start a worker; return its process."""
    process = os.fork()
    if process == 0:
        try:
            run(jobs(), folder, bench=Bench(fake_data, slow_select, {"accuracy": fake_accuracy}))
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return process


def ended(process: int) -> int:
    """Wait for a worker and return its exit code, negative for a signal."""
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code > 0:
        sys.exit("a worker failed; see above")
    return code


def results(folder: Path) -> dict[str, Any]:
    """Return what is recorded, by key."""
    return {record.key: record.result for record in Store(folder).read() if record.ok}


def lines(folder: Path) -> list[str]:
    """Return the key of each whole line, and fail at one that is torn."""
    paths = folder.glob("*/*/*.jsonl")
    return [json.loads(line)["key"] for path in paths for line in path.read_bytes().splitlines()]


def killed_grids(folder: Path, kills: int) -> dict[str, int]:
    """Kill until the number is reached, one grid after the other."""
    ended(worker(folder / "peace"))
    expected = results(folder / "peace")
    done, grids = 0, 0
    while done < kills:
        grids += 1
        here = folder / f"grid-{grids}"
        while len(results(here)) < len(expected):
            workers = [worker(here) for _ in range(WORKERS)]
            if done < kills:
                time.sleep(random.uniform(0.01, 0.12))
                for process in workers:
                    os.kill(process, signal.SIGKILL)
            done += sum(ended(process) == -signal.SIGKILL for process in workers)
        if results(here) != expected:
            sys.exit(f"grid {grids} differs after {done} kills")
        if sorted(lines(here)) != sorted(expected):
            sys.exit(f"grid {grids} has a run that was lost or made twice after {done} kills")
    return {"kills": done, "grids": grids, "runs": len(expected)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    sys.stdout.write(json.dumps(killed_grids(arguments.folder, arguments.kills)) + "\n")


if __name__ == "__main__":
    main()
