"""Rules of the architecture that no linter knows."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import featuremask

ROOT = Path(featuremask.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def nodes(*kinds: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield all nodes of some kinds, with the file they are in."""
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, kinds):
                yield file, node


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in FILES
    }


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 30


def test_one_loop_trains_everything() -> None:
    calls = [
        file
        for file, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
    ]
    naive = "benchmarking/_epochs.py"  # what the loop is measured against
    assert calls == [naive, "training/_loop.py"]


METHODS = {"fm", "afs", "conae", "cancelout", "bsf", "dfs", "fsdnn"}


def test_no_code_asks_which_method_it_is() -> None:
    asked = []
    for file, node in nodes(ast.Compare, ast.Match):
        words = {c.value for c in ast.walk(node) if isinstance(c, ast.Constant)}
        if file.split("/")[0] in ("training", "gates", "networks", "objectives", "selectors"):
            asked += [file] if words & METHODS else []
    assert asked == []


def test_the_loop_knows_no_gate_but_the_contract() -> None:
    known = set()
    for file, node in nodes(ast.ImportFrom):
        assert isinstance(node, ast.ImportFrom)
        if file.startswith("training/") and str(node.module).startswith("featuremask.gates"):
            known |= {alias.name for alias in node.names}
    assert known <= {"Gate", "Importance", "MaskGate"}


def test_no_module_is_called_utils() -> None:
    assert [path for path in FILES if re.search("util|helper|common|misc", path.stem)] == []


def test_nothing_prints_but_the_command() -> None:
    printing = {
        file
        for file, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    }
    assert {file for file in printing if not file.startswith("cli/")} == set()


def test_no_data_frame_library_is_imported() -> None:
    imported = {
        (file, name.split(".")[0])
        for file, node in nodes(ast.Import, ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [getattr(node, "module", None) or ""]
        )
    }
    assert {(file, name) for file, name in imported if name in ("pandas", "polars")} == set()


def test_no_pickle_is_read() -> None:
    text = {path.name: path.read_text(encoding="utf-8") for path in FILES}
    for word in ("import pickle", "torch.load(", "joblib.load(", "allow_pickle=True"):
        assert [name for name, content in text.items() if word in content] == []


def test_no_global_seed_is_set() -> None:
    text = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
    for word in (r"torch\.manual_seed\(", r"np\.random\.seed\(", r"\brandom\.seed\("):
        assert [name for name, content in text.items() if re.search(word, content)] == []


@pytest.mark.parametrize("word", ["type: ignore", "noqa", "pragma: no cover"])
def test_each_exception_from_a_rule_gives_its_reason(word: str) -> None:
    bare = []
    for path in FILES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            said = re.search(rf"{word}[^#]*#\s*\w+|\[import-(untyped|not-found)", line)
            if word in line and not said:
                bare.append(f"{path.relative_to(ROOT)}:{number}")
    assert bare == []


def test_assertions_are_for_our_own_errors_alone() -> None:
    outside = [
        file
        for file, node in nodes(ast.Raise)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id == "AssertionError"
    ]
    assert outside == []
