"""The type hints serve those who use the package, under mypy's strictest rules."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_typed_code_that_uses_the_package_passes_and_its_mistakes_are_found() -> None:
    pytest.importorskip("mypy", reason="pip install --group lint to run this")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "tests/hints/consumer.py"],
        cwd=ROOT,  # where mypy has kept what it knows of the package
        env={**os.environ, "MYPYPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.startswith("Success: no issues found in 1 source file"), found.stdout
