"""Planted data: it is known which features matter."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._structures import STRUCTURES
from featuremask.exceptions import InputError

__all__ = ["Planted", "make_planted"]

_REDUNDANT_NOISE = 0.1


@dataclass(frozen=True, eq=False)
class Planted:
    """Planted data and its truth.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows; the columns are in random order.
    y : array of shape (n_samples,)
        Classes 0 .. C-1 in equal shares, or real values of mean 0 and about variance 1.
    relevant : int array
        The columns from which the target is made, sorted.
    redundant : int array
        The columns that are noisy copies of a relevant one, sorted.
    irrelevant : int array
        All others, sorted: they say nothing beyond what `correlation` lets through.
    copied_from : int array
        For each entry of `redundant`, the relevant column that it copies.
    groups : tuple of tuple of int
        The relevant columns, grouped as they act: alone, in pairs, all together.
    signal : array of shape (n_samples,)
        What the target would be without noise, mean 0 and variance 1.
    kind, task : str
        As passed to `make_planted`.
    """

    X: NDArray[Any] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    relevant: NDArray[np.intp]
    redundant: NDArray[np.intp]
    irrelevant: NDArray[np.intp] = field(repr=False)
    copied_from: NDArray[np.intp] = field(repr=False)
    groups: tuple[tuple[int, ...], ...] = field(repr=False)
    signal: NDArray[Any] = field(repr=False)
    kind: str
    task: str

    @property
    def support(self) -> NDArray[np.bool_]:
        """For each column, whether it is relevant."""
        mask = np.zeros(self.X.shape[1], dtype=bool)
        mask[self.relevant] = True
        return mask


def make_planted(
    n_samples: int = 512,
    n_features: int = 50,
    n_relevant: int = 10,
    *,
    kind: Literal["linear", "xor", "rings", "additive", "mixed", "factors"] = "linear",
    task: Literal["classification", "regression"] = "classification",
    n_classes: int = 2,
    n_redundant: int = 0,
    noise: float = 0.1,
    correlation: float = 0.0,
    n_factors: int = 3,
    dtype: Literal["float64", "float32"] = "float64",
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> Planted:
    r"""Make data with known relevant, redundant and irrelevant features.

    Every column has mean 0 and variance 1, so neither tells a feature's part. With relevant
    columns :math:`z` and weights :math:`w` of about 1 and random sign, the signal :math:`s` is

    ========== ================================================================================
    kind       signal
    ========== ================================================================================
    "linear"   :math:`\sum_j w_j z_j`
    "xor"      :math:`\sum_p w_p z_{2p-1} z_{2p}`; no feature helps alone
    "rings"    :math:`(\sum_j z_j^2)^{1/2}`; classes are shells
    "additive" :math:`\sum_j w_j g_j(z_j)` with g in turn z, z², sin 2z, abs z, tanh 3z
    "mixed"    linear features, pairs as in "xor", and squares; a univariate F-test sees only
               the linear ones, 4 of 10
    "factors"  for unsupervised selection: :math:`z_j = \sqrt{1 - \nu^2} \sum_k a_{jk} f_k +
               \nu e_j` with `n_factors` hidden factors f, loadings a of length 1 and
               :math:`\nu` = `noise`; s is the sum of the factors. The other columns are
               independent: only the relevant ones can be reconstructed from each other
    ========== ================================================================================

    The target is made from :math:`t = (s - \bar s) / \operatorname{std}(s) + \nu e`, without the
    last term for "factors". For regression y = t; for classification y is the number of the
    quantile of t, so that the classes have equal shares.

    Parameters
    ----------
    n_samples, n_features, n_relevant : int, default=512, 50, 10
        Rows, columns, and columns that make the target.
    kind : {"linear", "xor", "rings", "additive", "mixed", "factors"}, default="linear"
        The formula. "xor" needs an even `n_relevant`, "mixed" at least 4.
    task : {"classification", "regression"}, default="classification"
        What the target is.
    n_classes : int, default=2
        How many classes.
    n_redundant : int, default=0
        How many columns are copies of a relevant one, drawn at random, with noise of a tenth of
        its standard deviation.
    noise : float, default=0.1
        Standard deviation of the noise, where that of the signal is 1.
    correlation : float, default=0.0
        Correlation between any two columns that are not redundant, from 0 to below 1. It lets
        irrelevant columns say a little about the target.
    n_factors : int, default=3
        How many hidden factors, for "factors".
    dtype : {"float64", "float32"}, default="float64"
        Type of `X`, and of `y` for regression.
    random_state : int, Generator, RandomState or None, default=None
        Where the draws come from.

    Returns
    -------
    Planted
        The data and its truth.

    Examples
    --------
    >>> from featuremask.datasets import make_planted
    >>> planted = make_planted(200, 20, 3, n_redundant=2, random_state=0)
    >>> planted.X.shape, len(planted.relevant), len(planted.redundant), len(planted.irrelevant)
    ((200, 20), 3, 2, 15)
    >>> int(planted.support.sum())
    3
    """
    n_irrelevant = n_features - n_relevant - n_redundant
    _check_sizes(n_samples, n_relevant, n_redundant, n_irrelevant)
    _check_names(kind, task, dtype)
    _check_numbers(kind, n_samples, n_classes, noise, correlation, n_factors)
    rng = _generator(random_state)

    base = _base_columns(rng, n_samples, n_relevant + n_irrelevant, correlation)
    if kind == "factors":
        base[:, :n_relevant], signal = _factor_columns(rng, n_samples, n_relevant, n_factors, noise)
        groups: list[tuple[int, ...]] = [tuple(range(n_relevant))]
    else:
        signal, groups = STRUCTURES[kind](base[:, :n_relevant], rng)
    signal = (signal - signal.mean()) / signal.std()
    disturbance = 0.0 if kind == "factors" else noise
    target = signal + disturbance * rng.standard_normal(n_samples)
    sources, copies = _redundant_columns(rng, base[:, :n_relevant], n_redundant)

    # Columns so far: relevant, redundant, irrelevant. Column j goes to place[j].
    columns = np.hstack([base[:, :n_relevant], copies, base[:, n_relevant:]])
    place = rng.permutation(n_features)
    X = np.empty((n_samples, n_features), dtype=dtype)
    X[:, place] = columns
    redundant = place[n_relevant : n_relevant + n_redundant]
    order = np.argsort(redundant)
    return Planted(
        X=X,
        y=_as_classes(target, n_classes) if task == "classification" else target.astype(dtype),
        relevant=np.sort(place[:n_relevant]),
        redundant=redundant[order],
        irrelevant=np.sort(place[n_relevant + n_redundant :]),
        copied_from=place[sources][order],
        groups=tuple(tuple(int(place[column]) for column in group) for group in groups),
        signal=signal.astype(dtype),
        kind=kind,
        task=task,
    )


def _base_columns(
    rng: np.random.Generator, n_samples: int, n_columns: int, correlation: float
) -> NDArray[np.float64]:
    """Draw standard normal columns, any two of them correlated through one shared column."""
    own = rng.standard_normal((n_samples, n_columns))
    shared = rng.standard_normal((n_samples, 1))
    columns: NDArray[np.float64] = np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
    return columns


def _factor_columns(
    rng: np.random.Generator, n_samples: int, n_relevant: int, n_factors: int, noise: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw columns that a few hidden factors drive, and the sum of the factors."""
    factors = rng.standard_normal((n_samples, n_factors))
    loadings = rng.standard_normal((n_factors, n_relevant))
    loadings /= np.linalg.norm(loadings, axis=0)
    own = rng.standard_normal((n_samples, n_relevant))
    return np.sqrt(1 - noise**2) * factors @ loadings + noise * own, factors.sum(axis=1)


