"""Why a column was chosen, or was not."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.evaluation import alike
from featuremask.exceptions import InputError
from featuremask.selectors import load
from featuremask.tables._sampling import some_rows
from featuremask.tables._wording import listed
from featuremask.workflow._judge import Judge
from featuremask.workflow._prepare import Prepared, file_facts, prepare
from featuremask.workflow._progress import Progress, Silent
from featuremask.workflow._write import SELECTOR, read_run

__all__ = ["Explanation", "Partner", "explain"]

_ROWS = 4_000
_RIDGE = 1e-3


@dataclass(frozen=True)
class Partner:
    """A column that is like another.

    Attributes
    ----------
    name : str
    correlation : float
        The largest magnitude of correlation of their codes.
    rank : int
    selected : bool
    """

    name: str
    correlation: float
    rank: int
    selected: bool


@dataclass(frozen=True)
class Explanation:
    """What is to be said of one column.

    Attributes
    ----------
    name : str
    rank, n_columns : int
        Its rank among so many columns.
    score_of_mask, share : float
        As the selector says.
    selected : bool
    partners : tuple of Partner
        The columns most like it, the likest first.
    redundancy : float
        Share of its variance that a linear model rebuilds from the other chosen columns, from 0
        to 1.
    measure : str
        What the scores below are: the measure, the model, the rows.
    chosen, with_it, without_it, alone : float
        Scores of the chosen columns; of these with this one, and without it (and its group); of
        this one alone.
    """

    name: str
    rank: int
    n_columns: int
    score_of_mask: float
    share: float
    selected: bool
    partners: tuple[Partner, ...]
    redundancy: float
    measure: str
    chosen: float
    with_it: float
    without_it: float
    alone: float

    def lines(self) -> list[str]:
        """Return it in words."""
        verb = "chosen" if self.selected else "not chosen"
        effect = self.with_it - self.without_it
        return [
            f"{self.name}: rank {self.rank} of {self.n_columns}, {verb}",
            f"score {self.score_of_mask:.4g}, share of importance {self.share:.1%}",
            f"{self.redundancy:.0%} of its variance is in the other chosen columns",
            f"{self.measure}:",
            f"  chosen columns with it     {self.with_it:.3f}",
            f"  chosen columns without it  {self.without_it:.3f}  ({effect:+.3f} by it)",
            f"  it alone                   {self.alone:.3f}",
            "most like it, by correlation:",
            *(
                f"  {p.correlation:.2f}  {p.name} (rank {p.rank}, "
                f"{'chosen' if p.selected else 'not chosen'})"
                for p in self.partners
            ),
        ]


def explain(
    folder: Path, column: str, *, n_partners: int = 5, progress: Progress | None = None
) -> Explanation:
    """Explain the place of a column in a selection that was made.

    The files are read again and the rows split as they were; nothing is selected anew.

    Parameters
    ----------
    folder : Path
        What `write_result` wrote.
    column : str
        The name of the column.
    n_partners : int, default=5
        How many columns like it are shown.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    Explanation
        What is to be said.
    """
    request, sums = read_run(folder)
    selector = load(folder / SELECTOR)
    prepared = prepare(request, progress or Silent())
    now = {str(facts["path"]): facts["sha256"] for facts in map(file_facts, prepared.files)}
    if now != sums:
        changed = sorted({path for path, _ in set(now.items()) ^ set(sums.items())})
        raise InputError(f"the files have changed since: {listed(changed)}. Select again.")
    for record in prepared.left_out:
        if record.column == column:
            raise InputError(
                f"the column {column!r} took no part; it is left out as {record.kind}: "
                f"{record.reason}."
            )
    if column not in prepared.names:
        raise InputError(f"there is no column {column!r}; see ranking.csv in {str(folder)!r}.")
    place = prepared.names.index(column)
    groups = np.asarray(selector.group_ranking_)
    chosen, own = np.asarray(selector.support_), groups == groups[place]
    judge = Judge(prepared, selector.objective_)
    likeness, redundancy = _likeness(prepared, place, chosen & ~own)
    order = [p for p in np.argsort(-likeness, kind="stable").tolist() if p != place]
    score = judge.score(chosen)
    return Explanation(
        name=column,
        rank=int(selector.ranking_[place]),
        n_columns=len(prepared.names),
        score_of_mask=float(selector.scores_[place]),
        share=float(selector.feature_importances_[place]),
        selected=bool(chosen[place]),
        partners=tuple(
            Partner(
                prepared.names[p],
                float(likeness[p]),
                int(selector.ranking_[p]),
                bool(selector.support_[p]),
            )
            for p in order[:n_partners]
        ),
        redundancy=redundancy,
        measure=f"{judge.score_name}, {judge.how}",
        chosen=score,
        with_it=score if chosen[place] else judge.score(chosen | own),
        without_it=judge.score(chosen & ~own) if chosen[place] else score,
        alone=judge.score(own),
    )


def _likeness(
    prepared: Prepared, place: int, others: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], float]:
    """Return how like all columns are to one, and how far some others rebuild it linearly."""
    from sklearn.linear_model import Ridge

    codes: Any = prepared.train.codes
    part = codes[some_rows(codes.shape[0], _ROWS)]
    rows = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
    likeness = alike(rows, [place], prepared.column_of, len(prepared.names), prepared.gap_marks)[0]
    spread = rows.std(axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    own, given = scaled[:, prepared.column_of == place], scaled[:, others[prepared.column_of]]
    if given.shape[1] == 0 or not own.any():
        return likeness, 0.0
    redundancy = Ridge(_RIDGE * len(scaled)).fit(given, own).score(given, own)
    return likeness, float(np.clip(redundancy, 0.0, 1.0))
