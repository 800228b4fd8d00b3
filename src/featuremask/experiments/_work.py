"""One job: what is missing of it, and doing it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from threadpoolctl import threadpool_limits

from featuremask.experiments._attempt import Outcome, attempt
from featuremask.experiments._bench import Bench, Selected
from featuremask.experiments._claims import claimed
from featuremask.experiments._plan import FitRun, Job, MeasureRun
from featuremask.experiments._prepare import Prepared
from featuremask.experiments._records import Record, Records, Store

__all__ = ["Event", "Missing", "missing", "work"]


@dataclass(frozen=True)
class Event:
    """One run that has ended, or a job that could not be taken.

    Attributes
    ----------
    label : str
        A few words for people.
    status : str
        As in `Record`; "busy" if another process has the job, "killed" if its own was killed.
    reason : str
    seconds : float
    """

    label: str
    status: str
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Missing:
    """What of a job has no record yet.

    Attributes
    ----------
    fit : bool
    measures : tuple of MeasureRun
    """

    fit: bool
    measures: tuple[MeasureRun, ...]

    def __len__(self) -> int:
        return int(self.fit) + len(self.measures)


def missing(job: Job, records: Records, *, retry_failed: bool = False) -> Missing:
    """Return the runs of a job that are to be made.

    A failure counts as made unless failures are to be tried again. What would be measured of a fit
    that failed is not missing.
    """
    fit = records.get(job.fit.key)
    if fit is not None and not fit.ok and not retry_failed:
        return Missing(False, ())
    return Missing(
        fit is None or not fit.ok,
        tuple(m for m in job.measures if _is_missing(records.get(m.key), retry_failed)),
    )


def _is_missing(record: Record | None, retry_failed: bool) -> bool:
    return record is None or (retry_failed and not record.ok and record.status != "skipped")


def work(
    job: Job, folder: Path, bench: Bench, environment: str, *, retry_failed: bool = False
) -> list[Event]:
    """Do what is missing of a job, unless another process has claimed it.

    Each run is recorded as soon as it has ended, so that an interruption loses at most one.
    """
    store = Store(folder)
    with claimed(store.folder / ".claims", job.fit.key) as mine:
        if not mine:
            return [Event(job.label, "busy")]
        return list(_do(job, store, bench, environment, retry_failed))


def _do(
    job: Job, store: Store, bench: Bench, environment: str, retry_failed: bool
) -> Iterator[Event]:
    todo = missing(job, store.read(job.place), retry_failed=retry_failed)
    with threadpool_limits(job.fit.threads):
        if todo.fit:
            outcome = _fitted(job.fit, bench)
            store.append(job.place, _fit_record(job.fit, outcome, environment))
            yield Event(job.label, outcome.status, outcome.reason, outcome.seconds)
            if outcome.status != "ok":
                return
        found = store.read(job.place).result(job.fit.key)
        if found is None:
            return
        selected = Selected.unpacked(found)
        for run in todo.measures:
            outcome = attempt(partial(_measure, run, job, selected, bench), run.time_limit)
            store.append(job.place, _measure_record(run, job, outcome, environment))
            yield Event(
                f"{job.label}: {_named(run)}", outcome.status, outcome.reason, outcome.seconds
            )


def _fitted(run: FitRun, bench: Bench) -> Outcome:
    """Return what became of a fit; the time of loading the data is not counted."""
    loaded = attempt(partial(bench.prepare, run.dataset), run.time_limit)
    if loaded.status != "ok":
        return loaded
    return attempt(partial(_fit, run, loaded.value, bench), run.time_limit)


def _fit(run: FitRun, data: Prepared, bench: Bench) -> dict[str, Any]:
    return bench.select(run, data).packed(brief=run.brief)


def _measure(run: MeasureRun, job: Job, selected: Selected, bench: Bench) -> dict[str, Any]:
    return bench.measures[run.measure](bench.prepare(job.fit.dataset), selected, run)


def _named(run: MeasureRun) -> str:
    k = "all features" if run.k is None else f"k={run.k}"
    return f"{run.classifier or run.measure}, {k}"


def _fit_record(run: FitRun, outcome: Outcome, environment: str) -> Record:
    labels: dict[str, Any] = {
        "method": run.method.name,
        "dataset": run.dataset.name,
        "objective": run.objective,
        "seed": run.seed,
        "settings": dict(run.settings),
        "threads": run.threads,
    }
    if run.k is not None:
        labels["k"] = run.k
    if run.purpose:
        labels["purpose"] = run.purpose
    if run.brief:
        labels["search"] = True
    return _record(run.key, "fit", labels, outcome, environment)


def _measure_record(run: MeasureRun, job: Job, outcome: Outcome, environment: str) -> Record:
    labels: dict[str, Any] = {
        "fit": run.fit,
        "method": job.fit.method.name,
        "dataset": job.fit.dataset.name,
        "measure": run.measure,
        "k": run.k,
        "seed": run.seed,
        "threads": run.threads,
    }
    if run.classifier is not None:
        labels["classifier"] = run.classifier
    if run.rank_by != "ranking":
        labels["rank_by"] = run.rank_by
    return _record(run.key, "measure", labels, outcome, environment)


def _record(
    key: str,
    kind: Literal["fit", "measure"],
    labels: dict[str, Any],
    outcome: Outcome,
    environment: str,
) -> Record:
    return Record(
        key=key,
        kind=kind,
        status=outcome.status,
        reason=outcome.reason,
        run=labels,
        result=outcome.value if outcome.status == "ok" else {},
        seconds=outcome.seconds,
        cpu_seconds=outcome.cpu_seconds,
        peak_mb=outcome.peak_mb,
        environment=environment,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
    )
