"""Ratios of time and amounts of memory, with generous margins; no absolute times."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from featuremask.benchmarking import SECTIONS, Results, Timer, table, write_results
from featuremask.benchmarking._epochs import epochs
from featuremask.benchmarking._growth import exponent, in_density, in_rows
from featuremask.benchmarking._members import by_members, many_at_once
from featuremask.benchmarking._memory import peak_memory
from featuremask.cli import main
from featuremask.cli._bench import command

CPU = Timer("cpu", threads=1)


def results() -> Results:
    """Numbers as a run gives them."""
    epoch = {name: {"256": seconds} for name, seconds in (("floor", 1.0), ("FM", 1.5))}
    curve = {"1000": 0.1, "2000": 0.2}
    return Results(
        {"processor": "abacus", "clock": "wall"},
        epoch,
        {"FM": 0.002, "AFS": 0.003},
        curve | {"exponent": 1.0},
        curve | {"exponent": 1.0},
        curve | {"optimizer": 0.05, "entry": 1e-6, "passes": 1.5},
        {
            "joint, one by one": {"128": 8.0},
            "joint, together": {"128": 4.0},
            "joint, products": {"128": 2.0},
        },
        curve | {"exponent": 1.0},
        {"dense, 10 x 10": {"data": 1.0, "parameters": 2.0, "extra": 3.0, "bound": 4.0}},
    )


def test_the_table_shows_each_time_against_the_floor() -> None:
    lines = {line.split("  ")[0]: line.split() for line in table(results()).splitlines()}
    assert lines["FM"][-2:] == ["2.00", "1.00"]
    assert lines["AFS"][-2:] == ["3.00", "1.50"]
    assert "1.500 (1.50)" in table(results())
    assert "0.50, 2.00" in table(results())


def test_the_page_comes_with_its_numbers_and_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs an extra")
    page, numbers, plot = write_results(results(), tmp_path / "RESULTS.md")
    assert "abacus" in page.read_text()
    assert plot.name in page.read_text()
    assert json.loads(numbers.read_text()) == results().as_dict()
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_command_says_what_it_offers() -> None:
    result = CliRunner().invoke(main, ["bench", "speed", "--help"])
    assert result.exit_code == 0
    assert "--json" in result.output


def test_the_sections_of_the_command_are_those_there_are() -> None:
    (only,) = (p for p in command.commands["speed"].params if p.name == "only")
    assert tuple(only.type.choices) == tuple(SECTIONS)


def test_a_table_of_some_sections_has_no_others(tmp_path: Path) -> None:
    some = Results({"processor": "abacus", "clock": "wall"}, steps={"FM": 0.002})
    assert "by rows" not in table(some)
    assert "a step" in table(some)
    assert [path.name for path in write_results(some, tmp_path / "a.md")] == ["a.md", "a.json"]


@pytest.mark.slow
def test_the_mask_costs_little_more_than_its_products_and_less_than_the_formulas() -> None:
    found = epochs(CPU, 5_120, [256], repeats=4)
    seconds = {name: row["256"] for name, row in found.items()}
    assert seconds["FM"] < 3.5 * seconds["floor"]
    assert seconds["FM"] < seconds["FM formulas, DataLoader, Adam"]
    assert seconds["FM"] < 3.5 * seconds["bare network"]


@pytest.mark.slow
def test_time_grows_with_rows_and_hardly_with_columns_that_are_empty() -> None:
    assert exponent(in_rows(CPU, [2_000, 8_000], repeats=3)) < 1.4
    found = in_density(CPU, [0.0005, 0.004], 20_000, repeats=2)
    assert found["passes"] < 15.0


@pytest.mark.slow
def test_many_selectors_at_once_cost_less_than_one_by_one() -> None:
    found = many_at_once(CPU, 10, [128], 10, repeats=2)
    for strategy, most in (("narrowing", 0.8), ("joint", 0.95)):
        alone = found[f"{strategy}, one by one"]["128"]
        assert found[f"{strategy}, together"]["128"] < most * alone
    assert exponent(by_members(CPU, [4, 16], 10, repeats=2)) < 1.2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_rows", "n_columns"), [("dense", 40_000, 300), ("sparse", 1_500, 20_000)]
)
def test_a_fit_needs_little_memory_beyond_its_data(kind: str, n_rows: int, n_columns: int) -> None:
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("peak memory is read from /proc, which Linux alone has")
    found = peak_memory(kind, n_rows, n_columns)
    assert found["extra"] < found["bound"]
