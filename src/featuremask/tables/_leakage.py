"""Columns that alone tell the target almost perfectly."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError
from featuremask.tables._hints import CodeTable, Hint
from featuremask.tables._sampling import rows_of_each_class, some_rows

__all__ = ["leakage_hints"]

MIN_AUC = 0.99
"""A column alone that separates classes this well is suspicious."""

MIN_R2 = 0.98
"""A column alone that explains this part of the variance of the target's ranks is suspicious."""

_ROWS = 10_000
_ROWS_OF_A_CLASS = 20  # ten in each half
_ROWS_OF_A_REGRESSION = 60
_CELLS = 64
_ROWS_OF_A_CELL = 5
_CODES_AT_ONCE = 64

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Which rows predict which, and how that is measured."""

    rows: Places  # of the table
    halves: tuple[Places, Places]  # of these rows
    score: Callable[[Places, Places, Places], float]  # of cells, learned on, tested on
    limit: float
    measure: str

    def power(self, cells_from: Callable[[Places], Places]) -> float:
        """Return the worse of the two directions."""
        first, second = self.halves
        there = self.score(cells_from(first), first, second)
        if there < self.limit:
            return there
        return min(there, self.score(cells_from(second), second, first))


def leakage_hints(
    codes: ArrayLike,
    names: Sequence[str],
    target: ArrayLike,
    *,
    task: Literal["classification", "regression"],
    groups: ArrayLike | None = None,
) -> tuple[Hint, ...]:
    """Find columns that alone predict the target almost perfectly.

    The values of one code are cut into at most 64 cells of equal numbers of rows. One half of the
    rows says what to expect in a cell, the other half how well that predicts the target; then the
    halves change places, and the worse result counts. For classes the measure is the area under
    the ROC curve of each class against the others, on average; for numbers it is R^2 on the ranks
    of the target. The codes of one category are also judged together.

    At most 10,000 rows are looked at. Classes with fewer than 20 rows are passed over; a
    regression on fewer than 60 rows gives no hint.

    Parameters
    ----------
    codes : array-like of shape (n_rows, n_codes)
        Numbers.
    names : sequence of str
        The names of the columns.
    target : array-like of shape (n_rows,)
        The target: classes of any sortable type, or numbers.
    task : {"classification", "regression"}
        How to read the target.
    groups : array-like of int of shape (n_codes,) or None, default=None
        For each code, the position of its column in `names`; None for one code a column.

    Returns
    -------
    tuple of Hint
        One for each column whose area is at least 0.99 or whose R^2 is at least 0.98.

    Raises
    ------
    InputError
        If the task is unknown, or the target has not one value for each row.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> price = rng.lognormal(size=500)
    >>> codes = np.c_[price * 1.19, rng.normal(size=500)]
    >>> leakage_hints(codes, ["gross", "noise"], price, task="regression")[0].columns
    ('gross',)
    """
    table = CodeTable.of(codes, names, groups)
    y = np.asarray(target)
    if task not in ("classification", "regression"):
        raise InputError(
            f"task must be 'classification' or 'regression', got {task!r}. Set one of them."
        )
    if y.shape != (len(table.codes),):
        raise InputError(
            f"the target must have one value for each of {len(table.codes)} rows, got "
            f"{y.shape=}. Pass one target at a time."
        )
    trial = _classes_trial(y) if task == "classification" else _numbers_trial(y)
    if trial is None:
        return ()
    scores = table.best(_powers_of_codes(table, trial))
    joint = dict(_powers_of_categories(table, trial))
    best = [(name, max(power, joint.get(name, power))) for name, power in scores]
    return tuple(_leak(name, power, trial) for name, power in best if power >= trial.limit)


def _classes_trial(y: NDArray[Any]) -> _Trial | None:
    labels, classes = np.unique(y, return_inverse=True)
    at_most = max(_ROWS_OF_A_CLASS, _ROWS // max(1, len(labels)))
    chosen = rows_of_each_class(classes.astype(np.intp), at_most, _ROWS_OF_A_CLASS)
    if len(chosen) < 2:
        return None
    known = np.repeat(np.arange(len(chosen)), [len(part) for part in chosen])
    half = np.concatenate([np.arange(len(part)) % 2 for part in chosen])
    halves = (np.flatnonzero(half == 0), np.flatnonzero(half == 1))
    score = partial(_held_out_auc, known)
    return _Trial(np.concatenate(chosen), halves, score, MIN_AUC, "area under the ROC curve")


def _numbers_trial(y: NDArray[Any]) -> _Trial | None:
    rows = some_rows(len(y), _ROWS)
    _, ranks, counts = np.unique(y[rows], return_inverse=True, return_counts=True)
    if len(rows) < _ROWS_OF_A_REGRESSION or len(counts) < 2:
        return None
    middle = np.cumsum(counts) - (counts + 1) / 2  # of tied ranks
    halves = (np.arange(0, len(rows), 2), np.arange(1, len(rows), 2))
    return _Trial(rows, halves, partial(_held_out_r2, middle[ranks]), MIN_R2, "R^2 on ranks")


def _powers_of_codes(table: CodeTable, trial: _Trial) -> NDArray[np.float64]:
    powers = np.zeros(table.codes.shape[1])
    for start in range(0, len(powers), _CODES_AT_ONCE):
        block = np.array(table.codes[trial.rows, start : start + _CODES_AT_ONCE], order="F")
        for place, values in enumerate(block.T):
            powers[start + place] = trial.power(partial(_quantile_cells, values))
    return powers


def _powers_of_categories(table: CodeTable, trial: _Trial) -> Iterator[tuple[str, float]]:
    for name, places in table.members():
        if len(places) == 1:
            continue
        codes = table.codes[np.ix_(trial.rows, places)]
        flags = codes[:, np.all((codes == 0) | (codes == 1), axis=0)]
        _, cells = np.unique(flags, axis=0, return_inverse=True)
        yield name, trial.power(partial(_same_cells, cells.reshape(-1).astype(np.intp)))


def _same_cells(cells: Places, learned: Places) -> Places:
    return cells


def _quantile_cells(values: NDArray[np.number], learned: Places) -> Places:
    """Cut values at quantiles of the rows that are learned on; gaps go into the last cell."""
    present = np.sort(values[learned])
    n_cells = max(2, min(_CELLS, len(present) // _ROWS_OF_A_CELL))
    edges = np.unique(present[np.arange(1, n_cells) * len(present) // n_cells])
    return np.searchsorted(edges, values, side="left")


def _held_out_auc(known: Places, cells: Places, learned: Places, tested: Places) -> float:
    shape = (int(cells.max()) + 1, int(known.max()) + 1)
    flat = cells * shape[1] + known
    seen = np.bincount(flat[learned], minlength=shape[0] * shape[1]).reshape(shape)
    held = np.bincount(flat[tested], minlength=shape[0] * shape[1]).reshape(shape)
    share = seen.sum(axis=0) / seen.sum()
    expected = (seen + share) / (seen.sum(axis=1, keepdims=True) + 1)
    order = np.argsort(expected, axis=0)
    inside = np.take_along_axis(held, order, axis=0)
    outside = np.take_along_axis(held.sum(axis=1, keepdims=True) - held, order, axis=0)
    below = np.cumsum(outside, axis=0) - outside / 2
    return float(np.mean((inside * below).sum(axis=0) / (inside.sum(axis=0) * outside.sum(axis=0))))


def _held_out_r2(
    ranks: NDArray[np.float64], cells: Places, learned: Places, tested: Places
) -> float:
    size = int(cells.max()) + 1
    rows = np.bincount(cells[learned], minlength=size)
    sums = np.bincount(cells[learned], weights=ranks[learned], minlength=size)
    mean = ranks[learned].mean()
    expected = np.where(rows > 0, sums / np.maximum(rows, 1), mean)
    error = np.square(ranks[tested] - expected[cells[tested]]).sum()
    spread = np.square(ranks[tested] - mean).sum()
    return float(1 - error / spread) if spread > 0 else 0.0


def _leak(name: str, power: float, trial: _Trial) -> Hint:
    return Hint(
        "predicts_target",
        (name,),
        f"the column {name!r} alone predicts the target almost perfectly ({trial.measure} "
        f"{power:.3f} on rows not learned from). Check that it is known before the target is; "
        "leave it out if it is made from the target.",
    )
