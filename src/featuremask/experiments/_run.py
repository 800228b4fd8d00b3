"""The runner: jobs to workers, one after the other or several at a time."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from featuremask.exceptions import InputError
from featuremask.experiments._backends import Killed, results
from featuremask.experiments._bench import Bench
from featuremask.experiments._environment import environment
from featuremask.experiments._plan import Choice, Job
from featuremask.experiments._records import Records, Store
from featuremask.experiments._work import Event, missing, work

__all__ = ["RunOptions", "Shard", "Summary", "merged", "open_jobs", "run"]


@dataclass(frozen=True)
class Shard:
    """One of several parts of a plan, for machines that share no folder.

    Attributes
    ----------
    index, count : int
        Part `index` of `count`, counted from 1.
    """

    index: int = 1
    count: int = 1

    @classmethod
    def parsed(cls, text: str) -> "Shard":
        """Return the shard of a text such as "2/8"."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdigit() and count.isdigit() and 1 <= int(index) <= int(count)):
            raise InputError(f'A shard is "i/n" with i from 1 to n, such as "2/8"; got {text!r}.')
        return cls(int(index), int(count))

    def takes(self, job: Job) -> bool:
        """Return whether a job belongs to this part, by the key of its fit."""
        return int(job.fit.key, 16) % self.count == self.index - 1


@dataclass(frozen=True)
class RunOptions:
    """Which runs of a plan are made, and how.

    Attributes
    ----------
    jobs : int
        Processes at a time.
    backend : {"loky", "dask", "ray"}
        Whose processes; one job of loky is this process itself.
    cluster : str or None
        Where the workers of Dask or Ray are; None starts some here, as many as `jobs`.
    shard : Shard
    choice : Choice
    retry_failed : bool
        Whether runs that failed are made again.
    """

    jobs: int = 1
    shard: Shard = field(default_factory=Shard)
    choice: Choice = field(default_factory=Choice)
    retry_failed: bool = False
    backend: str = "loky"
    cluster: str | None = None


@dataclass(frozen=True)
class Summary:
    """What became of a plan.

    Attributes
    ----------
    counts : dict
        Ended runs by status; jobs of other processes as "busy", jobs whose processes were killed
        each time as "killed".
    blocked : int
        Jobs that wait for the settings of a search.
    """

    counts: dict[str, int]
    blocked: int


def merged(jobs: Iterable[Job]) -> list[Job]:
    """Return jobs of which no two have the same fit: what is measured of it is put together."""
    by_fit: dict[str, Job] = {}
    for job in jobs:
        before = by_fit.get(job.fit.key)
        first = job if before is None else before
        measures = {run.key: run for run in (*first.measures, *job.measures)}
        by_fit[job.fit.key] = replace(first, measures=tuple(measures.values()))
    return list(by_fit.values())


def open_jobs(jobs: Iterable[Job], records: Records, options: RunOptions) -> list[Job]:
    """Return the jobs of which something is to be done here."""
    mine = [job for job in jobs if options.choice.takes(job.fit) and options.shard.takes(job)]
    return [
        job
        for job in mine
        if job.blocked or len(missing(job, records, retry_failed=options.retry_failed))
    ]


def run(
    jobs: Sequence[Job],
    folder: Path,
    options: RunOptions | None = None,
    *,
    bench: Bench | None = None,
    report: Callable[[Event], None] = lambda event: None,
    alone: bool = False,
) -> Summary:
    """Make the runs of a plan that have no record yet.

    It may be interrupted at any time, also by SIGKILL, and several processes may work on the same
    folder: called again it makes what is missing, and nothing twice.

    Parameters
    ----------
    jobs : sequence of Job
        A plan.
    folder : Path
        Of the records.
    options : RunOptions, optional
    bench : Bench, optional
        What fits and measures.
    report : callable
        Hears of each run that has ended.
    alone : bool
        Make one run at a time, whatever the options say.

    Returns
    -------
    Summary
    """
    options = options or RunOptions()
    todo = open_jobs(merged(jobs), Store(folder).read(), options)
    ready = [job for job in todo if not job.blocked]
    counts: Counter[str] = Counter()
    for events in _worked(ready, folder, options, bench or Bench(), alone):
        for event in events:
            counts[event.status] += 1
            report(event)
    return Summary(dict(counts), len(todo) - len(ready))


def _worked(
    jobs: Sequence[Job], folder: Path, options: RunOptions, bench: Bench, alone: bool
) -> Iterable[list[Event]]:
    if not jobs:
        return
    made_with = Store(folder).remember(environment())
    tasks = {
        job.fit.key: partial(
            work, job, folder.resolve(), bench, made_with, retry_failed=options.retry_failed
        )
        for job in jobs
    }
    if alone or (options.backend == "loky" and options.jobs == 1 and options.cluster is None):
        yield from (task() for task in tasks.values())
        return
    labels = {job.fit.key: job.label for job in jobs}
    for key, events in results(tasks, options.backend, options.jobs, options.cluster):
        killed = isinstance(events, Killed)
        yield [Event(labels[key], "killed", _KILLED)] if killed else events


_KILLED = "its process was killed each time, perhaps for want of memory; it has no record"
