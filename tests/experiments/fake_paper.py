"""The paper's plan with made-up results, for reports."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from featuremask.experiments import Record, Records, find_suite, load_suite, plan
from featuremask.experiments._bench import Selected
from featuremask.experiments._packing import pack_integers
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._published import Published
from featuremask.experiments._spec import Experiment

SIZE = 784

Accuracy = Callable[[FitRun, MeasureRun], float]


@cache
def experiments(smoke: bool = False) -> tuple[Experiment, ...]:
    """The paper's experiments."""
    return load_suite(find_suite("paper"), smoke=smoke).experiments


def made_up(accuracy: Accuracy, names: tuple[str, ...] = (), smoke: bool = False) -> Material:
    """Records for the named experiments of the paper, or all, with accuracies by a rule."""
    suite = load_suite(find_suite("paper"), smoke=smoke)
    records = Records()
    for experiment in suite.experiments:
        if experiment.search is None and (not names or experiment.name in names):
            for job in plan(experiment, tuned=lambda method, data: {}):
                records.add(Record(job.fit.key, "fit", "ok", result=_fit(), seconds=2.0))
                for run in job.measures:
                    result = _result(accuracy, job.fit, run)
                    records.add(Record(run.key, "measure", "ok", result=result, seconds=1.0))
    published = Published(find_suite("paper") / "published.toml")
    return Material(suite, records, published, lambda method, data: {})


@cache
def _fit() -> dict[str, Any]:
    return Selected(np.arange(1, SIZE + 1), np.linspace(1, 0, SIZE)).packed()


def _result(accuracy: Accuracy, fit: FitRun, run: MeasureRun) -> dict[str, Any]:
    if run.measure == "accuracy":
        return {"accuracy": accuracy(fit, run), "n_columns": run.k or SIZE}
    if run.measure == "redundancy":
        return {"constant": 0.0, "rare": 0.1, "correlation": 0.2, "n_columns": 50}
    if run.measure == "embedding":
        points = pack_integers(np.arange(40))
        return {
            "by": "PCA",
            "x": points,
            "y": points,
            "classes": pack_integers(np.arange(40) % 10),
            "neighbors": 0.9,
            "trustworthiness": 0.8,
        }
    return {
        "name": fit.dataset.name,
        "n_features": SIZE,
        "n_train": 60000,
        "n_test": 10000,
        "n_classes": 10,
        "domain": "image",
        "constant": 67,
        "rare": 189,
        "image_shape": [28, 28],
        "image_order": "C",
        "examples": pack_integers(np.zeros(10 * SIZE), "u1"),
    }
