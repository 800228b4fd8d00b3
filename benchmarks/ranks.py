"""What several processes gain, and what they cost, beside the model of docs/scaling.md.

    python -m benchmarks.ranks [--repeats 3] [--json FILE]

`speed`: one epoch of the default selector on an array, in one process with one and with two
threads (which wait in loops or asleep), and in two processes of one thread that share each batch.
Each is repeated in turn; the fewest seconds count. `model`: one epoch of the joint mask on Parquet
files; bytes read, operations, all-reduced bytes and the size of the checkpoint are counted and set
beside the formulas.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.streaming import machine, write

UNITS = HIDDEN = 128
SETUPS = {
    "1 process, 1 thread": (1, 1, "active"),
    "1 process, 2 threads": (1, 2, "active"),
    "1 process, 2 threads, passive": (1, 2, "passive"),
    "2 processes": (2, 1, "active"),
}
"""Processes, threads of each, and whether threads that wait take a core (OMP_WAIT_POLICY)."""

MODEL_ROWS, MODEL_BATCH = 20_000, 1000


class Counts:
    """A callback that counts what the first epoch takes."""

    def __init__(self, flops: bool) -> None:
        import torch.distributed as dist
        from torch.utils.flop_counter import FlopCounterMode

        self.found: dict[str, float] = {}
        self._flops = FlopCounterMode(display=False) if flops else None
        self._reduced = self._calls = 0
        whole = dist.all_reduce

        def counted(tensor: Any, *arguments: Any, **words: Any) -> Any:
            self._reduced += tensor.numel() * tensor.element_size()
            self._calls += 1
            return whole(tensor, *arguments, **words)

        dist.all_reduce = counted

    def on_fit_begin(self, state: Any) -> None:
        """Start to count."""
        if self._flops is not None:
            self._flops.__enter__()
        self._reduced = self._calls = 0
        self._start = time.perf_counter(), time.process_time(), _bytes_read()

    def on_epoch_end(self, state: Any) -> None:
        """Keep the counts of the first epoch."""
        if self.found:
            return
        seconds, cpu, read = self._start
        self.found = {
            "seconds": time.perf_counter() - seconds,
            "cpu_seconds": time.process_time() - cpu,
            "read": _bytes_read() - read,
            "reduced_a_step": self._reduced / state.step,
            "calls_a_step": self._calls / state.step,
            "steps": state.step,
        }
        if self._flops is not None:
            self._flops.__exit__(None, None, None)
            self.found["flops"] = self._flops.get_total_flops()


def _bytes_read() -> int:
    for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines():
        if line.startswith("rchar:"):
            return int(line.split()[1])
    return 0


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Fit in this process, which a launcher may have started beside others."""
    from featuremask import FeatureMaskSelector
    from featuremask.selectors.worker import fit_worker
    from featuremask.sources import ParquetSource
    from featuremask.training import Callback

    class Counting(Counts, Callback):
        pass

    counts = Counting(job["kind"] == "model")
    words: dict[str, Any] = {"max_epochs": 1, "random_state": 0, "callbacks": [counts]}
    if job["kind"] == "speed":
        rng = np.random.default_rng(0)
        x = rng.standard_normal((job["rows"], job["columns"]), dtype=np.float32)
        y = (x[:, 0] + x[:, 1] > 0).astype(np.int64)
        words |= {"batch_size": job["batch"], "n_jobs": job["threads"]}
        fit_worker(FeatureMaskSelector(10, **words), x, y)
        return counts.found
    folder = Path(job["folder"])
    words |= {"batch_size": MODEL_BATCH, "n_jobs": 1, "strategy": "joint"}
    words |= {"mask_units": UNITS, "hidden_units": (HIDDEN,), "checkpoint": folder / "state"}
    fit_worker(FeatureMaskSelector(10, **words), ParquetSource(job["path"], target="bin"))
    size = (folder / "state" / "checkpoint.safetensors").stat().st_size
    return counts.found | {"checkpoint": size}


def launched(job: dict[str, Any], processes: int, wait: str = "active") -> dict[str, Any]:
    """Measure in as many processes; the figures of the first, processor seconds of all."""
    with tempfile.TemporaryDirectory() as folder:
        job = job | {"folder": folder}
        command = ["-m", "benchmarks.ranks", "--measure", json.dumps(job)]
        if processes > 1:
            launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
            command = [*launcher, str(processes), *command]
        environment = dict(os.environ)
        if wait == "passive":
            environment["OMP_WAIT_POLICY"] = wait
        subprocess.run(
            [sys.executable, *command], check=True, stderr=subprocess.DEVNULL, env=environment
        )
        parts = [
            json.loads((Path(folder) / f"{rank}.json").read_text()) for rank in range(processes)
        ]
    summed = {name: sum(part[name] for part in parts) for name in ("cpu_seconds", "read")}
    return parts[0] | summed | {"flops": sum(part.get("flops", 0) for part in parts)}


def speed(repeats: int, shapes: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
    """Print the seconds of an epoch in each setup."""
    results = []
    for rows, columns, batch in shapes:
        best: dict[str, float] = {}
        for name in list(SETUPS) * repeats:
            processes, threads, wait = SETUPS[name]
            job = {"kind": "speed", "rows": rows, "columns": columns, "batch": batch}
            found = launched(job | {"threads": threads}, processes, wait)
            load = os.getloadavg()[0]
            results.append(job | {"setup": name, "load": load} | found)
            best[name] = min(best.get(name, np.inf), found["seconds"])
            print(
                f"{rows} x {columns}, batch {batch}: {name:30} {found['seconds']:7.2f} s, "
                f"{found['cpu_seconds']:6.2f} s of the processor, load {load:.1f}",
                flush=True,
            )
        shared = best["2 processes"]
        gains = ", ".join(f"{seconds / shared:.2f} x {name}" for name, seconds in best.items())
        print(f"{rows} x {columns}, batch {batch}: two processes are as fast as {gains}")
    return results


def model() -> list[dict[str, Any]]:
    """Print what is counted beside what the formulas say."""
    results = []
    for columns in (200, 1000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(path, MODEL_ROWS, columns, 2_000_000)
            for processes in (1, 2):
                found = launched({"kind": "model", "path": str(path)}, processes)
                weights = columns * (2 * UNITS + HIDDEN)
                says = {
                    "read": 4 * MODEL_ROWS * columns,
                    "flops": 4 * MODEL_ROWS * columns * (UNITS + HIDDEN),
                    "reduced_a_step": 4 * weights if processes > 1 else 0,
                    "checkpoint": 12 * weights,
                }
                results.append({"columns": columns, "processes": processes, "model": says} | found)
                for name, value in says.items():
                    print(
                        f"D = {columns}, W = {processes}: {name:15} {found[name]:.4g}, model "
                        f"{value:.4g}",
                        flush=True,
                    )
    return results


def main() -> None:
    """Measure both, and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", help="where the figures are written to")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        job = json.loads(arguments.measure)
        found = measure(job)
        rank = os.environ.get("RANK", "0")
        (Path(job["folder"]) / f"{rank}.json").write_text(json.dumps(found), "utf-8")
        return
    results = {"machine": machine(), "model": model()}
    shapes = [(60_000, 784, 256), (60_000, 784, 1024), (20_000, 4000, 1024)]
    results["speed"] = speed(arguments.repeats, shapes)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
