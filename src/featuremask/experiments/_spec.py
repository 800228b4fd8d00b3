"""What an experiment declares, as frozen dataclasses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

__all__ = ["DatasetSpec", "Experiment", "HoldOut", "MethodSpec", "Objective", "Search", "Suite"]

Objective = Literal["classification", "reconstruction"]


@dataclass(frozen=True)
class HoldOut:
    """A part of the training rows in place of the whole data, to choose by.

    The test rows of the dataset take no part.

    Attributes
    ----------
    rows : int
        Training rows to draw at most, stratified by class.
    fraction : float
        Share of them that is held out to be judged on.
    seed : int
        Of both draws.
    """

    rows: int
    fraction: float
    seed: int = 0


@dataclass(frozen=True)
class DatasetSpec:
    """A dataset and how it is prepared.

    Attributes
    ----------
    name : str
        Its name in experiments and records.
    source : str
        Its name in `featuremask.datasets.load`.
    title : str
        Its name in tables.
    content : str
        Fingerprint of its values and split; a run refuses a dataset with another.
    scaling : {"none", "unit", "log1p", "maxabs"}
        "unit" divides all values by `divisor`; "log1p" takes ``log(1 + x)``; "maxabs" divides each
        column by its largest absolute value in the training rows.
    divisor : float
        For "unit".
    split : int
        Seed of another split into training and test rows; 0 is the fixed one.
    hold_out : HoldOut, optional
        Present where something is chosen.
    """

    name: str
    source: str
    title: str
    content: str
    scaling: Literal["none", "unit", "log1p", "maxabs"] = "none"
    divisor: float = 255.0
    split: int = 0
    hold_out: HoldOut | None = None


@dataclass(frozen=True)
class MethodSpec:
    """A method: a selector and its settings.

    Attributes
    ----------
    name : str
        Its name in experiments and records.
    title : str
        Its name in tables.
    selector : str
        The class in `featuremask.selectors`, or ``peer:`` and the name of a peer.
    settings : mapping
        Words of its constructor.
    by_dataset : mapping
        Settings for one source of data, over `settings`.
    tuned : bool
        Whether settings that a search has found are laid over those.
    trained : bool
        Whether the objective and the training settings make a difference.
    each_k : bool
        Whether it is fitted anew for each number of features.
    all_features : bool
        Whether it is evaluated on all features instead of k.
    rank_by : {"ranking", "magnitude"}
        Whether columns are taken by the selector's ranking or by the magnitude of its scores.
    seeds : tuple of int, optional
        In place of the experiment's.
    revision : int
        Raised when the selector's results change.
    """

    name: str
    title: str
    selector: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    by_dataset: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tuned: bool = False
    trained: bool = True
    each_k: bool = False
    all_features: bool = False
    rank_by: Literal["ranking", "magnitude"] = "ranking"
    seeds: tuple[int, ...] | None = None
    revision: int = 1

    def settings_on(self, dataset: DatasetSpec) -> dict[str, Any]:
        """Return the settings on a dataset, without those that a search has found."""
        return {**self.settings, **self.by_dataset.get(dataset.source, {})}

    @property
    def family(self) -> str:
        """The name of the method of which it is a variant; its own if it is none."""
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Search:
    """A search for settings on held-out training rows.

    Attributes
    ----------
    trials : int
        Settings to try for each method and dataset; the first are the method's own.
    seed : int
        Of the draw of settings.
    hold_out : HoldOut
    """

    trials: int
    seed: int
    hold_out: HoldOut


@dataclass(frozen=True)
class Experiment:
    """A grid of runs, as an experiment file declares it.

    Attributes
    ----------
    name, title : str
        Of the file; of the table.
    section, order : int
        Where it is reported; when it runs.
    methods : tuple of MethodSpec
    datasets : tuple of DatasetSpec
    objectives : tuple of str
    seeds : tuple of int
    ks : tuple of int
        Numbers of features.
    classifiers : tuple of str
        Keys of `featuremask.evaluation.CLASSIFIERS`.
    measures : tuple of str
        What else is measured of each fit and k.
    evaluation_seed : int
        Of the classifiers; the same in all repetitions.
    table : {"summary", "studies"}
        The file of summaries it goes to.
    threads : int
        Of each run; part of its identity, since it changes last digits.
    time_limit : float
        Seconds after which a fit or a measure is given up.
    alone : bool
        Whether its runs are made one at a time, because time is what they measure.
    purpose : str
        Sets its fits apart from equal fits of other experiments; "" shares them.
    search : Search, optional
        Present where settings are searched for.
    """

    name: str
    title: str
    section: int
    methods: tuple[MethodSpec, ...]
    datasets: tuple[DatasetSpec, ...]
    seeds: tuple[int, ...]
    ks: tuple[int, ...]
    objectives: tuple[Objective, ...] = ("classification",)
    classifiers: tuple[str, ...] = ("rf",)
    measures: tuple[str, ...] = ()
    evaluation_seed: int = 0
    table: Literal["summary", "studies"] = "summary"
    order: int = 0
    threads: int = 1
    time_limit: float = 7200.0
    alone: bool = False
    purpose: str = ""
    search: Search | None = None


@dataclass(frozen=True)
class Suite:
    """The experiments of a folder, in the order in which they run.

    Attributes
    ----------
    name : str
        Of the folder.
    experiments : tuple of Experiment
    title : str
        Of its report.
    page : {"paper", "peers", "choices"}
        What its report is made of.
    base : Path or None
        Folder of the suite whose datasets, methods and chosen settings it goes on from.
    """

    name: str
    experiments: tuple[Experiment, ...]
    title: str = "The paper, reproduced"
    page: Literal["paper", "peers", "choices"] = "paper"
    base: Path | None = None

    def experiment(self, name: str) -> Experiment:
        """Return the experiment of a name."""
        return next(e for e in self.experiments if e.name == name)
