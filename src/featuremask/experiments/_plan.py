"""From an experiment to the list of its runs. Nothing is loaded, trained or written here."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from featuremask.evaluation import CLASSIFIERS
from featuremask.exceptions import InputError
from featuremask.experiments._keys import RESULTS_VERSION, key_of
from featuremask.experiments._spec import DatasetSpec, Experiment, MethodSpec, Objective

__all__ = ["Choice", "FitRun", "Job", "MeasureRun", "TunedSettings", "plan"]

Settings = Mapping[str, Any]

TunedSettings = Callable[[str, str], Settings | None]
"""From method and source of data to the settings that a search has found; None if none has run."""


@dataclass(frozen=True)
class FitRun:
    """One fit of a selector.

    Attributes
    ----------
    dataset : DatasetSpec
    method : MethodSpec
    settings : mapping
        All words of the constructor that are given.
    objective : str
    seed : int
    k : int or None
        The number of features, where the method is fitted for it.
    threads : int
    time_limit : float
    purpose : str
    brief : bool
        Whether only the best features and no scores are recorded.
    """

    dataset: DatasetSpec
    method: MethodSpec
    settings: Settings
    objective: Objective
    seed: int
    k: int | None
    threads: int
    time_limit: float
    purpose: str
    brief: bool = False

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that decides the result."""
        data = asdict(self.dataset)
        for label in ("name", "title", "source", *([] if data["split"] else ["split"])):
            data.pop(label)
        return {
            "version": RESULTS_VERSION,
            "data": data,
            "selector": self.method.selector,
            "revision": self.method.revision,
            "settings": dict(self.settings),
            "objective": self.objective if self.method.trained else None,
            "seed": self.seed,
            "k": self.k,
            "threads": self.threads if self.method.trained else None,
            "purpose": self.purpose,
        }

    @cached_property
    def key(self) -> str:
        """The name of the run's record."""
        return key_of(self.identity)


@dataclass(frozen=True)
class MeasureRun:
    """One measure of a fit: the accuracy of a classifier, or another.

    Attributes
    ----------
    fit : str
        Key of the fit.
    measure : str
        "accuracy", or another that the bench knows.
    k : int or None
        Number of features; None for all.
    classifier : str or None
    seed : int
    rank_by : str
    threads, time_limit
        Of the run; they do not change its result.
    """

    fit: str
    measure: str
    k: int | None
    classifier: str | None
    seed: int
    rank_by: str
    threads: int = 1
    time_limit: float = 7200.0

    @cached_property
    def identity(self) -> dict[str, Any]:
        """All that decides the result."""
        revision = 1 if self.classifier is None else CLASSIFIERS[self.classifier].revision
        return {
            "version": RESULTS_VERSION,
            "fit": self.fit,
            "measure": self.measure,
            "k": self.k,
            "classifier": self.classifier,
            "revision": revision,
            "seed": self.seed,
            "rank_by": self.rank_by,
        }

    @cached_property
    def key(self) -> str:
        """The name of the run's record."""
        return key_of(self.identity)


@dataclass(frozen=True)
class Job:
    """A fit and what is measured of it; the unit that one worker takes.

    Attributes
    ----------
    fit : FitRun
    measures : tuple of MeasureRun
    blocked : str
        Why it cannot run yet; "" if it can.
    """

    fit: FitRun
    measures: tuple[MeasureRun, ...]
    blocked: str = ""

    @property
    def folder(self) -> str:
        """Where the records lie."""
        return "search" if self.fit.brief else "runs"

    @property
    def place(self) -> str:
        """The file of its records, below the folder of results."""
        return f"{self.folder}/{self.fit.dataset.name}/{self.fit.method.family}.jsonl"

    @property
    def label(self) -> str:
        """A few words for people."""
        fit = self.fit
        unsupervised = ", no target" if fit.objective == "reconstruction" else ""
        k = "" if fit.k is None else f", k={fit.k}"
        return f"{fit.method.name} on {fit.dataset.name}, seed {fit.seed}{k}{unsupervised}"


@dataclass(frozen=True)
class Choice:
    """A part of a plan; empty means all.

    Attributes
    ----------
    methods, datasets : sequence of str
    seeds : sequence of int
    """

    methods: Sequence[str] = ()
    datasets: Sequence[str] = ()
    seeds: Sequence[int] = ()

    def takes(self, fit: FitRun) -> bool:
        """Return whether a fit is in the part."""
        return (
            (not self.methods or fit.method.family in self.methods)
            and (not self.datasets or fit.dataset.name in self.datasets)
            and (not self.seeds or fit.seed in self.seeds)
        )


