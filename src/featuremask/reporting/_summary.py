"""What a report says, as plain values: made first, shown afterwards."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from featuremask.exceptions import FileFormatError, InputError

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "Column",
    "Curve",
    "DataSummary",
    "Note",
    "Point",
    "RedundancyGroup",
    "Setting",
    "Summary",
]

FORMAT = "featuremask-summary"
FORMAT_VERSION = 1


class Point(NamedTuple):
    """A score at a number of columns.

    Attributes
    ----------
    k : int
        How many columns; groups count as one.
    mean : float
    std : float or None
        Over folds, seeds or draws; None if there was one.
    """

    k: int
    mean: float
    std: float | None = None


@dataclass(frozen=True)
class Curve:
    """What a downstream model makes of the best columns, of all, and of random ones.

    Points may be given as tuples of k, mean and, if there is one, standard deviation.

    Attributes
    ----------
    score : str
        What is measured, such as "accuracy".
    how : str
        The model and the rows it was judged on, such as "random forest, 5 folds".
    chosen : tuple of Point
        Of the best k columns, for some k.
    random : tuple of Point
        Of k columns drawn at random.
    all_columns : Point or None
    higher_is_better : bool

    Examples
    --------
    >>> Curve("accuracy", "random forest, 5 folds", [(10, 0.91, 0.02), (5, 0.85, 0.03)]).chosen[0]
    Point(k=5, mean=0.85, std=0.03)
    """

    score: str
    how: str
    chosen: tuple[Point, ...]
    random: tuple[Point, ...] = ()
    all_columns: Point | None = None
    higher_is_better: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", _points(self.chosen, "chosen"))
        object.__setattr__(self, "random", _points(self.random, "random"))
        if not self.chosen:
            raise InputError("chosen needs the score of at least one k; got none.")
        if self.all_columns is not None:
            (everything,) = _points([self.all_columns], "all_columns")
            object.__setattr__(self, "all_columns", everything)

    def at(self, k: int) -> Point | None:
        """Return the score of the best k columns; None if that was not measured."""
        return next((point for point in self.chosen if point.k == k), None)


def _points(given: Iterable[Any], what: str) -> tuple[Point, ...]:
    """Return points in the order of k, checked."""
    points = [Point(int(k), float(mean), *map(_number, std)) for k, mean, *std in given]
    for point in points:
        if point.k < 1 or not all(math.isfinite(v) for v in point[1:] if v is not None):
            raise InputError(f"{what} holds (k, mean, std) with k >= 1, finite; got {point}.")
    if len({point.k for point in points}) < len(points):
        raise InputError(f"{what} has one point for each k; got {[p.k for p in points]}.")
    return tuple(sorted(points))


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True)
class Column:
    """One column of the data.

    Attributes
    ----------
    rank : int
        From 1, the best.
    name : str
    position : int
        Its place in the data, from 0.
    place : int
        The rank of its group; the k best columns are those of place k or less.
    score, share : float
        As in `scores_` and `feature_importances_` of the selector.
    stability : float or None
        In which share of repeated selections it was chosen, if that was computed.
    """

    rank: int
    name: str
    position: int
    place: int
    score: float
    share: float
    stability: float | None = None


@dataclass(frozen=True)
class RedundancyGroup:
    """Chosen columns that say much the same, and what else says it.

    Attributes
    ----------
    columns : tuple of str
        Chosen, best first; one if only columns that were left out are like it.
    others : tuple of str
        Columns that were left out and are like the best of the group, the likest first.
    correlation : float
        The smallest magnitude of correlation of two members.
    """

    columns: tuple[str, ...]
    others: tuple[str, ...]
    correlation: float


@dataclass(frozen=True)
class Note:
    """Something a person should look at.

    Attributes
    ----------
    kind : str
        A warning of the fit ("warning") or the kind of a hint.
    message : str
    columns : tuple of str
        The columns that are meant, if it is some.
    """

    kind: str
    message: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSummary:
    """The data the selector was fitted to.

    Attributes
    ----------
    n_columns : int
    n_rows : int or None
        None if it is not known.
    n_places : int
        Columns, a group counted as one.
    target : str
        What was learned, in words.
    kinds : mapping
        From a kind of column to how many there are.
    gaps : float or None
        Share of values that are missing.
    left_out : tuple of (str, str)
        Columns that took no part, with the reason.
    n_held_out : int or None
        Rows beside these that judged the choice, if that is known.
    """

    n_columns: int
    n_rows: int | None
    n_places: int
    target: str
    kinds: Mapping[str, int] = field(default_factory=dict)
    gaps: float | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    n_held_out: int | None = None


@dataclass(frozen=True)
class Setting:
    """A constructor word of the selector.

    Attributes
    ----------
    name, value : str
    changed : bool
        Whether it is other than the default.
    """

    name: str
    value: str
    changed: bool


@dataclass(frozen=True)
class Summary:
    """All that a report says. See `featuremask.reporting.summarize`.

    Attributes
    ----------
    title : str
        What the data is called.
    method : str
        The selector.
    objective : str
        "classification", "regression" or "reconstruction".
    k : int
        How many are chosen; groups count as one.
    named : bool
        Whether the data has column names; "x0", "x1", ... stand in for them if not.
    columns : tuple of Column
        All of them, best first.
    data : DataSummary
    curve : Curve or None
    redundancy : tuple of RedundancyGroup or None
        None if it was not computed.
    notes : tuple of Note
        Warnings and hints.
    settings : tuple of Setting
    versions : mapping
        From software to its version.
    repeat : tuple of str
        Lines that do it again.
    """

    title: str
    method: str
    objective: str
    k: int
    named: bool
    columns: tuple[Column, ...]
    data: DataSummary
    curve: Curve | None = None
    redundancy: tuple[RedundancyGroup, ...] | None = None
    notes: tuple[Note, ...] = ()
    settings: tuple[Setting, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    repeat: tuple[str, ...] = ()

    @property
    def chosen(self) -> tuple[Column, ...]:
        """The chosen columns, best first."""
        return tuple(column for column in self.columns if column.place <= self.k)

    def to_json(self) -> str:
        """Return it as text that `from_json` reads."""
        values = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(self)}
        return json.dumps(values, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Summary":
        """Return the summary that `to_json` wrote."""
        try:
            values = json.loads(text)
            version = int(values.pop("version")) if values.pop("format") == FORMAT else None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FileFormatError(f"This is not a summary of featuremask: {error!r}.") from error
        if version is None or version > FORMAT_VERSION:
            raise FileFormatError(
                f"A summary of format {FORMAT!r}, version 1 to {FORMAT_VERSION}, is expected; got "
                f"version {version}. Upgrade featuremask to read it."
            )
        try:
            return _read(values)
        except (ValueError, TypeError, KeyError) as error:
            raise FileFormatError(f"This summary is damaged: {error!r}.") from error


def _read(values: dict[str, Any]) -> Summary:
    curve, redundancy = values.pop("curve"), values.pop("redundancy")
    data = values.pop("data")
    left_out = tuple((name, reason) for name, reason in data.pop("left_out"))
    return Summary(
        columns=tuple(Column(**column) for column in values.pop("columns")),
        data=DataSummary(left_out=left_out, **data),
        curve=None if curve is None else Curve(**curve),
        redundancy=None if redundancy is None else tuple(map(_read_group, redundancy)),
        notes=tuple(Note(**{**n, "columns": tuple(n["columns"])}) for n in values.pop("notes")),
        settings=tuple(Setting(**setting) for setting in values.pop("settings")),
        repeat=tuple(values.pop("repeat")),
        **values,
    )


def _read_group(values: dict[str, Any]) -> RedundancyGroup:
    return RedundancyGroup(tuple(values["columns"]), tuple(values["others"]), values["correlation"])
