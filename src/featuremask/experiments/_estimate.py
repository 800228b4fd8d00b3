"""How long what is missing of a plan will take, from the records of what was run."""

import statistics
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from featuremask.experiments._plan import Job
from featuremask.experiments._records import Record, Records
from featuremask.experiments._run import RunOptions
from featuremask.experiments._work import Missing, missing

__all__ = ["Estimate", "estimate"]

Likeness = tuple[Hashable, ...]


@dataclass(frozen=True)
class Estimate:
    """What a plan still asks for.

    Attributes
    ----------
    fits, measures : int
        Runs to make.
    seconds : float
        Time of those that resemble a run that was made, one after the other.
    unknown : int
        Runs that resemble none.
    """

    fits: int
    measures: int
    seconds: float
    unknown: int


def estimate(
    jobs: Iterable[Job],
    records: Records,
    options: RunOptions,
    seen: set[str] | None = None,
) -> Estimate:
    """Return how much is to be done and how long it will take.

    A run takes about as long as runs of the same kind, method and dataset took; if there are none,
    as those of other methods on the same dataset.

    Parameters
    ----------
    jobs : iterable of Job
    records : Records
    options : RunOptions
    seen : set of str, optional
        Keys of runs that were counted before, for another experiment that shares them; added to.
    """
    seen = set() if seen is None else seen
    times = _times(records)
    fits = measures = unknown = 0
    seconds = 0.0
    for job in jobs:
        todo = _unseen(missing(job, records, retry_failed=options.retry_failed), job, seen)
        fits += todo.fit
        measures += len(todo.measures)
        for likenesses in _wanted(job, todo):
            known = next((times[like] for like in likenesses if like in times), None)
            unknown += known is None
            seconds += known or 0.0
    return Estimate(fits, measures, seconds, unknown)


def _unseen(todo: Missing, job: Job, seen: set[str]) -> Missing:
    left = Missing(
        todo.fit and job.fit.key not in seen,
        tuple(run for run in todo.measures if run.key not in seen),
    )
    seen.add(job.fit.key)
    seen.update(run.key for run in left.measures)
    return left


def _wanted(job: Job, todo: Missing) -> Iterator[tuple[Likeness, ...]]:
    data, method = (job.fit.dataset.name, job.fit.brief), job.fit.method.name
    if todo.fit:
        yield _of_fit(data, method, job.fit.objective)
    for run in todo.measures:
        yield _of_measure(data, method, run.classifier or run.measure, run.k)


def _of_fit(data: Hashable, method: str, objective: str) -> tuple[Likeness, ...]:
    base = method.partition("/")[0]
    return (("fit", data, base, objective), ("fit", data, base), ("fit", data))


def _of_measure(data: Hashable, method: str, name: str, k: int | None) -> tuple[Likeness, ...]:
    return (("measure", data, name, k), ("measure", data, name))


def _times(records: Records) -> dict[Likeness, float]:
    found: dict[Likeness, list[float]] = {}
    brief = {record.key for record in records if record.kind == "fit" and "search" in record.run}
    for record in records:
        if record.ok:
            for like in _likenesses(record, brief):
                found.setdefault(like, []).append(record.seconds)
    return {like: statistics.median(seconds) for like, seconds in found.items()}


def _likenesses(record: Record, brief: set[str]) -> tuple[Likeness, ...]:
    run = record.run
    if record.kind == "fit":
        data = (run["dataset"], record.key in brief)
        return _of_fit(data, run["method"], run["objective"])
    data = (run["dataset"], run["fit"] in brief)
    return _of_measure(data, run["method"], run.get("classifier", run["measure"]), run["k"])
