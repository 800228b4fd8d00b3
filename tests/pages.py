"""The code of the documentation: what its pages do, and its examples as modules.

Fenced blocks of one page share their names, from top to bottom. A `python` block is run, a `pycon`
block is a doctest, and lines ``$ featuremask ...`` of a `console` block name commands and options
that there are.
"""

import doctest
import importlib.util
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from featuremask.cli import main

__all__ = ["ROOT", "blocks", "commands", "example", "parse_command", "run_page"]

ROOT = Path(__file__).parents[1]

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(page: Path, *languages: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, language and text of the fenced blocks of these languages."""
    text = page.read_text()
    for found in _BLOCK.finditer(text):
        if found[1] in languages:
            yield text.count("\n", 0, found.start()) + 1, found[1], found[2]


def run_page(page: Path, names: dict[str, Any]) -> dict[str, Any]:
    """Run the Python of a page, starting from some names; return the names it leaves."""
    names["__name__"] = page.stem
    for line, language, text in blocks(page, "python", "pycon"):
        if language == "python":
            exec(compile("\n" * line + text, str(page), "exec"), names)
        else:
            _check_session(page, line, text, names)
    return names


def _check_session(page: Path, line: int, text: str, names: dict[str, Any]) -> None:
    session = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
    runner, said = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS), []
    runner.run(session, out=said.append, clear_globs=False)
    assert not runner.failures, "".join(said)
    names.update(session.globs)


def commands(page: Path) -> list[str]:
    """Return the featuremask commands of a page."""
    lines = [line for _, _, text in blocks(page, "console") for line in text.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ featuremask")]


def parse_command(command: str) -> None:
    """Raise unless there is such a command with such options; it is not run."""
    _, name, *words = shlex.split(command)
    found = main.get_command(click.Context(main), name)
    assert found is not None, f"there is no command {name!r}"
    found.make_context(name, words)


def example(name: str) -> ModuleType:
    """Return a module of `docs/examples`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle looks for its classes
    spec.loader.exec_module(module)
    return module
