"""A bench without data and training, and experiments for it."""

from pathlib import Path
from typing import Any

import numpy as np

from featuremask.experiments._bench import Bench, Selected
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._prepare import Prepared
from featuremask.experiments._spec import DatasetSpec, Experiment, MethodSpec

N_FEATURES = 8

DATA = DatasetSpec("toy", "toy", "Toy", "0123")
OTHER_DATA = DatasetSpec("other", "other", "Other", "4567")
METHOD = MethodSpec("plain", "Plain", "PlainSelector", settings={"width": 3})
OTHER_METHOD = MethodSpec("fancy", "Fancy", "FancySelector")


def experiment(**more: Any) -> Experiment:
    """Two methods, two datasets, two seeds, unless told otherwise."""
    words: dict[str, Any] = {
        "name": "trial",
        "title": "A trial",
        "section": 1,
        "methods": (METHOD, OTHER_METHOD),
        "datasets": (DATA, OTHER_DATA),
        "seeds": (0, 1),
        "ks": (2,),
    }
    return Experiment(**(words | more))


def fake_data(spec: DatasetSpec) -> Prepared:
    """Rows of the right width."""
    rows = np.zeros((4, N_FEATURES), dtype=np.float32)
    classes = np.array([0, 1, 0, 1])
    return Prepared(spec.name, rows, classes, rows, classes)


def fake_select(run: FitRun, data: Prepared) -> Selected:
    """A ranking that follows from the seed."""
    scores = np.random.default_rng(run.seed).normal(size=data.X_train.shape[1])
    return Selected(np.argsort(np.argsort(-scores)) + 1, scores)


def fake_accuracy(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
    """A number that follows from the best feature."""
    return {"accuracy": float(np.argmin(selected.ranks)) / N_FEATURES, "n_columns": run.k}


class Counting:
    """A bench that notes its calls.

    Parameters
    ----------
    faults : dict
        From a name of a method to the error that its fits raise.
    """

    def __init__(self, faults: dict[str, Exception] | None = None) -> None:
        self.fits: list[str] = []
        self.measures: list[str] = []
        self.faults = faults or {}

    def select(self, run: FitRun, data: Prepared) -> Selected:
        self.fits.append(f"{run.method.name}/{run.dataset.name}/{run.seed}")
        if run.method.name in self.faults:
            raise self.faults[run.method.name]
        return fake_select(run, data)

    def measure(self, data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
        self.measures.append(f"{run.classifier}/{run.k}")
        return fake_accuracy(data, selected, run)

    @property
    def bench(self) -> Bench:
        return Bench(fake_data, self.select, {"accuracy": self.measure})


def write_suite(folder: Path, **files: str) -> Path:
    """Write the TOML files of a suite; `trial="..."` becomes `trial.toml`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder
