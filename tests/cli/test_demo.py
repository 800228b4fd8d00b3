"""The demo prints three honest figures and writes a picture."""

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from featuremask import _demo
from featuremask.cli import main


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return folder, CliRunner().invoke(main, ["demo", "--out", str(folder)])


def percent(output: str, line: str) -> float:
    found = re.search(rf"{re.escape(line)}\s+(\d+\.\d)%", output)
    assert found, output
    return float(found[1])


@pytest.mark.slow
def test_it_prints_three_accuracies_and_the_selected_beat_random_ones(demo: Any) -> None:
    _, found = demo
    assert found.exit_code == 0, found.output
    everything = percent(found.output, "all 64 pixels")
    selected = percent(found.output, "the 10 selected")
    random = percent(found.output, "10 at random (20 x)")
    assert 80 < selected <= everything <= 100
    assert selected > random + 3


@pytest.mark.slow
def test_it_names_ten_pixels_and_the_picture(demo: Any) -> None:
    folder, found = demo
    names = re.search(r"best first: (.*)", found.output)
    assert names
    assert len(set(names[1].split(", "))) == 10
    assert all(re.fullmatch(r"pixel_\d_\d", name) for name in names[1].split(", "))
    assert f"Picture: {folder / 'demo.png'}" in found.output
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_number_of_digits_held_back_is_what_it_says(demo: Any) -> None:
    from sklearn.datasets import load_digits

    assert f"on {round(len(load_digits().target) * 0.25 + 0.49)} digits" in demo[1].output


def test_the_command_prints_what_the_demo_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def fake(folder: Path) -> _demo.DemoResult:
        asked.append(folder)
        return _demo.DemoResult(0.9712, 0.9, 0.5, ["a", "b"], 1.25, folder / "demo.svg")

    monkeypatch.setattr(_demo, "run_demo", fake)
    output = CliRunner().invoke(main, ["demo", "-o", str(tmp_path)]).output
    assert asked == [tmp_path]
    for text in ("97.1%", "90.0%", "50.0%", "1.2 s, best first: a, b", "demo.svg"):
        assert text in output


def test_a_file_is_no_folder_for_pictures(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "file")])
    assert found.exit_code == 2
    assert "is a file" in found.output
