"""Fits of the package's selectors; loads PyTorch."""

import inspect
import warnings
from typing import Any

from featuremask.exceptions import InputError
from featuremask.experiments._bench import Selected
from featuremask.experiments._plan import FitRun
from featuremask.experiments._prepare import Prepared

__all__ = ["fit_selector", "search_space_of"]


def fit_selector(run: FitRun, data: Prepared) -> Selected:
    """Fit the run's selector and return what it chose.

    Warnings become part of the record.
    """
    selector = _selector(run, data.X_train.shape[1])
    target = None if run.objective == "reconstruction" else data.y_train
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(data.X_train, target)
    more = _facts(selector)
    if caught:
        more["warnings"] = sorted({str(warning.message) for warning in caught})
    return Selected(
        ranks=selector.ranking_,
        scores=selector.scores_,
        n_distinct=None if run.k is None else int(getattr(selector, "n_unique_", run.k)),
        more=more,
    )


def search_space_of(name: str) -> dict[str, tuple[Any, ...]]:
    """Return the values worth trying that a selector declares, word by word."""
    return {word: tuple(values) for word, values in _class(name).search_space.items()}


def _class(name: str) -> Any:
    from featuremask import selectors

    found = getattr(selectors, name, None)
    if not name.endswith("Selector") or not inspect.isclass(found):
        raise InputError(
            f"methods.toml: selector must name a class of featuremask.selectors; got {name!r}."
        )
    return found


def _selector(run: FitRun, n_features: int) -> Any:
    cls = _class(run.method.selector)
    words = {
        "objective": run.objective,
        "device": "cpu",
        "random_state": run.seed,
        "n_jobs": run.threads,
        "n_features_to_select": run.k or n_features,
        **run.settings,
    }
    try:
        return cls(**words)
    except TypeError as error:
        raise InputError(f"The settings of {run.method.name!r} do not fit: {error}.") from error


def _facts(selector: Any) -> dict[str, Any]:
    history = getattr(selector, "history_", [])
    facts: dict[str, Any] = {}
    if history:
        last = history[-1]
        facts["epochs"], facts["steps"] = int(last["epoch"]), int(last["step"])
        facts["loss"] = round(float(last["loss"]), 6)
    converged = getattr(selector, "converged_", None)
    return facts if converged is None else facts | {"converged": bool(converged)}
