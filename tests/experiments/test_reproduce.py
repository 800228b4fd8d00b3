import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.experiments.fakes import Counting, write_suite

from featuremask.cli import main
from featuremask.exceptions import InputError
from featuremask.experiments import Reproduction, RunOptions, Store, load_suite
from featuremask.experiments._estimate import estimate
from featuremask.experiments._progress import Progress
from featuremask.experiments._work import Event

DATASETS = '[toy]\ncontent = "0123"\n'

METHODS = """
[plain]
selector = "PlainSelector"
tuned = true
[bound]
selector = "BoundSelector"
trained = false
"""

SEARCH = """
title = "Search"
section = 1
methods = ["plain"]
datasets = ["toy"]
seeds = [0]
ks = [2]
[search]
trials = 3
"""

TRIAL = """
title = "Trial"
section = 2
order = 5
methods = ["plain", "bound"]
datasets = ["toy"]
seeds = [0, 1]
ks = [2]
"""


@pytest.fixture
def whole(tmp_path: Path) -> Reproduction:
    folder = write_suite(
        tmp_path / "suite", datasets=DATASETS, methods=METHODS, search=SEARCH, trial=TRIAL
    )
    return Reproduction(
        load_suite(folder), tmp_path / "results", space_of=lambda selector: {"rate": (1, 2, 3)}
    )


def test_an_experiment_waits_for_the_search_it_needs(whole: Reproduction) -> None:
    search, trial = whole.chosen()
    first = whole.run(trial, RunOptions(), bench=Counting().bench)
    assert (first.counts, first.blocked) == ({"ok": 4}, 2)
    whole.run(search, RunOptions(), bench=Counting().bench)
    assert (whole.results / "tuned.toml").exists()
    second = whole.run(trial, RunOptions(), bench=Counting().bench)
    assert (second.counts, second.blocked) == ({"ok": 4}, 0)


def test_an_interrupted_search_writes_nothing_until_it_is_whole(whole: Reproduction) -> None:
    search = whole.chosen(("search",))[0]
    with pytest.raises(KeyboardInterrupt):
        whole.run(search, RunOptions(), bench=Counting({"plain": KeyboardInterrupt()}).bench)  # type: ignore[dict-item]
    assert not (whole.results / "tuned.toml").exists()


def test_experiments_are_chosen_by_name_or_section(whole: Reproduction) -> None:
    assert [e.name for e in whole.chosen(("2",))] == ["trial"]
    assert [e.name for e in whole.chosen(("search",))] == ["search"]
    with pytest.raises(InputError, match="no experiment or section table9; there are 1, 2"):
        whole.chosen(("table9",))


def test_the_outlook_counts_shared_runs_once_and_tells_the_time(whole: Reproduction) -> None:
    trial = whole.chosen(("trial",))[0]
    jobs = [job for job in whole.jobs(trial) if not job.blocked]
    records = Store(whole.results).read()
    before = estimate([*jobs, *jobs], records, RunOptions())
    assert (before.fits, before.measures, before.unknown) == (2, 2, 4)
    whole.run(trial, RunOptions(), bench=Counting().bench)
    after = [todo for experiment, todo, _ in whole.outlook(("trial",), RunOptions())]
    assert (after[0].fits, after[0].measures) == (0, 0)


def test_runs_that_resemble_made_ones_have_a_time(whole: Reproduction) -> None:
    trial = whole.chosen(("trial",))[0]
    jobs = [job for job in whole.jobs(trial) if not job.blocked]
    from featuremask.experiments import run

    run(jobs[:1], whole.results, bench=Counting().bench)
    todo = estimate(jobs, Store(whole.results).read(), RunOptions())
    assert (todo.fits, todo.measures, todo.unknown) == (1, 1, 0)


def test_progress_is_a_line_a_run_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Progress("trial", 2) as progress:
        progress(Event("one", "ok", "", 3.2))
        progress(Event("two", "error", "no luck"))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["[1/2] ok       one (3 s)", "[2/2] error    two: no luck"]


def _command(*words: str) -> str:
    result = CliRunner().invoke(main, list(words), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_prints_a_plan(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "suite", datasets=DATASETS, methods=METHODS, trial=TRIAL)
    output = _command("reproduce", str(folder), "--plan")
    assert "trial" in output
    assert "2 fits that wait for a search" in output
    assert not (folder / "results").exists()


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "suite", datasets=DATASETS, methods=METHODS, trial=TRIAL)
    for words in (("--only", "nothing"), ("--shard", "9")):
        result = CliRunner().invoke(main, ["reproduce", str(folder), *words])
        assert result.exit_code == 1
        assert "Error" in result.output


def test_the_command_writes_a_report(tmp_path: Path) -> None:
    output = _command("report", "paper", "--no-figures", "--results", str(tmp_path))
    assert str(tmp_path / "summary.csv") in output


def test_importing_the_stage_loads_no_torch() -> None:
    code = "import sys, featuremask.experiments; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_smoke_form_of_the_paper_runs_whole(tmp_path: Path) -> None:
    _command("reproduce", "paper", "--smoke", "--results", str(tmp_path))
    assert {record.status for record in Store(tmp_path).read()} == {"ok"}
    _command("report", "paper", "--smoke", "--results", str(tmp_path))
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert all(f"## {section}. " in page for section in range(10))
