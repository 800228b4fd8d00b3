"""CSV and NPZ files are selected from with core dependencies alone."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

_PROGRAM = """
import sys
from importlib.machinery import PathFinder

class WithoutExtras:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("pandas", "polars", "pyarrow", "matplotlib", "pooch", "h5py"):
            return None
        return PathFinder.find_spec(name, path, target)

sys.meta_path = [WithoutExtras if finder is PathFinder else finder for finder in sys.meta_path]
from featuremask.cli import main
main({arguments!r}, standalone_mode=False)
"""


@pytest.mark.slow
def test_no_extra_is_needed_for_csv_and_npz(write: Callable[..., Path], tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    np.savez(tmp_path / "a.npz", X=X, y=(X[:, 2] > 0).astype(int))
    for path in (write(), tmp_path / "a.npz"):
        out = tmp_path / path.suffix
        options = ["-t", "y", "-k", "1", "--max-seconds", "1", "-q", "-o", str(out)]
        program = _PROGRAM.format(arguments=["select", str(path), *options])
        subprocess.run([sys.executable, "-c", program], check=True)
        assert (out / "report.html").exists()
        assert (out / f"reduced{path.suffix}").exists()
