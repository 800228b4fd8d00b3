"""No change of a file runs code, takes the interpreter down, or gives another model."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("mutating.py")
COUNT = int(os.environ.get("FEATUREMASK_MUTATIONS", "200"))
"""Changes of each kind of file; `make nightly` asks for 10,000."""

CHECKED = ["selector", "checkpoint"]
OTHERS = ["records", "experiment", "toml", "mat", "npz", "csv", "parquet"]


@pytest.mark.timeout(120 + COUNT)
@pytest.mark.slow
def test_a_changed_file_is_refused_or_read_as_data_within_memory_and_time(tmp_path: Path) -> None:
    command = [sys.executable, str(PROGRAM), str(tmp_path), *CHECKED, *OTHERS]
    done = subprocess.run(
        [*command, "--count", str(COUNT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    sys.stdout.write(f"{found}\n")  # `pytest -rP` shows it
    for kind, outcomes in found.items():
        del outcomes["seconds"]
        assert sum(outcomes.values()) == COUNT, kind
        assert outcomes.get("no memory", 0) == 0, kind
        assert outcomes["refused"] > 0, kind
    for kind in CHECKED:
        assert set(found[kind]) <= {"refused", "same"}
