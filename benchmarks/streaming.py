"""What rows out of Parquet cost: reading alone, an epoch from memory, a streaming epoch.

    python -m benchmarks.streaming [--shapes 2500000x100 125000x2000] [--folder DIR] [--json FILE]

A file of each shape is written to a temporary folder, float32 and incompressible, in row groups of
about 40 MB. Each measurement is a process of its own: `reading` decodes all row groups into rows;
`memory` and `streaming` fit the default selector for one epoch, on an array and on the file. The
seconds are those of the epoch, the peak is that of the whole process, statistics and read-out
included.
"""

import argparse
import json
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


def write(path: Path, rows: int, columns: int) -> None:
    """Write a file whose target depends on its first two columns."""
    rng = np.random.default_rng(0)
    group = max(1, GROUP_BYTES // (4 * columns))
    names = [f"c{i}" for i in range(columns)]
    kinds = [(name, pa.float32()) for name in names]
    schema = pa.schema([*kinds, ("bin", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start in range(0, rows, group):
            x = rng.standard_normal((columns, min(group, rows - start)), dtype=np.float32)
            target = (x[0] + x[1] > 0).astype(np.int8)
            writer.write_table(pa.table([*map(pa.array, x), pa.array(target)], schema=schema))


def measure(mode: str, path: Path) -> dict[str, Any]:
    """Measure one way of going through a file, in this process."""
    from featuremask import FeatureMaskSelector
    from featuremask.sources import ParquetSource

    source = ParquetSource(path, target="bin")
    selector = FeatureMaskSelector(2, max_epochs=1, random_state=0)
    found: dict[str, Any] = {"mode": mode, "before_mb": _peak_mb()}
    start = time.perf_counter()
    if mode == "reading":
        for block in range(len(source.block_rows)):
            for _ in source.read(block):
                pass
        found["seconds"] = time.perf_counter() - start
    else:
        rows: Any = source
        if mode == "memory":
            rows = np.concatenate(
                [x for b in range(len(source.block_rows)) for x in source.read(b)]
            )
            selector.fit(rows, source.target())
        else:
            selector.fit(source)
        found["seconds"] = selector.history_[0]["seconds"]
        found["fit_seconds"] = time.perf_counter() - start
        found["selected"] = [int(i) for i in np.flatnonzero(selector.support_)]
    return found | {"peak_mb": _peak_mb()}


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Print a table of all shapes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=["2500000x100", "125000x2000"])
    parser.add_argument("--folder", help="where the files are written; else a temporary folder")
    parser.add_argument("--json", help="where the figures are written to")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        mode, path = arguments.measure
        print(json.dumps(measure(mode, Path(path))))
        return
    results = []
    print(f"{'rows x columns':>16} {'GB':>5} {'':>10} {'seconds':>8} {'MB/s':>6} {'peak MB':>8}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for shape in arguments.shapes:
            rows, columns = (int(n) for n in shape.split("x"))
            path = Path(folder) / f"{shape}.parquet"
            write(path, rows, columns)
            size = 4 * rows * columns
            for mode in ("reading", "memory", "streaming"):
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.streaming",
                    "--measure",
                    mode,
                    str(path),
                ]
                ended = subprocess.run(command, check=True, capture_output=True, text=True)
                found = json.loads(ended.stdout) | {"shape": shape}
                results.append(found)
                print(
                    f"{shape:>16} {size / 1e9:5.2f} {mode:>10} {found['seconds']:8.1f} "
                    f"{size / 1e6 / found['seconds']:6.0f} {found['peak_mb']:8}",
                    flush=True,
                )
            path.unlink()
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
