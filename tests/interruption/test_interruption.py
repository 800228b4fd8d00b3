"""Kills, Ctrl-C and a clock that is set back lose nothing that was finished."""

import ast
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import featuremask
from featuremask.cli import main
from featuremask.experiments._claims import claimed

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("FEATUREMASK_KILLS", "8"))


@pytest.mark.timeout(120 + 10 * KILLS)
def test_a_grid_whose_workers_are_killed_makes_each_run_once(tmp_path: Path) -> None:
    seed = time.time_ns() % 10**6  # a failure shows it in the command
    program = Path(__file__).with_name("grid_killing.py")
    done = subprocess.run(
        [sys.executable, program, str(tmp_path), "--kills", str(KILLS), "--seed", str(seed)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    found = json.loads(done.stdout)
    sys.stdout.write(f"{found}\n")
    assert found["kills"] >= KILLS
    assert found["runs"] > 50


def test_ctrl_c_ends_a_command_with_a_word_and_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("featuremask.experiments.reproduce", interrupted)
    result = CliRunner().invoke(main, ["reproduce", "--plan"])
    assert result.exit_code != 0
    assert "Aborted" in result.output or "nterrupted" in result.output
    assert "Traceback" not in result.output


def test_a_claim_of_a_dead_process_is_void_though_the_clock_was_set_back(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    (tmp_path / "key").write_text(
        json.dumps({"host": socket.gethostname(), "process": child.pid}), encoding="utf-8"
    )
    tomorrow = time.time() + 86_400
    os.utime(tmp_path / "key", (tomorrow, tomorrow))
    with claimed(tmp_path, "key") as mine:
        assert mine


def test_nothing_measures_time_by_a_clock_that_can_be_set() -> None:
    package = Path(featuremask.__file__).parent
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr in ("time", "time_ns")
        and isinstance(node.value, ast.Name)
        and node.value.id == "time"
    ]
    assert found == []