def _redundant_columns(
    rng: np.random.Generator, relevant: NDArray[np.float64], n_redundant: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Copy relevant columns with a little noise and variance 1."""
    sources = rng.integers(relevant.shape[1], size=n_redundant)
    own = rng.standard_normal((len(relevant), n_redundant))
    copies = (relevant[:, sources] + _REDUNDANT_NOISE * own) / np.hypot(1, _REDUNDANT_NOISE)
    return sources, copies


def _as_classes(target: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """Cut at the quantiles: equal shares, larger targets in later classes."""
    ranks = np.argsort(np.argsort(target, kind="stable"), kind="stable")
    return (ranks * n_classes // len(target)).astype(np.int64)


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


def _check_sizes(n_samples: int, n_relevant: int, n_redundant: int, n_irrelevant: int) -> None:
    if n_samples < 2 or n_relevant < 1 or n_redundant < 0:
        raise InputError(
            f"planted data need n_samples >= 2, n_relevant >= 1 and n_redundant >= 0; "
            f"got {n_samples=}, {n_relevant=}, {n_redundant=}"
        )
    if n_irrelevant < 0:
        raise InputError(
            f"n_features must be at least n_relevant + n_redundant = {n_relevant + n_redundant}; "
            f"got {n_irrelevant + n_relevant + n_redundant}"
        )


def _check_names(kind: str, task: str, dtype: str) -> None:
    choices = {
        "kind": (kind, [*STRUCTURES, "factors"]),
        "task": (task, ["classification", "regression"]),
        "dtype": (dtype, ["float64", "float32"]),
    }
    for name, (value, allowed) in choices.items():
        if value not in allowed:
            raise InputError(f"{name} must be one of {allowed}; got {value!r}")


def _check_numbers(
    kind: str, n_samples: int, n_classes: int, noise: float, correlation: float, n_factors: int
) -> None:
    if not 2 <= n_classes <= n_samples:
        raise InputError(f"n_classes must be from 2 to {n_samples=}; got {n_classes}")
    if noise < 0 or (kind == "factors" and noise >= 1):
        raise InputError(f"noise must be at least 0, and below 1 for 'factors'; got {noise}")
    if not 0 <= correlation < 1:
        raise InputError(f"correlation must be at least 0 and below 1; got {correlation}")
    if kind == "factors" and (correlation or n_factors < 1):
        raise InputError(
            f"kind='factors' needs correlation=0, its other columns are independent, and "
            f"n_factors >= 1; got {correlation=}, {n_factors=}"
        )
