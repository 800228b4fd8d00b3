"""What rows out of Parquet cost: reading alone, an epoch from memory, a streaming epoch.

    python -m benchmarks.streaming [--shapes 20000000x100 1000000x2000] [--threads 1] [--json FILE]

A file of each shape is written, float32 and incompressible, in row groups of about 40 MB. Each
measurement is a process of its own: `reading` decodes all row groups into rows; `memory` and
`streaming` fit the default selector for one epoch, on an array and on the file. Seconds, by the
clock and of the processor, are those of the epoch; the peak is that of the whole process,
statistics and read-out included. An epoch from memory takes as many first rows as `--memory-bytes`
hold, in batches of the size of the whole, and its seconds are scaled to all rows. Each is repeated
in turn and the fewest seconds count; the load of the machine is noted before and after each.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

GROUP_BYTES = 40_000_000
MODES = ("reading", "memory", "streaming")


def write(path: Path, rows: int, columns: int, group_bytes: int = GROUP_BYTES) -> None:
    """Write a file whose target depends on its first two columns."""
    rng = np.random.default_rng(0)
    group = max(1, group_bytes // (4 * columns))
    names = [f"c{i}" for i in range(columns)]
    kinds = [(name, pa.float32()) for name in names]
    schema = pa.schema([*kinds, ("bin", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, rows, group):
            x = rng.standard_normal((columns, min(group, rows - start)), dtype=np.float32)
            target = (x[0] + x[1] > 0).astype(np.int8)
            writer.write_table(pa.table([*map(pa.array, x), pa.array(target)], schema=schema))


def measure(mode: str, path: Path, threads: int, memory_bytes: int) -> dict[str, Any]:
    """Measure one way of going through a file, in this process."""
    from featuremask import FeatureMaskSelector
    from featuremask.selectors._rules import budget_for
    from featuremask.sources import ParquetSource
    from featuremask.training import Callback, TrainingState

    class Clock(Callback):
        """Notes the time of the epoch."""

        def on_fit_begin(self, state: TrainingState) -> None:
            self.start = time.perf_counter(), time.process_time()

        def on_epoch_end(self, state: TrainingState) -> None:
            self.end = time.perf_counter(), time.process_time()

    clock, share = Clock(), 1.0
    source = ParquetSource(path, target="bin")
    selector = FeatureMaskSelector(
        2,
        max_epochs=1,
        batch_size=budget_for(source.shape[0]).batch_size,
        random_state=0,
        n_jobs=threads or None,
        callbacks=[clock],
    )
    found: dict[str, Any] = {"mode": mode, "before_mb": _peak_mb(), "load_before": os.getloadavg()}
    start = clock.start = time.perf_counter(), time.process_time()
    if mode == "reading":
        for block in range(len(source.block_rows)):
            for _ in source.read(block):
                pass
        clock.end = time.perf_counter(), time.process_time()
    elif mode == "memory":
        rows = _first_rows(source, memory_bytes)
        share = len(rows) / source.shape[0]
        selector.fit(rows, source.target()[: len(rows)])
    else:
        selector.fit(source)
    if mode != "reading":
        found["selected"] = [int(i) for i in np.flatnonzero(selector.support_)]
    return found | {
        "share_of_rows": share,
        "seconds": (clock.end[0] - clock.start[0]) / share,
        "cpu_seconds": (clock.end[1] - clock.start[1]) / share,
        "whole_seconds": time.perf_counter() - start[0],
        "peak_mb": _peak_mb(),
        "load_after": os.getloadavg(),
    }


def _first_rows(source: Any, most_bytes: int) -> np.ndarray:
    """Return as many rows as may be held, without holding them twice."""
    n = min(source.shape[0], max(1, most_bytes // (4 * source.shape[1])))
    rows, filled = np.empty((n, source.shape[1]), np.float32), 0
    for block in range(len(source.block_rows)):
        for x in source.read(block):
            some = x[: n - filled]
            rows[filled : filled + len(some)] = some
            filled += len(some)
            if filled == n:
                return rows
    return rows


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = {line.split(":")[1].strip() for line in lines if line.startswith("model name")}
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": ", ".join(sorted(names)),
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "python": platform.python_version(),
        "environment": {k: v for k, v in os.environ.items() if k.startswith(("OMP_", "GOMP_"))},
    }


def _measured(mode: str, path: Path, threads: int, memory_bytes: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.streaming", "--threads", str(threads)]
    command += ["--memory-bytes", str(memory_bytes), "--measure", mode, str(path)]
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def _line(shape: str, size: float, found: dict[str, Any]) -> str:
    loads = f"{found['load_before'][0]:.1f} to {found['load_after'][0]:.1f}"
    return (
        f"{shape:>14} {size / 1e9:5.2f} {found['mode']:>10} {found['seconds']:8.1f} "
        f"{found['cpu_seconds']:8.1f} {size / 1e6 / found['seconds']:6.0f} "
        f"{found['peak_mb']:8} {loads:>14}"
    )


def summary(shape: str, results: list[dict[str, Any]], what: str) -> str:
    """Return the ratios of the fewest seconds, by the clock or of the processor."""
    reading, memory, streaming = (
        min(r[what] for r in results if (r["shape"], r["mode"]) == (shape, mode)) for mode in MODES
    )
    return (
        f"{shape}, {what}: streaming {streaming:.1f} = {streaming / max(reading, memory):.2f} "
        f"times the larger of reading {reading:.1f} and training from memory {memory:.1f}, "
        f"{streaming / (reading + memory):.2f} times their sum"
    )


def main() -> None:
    """Print a table of all shapes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=["20000000x100", "1000000x2000"])
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch; 0 for its own choice")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--memory-bytes", type=int, default=2 * 10**9)
    parser.add_argument("--folder", help="of files; those that are there are used")
    parser.add_argument("--json", help="where the figures are written to")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        mode, path = arguments.measure
        found = measure(mode, Path(path), arguments.threads, arguments.memory_bytes)
        print(json.dumps(found))
        return
    results = []
    head = f"{'rows x columns':>14} {'GB':>5} {'':>10} {'seconds':>8} {'cpu':>8} {'MB/s':>6}"
    print(f"{head} {'peak MB':>8} {'load':>14}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for shape in arguments.shapes:
            rows, columns = (int(n) for n in shape.split("x"))
            kept = Path(arguments.folder or folder) / f"{shape}.parquet"
            path = kept if kept.exists() else Path(folder) / kept.name
            if path is not kept:
                write(path, rows, columns)
            for mode in MODES * arguments.repeats:
                found = _measured(mode, path, arguments.threads, arguments.memory_bytes)
                results.append(found | {"shape": shape, "threads": arguments.threads})
                print(_line(shape, 4 * rows * columns, found), flush=True)
                if arguments.json:
                    whole = {"machine": machine(), "measurements": results}
                    Path(arguments.json).write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
            for what in ("seconds", "cpu_seconds"):
                print(summary(shape, results, what), flush=True)
            if path is not kept:
                path.unlink()


if __name__ == "__main__":
    main()
