"""From a gate's importance to the order of columns. All ranking happens here."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FeatureMaskWarning, InputError

__all__ = ["AUTO", "Ranking", "count_to_select", "rank_columns"]

AUTO = "auto"
"""The number of features that `fit` chooses."""


@dataclass(frozen=True)
class Ranking:
    """The order of columns.

    Attributes
    ----------
    scores : ndarray of shape (n_columns,)
        Equal within a group.
    shares : ndarray of shape (n_columns,)
        Non-negative, sum to one.
    ranks : ndarray of int, shape (n_columns,)
        A permutation of 1 to n_columns, 1 the best.
    group_ranks : ndarray of int, shape (n_columns,)
        The rank of the group of each column.
    """

    scores: NDArray[np.float64]
    shares: NDArray[np.float64]
    ranks: NDArray[np.int64]
    group_ranks: NDArray[np.int64]


def rank_columns(
    scores: NDArray[np.float64],
    *,
    ties: NDArray[np.float64] | None = None,
    shares: NDArray[np.float64] | None = None,
    groups: NDArray[np.int64] | None = None,
    first: NDArray[np.bool_] | None = None,
    last: NDArray[np.bool_] | None = None,
) -> Ranking:
    """Rank columns by the scores of their groups, best first.

    Parameters
    ----------
    scores : ndarray of shape (n_columns,)
    ties : ndarray of shape (n_columns,), optional
        A secondary score, for columns of equal score. What is left goes by position.
    shares : ndarray of shape (n_columns,), optional
        Non-negative amounts of importance; the non-negative part of the scores if None.
    groups : ndarray of int, shape (n_columns,), optional
        Columns of equal number are ranked as one, by their best member.
    first, last : ndarray of bool, shape (n_columns,), optional
        Columns that come before or after all others.

    Examples
    --------
    >>> rank_columns(np.array([0.1, 0.9, 0.5])).ranks
    array([3, 1, 2])
    """
    n_columns = len(scores)
    groups = np.arange(n_columns) if groups is None else groups
    n_groups = int(groups.max()) + 1
    tier = _best(_tier(n_columns, first, last), groups, n_groups)
    score = _best(scores, groups, n_groups)
    tie = _best(np.zeros(n_columns) if ties is None else ties, groups, n_groups)
    order = np.lexsort((-tie, -score, -tier))
    group_rank = np.empty(n_groups, dtype=np.int64)
    group_rank[order] = np.arange(1, n_groups + 1)
    column_order = np.argsort(group_rank[groups], kind="stable")
    ranks = np.empty(n_columns, dtype=np.int64)
    ranks[column_order] = np.arange(1, n_columns + 1)
    return Ranking(
        _agreeing(_in_tiers(score, tier), order, groups)[groups],
        _normalized(scores if shares is None else shares),
        ranks,
        group_rank[groups],
    )


def _tier(
    n_columns: int, first: NDArray[np.bool_] | None, last: NDArray[np.bool_] | None
) -> NDArray[np.float64]:
    tier = np.zeros(n_columns)
    if last is not None:
        tier[last] = -1.0
    if first is not None:
        tier[first] = 1.0
    return tier


def _best(
    values: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    best = np.full(n_groups, -np.inf)
    np.maximum.at(best, groups, values)
    return best


def _in_tiers(score: NDArray[np.float64], tier: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores that agree with the tiers: those put first above, those put last below."""
    score = score.copy()
    middle = score[tier == 0.0]
    top, bottom = (middle.max(), middle.min()) if len(middle) else (0.0, 0.0)
    above, below = tier > 0.0, tier < 0.0
    if above.any():
        score[above] += max(0.0, top + 1.0 - score[above].min())
    if below.any():
        score[below] = np.minimum(score[below], bottom - 1.0) if bottom != 0.0 else -1.0
    return score


def _agreeing(
    score: NDArray[np.float64], order: NDArray[np.int64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return scores that a stable descending sort of columns puts in the order of their groups.

    They differ from the given ones, by as little as floats can, only where groups tie in another
    order than that of their columns.
    """
    columns = np.arange(len(groups))
    first, last = np.full(len(score), len(groups)), np.full(len(score), -1)
    np.minimum.at(first, groups, columns)
    np.maximum.at(last, groups, columns)
    before, after = order[:-1], order[1:]
    tied = (score[before] == score[after]) & (last[before] < first[after])
    if np.all((score[before] > score[after]) | tied):
        return score
    score = score.copy()
    for better, worse in zip(before, after, strict=True):
        bound = score[better]
        if last[better] > first[worse]:
            bound = np.nextafter(bound, -np.inf)
        score[worse] = min(score[worse], bound)
    return score


def _normalized(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.maximum(shares, 0.0)
    total = shares.sum()
    if not total > 0.0:
        return np.full(len(shares), 1.0 / len(shares))
    return np.asarray(shares / total)


def count_to_select(wanted: Any, n_groups: int) -> int:
    """Return how many groups to select.

    Parameters
    ----------
    wanted : int, float or None
        A count, a fraction in (0, 1] (rounded to the nearest count, at least 1), or None for half.
    n_groups : int
        How many there are.

    Examples
    --------
    >>> count_to_select(0.25, 10), count_to_select(None, 10), count_to_select(3, 10)
    (2, 5, 3)
    """
    if wanted is None:
        return max(1, n_groups // 2)
    if isinstance(wanted, int | np.integer) and not isinstance(wanted, bool) and wanted > 0:
        if wanted > n_groups:
            warnings.warn(
                f"n_features_to_select={wanted} is more than the {n_groups} features (groups "
                "count as one) of the data; all are kept.",
                FeatureMaskWarning,
                stacklevel=3,
            )
        return min(int(wanted), n_groups)
    if isinstance(wanted, float | np.floating) and 0.0 < wanted <= 1.0:
        return max(1, round(float(wanted) * n_groups))
    raise InputError(
        "n_features_to_select must be a positive integer, a fraction in (0, 1], None for half of "
        f'the features, or "{AUTO}"; got {wanted!r}.'
    )
