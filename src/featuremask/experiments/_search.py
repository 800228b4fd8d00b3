"""The search for settings of the reference methods on held-out training rows."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from featuremask._files import write_atomically
from featuremask.experiments._parse import read_toml
from featuremask.experiments._plan import Job, TunedSettings, plan
from featuremask.experiments._records import Records
from featuremask.experiments._spec import DatasetSpec, Experiment, MethodSpec, Suite

__all__ = [
    "TUNED",
    "best_settings",
    "draw_trials",
    "read_tuned",
    "trials_of",
    "tuned_of",
    "tuned_toml",
    "write_tuned",
]

Space = Mapping[str, Sequence[Any]]

TUNED = "tuned.toml"
"""The file of chosen settings, in the folder of results."""


def draw_trials(
    space: Space, fixed: Mapping[str, Any], count: int, seed: int
) -> list[dict[str, Any]]:
    """Return settings to try: the method's own, then ones drawn by scikit-learn's sampler.

    Words that the method's own settings fix are not drawn. Where the space holds fewer settings
    than asked for, each comes once.

    Examples
    --------
    >>> draw_trials({"a": (1, 2), "b": (3,)}, {"b": 3}, count=5, seed=0)
    [{}, {'a': 1}, {'a': 2}]
    """
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    free = {word: list(values) for word, values in sorted(space.items()) if word not in fixed}
    drawn = min(count - 1, len(ParameterGrid(free))) if free else 0
    return [{}, *ParameterSampler(free, drawn, random_state=seed)] if drawn else [{}]


def trials_of(
    space_of: Callable[[str], Space],
) -> Callable[[Experiment, MethodSpec, DatasetSpec], list[dict[str, Any]]]:
    """Return what `plan` needs to plan a search.

    All datasets of a method get the same settings to try.
    """

    def trials(
        experiment: Experiment, method: MethodSpec, dataset: DatasetSpec
    ) -> list[dict[str, Any]]:
        assert experiment.search is not None
        fixed = method.settings_on(dataset)
        space = space_of(method.selector)
        return draw_trials(space, fixed, experiment.search.trials, experiment.search.seed)

    return trials


def best_settings(
    experiment: Experiment, space_of: Callable[[str], Space], records: Records
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the best settings by method and dataset, where all trials have ended.

    A trial is judged by its accuracy on the held-out rows; of equal ones the first is taken. A
    trial that failed cannot win; a method all of whose trials failed keeps its own settings.
    """
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in plan(experiment, trials=trials_of(space_of)):
        groups.setdefault((job.fit.method.name, job.fit.dataset.name), []).append(job)
    best: dict[str, dict[str, dict[str, Any]]] = {}
    for (method, dataset), jobs in groups.items():
        judged = [_judged(job, records) for job in jobs]
        if all(accuracy is not None for accuracy in judged):
            winner = jobs[int(np.argmax([-1.0 if a is None else a for a in judged]))]
            own = winner.fit.method.settings_on(winner.fit.dataset)
            found = {w: v for w, v in winner.fit.settings.items() if w not in own}
            best.setdefault(method, {})[dataset] = found
    return best


def _judged(job: Job, records: Records) -> float | None:
    """Return the accuracy of a trial; -1 if it failed, None if it has not ended."""
    fit = records.get(job.fit.key)
    if fit is not None and not fit.ok:
        return -1.0
    record = records.get(job.measures[0].key)
    if record is None:
        return None
    return float(record.result["accuracy"]) if record.ok else -1.0


def tuned_toml(best: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the text of a file of chosen settings."""
    lines = ["# Settings chosen on held-out training rows; written by the search, not by hand."]
    for method in sorted(best):
        for dataset in sorted(best[method]):
            lines += ["", f"[{json.dumps(method)}.{json.dumps(dataset)}]"]
            words = best[method][dataset]
            lines += [f"{word} = {_toml(words[word])}" for word in sorted(words)]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def write_tuned(path: Path, best: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Write chosen settings, if there are any that the file does not hold yet."""
    text = tuned_toml(best)
    if best and not (path.exists() and path.read_text(encoding="utf-8") == text):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())


def tuned_of(suite: Suite, results: Path) -> TunedSettings:
    """Return what `plan` needs to lay chosen settings over those of a method.

    They are those of the results, or of the suite that this one goes on from.
    """
    path = results / TUNED
    if not path.exists() and suite.base is not None:
        path = suite.base / "results" / TUNED
    return read_tuned(path)


def read_tuned(path: Path) -> TunedSettings:
    """Return the chosen settings of a file; none if it is not there."""
    table = read_toml(path) if path.exists() else {}
    return lambda method, dataset: table.get(method, {}).get(dataset)
