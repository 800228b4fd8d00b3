"""The table of faults in the documentation names tests that exist, and all of them."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROWS = [
    line.split("|")[1:-1]
    for line in (TESTS.parent / "docs" / "faults.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| \d+ \|", line)
]


def named(cell: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py::\w+)`", cell)


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_rows_are_counted_from_one_without_a_gap() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) >= 32


def test_each_row_has_a_promise_and_tests_that_exist() -> None:
    for row in ROWS:
        assert len(row) == 4
        assert row[1].strip()
        assert row[2].strip()
        assert named(row[3])
        for test in named(row[3]):
            path, _, name = test.partition("::")
            assert name in functions(TESTS / path), test


def test_each_test_of_a_fault_is_in_its_row() -> None:
    listed = {(int(row[0]), test) for row in ROWS for test in named(row[3])}
    for path in TESTS.glob("faults/test_*.py"):
        for name in functions(path):
            if number := re.match(r"test_(\d\d)_", name):
                assert (int(number[1]), f"faults/{path.name}::{name}") in listed
