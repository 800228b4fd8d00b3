"""Change the core in small ways and see whether its tests notice.

    python tools/mutants.py --count 500 --results out/mutants.jsonl

Each mutant is one change of one operator, comparison or constant in the gates, the training or the
selectors, drawn by a fixed seed. The quick tests of its package run on it until one fails. The
results are lines of JSON; started again the program goes on after the last one.

Libraries are loaded once; each mutant runs in a fork with a copy of the source of its own.
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "featuremask"
SUITES = {
    "gates": ["tests/gates", "tests/reference"],
    "training": ["tests/training"],
    "selectors": [
        f"tests/selectors/test_{name}.py"
        for name in (
            "ranking",
            "rules",
            "columns",
            "target",
            "feature_mask_selector_words",
            "feature_mask_selector_groups",
            "feature_mask_selector_targets",
            "feature_mask_selector_fit",
            "persistence",
            "partial_fit",
            "concrete_selector",
        )
    ],
}
TIME_LIMIT = 180

COMPARISONS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


@dataclass(frozen=True)
class Mutant:
    """One change: the n-th node of a file that can be changed."""

    file: str
    place: int
    line: int
    was: str
    now: str

    @property
    def name(self) -> str:
        """What tells it from others."""
        return f"{self.file}:{self.place}"


def _mutable(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that can be changed, in order; no texts, messages, types or exports."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.Assign) and "__all__" in ast.unparse(child.targets[0]):
            continue
        if isinstance(child, ast.arg) or child in _annotations(tree):
            continue
        if _changed(child) is not None:
            yield child
        yield from _mutable(child)


def _annotations(node: ast.AST) -> list[ast.AST]:
    found = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [one for one in found if one is not None]


def _changed(node: ast.AST) -> ast.AST | None:
    """Return a node with the change that its kind has; None if it has none."""
    new: Any = copy.copy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new.ops = [COMPARISONS[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        new.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        new = node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        new.value = not node.value
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        new.value = node.value + 1
    else:
        return None
    return new  # type: ignore[no-any-return]  # a node of the same or a nested kind


def mutants() -> list[Mutant]:
    """Return all changes of the core."""
    found = []
    for package in SUITES:
        for path in sorted((SOURCE / package).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for place, node in enumerate(_mutable(tree)):
                file = path.relative_to(SOURCE).as_posix()
                new = _changed(node)
                assert new is not None
                line = getattr(node, "lineno", 0)
                found.append(Mutant(file, place, line, ast.unparse(node), ast.unparse(new)))
    return found


def write(mutant: Mutant, folder: Path) -> None:
    """Write the source with the change into a folder."""
    shutil.copytree(SOURCE, folder / "featuremask", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "featuremask" / mutant.file
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node = list(_mutable(tree))[mutant.place]

    class Replace(ast.NodeTransformer):
        def visit(self, one: ast.AST) -> Any:
            return _changed(one) if one is node else self.generic_visit(one)

    path.write_text(ast.unparse(Replace().visit(tree)), encoding="utf-8")


def judged(mutant: Mutant | None, suite: list[str]) -> str:
    """Run the tests on a mutant in a fork; return what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        if mutant is not None:
            write(mutant, Path(folder))
        process = os.fork()
        if process == 0:
            os.setsid()
            _run_tests(folder if mutant is not None else str(SOURCE.parent), suite)
        until = time.monotonic() + TIME_LIMIT
        while time.monotonic() < until:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
            time.sleep(0.05)
        os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return "timeout"


def _run_tests(source: str, suite: list[str]) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    sys.path[:0] = [source, str(ROOT)]
    os.environ["PYTHONPATH"] = source
    os.chdir(ROOT)
    import pytest

    options = [
        "-x",
        "-q",
        "--assert=plain",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
    ]
    os._exit(int(pytest.main([*options, *suite])))


def preload() -> None:
    """Load what all tests need and no mutant changes."""
    import hypothesis.extra.numpy
    import pandas
    import polars
    import pyarrow
    import pytest
    import sklearn.utils.estimator_checks
    import torch._dynamo

    assert [hypothesis, pandas, polars, pyarrow, pytest, sklearn]
    torch.set_num_threads(1)


def done(path: Path) -> dict[str, dict[str, Any]]:
    """Return the results so far, by name."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["name"]: line for line in lines}


def main() -> None:
    """Judge mutants, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--results", type=Path, default=Path("out/mutants.jsonl"))
    arguments = parser.parse_args()
    everyone = mutants()
    chosen = random.Random(arguments.seed).sample(everyone, min(arguments.count, len(everyone)))
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    known, start = done(arguments.results), time.monotonic()
    preload()
    for package, suite in () if arguments.results.exists() else SUITES.items():
        begun = time.monotonic()
        if judged(None, suite) != "survived":
            sys.exit(f"the tests of {package} fail without any change")
        print(f"{package}: {time.monotonic() - begun:.0f} s without a change", flush=True)
    for mutant in chosen:
        if mutant.name in known or time.monotonic() - start > 60 * arguments.minutes:
            continue
        outcome = judged(mutant, SUITES[mutant.file.split("/")[0]])
        known[mutant.name] = {"name": mutant.name, "outcome": outcome, **vars(mutant)}
        with arguments.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[mutant.name]) + "\n")
    report([known[mutant.name] for mutant in chosen if mutant.name in known], len(everyone))


def report(results: list[dict[str, Any]], total: int) -> None:
    """Print the share that was noticed, and what was not."""
    survived = [result for result in results if result["outcome"] == "survived"]
    for result in survived:
        print(f"{result['file']}:{result['line']}: {result['was']}  ->  {result['now']}")
    killed = len(results) - len(survived)
    share = 100 * killed / max(len(results), 1)
    print(f"{killed} of {len(results)} noticed ({share:.0f} %), drawn from {total} changes")


if __name__ == "__main__":
    main()
