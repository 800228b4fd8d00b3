"""What a user's own typed code looks like; mypy reads it, nothing runs it."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import torch
from numpy.typing import NDArray

import featuremask
from featuremask import (
    AFSSelector,
    FeatureMask,
    FeatureMaskSelector,
    RandomSelector,
    StabilitySelection,
)
from featuremask.datasets import Dataset, load, make_planted_table
from featuremask.evaluation import alike
from featuremask.plot import ImportanceDisplay
from featuremask.reporting import Summary, summarize, write_report
from featuremask.tables import Hint, TableEncoding, duplicate_hints, fit_table
from featuremask.workflow import Request, Result, select


def use() -> None:
    X: NDArray[np.float64] = np.zeros((10, 3))
    y = np.zeros(10)

    selector = FeatureMaskSelector(2, missing="auto", random_state=0)
    assert_type(selector.fit(X, y), FeatureMaskSelector)
    assert_type(AFSSelector(2).fit(X, y), AFSSelector)
    assert_type(RandomSelector(0.5).fit(X), RandomSelector)
    assert_type(StabilitySelection(selector, n_resamples=10).fit(X, y), StabilitySelection)
    assert_type(selector.selection_table(), dict[str, NDArray[Any]])
    selector.save(Path("selector.fm"))
    again = featuremask.load("selector.fm")
    again.transform(X)

    torch.nn.Sequential(FeatureMask(3), torch.nn.Linear(3, 2))
    assert_type(FeatureMask(3)(torch.zeros(4, 3)), Any)  # as all modules are, by torch's own word

    assert_type(load("iris"), Dataset)
    assert_type(alike(X, [0]), NDArray[np.float64])
    assert_type(make_planted_table(100).relevant, tuple[str, ...])
    assert_type(fit_table(object()), TableEncoding)
    assert_type(duplicate_hints(X, ["a", "b", "c"]), tuple[Hint, ...])
    assert_type(summarize(selector, X, y), Summary)
    write_report(summarize(selector, X, y), Path("report.html"))
    assert_type(ImportanceDisplay.from_estimator(selector), ImportanceDisplay)
    assert_type(select(Request(paths=("table.csv",), target="y", k=3)), Result)

    selector.fit(X, y, sample_wait=y)  # type: ignore[call-arg]  # a wrong word is found
    FeatureMaskSelector(strategy="joined")  # type: ignore[arg-type]  # and a wrong value
    summarize()  # type: ignore[call-arg]
