"""A table of mixed columns is what it says it is."""

import csv
import datetime
from pathlib import Path

import numpy as np
import pytest

from featuremask.datasets import PlantedTable, make_planted_table
from featuremask.exceptions import InputError


@pytest.fixture(scope="module")
def planted() -> PlantedTable:
    return make_planted_table(2000, 40, random_state=3)


def test_columns_are_of_all_kinds_with_gaps(planted: PlantedTable) -> None:
    assert len(planted.columns) == 40
    kinds = {type(value) for values in planted.columns.values() for value in values}
    assert kinds == {float, int, str, bool, datetime.date, type(None)}
    gaps = np.mean([[value is None for value in v] for v in planted.columns.values()])
    assert 0.05 < gaps < 0.12


def test_classes_are_even_and_names_do_not_overlap(planted: PlantedTable) -> None:
    assert sorted(set(planted.target)) == ["leaves", "stays"]
    assert np.count_nonzero(planted.target == "stays") == 1000
    named = [*planted.relevant, *planted.redundant, *planted.left_out]
    assert len(set(named)) == len(named) == 19
    assert set(named) < set(planted.columns)
    assert set(planted.redundant.values()) < set(planted.relevant)


def test_each_relevant_column_says_something_of_the_target() -> None:
    whole = make_planted_table(20_000, 20, random_state=0)
    leaves = whole.target == "leaves"

    def lift(chosen: np.ndarray) -> float:
        return float(leaves[chosen].mean() - leaves.mean())

    def numbers(name: str) -> np.ndarray:
        return np.array([np.nan if v is None else v for v in whole.columns[name]], dtype=float)

    assert lift(numbers("income") > 3500) > 0.1
    assert lift(numbers("balance") > 25_000) < -0.1
    assert lift(np.abs(numbers("tenure")) > 1.5) > 0.1
    assert lift(numbers("width") * numbers("height") > 1) > 0.1
    assert abs(lift(numbers("width") > 1)) < 0.05  # only together
    assert lift(np.isnan(numbers("visits"))) > 0.1
    assert lift(numbers("member") == 1) > 0.1
    seasons = np.array([date.month for date in whole.columns["joined"]])
    assert lift(np.isin(seasons, [3, 4])) > 0.1
    known = np.array([date is not None and date.year == 2021 for date in whole.columns["renewed"]])
    assert lift(known) > 0.1
    by_region = {r: lift(whole.columns["region"] == r) for r in ("north", "east", "south", "west")}
    assert max(by_region.values()) - min(by_region.values()) > 0.1


def test_the_same_seed_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        make_planted_table(50, 20, random_state=1).write_csv(tmp_path / name, target="y")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert len(rows) == 51
    assert rows[0][-1] == "y"


@pytest.mark.parametrize("sizes", [(10, 60), (100, 19)])
def test_too_small_a_table_is_told(sizes: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="a planted table needs n_samples >= 20, n_features >= 20"):
        make_planted_table(*sizes)
