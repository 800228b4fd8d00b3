"""Run tests on a change in a fork, and tell what became of it.

Where the change lies within functions, the fork has the library loaded and the tests collected, and
the code of those functions is replaced; else it has the libraries alone, and loads the changed
source.
"""

import ast
import gc
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

from tools.mutants.changes import ROOT, SOURCE, Mutant

OPTIONS = ["-q", "--assert=plain", "-m", "not slow", "-p", "no:cacheprovider"]
SUITE = [
    f"tests/{name}"
    for name in (
        *("gates", "reference", "training", "selectors", "objectives", "networks", "sources"),
        *("numbers", "properties", "faults"),
    )
]
DECLARATIONS = [
    "tests/test_documented_defaults.py",
    "tests/selectors/test_declarations.py",
    "tests/selectors/test_rules.py",
]
"""Tests of what modules and classes declare; coverage does not see what they reach."""

SILENT_SECONDS = 120
OPTIMIZED = 1  # the flag of the code of functions


def preload() -> None:
    """Load what all tests need and no change touches."""
    import hypothesis.extra.numpy
    import pandas
    import polars
    import pyarrow
    import pytest
    import sklearn.utils.estimator_checks
    import torch._dynamo

    assert [hypothesis, pandas, polars, pyarrow, pytest, sklearn]
    torch.set_num_threads(1)


def in_a_fork(job: Callable[[int], NoReturn], seconds: float) -> tuple[str, str]:
    """Do a job in a fork; return what became of it, and which test failed."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.setsid()
        os.close(reading)
        limit = int(_used(os.getpid()) + 4 * seconds + 10)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        job(writing)
    os.close(writing)
    status = _ended(process)
    with open(reading, encoding="utf-8") as pipe:
        test = pipe.read()
    if status is None or status < 0:
        return "timeout", test
    return ("survived" if status == 0 else "killed"), test


def _ended(process: int) -> int | None:
    """Wait for a process; None if it had to be ended, since it did nothing for long."""
    used, since, pause = 0.0, time.monotonic(), 0.01
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        now = _used(process)
        if now > used + 0.1:
            used, since = now, time.monotonic()
        if time.monotonic() - since > SILENT_SECONDS:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return None
        time.sleep(pause)
        pause = min(2 * pause, 0.2)


def _used(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


class Running:
    """Runs chosen tests in their order until one fails, and says which."""

    def __init__(self, tests: list[str], pipe: int) -> None:
        self.tests, self.pipe = tests, pipe

    def pytest_collectreport(self, report: Any) -> None:
        """End if a file of tests cannot be loaded."""
        self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End at the first failure."""
        if report.failed:
            os.write(self.pipe, report.nodeid.encode())
            os._exit(1)

    def pytest_runtestloop(self, session: Any) -> NoReturn:
        """Run them, and end."""
        items = {item.nodeid: item for item in session.items}
        chosen = [items[test] for test in self.tests]
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        os._exit(0)


class Judging:
    """Goes through changes in a session whose tests are collected."""

    def __init__(self, job: Callable[["Judging"], None]) -> None:
        self.job = job
        self.session: Any = None

    def pytest_runtestloop(self, session: Any) -> bool:
        """Do the job in the place of running tests."""
        self.session = session
        gc.collect()
        everything = [one for one in gc.get_objects() if type(one) is FunctionType]
        inside = str(SOURCE)
        self.functions = [f for f in everything if f.__code__.co_filename.startswith(inside)]
        gc.freeze()
        self.job(self)
        return True

    def judged(self, mutant: Mutant, tests: list[str], seconds: float) -> tuple[str, str]:
        """Run tests on a change of functions."""

        def job(pipe: int) -> NoReturn:
            running = Running(tests, pipe)
            self.session.config.pluginmanager.register(running)
            for old, new in _replaced(mutant) or ():
                for function in self.functions:
                    if function.__code__ == old and function.__code__.co_filename == _path(mutant):
                        function.__code__ = new
            running.pytest_runtestloop(self.session)

        return in_a_fork(job, seconds)


def is_within_functions(mutant: Mutant) -> bool:
    """Return whether all that a change touches is the code of functions."""
    return _replaced(mutant) is not None


def _path(mutant: Mutant) -> str:
    return str(SOURCE / mutant.file)


def _replaced(mutant: Mutant) -> list[tuple[CodeType, CodeType]] | None:
    """Return the functions' codes before and after, outermost first; None beyond functions."""
    old = compile(ast.parse(Path(_path(mutant)).read_text(encoding="utf-8")), _path(mutant), "exec")
    new = compile(ast.fix_missing_locations(mutant.tree()), _path(mutant), "exec")
    found: list[tuple[CodeType, CodeType]] = []
    return found if _compare(old, new, found) else None


def _compare(old: CodeType, new: CodeType, found: list[tuple[CodeType, CodeType]]) -> bool:
    """Note functions that differ; return whether what is not the code of functions is the same."""
    if old == new:
        return True
    is_function = bool(old.co_flags & OPTIMIZED)
    if is_function:
        found.append((old, new))
    inner = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
    if len(inner[0]) != len(inner[1]):
        return is_function
    same = [_compare(*pair, found) for pair in zip(*inner, strict=True)]
    if is_function:
        return True
    rest = [
        (code.co_code, code.co_names, [c for c in code.co_consts if not isinstance(c, CodeType)])
        for code in (old, new)
    ]
    return all(same) and repr(rest[0]) == repr(rest[1])


def judged_from_source(mutant: Mutant, tests: list[str], seconds: float) -> tuple[str, str]:
    """Run tests on a copy of the source with the change."""

    def job(pipe: int) -> NoReturn:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "featuremask"
            shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
            (copy / mutant.file).write_text(ast.unparse(mutant.tree()), encoding="utf-8")
            collect(folder, sorted({test.split("::")[0] for test in tests}), Running(tests, pipe))
            os._exit(1)

    return in_a_fork(job, seconds)


def collect(source: str, files: list[str], plugin: Any) -> None:
    """Collect tests of a source; the plugin does the rest."""
    import pytest

    sys.path[:0] = [source, str(ROOT)]
    os.environ["PYTHONPATH"] = source
    os.chdir(ROOT)
    pytest.main([*OPTIONS, *files], plugins=[plugin])
