"""The code of the documentation does what the documentation says."""

import importlib
import runpy
from pathlib import Path

import click
import polars as pl
import pytest
from tests.pages import ROOT, blocks, commands, parse_command, run_page

from featuremask.datasets import unregister

PAGES = sorted((ROOT / "docs").glob("*.md"))
SCRIPTS = sorted((ROOT / "docs" / "gallery").glob("*.py"))

_DATASETS = ROOT / "docs" / "datasets.md"

with_python = [page for page in PAGES if page != _DATASETS and any(blocks(page, "python", "pycon"))]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # PyTorch's exporter, of itself
@pytest.mark.parametrize("page", with_python, ids=lambda page: page.stem)
def test_the_python_of_a_page_runs_and_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name == "export.md":
        pytest.importorskip("onnxscript", reason="pip install 'featuremask[onnx]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(ROOT / "docs" / "examples")  # "with this file beside yours"
    run_page(page, {})


@pytest.mark.slow
@pytest.mark.data
def test_the_python_of_the_page_on_datasets_runs_where_the_files_are(
    paper_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEATUREMASK_DATA", str(paper_data))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    ((_, _, described),) = blocks(_DATASETS, "toml")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "churn.toml").write_text(described.split("# all of these")[0])
    rows = range(50)
    table = {"age": [20 + i for i in rows], "left": ["yes" if i % 3 else "no" for i in rows]}
    pl.DataFrame(table).write_parquet(tmp_path / "data" / "churn.parquet")
    try:
        run_page(_DATASETS, {})
    finally:
        unregister("churn")


@pytest.mark.parametrize("command", [command for page in PAGES for command in commands(page)])
def test_a_command_of_a_page_is_there(command: str) -> None:
    parse_command(command)


def test_a_wrong_session_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\na = 1\n```\n\n```pycon\n>>> a + 1\n3\n```\n")
    with pytest.raises(AssertionError, match="Expected:\n    3\nGot:\n    2"):
        run_page(page, {})


@pytest.mark.parametrize(
    ("command", "error"),
    [("featuremask selekt", AssertionError), ("featuremask demo --owt x", click.UsageError)],
)
def test_a_wrong_command_is_found(command: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"selekt|--owt"):
        parse_command(command)


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_of_the_gallery_runs(script: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="pip install 'featuremask[plot]'")
    matplotlib.use("agg")
    runpy.run_path(str(script))
    pyplot = importlib.import_module("matplotlib.pyplot")
    assert pyplot.get_fignums()
    pyplot.close("all")
