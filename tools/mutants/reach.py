"""Which tests reach which line, and what each costs: measured once, in one run of all tests."""

import ast
import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.changes import SOURCE, Mutant, parsed

MOST_TESTS_OF_A_LINE = 300


@dataclass(frozen=True)
class Reach:
    """Seconds of processor time of each test, and the tests of each line, narrow ones first."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]

    def allows(self, test: str, only: frozenset[str]) -> bool:
        """Whether a test is known and, if files are named, in one of them."""
        return test in self.seconds and (not only or test.split("::")[0] in only)

    def tests(self, mutant: Mutant, seconds: float, only: frozenset[str]) -> list[str]:
        """Return tests that reach a change, narrow and quick ones first, up to so many seconds."""
        found: dict[str, None] = {}
        for file, line in _places(mutant):
            found.update(dict.fromkeys(self.lines.get(file, {}).get(line, ())))
        order = {test: place for place, test in enumerate(self.seconds)}
        chosen, cost = [], 0.0
        for test in sorted(filter(lambda t: self.allows(t, only), found), key=order.__getitem__):
            cost += self.seconds[test]
            if cost > seconds:
                break
            chosen.append(test)
        return chosen


def _places(mutant: Mutant) -> list[tuple[str, int]]:
    """Return the lines of a change, and those that use the name that it stands behind."""
    tree = parsed(SOURCE / mutant.file)
    own = [(mutant.file, line) for line in range(mutant.first, mutant.last + 1)]
    names = {
        target.id
        for one in ast.walk(tree)
        if isinstance(one, ast.Assign | ast.AnnAssign) and one.lineno == mutant.first
        for target in (one.targets if isinstance(one, ast.Assign) else [one.target])
        if isinstance(target, ast.Name)
    }
    return own + _uses(set() if mutant.in_a_function else names)


def _uses(names: set[str]) -> list[tuple[str, int]]:
    if not names:
        return []
    found = []
    for path in SOURCE.rglob("*.py"):
        for one in ast.walk(parsed(path)):
            said = one.id if isinstance(one, ast.Name) else getattr(one, "attr", None)
            if said in names:
                line = one.lineno  # type: ignore[attr-defined]  # expressions have lines
                found.append((path.relative_to(SOURCE).as_posix(), line))
    return found


class Measuring:
    """Runs each test in a context of its own and writes down what it reached."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember what does not pass without a change."""
        if not report.passed:
            self.failed.add(report.nodeid)

    def pytest_runtestloop(self, session: Any) -> bool:
        """Run all tests."""
        import coverage

        seconds = {}
        measuring = coverage.Coverage(source=[str(SOURCE)], data_file=None)
        measuring.start()
        for item, following in zip(session.items, [*session.items[1:], None], strict=True):
            start = time.process_time()
            measuring.switch_context(item.nodeid)
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds[item.nodeid] = time.process_time() - start
        measuring.stop()
        passed = {test: cost for test, cost in seconds.items() if test not in self.failed}
        self._write(passed, measuring.get_data())
        return True

    def _write(self, seconds: dict[str, float], data: Any) -> None:
        lines: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        if self.path.exists():  # of other files of tests
            before, again = read(self.path), {test.split("::")[0] for test in seconds}
            others = {t: s for t, s in before.seconds.items() if t.split("::")[0] not in again}
            for name, these in before.lines.items():
                for line, tests in these.items():
                    lines[name][line] = [test for test in tests if test in others]
        else:
            others = {}
        for file in data.measured_files():
            name = Path(file).relative_to(SOURCE).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                lines[name][line] += [test for test in tests if test in seconds]
        breadth = Counter(
            test for these in lines.values() for tests in these.values() for test in tests
        )
        seconds = others | seconds
        order = sorted(seconds, key=lambda test: (seconds[test] + 0.01) * (breadth[test] + 1))
        place = {test: number for number, test in enumerate(order)}
        found = {
            file: {
                line: sorted(place[test] for test in tests)[:MOST_TESTS_OF_A_LINE]
                for line, tests in these.items()
            }
            for file, these in lines.items()
        }
        costs = [[test, round(seconds[test], 3)] for test in order]
        self.path.write_text(json.dumps({"seconds": costs, "lines": found}), encoding="utf-8")


def read(path: Path) -> Reach:
    """Read what was measured."""
    found = json.loads(path.read_text(encoding="utf-8"))
    tests = [test for test, _ in found["seconds"]]
    lines = {
        file: {int(line): [tests[n] for n in numbers] for line, numbers in these.items()}
        for file, these in found["lines"].items()
    }
    return Reach(dict(found["seconds"]), lines)
