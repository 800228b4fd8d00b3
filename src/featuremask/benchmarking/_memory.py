"""Peak memory of a fit beyond its data, measured in a process of its own.

    python -m featuremask.benchmarking._memory dense 100000 784

prints one line of JSON. Peaks are read from the kernel (``/proc/self``), which Linux alone has.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from featuremask.exceptions import InputError

__all__ = ["peak_memory"]

_MEGABYTE = 2**20
_SLACK_BYTES = 64 * _MEGABYTE
_STORED_A_ROW = 100


def peak_memory(kind: str, n_rows: int, n_columns: int) -> dict[str, float]:
    """Return megabytes: of the data, of the parameters, of the peak beyond the data, its bound.

    The bound is a quarter of the data, 64 MB and six times the parameters.

    Parameters
    ----------
    kind : {"dense", "sparse"}
        A float32 array, or a CSR matrix of 100 entries a row.
    n_rows, n_columns : int
    """
    if not Path("/proc/self/clear_refs").exists():
        raise InputError("Peak memory is read from /proc/self, which this system does not have.")
    command = [sys.executable, "-m", __spec__.name, kind, str(n_rows), str(n_columns)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _status(name: str) -> int:
    """Return a line of the kernel's account of this process, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return 1024 * int(line.split()[1])
    raise InputError(f"/proc/self/status has no line {name}.")


def _data(kind: str, n_rows: int, n_columns: int) -> tuple[Any, int]:
    rng = np.random.default_rng(0)
    if kind == "dense":
        x = np.empty((n_rows, n_columns), np.float32)
        for part in np.array_split(x, max(1, x.nbytes // (16 * _MEGABYTE))):
            rng.random(out=part, dtype=np.float32)
        return x, x.nbytes
    offsets = np.arange(n_rows + 1, dtype=np.int32) * _STORED_A_ROW
    columns = rng.integers(0, n_columns, offsets[-1], dtype=np.int32)
    values = rng.random(offsets[-1], dtype=np.float32)
    entries = sparse.csr_matrix((values, columns, offsets), (n_rows, n_columns))
    entries.sum_duplicates()
    return entries, entries.data.nbytes + entries.indices.nbytes + entries.indptr.nbytes


def _measure(kind: str, n_rows: int, n_columns: int) -> dict[str, float]:
    from featuremask.selectors import FeatureMaskSelector

    def selector(k: int) -> FeatureMaskSelector:
        return FeatureMaskSelector(k, max_epochs=1, batch_size=256, random_state=0, n_jobs=1)

    small, _ = _data("dense", 600, 5)
    selector(2).fit(small, np.arange(600) % 2)  # loads what is loaded on first use
    x, data_bytes = _data(kind, n_rows, n_columns)
    y = np.arange(n_rows) % 2
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts anew
    before = _status("VmRSS:")
    fitted = selector(10).fit(x, y)
    extra = _status("VmHWM:") - before
    parameters = sum(4 * p.numel() for p in fitted.network_.parameters())
    bound = data_bytes / 4 + _SLACK_BYTES + 6 * parameters
    return {
        "data": data_bytes / _MEGABYTE,
        "parameters": parameters / _MEGABYTE,
        "extra": extra / _MEGABYTE,
        "bound": bound / _MEGABYTE,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
