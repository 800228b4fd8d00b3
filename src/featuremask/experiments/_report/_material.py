"""What a report is made of: a suite, its records, the paper's numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.experiments._bench import Selected
from featuremask.experiments._plan import Job, TunedSettings, plan
from featuremask.experiments._records import Record, Records
from featuremask.experiments._report._cells import Cell, Grid
from featuremask.experiments._report._published import Published
from featuremask.experiments._spec import Experiment, MethodSpec, Suite

__all__ = ["BOUNDS", "OURS", "Material", "top"]

OURS = ("fm-paper", "fm")
"""The two ways to run the FM-module: the paper's recipe and the package's default."""

BOUNDS = ("rsf", "rawf")


@dataclass(frozen=True)
class Material:
    """All that a report is made of; nothing is trained or loaded for it.

    Attributes
    ----------
    suite : Suite
    records : Records
    published : Published
    tuned : callable
        Gives the settings that a search has found.
    notes : mapping
        From the number of a section to remarks of a person.
    """

    suite: Suite
    records: Records
    published: Published
    tuned: TunedSettings
    notes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def _grids(self) -> dict[str, Grid]:
        return {
            e.name: Grid(e, plan(e, tuned=self.tuned), self.records)
            for e in self.suite.experiments
            if e.search is None
        }

    def grid(self, name: str) -> Grid:
        """Return the grid of an experiment."""
        return self._grids[name]

    @property
    def grids(self) -> list[Grid]:
        """Grids of all experiments but searches."""
        return list(self._grids.values())

    @cached_property
    def search(self) -> Experiment | None:
        """The experiment that searches for settings."""
        return next((e for e in self.suite.experiments if e.search is not None), None)

    def references(self, name: str) -> list[MethodSpec]:
        """Return the methods of an experiment that are neither bounds nor the FM-module."""
        methods = self.grid(name).experiment.methods
        return [m for m in methods if m.family not in (*OURS, *BOUNDS)]

    def selections(
        self, name: str, dataset: str, method: str, objective: str | None = None
    ) -> list[tuple[Job, Selected]]:
        """Return job and selection of all fits of a method that ended well."""
        found = []
        for job in self.grid(name).jobs:
            fit = job.fit
            same = (fit.dataset.name, fit.method.name) == (dataset, method)
            if same and objective in (None, fit.objective):
                result = self.records.result(fit.key)
                if result is not None:
                    found.append((job, Selected.unpacked(result)))
        return found

    def first_selection(self, name: str, dataset: str, method: str) -> tuple[Job, Selected] | None:
        """Return the fit of the first seed, for the first number of features."""
        return next(iter(self.selections(name, dataset, method)), None)

    def trials(self, method: str, dataset: str) -> list[tuple[Record, float]]:
        """Return the recorded trials of a search with their accuracies on held-out rows."""
        fits = {r.key: r for r in self.records if r.run.get("search")}
        return [
            (fits[record.run["fit"]], float(record.result["accuracy"]))
            for record in self.records
            if record.ok
            and record.run.get("fit") in fits
            and (record.run["method"], record.run["dataset"]) == (method, dataset)
        ]

    def cell(self, name: str, dataset: str, method: str, **where: Any) -> Cell | None:
        """Return a cell of an experiment; None if it is not planned."""
        return self.grid(name).cell(dataset, method, **where)

    def as_image(self, dataset: str, values: NDArray[Any]) -> NDArray[Any] | None:
        """Return one value a feature as an upright image; None if the data are no images."""
        overview = self.overview(dataset)
        if overview is None or "image_shape" not in overview:
            return None
        height, width = overview["image_shape"]
        if overview["image_order"] == "C":
            return values.reshape(height, width)
        return values.reshape(width, height).T

    def overview(self, dataset: str) -> dict[str, Any] | None:
        """Return what was recorded of a dataset."""
        return next(
            (found for _, found in self.grid("data").measured("overview", dataset, "rawf")), None
        )


def top(selected: Selected, k: int) -> NDArray[np.bool_]:
    """Return which columns are among the k best, as they were evaluated."""
    count = k if selected.n_distinct is None else min(k, selected.n_distinct)
    return np.asarray(selected.ranks <= count)
