"""How much selections agree: of several seeds, of several samples, of several methods."""

import itertools
from collections.abc import Callable, Collection, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from featuremask.exceptions import InputError

__all__ = [
    "expected_errors",
    "jaccard",
    "kuncheva",
    "mean_pairwise",
    "nogueira",
    "nogueira_interval",
]


def jaccard(first: Collection[int], second: Collection[int]) -> float:
    """Return the share of columns that two selections have in common, of all that either has.

    Parameters
    ----------
    first, second : collection of int
        Selected columns.

    Examples
    --------
    >>> jaccard([1, 2, 3], [2, 3, 4])
    0.5
    """
    a, b = set(first), set(second)
    if not a and not b:
        raise InputError("jaccard needs at least one selected column; got two empty selections.")
    return len(a & b) / len(a | b)


def kuncheva(first: Collection[int], second: Collection[int], n_features: int) -> float:
    """Return Kuncheva's consistency index: overlap beyond chance, 1 for equal selections.

    It is ``(r n - k^2) / (k (n - k))`` for r columns in common of k selected of n, and 0 on
    average for selections at random.

    Parameters
    ----------
    first, second : collection of int
        Selected columns, the same number in both.
    n_features : int
        Number of columns to select from.

    References
    ----------
    L. I. Kuncheva, "A stability index for feature selection", 2007.

    Examples
    --------
    >>> kuncheva([0, 1], [0, 1], 10)
    1.0
    """
    a, b = set(first), set(second)
    k = len(a)
    if len(b) != k or not 0 < k < n_features:
        raise InputError(
            f"kuncheva needs two selections of the same size, between 1 and n_features - 1; got "
            f"{len(a)} and {len(b)} of {n_features}."
        )
    return (len(a & b) * n_features - k**2) / (k * (n_features - k))


def mean_pairwise(
    measure: Callable[[Collection[int], Collection[int]], float],
    selections: Sequence[Collection[int]],
) -> float:
    """Return the mean of a measure over all pairs of selections.

    Parameters
    ----------
    measure : callable
        Of two selections, such as `jaccard`.
    selections : sequence of collections of int
        Two or more.

    Examples
    --------
    >>> mean_pairwise(jaccard, [[0, 1], [0, 1], [2, 3]])
    0.3333333333333333
    """
    if len(selections) < 2:
        raise InputError(f"Pairs need at least two selections; got {len(selections)}.")
    pairs = itertools.combinations(selections, 2)
    return float(np.mean([measure(a, b) for a, b in pairs]))


def nogueira(supports: ArrayLike) -> float:
    """Return the stability index of Nogueira, Sechidis and Brown; sizes may differ.

    It is 1 if all selections are equal, 0 on average for selections at random, and at least
    ``-1 / (m - 1)`` for m selections. Where all have the same size it is the mean of `kuncheva`
    over all pairs.

    Parameters
    ----------
    supports : array-like of bool, shape (n_selections, n_features)
        One row a selection.

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown, "On the stability of feature selection algorithms",
    JMLR 18 (2018).

    Examples
    --------
    >>> nogueira([[1, 1, 0, 0], [1, 1, 0, 0]])
    1.0
    """
    chosen = _checked(supports)
    share, often = chosen.mean(), chosen.mean(axis=0)
    variance = often * (1.0 - often) * len(chosen) / (len(chosen) - 1)
    return float(1.0 - variance.mean() / (share * (1.0 - share)))


def nogueira_interval(supports: ArrayLike, level: float = 0.95) -> tuple[float, float]:
    """Return the confidence interval of `nogueira` for independent selections.

    It is the asymptotic one of the publication, symmetric about the index, whose variance is that
    of the parts that the single selections have in it.

    Parameters
    ----------
    supports : array-like of bool, shape (n_selections, n_features)
        One row a selection.
    level : float, default=0.95
        In (0, 1).

    References
    ----------
    S. Nogueira, K. Sechidis, G. Brown, "On the stability of feature selection algorithms",
    JMLR 18 (2018), theorem 7 and corollary 9.

    Examples
    --------
    >>> low, high = nogueira_interval([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    >>> low < nogueira([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]]) < high
    True
    """
    if not 0.0 < level < 1.0:
        raise InputError(f"level must be between 0 and 1; got {level!r}.")
    chosen = _checked(supports)
    index, share, often = nogueira(chosen), chosen.mean(), chosen.mean(axis=0)
    sizes = chosen.mean(axis=1)
    own = (chosen * often).mean(axis=1) - sizes * share
    own += index / 2.0 * (2.0 * sizes * share - sizes - share + 1.0)
    own /= share * (1.0 - share)
    error = 2.0 * float(np.sqrt(np.sum(np.square(own - own.mean())))) / len(chosen)
    reach = NormalDist().inv_cdf(0.5 + level / 2.0) * error
    return index - reach, index + reach


def expected_errors(n_selected: float, n_features: int, threshold: float) -> float:
    r"""Return a bound on the expected number of wrongly selected features of stability selection.

    For a selector that takes q of p features on average from half of the rows, and features that
    are taken in a share of at least :math:`\pi > 1/2` of the resamples:

    .. math:: E[V] \le \frac{q^2}{(2 \pi - 1) \, p}

    For complementary pairs of halves this bounds, without any condition, the number of selected
    features whose probability to be taken from half of the rows is at most q / p, that of a choice
    at random (Shah and Samworth, theorem 1). It bounds the number of selected noise features where
    noise features are exchangeable and the selector is no worse than chance (Meinshausen and
    Buehlmann, theorem 1).

    Parameters
    ----------
    n_selected : float
        The mean number q of features taken from a resample.
    n_features : int
        The number p of features.
    threshold : float
        The share :math:`\pi`, in (0.5, 1].

    References
    ----------
    N. Meinshausen, P. Buehlmann, "Stability selection", JRSS B 72 (2010).
    R. D. Shah, R. J. Samworth, "Variable selection with error control: another look at stability
    selection", JRSS B 75 (2013).

    Examples
    --------
    >>> expected_errors(10, 1000, 0.75)
    0.2
    """
    if not 0.5 < threshold <= 1.0:
        raise InputError(f"The bound holds for a threshold in (0.5, 1]; got {threshold!r}.")
    if not 0.0 <= n_selected <= n_features:
        raise InputError(f"n_selected must be from 0 to {n_features}; got {n_selected!r}.")
    return float(n_selected) ** 2 / ((2.0 * threshold - 1.0) * n_features)


def _checked(supports: ArrayLike) -> NDArray[np.bool_]:
    """Return selections of which the index is defined."""
    chosen = np.asarray(supports, dtype=bool)
    if chosen.ndim != 2 or len(chosen) < 2:
        raise InputError(
            f"nogueira needs two or more selections as rows of an array; got {chosen.shape=}."
        )
    if chosen.all() or not chosen.any():
        raise InputError(
            "nogueira is not defined where nothing or everything is selected; got "
            f"{chosen.mean():.0%} of the columns."
        )
    return chosen
