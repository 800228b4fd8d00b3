"""Faults of files and of names: rows 21 to 24. Rows 25 to 28 are in `tests/datasets`."""

import csv
import io
import json
import os
import pickle
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from tests.faults.scenarios import N_COLUMNS, rows, short

from featuremask import load
from featuremask._tensorfile import read_tensors, write_tensors
from featuremask.exceptions import FileFormatError
from featuremask.workflow._write import as_csv

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "\"quotes' & &amp;",
    "line\u2028separator",
    "new\nline\ttab",
    "x" * 5000,
    "US$ vs EU$ $\\frac{$",
    "\u202eright to left",
    '=HYPERLINK("http://example.org")',
]


class Evil:
    """Makes a file when it is unpickled."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.canary),)


def test_21_a_pickle_is_no_model_and_is_not_run(tmp_path: Path) -> None:
    canary, path = tmp_path / "canary", tmp_path / "model.fm"
    for write in (
        lambda: path.write_bytes(pickle.dumps(Evil(canary))),
        lambda: torch.save(Evil(canary), path),
        lambda: torch.save(Evil(canary), path, _use_new_zipfile_serialization=False),
        lambda: path.write_bytes(b"\x93NUMPY\x01\x00" + pickle.dumps(Evil(canary))),
    ):
        write()
        with pytest.raises(FileFormatError, match="not a readable featuremask file"):
            load(path)
    assert not canary.exists()


def test_22_each_kind_of_damage_of_a_model_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "model.fm"
    short().fit(*rows()).save(path)
    content = path.read_bytes()
    tensors, values = read_tensors(path, "selector")
    said = []

    def told(data: bytes) -> None:
        path.write_bytes(data)
        with pytest.raises(FileFormatError) as error:
            load(path)
        said.append(str(error.value))

    told(content[:-1])
    told(content[:-1] + bytes([content[-1] ^ 1]))
    told(b"\x89PNG" + content[4:])
    write_tensors(path, "selector", tensors, values | {"format": 99})
    told(path.read_bytes())
    path.write_bytes(content)
    with pytest.raises(ValueError, match="4 features as input") as error:
        load(path).transform(np.ones((3, 5)))
    said.append(str(error.value))
    assert len({text.replace(str(path), "") for text in said}) == 5


class Tags(HTMLParser):
    """Which elements a page has, and what they do."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, int] = {}
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1
        self.handlers += [name for name, _ in attributes if name.startswith("on")]


def tags_of(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    return tags


def named(names: list[str]) -> Any:
    X = np.random.default_rng(0).normal(size=(60, len(names)))
    return pd.DataFrame(X, columns=names)


def test_23_names_of_columns_are_text_wherever_a_selector_shows_them(tmp_path: Path) -> None:
    frame, y = named(HOSTILE), rows()[1]
    selector = short(len(HOSTILE), must_keep=[HOSTILE[0]]).fit(frame, y)
    plain = named([f"name{i}" for i in range(len(HOSTILE))])
    expected = short(len(HOSTILE), must_keep=["name0"]).fit(plain, y)
    page, usual = tags_of(selector._repr_html_()), tags_of(expected._repr_html_())
    assert page.found == usual.found
    assert sorted(page.handlers) == sorted(usual.handlers)
    selector.save(tmp_path / "file")
    again = load(tmp_path / "file")
    assert again.feature_names_in_.tolist() == HOSTILE
    assert set(again.selected_names_) == set(HOSTILE)


def test_24_a_name_that_is_a_formula_is_raw_where_nothing_reads_formulas(tmp_path: Path) -> None:
    name = '=HYPERLINK("http://example.org")'
    selector = short().fit(named([name, *"abc"]), rows()[1])
    table = selector.selection_table()
    assert name in json.loads(json.dumps(table["column"].tolist()))
    assert len(table["rank"]) == N_COLUMNS


def test_24_a_name_that_is_a_formula_is_quoted_in_what_spreadsheets_open() -> None:
    names = ['=HYPERLINK("http://example.org")', "+1", "-1", "@SUM(A1)", "\tx", "\rx", "x\r=1+1"]
    lines = as_csv(["column"], [[name] for name in names]).decode()
    read = [row[0] for row in csv.reader(io.StringIO(lines, newline=""))]
    assert read == ["column", *(f"'{name}" for name in names[:-1]), "x\r=1+1"]
