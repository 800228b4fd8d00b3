"""Skips are counted, and what must be there is missed loudly."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
THREE_SKIPS = """
import pytest
@pytest.mark.parametrize("number", range(3))
def test_something(number): pytest.skip("not here")
"""
DATA = "def test_something(paper_data): pass"


def run(folder: Path, code: str, **environment: str) -> tuple[int, str]:
    (folder / "test_one.py").write_text(code, encoding="utf-8")
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FEATUREMASK") and k != "CI"}
    words = ["-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--rootdir", str(folder), str(folder)],
        env={**clean, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **environment},
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("most", "code", "verdict"), [("3", 0, "allowed"), ("2", 1, "too many")])
def test_a_run_with_more_skips_than_allowed_fails(
    tmp_path: Path, most: str, code: int, verdict: str
) -> None:
    found, said = run(tmp_path, THREE_SKIPS, FEATUREMASK_MOST_SKIPS=most)
    assert found == code, said
    assert f"skipped: 3; FEATUREMASK_MOST_SKIPS={most}: {verdict}" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "code"),
    [({}, 0), ({"CI": "true"}, 1), ({"FEATUREMASK_REQUIRE_DATA": "1"}, 1)],
    ids=["here", "CI", "required"],
)
def test_missing_data_is_a_skip_here_and_a_failure_where_it_must_be(
    tmp_path: Path, environment: dict[str, str], code: int
) -> None:
    found, said = run(tmp_path, DATA, **environment)
    assert found == code, said
    assert "set FEATUREMASK_DATA to the folder of the paper's data" in said or code == 0
