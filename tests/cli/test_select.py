"""The command asks once and prints what was found; its exit code says how it ended."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from featuremask.cli import main
from featuremask.cli._console import Console


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of 60 rows in the present folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["a,b,c,y"]
    for a, b in rng.normal(size=(60, 2)):
        lines.append(f"{a:.3f},{b:.3f},{'red' if b > 0 else 'blue'},{int(a > 0)}")
    (tmp_path / "table.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "table.csv"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def quick(*arguments: str) -> Result:
    return run("select", "table.csv", "-t", "y", "--method", "random", *arguments)


@pytest.fixture(autouse=True)
def few_models(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.tree import DecisionTreeClassifier

    from featuremask.workflow import _judge

    model = _judge._Model("accuracy", "a tree", lambda seed: DecisionTreeClassifier())
    monkeypatch.setitem(_judge._MODELS, "classification", model)


def test_one_line_says_what_was_found_and_where_it_is(table: Path) -> None:
    found = quick("-k", "2", "-o", "out")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("2 of 3 columns reach ")
    assert "written to out: selected.csv, ranking.csv, reduced.csv, selector.fm" in found.stdout
    assert (table.parent / "out" / "selected.csv").exists()


def test_json_on_standard_output_is_json_alone(table: Path) -> None:
    found = quick("-k", "0.7", "--json", "-o", "out")
    values = json.loads(found.stdout)
    assert values["k"] == 2
    assert values["settings"]["k"] == 0.7
    assert "reading table.csv" in found.stderr


def test_quiet_is_silent_on_the_error_stream(table: Path) -> None:
    assert quick("-q").stderr == ""
    shown = quick().stderr
    assert "looking at 60 rows of 3 columns" in shown
    assert "judging: 3 of 3" in shown


def test_a_plan_writes_nothing(table: Path) -> None:
    found = quick("--plan", "-q")
    assert found.stdout.startswith("48 rows to train on, 12 held out")
    assert [path.name for path in table.parent.iterdir()] == ["table.csv"]
    assert json.loads(quick("--plan", "-q", "--json").stdout)["n_train"] == 48


def test_options_may_come_from_a_file_and_those_given_win(table: Path) -> None:
    (table.parent / "o.toml").write_text(
        'target = "y"\nk = 1\nmethod = "random"\nmax-seconds = 9\ndrop = ["c"]\n'
        '[group]\nboth = ["a", "b"]\n'
    )
    found = run("select", "--config", "o.toml", "table.csv", "--json", "-q", "-k", "2")
    assert found.exit_code == 0, found.output
    values = json.loads(found.stdout)
    settings = values["settings"]
    assert settings["k"] == 2
    assert any("n_features_to_select=2 is more than the 1" in text for text in values["warnings"])
    assert settings["drop"] == ["c"]
    assert settings["max_seconds"] == 9
    assert settings["groups"] == {"both": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "said"), [("colour = 1", "'colour', which is no option"), ("k =", "is no TOML file")]
)
def test_a_file_of_options_is_checked(table: Path, text: str, said: str) -> None:
    (table.parent / "o.toml").write_text(text)
    found = run("select", "table.csv", "--config", "o.toml")
    assert found.exit_code == 2
    assert said in found.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-k", "many"], 2, "'many' is no number of columns"),
        (["-k", "0"], 2, "'0' is no number of columns from 1"),
        (["-k", "1.5"], 2, "'1.5' is no number of columns from 1, no share"),
        (["-k", "nan"], 2, "'nan' is no number of columns"),
        (["--seed", "-1"], 2, "-1 is not in the range"),
        (["--max-seconds", "0"], 2, "0.0 is not in the range"),
        (["--resamples", "3"], 2, "resamples must be an even number"),
        (["--split-by", "a", "--time", "b"], 2, "not by both"),
        (["--group", "ab"], 2, "not of the form NAME=COLUMN,COLUMN"),
        (["--method", "lasso"], 2, "'lasso' is not one of"),
        (["-o", "table.csv"], 2, "is a file"),
        (["-t", "z"], 1, "unknown column 'z'; it has ['a', 'b', 'c', 'y']"),
        (["--keep", "z"], 1, "keep names the unknown column 'z'"),
        (["--drop", "z*"], 1, "drop names the unknown column 'z*'"),
        (["--device", "abacus"], 1, "device='abacus' cannot be used"),
        (["-o", "table.csv/out"], 1, "is to be a folder"),
    ],
)
def test_exit_codes_tell_wrong_options_from_wrong_data(
    table: Path, arguments: list[str], code: int, said: str
) -> None:
    found = quick(*arguments)
    assert found.exit_code == code
    assert said in found.stderr
    assert "Traceback" not in found.output


def test_a_missing_or_empty_file_is_told(table: Path) -> None:
    found = run("select", "no.csv")
    assert found.exit_code == 1
    assert "'no.csv' is no file" in found.stderr
    table.write_text("")
    assert "table.csv is empty" in quick().stderr


def test_an_interruption_ends_with_the_code_of_interruptions(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("featuremask.workflow._select.prepare", interrupted)
    found = quick("-o", "out")
    assert found.exit_code == 130
    assert "Interrupted." in found.stderr
    assert list((table.parent / "out").iterdir()) == []


def test_apply_compare_and_explain_print_what_they_found(table: Path) -> None:
    quick("-k", "2", "-o", "out", "-q")
    applied = run("apply", "out/selector.fm", "table.csv", "small.csv", "--with", "y")
    assert applied.stdout == "small.csv: 60 rows\n"
    explained = run("explain", "out", "b", "-q")
    assert explained.stdout.startswith("b: rank ")
    assert json.loads(run("explain", "out", "b", "-q", "--json").stdout)["name"] == "b"
    compared = run("compare", "table.csv", "-t", "y", "-k", "1", "-m", "random", "-q", "-o", "cmp")
    assert compared.exit_code == 0, compared.output
    assert "accuracy by number of columns" in compared.stdout
    assert "written to cmp: comparison.csv, comparison.txt" in compared.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete_it(shell: str) -> None:
    found = CliRunner().invoke(
        main, env={"_FEATUREMASK_COMPLETE": f"{shell}_source"}, prog_name="featuremask"
    )
    assert found.exit_code == 0
    assert "featuremask" in found.output


def test_methods_are_completed() -> None:
    words = {"COMP_WORDS": "featuremask select --method c", "COMP_CWORD": "3"}
    found = CliRunner().invoke(
        main, env=words | {"_FEATUREMASK_COMPLETE": "bash_complete"}, prog_name="featuremask"
    )
    assert "conae" in found.output
    assert "cancelout" in found.output


def test_a_bar_on_a_terminal_and_lines_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(Console().track([1, 2, 3, 4, 5], "judging")) == [1, 2, 3, 4, 5]
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(r"judging: 5 of 5 after \d+\.\d s, 0 s left", last)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert list(Console().track([1, 2], "judging")) == [1, 2]
    assert list(Console(quiet=True).track([1, 2], "judging")) == [1, 2]


@pytest.mark.parametrize("command", ["select", "apply", "compare", "explain"])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys; from featuremask.cli import main\n"
        f"main([{command!r}, '--help'], standalone_mode=False)\n"
        "heavy = ('torch', 'sklearn', 'numpy', 'scipy', 'narwhals', 'rich')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.splitlines()[-1] == "[]"
