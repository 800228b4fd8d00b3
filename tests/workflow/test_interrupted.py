"""A selection that is interrupted leaves the ranking by then, marked as a part."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.workflow.conftest import Write

from featuremask.cli import main
from featuremask.exceptions import FitInterrupted
from featuremask.selectors import BaseSelector
from featuremask.workflow import Request, SelectionInterrupted, select_to_folder

PARTS = {"partial-ranking.csv", "partial.json"}


def request(path: Path) -> Request:
    return Request(paths=(str(path),), target="y", k=1, seed=0)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "partial-ranking.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def interrupted_training(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = BaseSelector._train

    def train(self: Any, *arguments: Any) -> Any:
        fitted = whole(self, *arguments)
        raise FitInterrupted(7, 0.25, fitted.ranking)

    monkeypatch.setattr(BaseSelector, "_train", train)


@pytest.mark.usefixtures("interrupted_training")
def test_of_a_training_the_ranking_so_far_is_kept_and_said_to_be_a_part(
    write: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(SelectionInterrupted) as stop:
        select_to_folder(request(write()), out)
    assert {path.name for path in out.iterdir()} == PARTS
    assert [row["rank"] for row in rows(out)] == ["1", "2", "3", "4", "5"]
    assert {row["column"] for row in rows(out)} == {"signal", "copy", "noise", "city", "born"}
    scores = [float(row["score"]) for row in rows(out)]
    assert scores == sorted(scores, reverse=True)
    said = json.loads((out / "partial.json").read_text())
    assert said["partial"] is True
    assert (said["stage"], said["training_done"]) == ("training", 0.25)
    assert "featuremask select" in said["command"]
    assert str(stop.value) == (
        f"By then 25% of the training was done; the ranking by then is in "
        f"{out / 'partial-ranking.csv'}."
    )


def test_of_a_judgment_the_ranking_of_the_whole_training_is_kept(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    select_to_folder(request(write()), out)
    with (out / "ranking.csv").open(newline="", encoding="utf-8") as file:
        whole = [(row["rank"], row["column"], row["score"]) for row in csv.DictReader(file)]
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    monkeypatch.setattr("featuremask.workflow._select.measure_curve", interrupted)
    with pytest.raises(SelectionInterrupted, match="training was done, judging was not"):
        select_to_folder(request(write()), out)
    found = [(row["rank"], row["column"], row["score"]) for row in rows(out)]
    assert found == [row for row in whole if row[2]]
    assert {n: (out / n).read_bytes() for n in before} == before, "an earlier result was touched"


def test_a_whole_selection_removes_what_an_interrupted_one_left(
    write: Write, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for name in (*PARTS, "mine.txt"):
        (out / name).write_text("")
    select_to_folder(request(write()), out)
    assert not {path.name for path in out.iterdir()} & PARTS
    assert (out / "mine.txt").exists()


@pytest.mark.usefixtures("interrupted_training")
def test_the_command_tells_where_the_ranking_is_and_ends_with_130(
    write: Write, tmp_path: Path
) -> None:
    arguments = ["select", str(write()), "-t", "y", "-k", "1", "-o", str(tmp_path / "out"), "-q"]
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 130
    assert found.stdout == ""
    assert found.stderr.splitlines()[-1].startswith("Interrupted. By then 25% of the training")
    assert "partial-ranking.csv" in found.stderr
    assert "Traceback" not in found.stderr
