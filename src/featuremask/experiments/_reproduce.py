"""All experiments of a suite, one after the other."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from featuremask.exceptions import InputError
from featuremask.experiments._bench import Bench
from featuremask.experiments._estimate import Estimate, estimate
from featuremask.experiments._plan import Job, plan
from featuremask.experiments._progress import Progress
from featuremask.experiments._records import Store
from featuremask.experiments._run import RunOptions, Summary, merged, open_jobs, run
from featuremask.experiments._search import (
    TUNED,
    Space,
    best_settings,
    trials_of,
    tuned_of,
    write_tuned,
)
from featuremask.experiments._spec import Experiment, Suite
from featuremask.experiments._suite import find_suite, load_suite
from featuremask.experiments._work import Event, missing

__all__ = ["Reproduction", "declared_space", "reproduce"]


def declared_space(selector: str) -> Space:
    """Return the search space of a selector of the package; loads PyTorch."""
    from featuremask.experiments._selecting import search_space_of

    return search_space_of(selector)


@dataclass(frozen=True)
class Reproduction:
    """A suite and the folder of its records.

    Attributes
    ----------
    suite : Suite
    results : Path
    space_of : callable
        From the name of a selector to its search space.
    """

    suite: Suite
    results: Path
    space_of: Callable[[str], Space] = field(default=declared_space)

    def chosen(self, only: tuple[str, ...] = ()) -> list[Experiment]:
        """Return the experiments that are named, by name or number of section; all if none is."""
        known = {e.name for e in self.suite.experiments}
        known |= {str(e.section) for e in self.suite.experiments}
        unknown = [name for name in only if name not in known]
        if unknown:
            raise InputError(
                f"There is no experiment or section {', '.join(unknown)}; there are "
                f"{', '.join(sorted(known))}."
            )
        return [
            e for e in self.suite.experiments if not only or {e.name, str(e.section)} & set(only)
        ]

    def jobs(self, experiment: Experiment) -> list[Job]:
        """Return the plan of an experiment, with the settings that were searched for so far."""
        if experiment.search is not None:
            return plan(experiment, trials=trials_of(self.space_of))
        return plan(experiment, tuned=tuned_of(self.suite, self.results))

    def run(
        self,
        experiment: Experiment,
        options: RunOptions,
        *,
        bench: Bench | None = None,
        report: Callable[[Event], None] = lambda event: None,
    ) -> Summary:
        """Make what is missing of an experiment; write down what a search has found."""
        jobs = self.jobs(experiment)
        try:
            return run(
                jobs, self.results, options, bench=bench, report=report, alone=experiment.alone
            )
        finally:
            if experiment.search is not None:
                self._write_tuned(experiment)

    def outlook(
        self, only: tuple[str, ...], options: RunOptions
    ) -> Iterator[tuple[Experiment, Estimate, int]]:
        """Yield each experiment, what is to be done for it, and how many jobs wait for a search."""
        records = Store(self.results).read()
        seen: set[str] = set()
        for experiment in self.chosen(only):
            todo = open_jobs(merged(self.jobs(experiment)), records, options)
            ready = [job for job in todo if not job.blocked]
            yield experiment, estimate(ready, records, options, seen), len(todo) - len(ready)

    def size(self, experiment: Experiment, options: RunOptions) -> int:
        """Return how many runs of an experiment are to be made now."""
        records = Store(self.results).read()
        todo = open_jobs(merged(self.jobs(experiment)), records, options)
        ready = [job for job in todo if not job.blocked]
        return sum(len(missing(j, records, retry_failed=options.retry_failed)) for j in ready)

    def _write_tuned(self, experiment: Experiment) -> None:
        records = Store(self.results).read()
        write_tuned(self.results / TUNED, best_settings(experiment, self.space_of, records))


def reproduce(
    suite: str,
    options: RunOptions,
    *,
    only: tuple[str, ...] = (),
    smoke: bool = False,
    results: Path | None = None,
    only_plan: bool = False,
) -> Iterator[str]:
    """Run the experiments of a suite and yield lines that say what was done.

    Parameters
    ----------
    suite : str
        A folder, or its name below `experiments`.
    options : RunOptions
    only : tuple of str
        Names of experiments or numbers of sections; all if empty.
    smoke : bool
        Take the reduced form of each experiment.
    results : Path, optional
        Folder of the records; `results` in the suite's folder if None, `smoke-results` for smoke.
    only_plan : bool
        Run nothing.
    """
    folder = find_suite(suite)
    default = folder / ("smoke-results" if smoke else "results")
    whole = Reproduction(load_suite(folder, smoke=smoke), results or default)
    if only_plan:
        yield from _outlook_lines(whole, only, options)
        return
    for experiment in whole.chosen(only):
        with Progress(experiment.name, whole.size(experiment, options)) as progress:
            summary = whole.run(experiment, options, report=progress)
        yield f"{experiment.name:12} {_summary_line(summary)}"


def _outlook_lines(
    whole: Reproduction, only: tuple[str, ...], options: RunOptions
) -> Iterator[str]:
    yield f"{'experiment':14} {'fits':>6} {'measures':>9} {'time':>9}"
    for experiment, todo, blocked in whole.outlook(only, options):
        line = f"{experiment.name:14} {todo.fits:6} {todo.measures:9} {_hours(todo, options):>9}"
        if todo.unknown:
            line += f"  + {todo.unknown} runs like none before"
        if blocked:
            line += f"  + {blocked} fits that wait for a search"
        yield line


def _hours(todo: Estimate, options: RunOptions) -> str:
    minutes = todo.seconds / 60.0 / options.jobs
    return f"{minutes / 60:.1f} h" if minutes >= 100 else f"{minutes:.0f} min"


def _summary_line(summary: Summary) -> str:
    parts = [f"{count} {status}" for status, count in sorted(summary.counts.items())]
    if summary.blocked:
        parts.append(f"{summary.blocked} wait for a search")
    return ", ".join(parts) or "nothing to do"
