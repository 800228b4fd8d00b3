"""From files to a judged selection."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

import featuremask
from featuremask.datasets import make_planted_table
from featuremask.exceptions import FeatureMaskError, FileFormatError, InputError
from featuremask.training import Checkpoint
from featuremask.workflow import Request, Result, plan, select, select_to_folder, write_result
from featuremask.workflow import _write as writing
from featuremask.workflow._prepare import prepare
from featuremask.workflow._progress import Silent

Write = Callable[..., Path]


def ask(path: Path, **words: Any) -> Request:
    return Request(**{"paths": (str(path),), "target": "y", "k": 2} | words)


def names(result: Result) -> list[str]:
    return [column.name for column in result.chosen]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_what_makes_the_target_is_chosen_and_judged_on_rows_held_out(write: Write) -> None:
    result = select(ask(write()))
    assert set(names(result)) == {"signal", "copy"}
    assert result.objective == "classification"
    assert (result.data.n_train, result.data.n_test) == (96, 24)
    assert result.curve.at(2).mean > 0.8
    assert "24 rows held out" in result.curve.how
    assert result.curve.all_columns[0] == result.data.n_columns == 5


def test_columns_that_are_no_features_are_named_and_come_last(write: Write) -> None:
    result = select(ask(write(same=[7] * 120), method="random"))
    assert [r.column for r in result.data.left_out] == ["id", "same"]
    assert [c.name for c in result.columns[-2:]] == ["id", "same"]
    assert result.columns[-1].score is None
    assert result.columns[-1].note == "constant: holds one value"
    assert any("'id'" in message and "'same'" in message for message in result.warnings)


def test_a_column_that_counts_the_rows_is_left_out_whatever_its_name(write: Write) -> None:
    result = select(ask(write(line=list(range(120))), method="random"))
    assert "line" in [record.column for record in result.data.left_out]


def test_leaks_duplicates_and_row_numbers_are_hinted_at(write: Write) -> None:
    path = write(
        rows=400,
        leak=["yes" if s > 0 else "no" for s in np.random.default_rng(5).normal(size=400)],
        twin=np.round(np.random.default_rng(5).normal(size=400), 4).tolist(),
        clock=[i + 0.5 for i in range(400)],
    )
    kinds = {hint.kind: hint.columns for hint in select(ask(path, method="random")).hints}
    assert kinds["duplicates"] == ("signal", "twin")
    assert kinds["row_number"] == ("clock",)
    assert "leak" in {
        name
        for hint in select(ask(path, method="random")).hints
        for name in hint.columns
        if hint.kind == "predicts_target"
    }


def test_later_rows_show_which_columns_moved(write: Write) -> None:
    later = write("later.csv", noise=[float(i) + 0.5 for i in range(120)])
    result = select(ask(write(), method="random", test=(str(later),)))
    assert [h.columns for h in result.hints if h.kind == "shift"] == [("noise",)]
    other = write("other.csv")
    other.write_text(other.read_text().replace("noise", "nose"))
    with pytest.raises(InputError, match="'noise' is missing"):
        select(ask(write(), method="random", test=(str(other),)))


def test_without_a_target_the_columns_rebuild_each_other(write: Write) -> None:
    result = select(ask(write(), target=None, k=3))
    assert result.objective == "reconstruction"
    assert result.curve.all_columns[1] == pytest.approx(1.0, abs=1e-3)


def test_without_a_target_a_column_counts_as_one_however_many_levels_it_has(write: Write) -> None:
    table = write(levels=[f"level {i % 20}" for i in range(2000)], rows=2000)
    ask_for = {"target": None, "k": 1, "method": "random", "drop": ("city", "born", "id", "y")}
    by = {kept: select(ask(table, keep=(kept,), **ask_for)) for kept in ("levels", "signal")}
    found = {kept: result.curve.at(1).mean for kept, result in by.items()}
    assert found["levels"] == pytest.approx(1 / 4, abs=0.1)  # itself, of four columns
    assert found["signal"] == pytest.approx(2 / 4, abs=0.1)  # itself, and "copy"


def test_numbers_are_predicted_by_regression(write: Write) -> None:
    result = select(ask(write(), target="signal", drop=("y",), k=1))
    assert result.objective == "regression"
    assert names(result) == ["copy"]


def test_rows_without_a_target_are_left_out_and_counted(write: Write) -> None:
    target = ["", *["a", "b"] * 59, "a"]
    result = select(ask(write(y=target), method="random"))
    assert result.data.n_rows == 119
    assert any(message.startswith("1 of 120 rows have no value") for message in result.warnings)


def test_groups_and_columns_to_keep_are_respected(write: Write) -> None:
    request = ask(write(), k=2, groups={"pair": ("noise", "city")}, keep=("noise",))
    assert set(names(select(request))) >= {"noise", "city"}


def test_a_column_to_keep_must_be_usable(write: Write) -> None:
    with pytest.raises(InputError, match="'id' is to be kept, but is left out as identifier"):
        select(ask(write(), keep=("id",)))
    with pytest.raises(InputError, match="keep names the unknown column 'agee'"):
        select(ask(write(), keep=("agee",)))


def test_rows_of_one_group_are_held_out_together(write: Write) -> None:
    patients = [i % 20 for i in range(120)]
    prepared = prepare(ask(write(patient=patients), split_by="patient"), Silent())
    assert "patient" not in prepared.names
    sides = [{patients[row] for row in side.index} for side in (prepared.train, prepared.test)]
    assert not sides[0] & sides[1]
    assert len(sides[1]) == 4


def test_the_latest_rows_are_held_out(write: Write) -> None:
    days = [f"2024-01-{1 + i * 7 % 28:02}" for i in range(120)]
    prepared = prepare(ask(write(day=days), time="day"), Silent())
    assert "day" not in prepared.names
    latest_seen = max(days[row] for row in prepared.train.index)
    assert latest_seen < min(days[row] for row in prepared.test.index)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"target": "z"}, "unknown column 'z'"),
        ({"target": "born"}, "must hold numbers, classes or text"),
        ({"time": "city"}, "must give a time for each row"),
        ({"split_by": "city"}, "has gaps"),
        ({"time": "born", "split_by": "id"}, "not by both"),
        ({"time": "y", "target": "y"}, "must differ"),
        ({"method": "lasso"}, "method must be one of fm, afs"),
        ({"paths": ()}, "a file to select from is needed"),
        ({"k": 0}, "n_features_to_select must be"),
        ({"drop": ("signals",)}, "drop names the unknown column 'signals'"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_reason(
    write: Write, words: dict[str, Any], said: str
) -> None:
    with pytest.raises(FeatureMaskError, match=said):
        select(ask(write(), **words))


def test_too_few_rows_are_told(write: Write) -> None:
    with pytest.raises(InputError, match="at least 10 rows are needed"):
        select(ask(write(rows=9)))


@pytest.mark.parametrize("kind", ["npz", "mat", "sparse"])
def test_archives_are_selected_from(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    X, path = rng.normal(size=(150, 6)), tmp_path / f"a.{'npz' if kind == 'npz' else 'mat'}"
    y = (X[:, 4] > 0).astype(int)
    if kind == "npz":
        X[rng.random(X.shape) < 0.05] = np.nan
        np.savez(path, X=X, y=y)
    else:
        savemat(path, {"X": sparse.csc_array(X) if kind == "sparse" else X, "y": y})
    result, written = select_to_folder(ask(path, k=1, drop=("x0",)), tmp_path / "out")
    assert names(result) == ["x4"]
    assert written[2].suffix == path.suffix
    assert featuremask.load(tmp_path / "out" / "selector.fm").selected_names_.tolist() == ["x4"]


def test_pixels_of_one_value_are_named_and_are_no_duplicates(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 5))
    X[:, [1, 3]] = 0.0
    X[:, 4] = X[:, 2]
    np.savez(tmp_path / "a.npz", X=X, y=(X[:, 2] > 0).astype(int))
    result = select(ask(tmp_path / "a.npz", method="random", k=1))
    assert [h.columns for h in result.hints if h.kind == "duplicates"] == [("x2", "x4")]
    assert "2 columns hold one value and are ranked last: 'x1', 'x3'." in result.warnings


def test_words_of_one_value_are_named_where_rows_are_sparse_too(tmp_path: Path) -> None:
    X = (np.random.default_rng(0).random(size=(60, 5)) < 0.3).astype(float)
    X[:, 1], X[:, 3] = 0.0, 2.0
    savemat(tmp_path / "a.mat", {"X": sparse.csc_array(X), "y": X[:, [2]]})
    result = select(ask(tmp_path / "a.mat", method="random", k=1))
    assert "2 columns hold one value and are ranked last: 'x1', 'x3'." in result.warnings


def test_stability_is_how_often_a_column_is_taken_from_halves_of_the_rows(
    write: Write, tmp_path: Path
) -> None:
    request = ask(write(), k=2, keep=("city",), groups={"g": ("born", "noise")}, resamples=4)
    result, _ = select_to_folder(request, tmp_path / "out")
    steady = {column.name: column.stability for column in result.columns}
    assert steady["city"] == 1.0  # kept, all codes of it
    assert steady["born"] == steady["noise"]
    assert steady["id"] is None
    assert {row["stability"] for row in rows_of(tmp_path / "out" / "selected.csv")} != {""}
    assert "--resamples 4" in request.command()
    with pytest.raises(InputError, match="must be an even number"):
        ask(write(), resamples=3)


# What is written


ODD = ["=1+1", "</script><script>alert(1)</script>", 'a "quoted", name', "ünï ☂"]


@pytest.fixture
def odd(write: Write, tmp_path: Path) -> tuple[Result, Path]:
    rng = np.random.default_rng(1)
    columns: dict[str, Any] = {name: rng.normal(size=120).tolist() for name in ODD}
    result = select(ask(write(**columns), k=9, method="random"))
    write_result(result, tmp_path / "out")
    return result, tmp_path / "out"


def test_the_folder_holds_all_there_is(odd: tuple[Result, Path]) -> None:
    result, folder = odd
    assert {path.name for path in folder.iterdir()} == {
        "selected.csv",
        "ranking.csv",
        "reduced.csv",
        "selector.fm",
        "report.html",
        "run.json",
    }
    assert result.data.n_columns == 9


def test_names_are_raw_but_for_formulas(odd: tuple[Result, Path]) -> None:
    _, folder = odd
    found = rows_of(folder / "selected.csv")
    assert list(found[0]) == ["rank", "column", "score", "share", "stability"]
    written = {row["column"] for row in found}
    assert written >= {"'=1+1", *ODD[1:]}
    assert [int(row["rank"]) for row in found] == list(range(1, 10))
    assert {row["stability"] for row in found} == {""}
    header = (folder / "reduced.csv").read_text(encoding="utf-8").splitlines()[0]
    assert next(csv.reader([header]))[-5:] == ["y", *ODD]  # raw: it is data


def test_the_report_shows_odd_names_as_text_and_how_to_repeat_it(odd: tuple[Result, Path]) -> None:
    result, folder = odd
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "a small model, 24 rows held out" in page
    assert result.request.command() in page
    assert "different, named as an identifier" in page


def test_the_ranking_holds_all_columns(odd: tuple[Result, Path]) -> None:
    result, folder = odd
    found = rows_of(folder / "ranking.csv")
    assert len(found) == len(result.columns) == 10
    assert [row["selected"] for row in found] == ["yes"] * 9 + ["no"]
    assert float(found[0]["score"]) == result.columns[0].score


def test_the_record_of_a_run_repeats_it(write: Write, tmp_path: Path) -> None:
    request = ask(write(), groups={"g": ("noise", "city")}, drop=("bo*",))
    result, _ = select_to_folder(request, tmp_path / "out")
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    assert Request.from_dict(run["settings"]) == request
    assert run["selected"] == names(result)
    assert re.fullmatch("[0-9a-f]{64}", run["data"]["files"][0]["sha256"])
    assert run["command"] == request.command()
    again = select(Request.from_dict(run["settings"]))
    assert again.columns == result.columns
    assert again.curve == result.curve


def test_other_files_of_the_folder_are_left_alone(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "selected.csv").write_text("old")
    select_to_folder(ask(write(), method="random"), out)
    assert (out / "notes.txt").read_text() == "mine"
    assert (out / "selected.csv").read_text().startswith("rank,")


def test_a_file_is_no_folder_and_that_is_told_before_the_work(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "select", lambda *_: pytest.fail("it worked first"))
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="is to be a folder"):
        select_to_folder(ask(write()), tmp_path / "taken" / "out")


def test_an_interrupted_run_leaves_no_half_written_file(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    result = select(ask(write(), method="random"))
    monkeypatch.setattr("featuremask.files._csv._chunks", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_result(result, tmp_path / "out")
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"selected.csv", "ranking.csv"}


# Planning


def test_a_plan_trains_for_a_moment_and_tells_time_and_memory(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featuremask.workflow._plan._TRIAL_SECONDS", 0.0)
    found = plan(ask(write()))
    assert found.n_columns == 5
    assert found.steps == 120  # of a full-batch fit, see conftest
    assert 0 < found.train_seconds < 120
    assert found.peak_bytes > 50e6
    assert found.to_dict()["seconds"] == found.seconds
    assert "about" in found.lines()[1]


def test_a_plan_knows_the_bound_on_time(write: Write) -> None:
    assert plan(ask(write(), max_seconds=1e-3)).train_seconds == 1e-3


# The request


def test_a_request_of_a_later_version_is_told() -> None:
    with pytest.raises(FileFormatError, match="may be of a later version"):
        Request.from_dict({"paths": ["a"], "colour": "red"})


@pytest.mark.slow
def test_planted_columns_are_found_among_categories_dates_and_gaps(tmp_path: Path) -> None:
    planted = make_planted_table(6000, 60, random_state=0)
    planted.write_csv(tmp_path / "a.csv")
    request = Request(paths=(str(tmp_path / "a.csv"),), target="churned", k=16)
    result = select(request)
    found = set(names(result))
    assert len(found & set(planted.relevant)) >= 9
    assert {record.column for record in result.data.left_out} == set(planted.left_out)
    assert result.hints == ()


def test_a_selection_that_was_cut_off_goes_on_from_its_checkpoint(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = select(ask(write()))
    request = ask(write(), checkpoint=str(tmp_path / "state"), resamples=2)
    assert f"--checkpoint {tmp_path / 'state'}" in request.command()
    made: list[int] = []
    after_epoch = Checkpoint.on_epoch_end

    def counted(self: Checkpoint, state: Any) -> None:
        after_epoch(self, state)
        made.append(state.epoch)
        if len(made) == 30:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "on_epoch_end", counted)
    with pytest.raises(KeyboardInterrupt):
        select(request)
    plan(request)  # leaves the state alone
    found = select(request)
    assert made[30] == 31
    assert len(set(made)) == len(made)
    assert [c.name for c in found.columns] == [c.name for c in undisturbed.columns]
    assert [c.score for c in found.columns] == [c.score for c in undisturbed.columns]
    assert (tmp_path / "state" / "fm" / "checkpoint.safetensors").exists()
