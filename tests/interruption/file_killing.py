"""Kill what writes the user's files at random moments, look at them, start it again, and compare.

A program of its own: it loads the library and makes a selection once, and forks for each writer.
`apply` copies columns of tables of several kinds; `report` writes the folder of `featuremask
select`, the report among its files. After each kill a file is whole, old or new, or not there.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import torch

from featuremask.workflow import Request, apply_selector, select, write_result
from featuremask.workflow._result import Result

ROWS = 20_000
ENDINGS = ("csv", "parquet", "feather", "npz")

Job = Callable[[Path], object]


def make_tables(folder: Path) -> None:
    """Write the same table in files of several kinds."""
    rng = np.random.default_rng(0)
    values = {f"c{n}": rng.normal(size=ROWS).round(6) for n in range(8)}
    values["y"] = (values["c1"] + values["c4"] > 0).astype(int)
    table = pa.table(values)
    lines = [",".join(values), *(",".join(map(str, row)) for row in zip(*values.values()))]  # noqa: B905  # columns of one table
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    pa.parquet.write_table(table, folder / "table.parquet", row_group_size=2000)
    pa.feather.write_feather(table, folder / "table.feather", chunksize=2000)
    X = np.column_stack([values[f"c{n}"] for n in range(8)])
    np.savez(folder / "table.npz", X=X, y=values["y"])


def selection(folder: Path) -> Result:
    """Select from some rows, by a method that takes no time, as if it had been from all."""
    torch.set_num_threads(1)
    few, whole = folder / "few.csv", folder / "table.csv"
    few.write_text("".join(whole.read_text().splitlines(keepends=True)[:300]))
    request = Request(paths=(str(few),), target="y", k=2, method="random", seed=0)
    return replace(select(request), request=replace(request, paths=(str(whole),)))


def jobs(folder: Path, result: Result) -> dict[str, Job]:
    """Return what writes to a folder: the report's, and apply's for each kind."""
    selector = folder / "selector.fm"
    result.selector.save(selector)
    numbered = folder / "numbered.fm"
    del result.selector.feature_names_in_
    result.selector.save(numbered)
    result.selector.feature_names_in_ = np.array([f"c{n}" for n in range(8)], dtype=object)
    found: dict[str, Job] = {"report": lambda out: write_result(result, out)}
    for ending in ENDINGS:
        path, by = folder / f"table.{ending}", numbered if ending == "npz" else selector
        found[f"apply {ending}"] = lambda out, path=path, by=by: apply_selector(  # type: ignore[misc]  # bound now
            by, [path], out / f"small{path.suffix}"
        )
    return found


def started(job: Job, out: Path) -> int:
    """Do a job in a fork; return its process."""
    process = os.fork()
    if process == 0:
        try:
            job(out)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    return process


def ended(process: int) -> int:
    """Wait for a process and return its exit code, negative for a signal."""
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if code > 0:
        sys.exit("a writer failed; see above")
    return code


def visible(out: Path) -> dict[str, bytes]:
    """Return the files of a folder that a user sees, and what they hold."""
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name[0] != "."}


def killed(job: Job, out: Path, kills: int) -> int:
    """Kill a job until the number is reached, and return how many writes were left in peace."""
    peace = out / "peace"
    peace.mkdir(parents=True)
    start = time.monotonic()
    ended(started(job, peace))
    duration = time.monotonic() - start
    expected = visible(peace)
    old = dict.fromkeys(expected, b"the content before")
    done, rounds = 0, 0
    while done < kills:
        rounds += 1
        here = out / f"round-{rounds}"
        here.mkdir()
        for name, content in old.items() if rounds % 2 else ():
            (here / name).write_bytes(content)
        for _ in range(4):
            process = started(job, here)
            time.sleep(random.uniform(0.0, 1.1 * duration))
            os.kill(process, signal.SIGKILL)
            done += ended(process) == -signal.SIGKILL
            for name, content in visible(here).items():
                if content not in (expected[name], old[name] if rounds % 2 else expected[name]):
                    sys.exit(f"{name} is half-written after {done} kills")
        ended(started(job, here))
        if visible(here) != expected:
            sys.exit(f"the files differ after {done} kills")
        if sorted(os.listdir(here)) != sorted(expected):
            sys.exit(f"something is left behind after {done} kills")
    return done


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    make_tables(arguments.folder)
    chosen = jobs(arguments.folder, selection(arguments.folder))
    each = -(-arguments.kills // len(ENDINGS))
    found = {
        name: killed(job, arguments.folder / name, arguments.kills if name == "report" else each)
        for name, job in chosen.items()
    }
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