def plan(
    experiment: Experiment,
    tuned: TunedSettings = lambda method, dataset: None,
    trials: Callable[[Experiment, MethodSpec, DatasetSpec], Sequence[Settings]] | None = None,
) -> list[Job]:
    """Return the jobs of an experiment, the first seed of all methods and datasets first.

    Parameters
    ----------
    experiment : Experiment
    tuned : callable
        Gives the settings that a search has found.
    trials : callable
        Gives the settings that a search tries; needed for an experiment with a search.

    Returns
    -------
    list of Job
    """
    _check_names(experiment)
    if experiment.search is not None:
        if trials is None:
            raise InputError(f"The search {experiment.name!r} cannot be planned without trials.")
        return list(_search_jobs(experiment, trials))
    return list(_grid_jobs(experiment, tuned))


def _check_names(experiment: Experiment) -> None:
    unknown = [name for name in experiment.classifiers if name not in CLASSIFIERS]
    if unknown:
        raise InputError(
            f"{experiment.name}.toml: classifiers are {', '.join(CLASSIFIERS)}; got {unknown}."
        )


def _grid_jobs(experiment: Experiment, tuned: TunedSettings) -> Iterator[Job]:
    all_seeds = {s for m in experiment.methods for s in _seeds(experiment, m)}
    for seed in sorted(all_seeds):
        for dataset in experiment.datasets:
            for method in experiment.methods:
                if seed in _seeds(experiment, method):
                    yield from _jobs_of(experiment, dataset, method, seed, tuned)


def _seeds(experiment: Experiment, method: MethodSpec) -> tuple[int, ...]:
    return experiment.seeds if method.seeds is None else method.seeds


def _jobs_of(
    experiment: Experiment,
    dataset: DatasetSpec,
    method: MethodSpec,
    seed: int,
    tuned: TunedSettings,
) -> Iterator[Job]:
    found = tuned(method.family, dataset.source) if method.tuned else {}
    blocked = "" if found is not None else "its settings have not been searched for yet"
    settings = {**method.settings_on(dataset), **(found or {})}
    for objective in experiment.objectives if method.trained else experiment.objectives[:1]:
        for fit_k in experiment.ks if method.each_k else (None,):
            fit = FitRun(
                dataset=dataset,
                method=method,
                settings=settings,
                objective=objective,
                seed=seed,
                k=fit_k,
                threads=experiment.threads,
                time_limit=experiment.time_limit,
                purpose=experiment.purpose,
            )
            ks: tuple[int | None, ...] = experiment.ks if fit_k is None else (fit_k,)
            ks = (None,) if method.all_features else ks
            yield Job(fit, tuple(_measures(experiment, fit, ks)), blocked)


def _measures(
    experiment: Experiment, fit: FitRun, ks: Sequence[int | None]
) -> Iterator[MeasureRun]:
    template = MeasureRun(
        fit=fit.key,
        measure="accuracy",
        k=None,
        classifier=None,
        seed=experiment.evaluation_seed,
        rank_by=fit.method.rank_by,
        threads=experiment.threads,
        time_limit=experiment.time_limit,
    )
    for k in ks:
        for classifier in experiment.classifiers:
            yield replace(template, k=k, classifier=classifier)
        for measure in experiment.measures:
            yield replace(template, k=k, measure=measure)


def _search_jobs(
    experiment: Experiment,
    trials: Callable[[Experiment, MethodSpec, DatasetSpec], Sequence[Settings]],
) -> Iterator[Job]:
    assert experiment.search is not None
    for dataset in experiment.datasets:
        part = replace(dataset, hold_out=experiment.search.hold_out)
        for method in experiment.methods:
            for settings in trials(experiment, method, dataset):
                fit = FitRun(
                    dataset=part,
                    method=method,
                    settings={**method.settings_on(dataset), **settings},
                    objective=experiment.objectives[0],
                    seed=experiment.seeds[0],
                    k=experiment.ks[0] if method.each_k else None,
                    threads=experiment.threads,
                    time_limit=experiment.time_limit,
                    purpose=experiment.purpose,
                    brief=True,
                )
                yield Job(fit, tuple(_measures(experiment, fit, experiment.ks)))
