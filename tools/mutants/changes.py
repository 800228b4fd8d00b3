"""The changes: one operator, comparison or constant of the core each."""

import ast
import copy
import functools
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "featuremask"
PACKAGES = ("gates", "training", "selectors")

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
SCOPES = ast.FunctionDef | ast.ClassDef | ast.Lambda


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file, to be looked at only."""
    return ast.parse(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Mutant:
    """One change: the n-th node of a file that can be changed."""

    file: str
    place: int
    scope: str
    first: int
    last: int
    was: str
    now: str
    number: int

    @property
    def name(self) -> str:
        """What tells it from others, and stays when other lines of the file change."""
        return f"{self.file}::{self.scope}::{self.was} -> {self.now}::{self.number}"

    @property
    def in_a_function(self) -> bool:
        """Whether it is not among what a module or a class declares."""
        tree = parsed(SOURCE / self.file)
        functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
        return any(f.body[0].lineno <= self.first <= (f.end_lineno or 0) for f in functions)

    def tree(self) -> ast.Module:
        """Return the file with the change."""
        tree = ast.parse((SOURCE / self.file).read_text(encoding="utf-8"))
        node = list(_mutable(tree, []))[self.place][0]

        class Replace(ast.NodeTransformer):
            def visit(self, one: ast.AST) -> Any:
                return _changed(one) if one is node else self.generic_visit(one)

        return Replace().visit(tree)  # type: ignore[no-any-return]  # a module stays one


def everyone() -> list[Mutant]:
    """Return all changes of the core."""
    found = []
    for package in PACKAGES:
        for path in sorted((SOURCE / package).glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            seen: Counter[Any] = Counter()
            for place, (node, around) in enumerate(_mutable(tree, [])):
                scope = ".".join(getattr(one, "name", "lambda") for one in around)
                statement = _statement(tree, node)
                was, now = ast.unparse(node), ast.unparse(_some(_changed(node)))
                number = seen[scope, was, now]
                seen[scope, was, now] += 1
                file = path.relative_to(SOURCE).as_posix()
                lines = (statement.lineno, statement.end_lineno or statement.lineno)
                found.append(Mutant(file, place, scope, *lines, was, now, number))
    return found


def drawn(count: int, seed: int) -> list[Mutant]:
    """Return as many changes as asked for; who is drawn does not depend on the others."""

    def draw(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed}:{mutant.name}".encode()).hexdigest()

    return sorted(everyone(), key=draw)[:count]


def _mutable(tree: ast.AST, around: list[ast.AST]) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Yield the nodes that can be changed, in order; no texts, messages, types or exports."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.Assign) and "__all__" in ast.unparse(child.targets[0]):
            continue
        if isinstance(child, ast.arg) or child in _annotations(tree):
            continue
        if _changed(child) is not None:
            yield child, around
        yield from _mutable(child, [*around, child] if isinstance(child, SCOPES) else around)


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


def _statement(tree: ast.Module, node: ast.AST) -> ast.stmt:
    """Return the simple statement, or the head of the compound one, that holds a node."""
    holding = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.stmt) and any(inner is node for inner in ast.walk(one))
    ]
    smallest = min(holding, key=lambda one: (one.end_lineno or 0) - one.lineno)
    if not hasattr(smallest, "body") or isinstance(smallest, ast.FunctionDef | ast.ClassDef):
        return smallest
    head: Any = ast.Pass()
    head.lineno, head.end_lineno = smallest.lineno, getattr(node, "end_lineno", smallest.lineno)
    return head  # type: ignore[no-any-return]  # a statement of the lines of the head


def _some(node: ast.AST | None) -> ast.AST:
    assert node is not None
    return node
