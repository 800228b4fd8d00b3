"""A selection used again, set beside others, and explained."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from featuremask import FeatureMaskSelector
from featuremask.exceptions import FileFormatError, InputError
from featuremask.workflow import (
    Request,
    apply_selector,
    compare,
    comparison_lines,
    explain,
    select_to_folder,
    write_comparison,
)

Write = Callable[..., Path]


def ask(path: Path, **words: Any) -> Request:
    return Request(**{"paths": (str(path),), "target": "y", "k": 2} | words)


@pytest.fixture
def out(write: Write, tmp_path: Path) -> Path:
    select_to_folder(ask(write()), tmp_path / "out")
    return tmp_path / "out"


def test_a_saved_selection_reduces_another_table(out: Path, write: Write, tmp_path: Path) -> None:
    new = write("new.csv", rows=30)
    n_rows = apply_selector(out / "selector.fm", [new], tmp_path / "r.csv", ["id"])
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert n_rows == len(rows) - 1 == 30
    assert rows[0] == ["signal", "copy", "id"]


def test_only_the_chosen_columns_must_be_there(out: Path, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("copy,other,signal\n1,2,3\n")
    apply_selector(out / "selector.fm", [tmp_path / "few.csv"], tmp_path / "r.csv")
    assert (tmp_path / "r.csv").read_text() == "copy,signal\n1,3\n"
    (tmp_path / "none.csv").write_text("copy,other\n1,2\n")
    with pytest.raises(InputError, match="has no column 'signal'"):
        apply_selector(out / "selector.fm", [tmp_path / "none.csv"], tmp_path / "r2.csv")
    assert not (tmp_path / "r2.csv").exists()


def test_a_selector_fitted_in_python_reduces_parquet(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(60, 4)), schema=list("abcd"))
    selector = FeatureMaskSelector(1, random_state=0, max_epochs=50).fit(frame, frame["c"] > 0)
    selector.save(tmp_path / "s.fm")
    frame.write_parquet(tmp_path / "a.parquet")
    apply_selector(tmp_path / "s.fm", [tmp_path / "a.parquet"], tmp_path / "b.parquet")
    assert pl.read_parquet(tmp_path / "b.parquet").equals(frame[["c"]])


def test_methods_see_and_are_judged_on_the_same_rows(write: Write, tmp_path: Path) -> None:
    found = compare(ask(write()), ["fm", "random"])
    assert [one.method for one in found] == ["fm", "random"]
    assert found[0].curve.all_columns == found[1].curve.all_columns
    lines = comparison_lines(found)
    assert len(lines) == 5
    assert lines[2].startswith("fm ")
    assert " 1.00 " in lines[2]  # like itself
    table, text = write_comparison(found, tmp_path / "cmp")
    assert text.read_text().splitlines() == lines
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["method"] for row in rows} == {"fm", "random"}
    assert {row["k"] for row in rows if row["chosen_k"] == "yes"} == {"2"}


@pytest.mark.slow
def test_every_method_can_be_compared(write: Write) -> None:
    from featuremask._words import METHODS

    found = compare(ask(write()), tuple(METHODS))
    assert all(len(one.chosen) == 2 for one in found)


def test_an_explanation_names_partners_and_what_is_lost(out: Path) -> None:
    found = explain(out, "signal")
    assert found.selected
    assert found.partners[0].name == "copy"
    assert found.partners[0].correlation > 0.98
    assert found.redundancy > 0.95  # by the copy
    assert found.with_it == found.chosen
    assert found.alone > 0.8
    assert "signal: rank" in found.lines()[0]


def test_a_column_that_was_not_chosen_is_explained_too(out: Path) -> None:
    found = explain(out, "noise", n_partners=1)
    assert not found.selected
    assert found.without_it == found.chosen
    assert len(found.partners) == 1
    assert found.redundancy < 0.3


def test_what_cannot_be_explained_is_said(out: Path, write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no column 'agee'"):
        explain(out, "agee")
    with pytest.raises(InputError, match="left out as identifier"):
        explain(out, "id")
    write(more=[1.5, 2.5] * 60)
    with pytest.raises(InputError, match=r"the files have changed since: .*table\.csv"):
        explain(out, "signal")
    with pytest.raises(FileNotFoundError, match="Name the folder"):
        explain(tmp_path / "nowhere", "signal")


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "x", "version": 1, "settings": {}, "data": {"files": []}}']
)
def test_a_record_that_is_none_is_told(out: Path, text: str) -> None:
    (out / "run.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"run\.json"):
        explain(out, "signal")


def test_the_record_is_of_a_version_that_is_known(out: Path) -> None:
    run = json.loads((out / "run.json").read_text()) | {"version": 99}
    (out / "run.json").write_text(json.dumps(run))
    with pytest.raises(FileFormatError, match="Upgrade featuremask"):
        explain(out, "signal")
