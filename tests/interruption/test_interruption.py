"""Kills, Ctrl-C and a clock that is set back lose nothing that was finished."""

import ast
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import featuremask
from featuremask.cli import main
from featuremask.experiments._claims import claimed

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("FEATUREMASK_KILLS", "8"))


def killed(program: str, folder: Path) -> dict[str, Any]:
    """Run a program that kills, and return what it counted."""
    seed = time.time_ns() % 10**6  # a failure shows it
    path = Path(__file__).with_name(program)
    done = subprocess.run(
        [sys.executable, path, str(folder), "--kills", str(KILLS), "--seed", str(seed)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"seed {seed}: {done.stderr}"
    found: dict[str, Any] = json.loads(done.stdout)
    sys.stdout.write(f"{found}\n")
    return found


@pytest.mark.timeout(120 + 10 * KILLS)
def test_a_grid_whose_workers_are_killed_makes_each_run_once(tmp_path: Path) -> None:
    found = killed("grid_killing.py", tmp_path)
    assert found["kills"] >= KILLS
    assert found["runs"] > 50


@pytest.mark.slow
@pytest.mark.timeout(120 + 10 * KILLS)
def test_apply_and_the_report_that_are_killed_leave_whole_files_or_none(tmp_path: Path) -> None:
    found = killed("file_killing.py", tmp_path)
    assert found["report"] >= KILLS
    assert sum(kills for name, kills in found.items() if name.startswith("apply")) >= KILLS


SELECT = ["select", "table.csv", "-t", "y", "-k", "2", "-o", "out"]


@pytest.mark.slow
def test_ctrl_c_while_the_command_trains_keeps_the_ranking_so_far(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 30))  # it trains for ten seconds and more
    names = [f"c{n}" for n in range(30)] + ["y"]
    table = np.column_stack([X, X[:, 3] + X[:, 7] > 0])
    np.savetxt(tmp_path / "table.csv", table, "%.3f", ",", header=",".join(names), comments="")
    command = [sys.executable, "-m", "featuremask", *SELECT]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        line = child.stderr.readline()
        while line and not line.startswith("epoch"):  # a tenth of the training is done
            line = child.stderr.readline()
        child.send_signal(signal.SIGINT)
        said, errors = child.communicate(timeout=60)
    assert child.returncode == 130, errors
    assert said == ""
    assert "Interrupted. By then " in errors
    assert "Traceback" not in errors
    out = tmp_path / "out"
    assert {path.name for path in out.iterdir()} == {"partial-ranking.csv", "partial.json"}
    best = [line.split(",")[1] for line in (out / "partial-ranking.csv").read_text().splitlines()]
    assert set(best[1:3]) == {"c3", "c7"}
    assert 0.0 < json.loads((out / "partial.json").read_text())["training_done"] < 1.0


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
