"""The numbers of the README are those of the committed records."""

import csv
import re

import pytest
from tests.pages import ROOT

RESULTS = ROOT / "experiments" / "paper" / "results" / "summary.csv"
DATASETS = ("mnist", "fashion-mnist", "coil20", "isolet", "pcmac")
ROWS = {
    "all features": ("table2", "rawf", "mean"),
    "random 50": ("table2", "rsf", "mean"),
    "FM, the paper's numbers": ("table2", "fm", "paper_mean"),
    "FM, the default here": ("table2", "fm", "mean"),
    "without a target: the paper's numbers": ("table3", "fm", "paper_mean"),
    "without a target: the default here": ("table3", "fm", "mean"),
}


def shown() -> dict[str, list[str]]:
    section = (ROOT / "README.md").read_text().split("## Numbers")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+?) \|(.+)\|$", section, flags=re.MULTILINE)
    return {label: [cell.strip() for cell in cells.split("|")] for label, cells in rows}


@pytest.mark.parametrize("label", ROWS)
def test_a_row_of_the_table_is_what_the_records_say(label: str) -> None:
    experiment, method, column = ROWS[label]
    with RESULTS.open() as file:
        found = {
            line["dataset"]: line
            for line in csv.DictReader(file)
            if (line["experiment"], line["method"]) == (experiment, method)
        }
    recorded = [f"{float(found[name][column]):.3f}" for name in DATASETS]
    assert [cell.partition(" ")[0] for cell in shown()[label]] == recorded


def test_each_mean_of_the_default_is_of_five_seeds() -> None:
    with RESULTS.open() as file:
        seeds = {
            int(line["n_seeds"])
            for line in csv.DictReader(file)
            if line["experiment"] in ("table2", "table3") and line["method"] == "fm"
        }
    assert seeds == {5}
