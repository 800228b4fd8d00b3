"""Change the core in small ways and see whether its tests notice.

    python -m tools.mutants --count 500 --results out/mutants.jsonl

Each mutant is one change of one operator, comparison or constant in the gates, the training or the
selectors, drawn by a fixed seed. Of the quick tests, those that reach its lines run on it until one
fails: those that noticed another change of the same function first, then narrow and quick ones, up
to so many seconds of processor time in all. The results are lines of JSON; started again the
program goes on after the last one. With --again, those that survived are tried once
more. --measure names files of tests that were changed, --only files to which the tests are limited.
"""

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tools.mutants import judge, reach
from tools.mutants.changes import ROOT, Mutant, drawn, everyone


class Results:
    """What became of each change, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.known: dict[str, dict[str, Any]] = {}
        for line in map(json.loads, lines):
            self.known[line["name"]] = line

    def add(self, mutant: Mutant, outcome: tuple[str, str], seconds: float) -> None:
        """Write one down."""
        line = {
            "name": mutant.name,
            "outcome": outcome[0],
            "line": mutant.first,
            "test": outcome[1],
            "seconds": round(seconds, 1),
        }
        self.known[mutant.name] = line
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def noticing(self, mutant: Mutant) -> list[str]:
        """Return the tests that noticed changes of the same function, then of the same file."""
        function: Counter[str] = Counter()
        file: Counter[str] = Counter()
        for line in self.known.values():
            if line["outcome"] == "killed" and line["test"]:
                start = line["name"].rsplit("::", 2)[0]
                function[line["test"]] += start == f"{mutant.file}::{mutant.scope}"
                file[line["test"]] += line["name"].startswith(f"{mutant.file}::")
        own = [test for test, count in function.most_common() if count]
        others = [test for test, count in file.most_common(6) if count and test not in own]
        return own + others


class Work:
    """What is to be judged, and by what."""

    def __init__(self, arguments: argparse.Namespace, reached: reach.Reach) -> None:
        self.results = Results(arguments.results)
        self.seconds = arguments.seconds
        self.only = frozenset(arguments.only or ())
        self.reached = reached
        self.until = time.monotonic() + 60 * arguments.minutes
        self.chosen = drawn(arguments.count, arguments.seed)
        done = {
            name
            for name, line in self.results.known.items()
            if not (arguments.again and line["outcome"] == "survived")
        }
        left = [mutant for mutant in self.chosen if mutant.name not in done]
        self.left = [mutant for mutant in left if not self.only or self.tests(mutant)]

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests for a change, likely ones first."""
        found = self.reached.tests(mutant, self.seconds, self.only)
        likely = self.results.noticing(mutant)
        if not mutant.in_a_function:
            tests = self.reached.seconds
            likely += [test for test in tests if test.split("::")[0] in judge.DECLARATIONS]
        allowed = [test for test in likely if self.reached.allows(test, self.only)]
        return list(dict.fromkeys([*allowed, *found]))

    def go(self, mutants: list[Mutant], judged: Any) -> None:
        """Judge changes, one after the other, while there is time."""
        for mutant in mutants:
            if time.monotonic() > self.until:
                return
            start, tests = time.monotonic(), self.tests(mutant)
            outcome = judged(mutant, tests, self.seconds) if tests else ("survived", "not reached")
            self.results.add(mutant, outcome, time.monotonic() - start)


def measure(path: Path, files: list[str]) -> None:
    """Measure in a fork what tests reach."""
    process = os.fork()
    if process == 0:
        judge.collect(str(ROOT / "src"), files, reach.Measuring(path))
        os._exit(0)
    os.waitpid(process, 0)


def main() -> None:
    """Judge mutants, and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--seconds", type=float, default=12.0, help="of tests for one mutant")
    parser.add_argument("--again", action="store_true", help="try again those that survived")
    parser.add_argument("--measure", nargs="+", help="files of tests to measure anew")
    parser.add_argument("--only", nargs="+", help="files of tests to be tried, no others")
    parser.add_argument("--reach", type=Path, default=Path("out/reach.json"))
    parser.add_argument("--results", type=Path, default=Path("out/mutants.jsonl"))
    arguments = parser.parse_args()
    for name in ("reach", "results"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    arguments.reach.parent.mkdir(parents=True, exist_ok=True)
    judge.preload()
    if not arguments.reach.exists():
        measure(arguments.reach, [*judge.SUITE, *judge.DECLARATIONS])
    if arguments.measure:
        measure(arguments.reach, arguments.measure)
    work = Work(arguments, reach.read(arguments.reach))
    within = [judge.is_within_functions(mutant) for mutant in work.left]
    cold = [m for m, inside in zip(work.left, within, strict=True) if not inside]
    warm = [m for m, inside in zip(work.left, within, strict=True) if inside]
    work.go(cold, judge.judged_from_source)
    if warm:
        plugin = judge.Judging(lambda judging: work.go(warm, judging.judged))
        judge.collect(str(ROOT / "src"), [*judge.SUITE, *judge.DECLARATIONS], plugin)
    report(work)


def report(work: Work) -> None:
    """Print the share that was noticed, and what was not."""
    lines = [work.results.known[m.name] for m in work.chosen if m.name in work.results.known]
    survived = [line for line in lines if line["outcome"] == "survived"]
    for line in survived:
        print(f"{line['line']}: {line['name']}")
    killed = len(lines) - len(survived)
    share = 100 * killed / max(len(lines), 1)
    print(f"{killed} of {len(lines)} noticed ({share:.1f} %), drawn from {len(everyone())} changes")


if __name__ == "__main__":
    main()
