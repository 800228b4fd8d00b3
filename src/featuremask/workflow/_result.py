"""What was found, in plain values; all that a report needs."""

from dataclasses import dataclass, field
from typing import Any

from featuremask.reporting import Curve
from featuremask.tables import ColumnRecord, Hint
from featuremask.workflow._request import Request

__all__ = ["DataFacts", "RankedColumn", "Result"]

_SHOWN = 30
"""More columns than this are in the files alone."""


@dataclass(frozen=True)
class RankedColumn:
    """One column and its place.

    Attributes
    ----------
    rank : int
        From 1, the best.
    name : str
    score, share, stability : float or None
        As the selector says; None for a column that took no part, or that was not computed.
    place : int or None
        The rank of its group; the k best columns are those of place k or less.
    selected : bool
    note : str
        Why it took no part; empty if it did.
    """

    rank: int
    name: str
    score: float | None
    share: float | None
    stability: float | None
    place: int | None
    selected: bool
    note: str = ""


@dataclass(frozen=True)
class DataFacts:
    """What was selected from.

    Attributes
    ----------
    n_rows, n_train, n_test : int
        Rows with a target; rows the selector saw; rows that were held out.
    n_columns : int
        Columns that took part.
    kinds : mapping of str to int
        From a kind of column to how many there are.
    n_gaps : int
        Values that are missing.
    left_out : tuple of ColumnRecord
        Columns that took no part, and why.
    files : tuple of dict
        Path, size and SHA-256 of each file.
    """

    n_rows: int
    n_train: int
    n_test: int
    n_columns: int
    kinds: dict[str, int]
    n_gaps: int
    left_out: tuple[ColumnRecord, ...]
    files: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Result:
    """A selection, and all that is to be said of it.

    Attributes
    ----------
    request : Request
    objective : str
        What was learned.
    k : int
        How many were chosen, groups counted as one.
    columns : tuple of RankedColumn
        All columns, best first.
    curve : Curve
    hints : tuple of Hint
    warnings : tuple of str
    data : DataFacts
    versions : dict
        From software to its version.
    seconds : dict
        From a stage to its wall time.
    selector : BaseSelector
        Fitted.
    X, y
        The training rows and their target, as the selector took them.
    """

    request: Request
    objective: str
    k: int
    columns: tuple[RankedColumn, ...]
    curve: Curve
    hints: tuple[Hint, ...]
    warnings: tuple[str, ...]
    data: DataFacts
    versions: dict[str, str]
    seconds: dict[str, float]
    selector: Any = field(repr=False, compare=False)
    X: Any = field(repr=False, compare=False)
    y: Any = field(repr=False, compare=False)

    @property
    def chosen(self) -> tuple[RankedColumn, ...]:
        """The chosen columns, best first."""
        return tuple(column for column in self.columns if column.selected)

    def lines(self) -> list[str]:
        """Return what a person wants to know first."""
        names = ", ".join(repr(column.name) for column in self.chosen[:_SHOWN])
        more = f" and {len(self.chosen) - _SHOWN} more" if len(self.chosen) > _SHOWN else ""
        random = {point.k: point.mean for point in self.curve.random}
        by_chance = f"; as many at random reach {random[self.k]:.3f}" if self.k in random else ""
        return [
            self.headline() + by_chance,
            f"best first: {names}{more}",
            *(f"look at this: {hint.message}" for hint in self.hints),
            *(f"note: {message}" for message in self.warnings),
        ]

    def headline(self) -> str:
        """Return the result in one sentence."""
        chosen, everything = self.curve.at(self.k), self.curve.all_columns
        assert chosen is not None
        assert everything is not None
        return (
            f"{len(self.chosen)} of {self.data.n_columns} columns reach {chosen.mean:.3f} "
            f"({self.curve.score}, {self.curve.how}); all reach {everything.mean:.3f}"
        )
