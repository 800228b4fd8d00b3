"""Records gathered to cells: one method, dataset, classifier, number of features, all seeds."""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from featuremask.experiments._plan import Job, MeasureRun
from featuremask.experiments._records import Records
from featuremask.experiments._spec import DatasetSpec, Experiment, MethodSpec

__all__ = ["Cell", "Grid", "combined_std", "mean_of", "std_of"]


@dataclass(frozen=True)
class Cell:
    """What is known of one method, dataset, classifier, number of features and objective.

    Attributes
    ----------
    experiment : str
    dataset : DatasetSpec
    method : MethodSpec
    classifier : str
    k : int or None
        As planned; None for all features.
    objective : str
    results : tuple of dict
        Of the runs that ended well, in the order of their seeds.
    planned : int
        Runs there should be.
    failures : tuple of str
        Status and reason of the others that ended.
    """

    experiment: str
    dataset: DatasetSpec
    method: MethodSpec
    classifier: str
    k: int | None
    objective: str
    results: tuple[dict[str, Any], ...]
    planned: int
    failures: tuple[str, ...]

    @property
    def accuracies(self) -> tuple[float, ...]:
        """One a seed."""
        return tuple(float(result["accuracy"]) for result in self.results)

    @property
    def complete(self) -> bool:
        """Whether all planned runs ended well."""
        return len(self.results) == self.planned

    @property
    def mean(self) -> float | None:
        """Mean over the seeds there are; None if there are none."""
        return statistics.fmean(self.accuracies) if self.results else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation; 0 where nothing is random; None for a single seed."""
        if self.method.all_features and len(self.results) == 1:
            return 0.0
        return statistics.stdev(self.accuracies) if len(self.results) > 1 else None

    @property
    def n_columns(self) -> int | None:
        """The number of features that was asked for, or all there are."""
        if self.k is not None or not self.results:
            return self.k
        return int(self.results[0]["n_columns"])

    @property
    def text(self) -> str:
        """Mean and deviation, or why there is none."""
        if self.mean is None:
            return self.failures[0].partition(":")[0] if self.failures else "not run"
        text = f"{self.mean:.3f}" + ("" if self.std is None else f" ± {self.std:.3f}")
        return text if self.complete else f"{text} ({len(self.results)} of {self.planned})"


class Grid:
    """The planned runs of an experiment and their records.

    Parameters
    ----------
    experiment : Experiment
    jobs : list of Job
    records : Records
    """

    def __init__(self, experiment: Experiment, jobs: list[Job], records: Records) -> None:
        self.experiment = experiment
        self.jobs = jobs
        self._records = records
        self._runs: dict[tuple[Any, ...], list[tuple[Job, MeasureRun]]] = {}
        for job in jobs:
            for run in job.measures:
                self._runs.setdefault(_address(job, run), []).append((job, run))

    @property
    def complete(self) -> bool:
        """Whether each planned measure has a result."""
        keys = [run.key for job in self.jobs for run in job.measures]
        return all(self._records.result(key) is not None for key in keys)

    def cells(self) -> Iterator[Cell]:
        """Yield the accuracy cells in the order of the plan."""
        for address, runs in self._runs.items():
            if runs[0][1].measure == "accuracy":
                yield self._cell(address)

    def cell(
        self,
        dataset: str,
        method: str,
        *,
        classifier: str = "rf",
        k: int | None = None,
        objective: str | None = None,
    ) -> Cell | None:
        """Return a cell; None if it is not planned.

        `k` and `objective` may be left out where there is one; for all features `k` does not
        matter.
        """
        spec = next((m for m in self.experiment.methods if m.name == method), None)
        if spec is None:
            return None
        if k is None and self.experiment.ks:
            k = self.experiment.ks[0]
        k = None if spec.all_features else k
        goal = self.experiment.objectives[0] if objective is None or not spec.trained else objective
        address = (dataset, method, goal, "accuracy", classifier, k)
        return self._cell(address) if address in self._runs else None

    def pooled(self, source: str, method: str, **where: Any) -> Cell | None:
        """Return one cell of all parts of a source of data; None if there is none."""
        parts = [data.name for data in self.experiment.datasets if data.source == source]
        cells = [self.cell(name, method, **where) for name in parts]
        found = [cell for cell in cells if cell is not None]
        return _pooled(found) if found else None

    def measured(
        self, measure: str, dataset: str, method: str, objective: str | None = None
    ) -> list[tuple[Job, dict[str, Any]]]:
        """Return job and result of all runs of another measure that ended well."""
        found = []
        for address, runs in self._runs.items():
            same = address[:2] == (dataset, method) and address[3] == measure
            if same and objective in (None, address[2]):
                found += [(job, self._records.result(run.key)) for job, run in runs]
        return [(job, result) for job, result in found if result is not None]

    def failures(self) -> Iterator[str]:
        """Yield a line for each run that ended without a result, skipped ones left out."""
        for job in self.jobs:
            keys = [job.fit.key, *(run.key for run in job.measures)]
            for record in map(self._records.get, keys):
                if record is not None and record.status not in ("ok", "skipped"):
                    yield f"{job.label}: {record.status}: {record.reason}"

    def _cell(self, address: tuple[Any, ...]) -> Cell:
        runs = self._runs[address]
        results, failures = [], []
        for job, run in sorted(runs, key=lambda pair: pair[0].fit.seed):
            fit, record = self._records.get(job.fit.key), self._records.get(run.key)
            ended = fit if fit is not None and not fit.ok else record
            if ended is not None and ended.ok:
                results.append(ended.result)
            elif ended is not None:
                failures.append(f"{ended.status}: {ended.reason}")
        job, run = runs[0]
        return Cell(
            experiment=self.experiment.name,
            dataset=job.fit.dataset,
            method=job.fit.method,
            classifier=run.classifier or "",
            k=run.k,
            objective=address[2],
            results=tuple(results),
            planned=len(runs),
            failures=tuple(failures),
        )


def _pooled(cells: Sequence[Cell]) -> Cell:
    """Return one cell of the runs of several, such as those of different splits."""
    return replace(
        cells[0],
        results=tuple(result for cell in cells for result in cell.results),
        planned=sum(cell.planned for cell in cells),
        failures=tuple(failure for cell in cells for failure in cell.failures),
    )


def _address(job: Job, run: MeasureRun) -> tuple[Any, ...]:
    fit = job.fit
    return (
        fit.dataset.name,
        fit.method.name,
        fit.objective,
        run.measure,
        run.classifier,
        run.k,
    )


def mean_of(cell: Cell | None) -> float | None:
    """Return the mean of a cell, if it is planned and has one."""
    return None if cell is None else cell.mean


def std_of(cell: Cell | None) -> float | None:
    """Return the standard deviation of a cell, if it is planned and has one."""
    return None if cell is None else cell.std


def combined_std(first: float | None, second: float | None) -> float:
    """Return the deviation of a difference; half a unit of the third decimal at least."""
    return max(math.hypot(first or 0.0, second or 0.0), 0.0005)
