"""How many features: a validation curve, and the smallest number within one standard error.

The rows are halved. The selector is fitted to one half and a fixed model judges its first k
features on the other half, and the other way round: nothing that a row is judged by has seen the
row. Copies of a row fall into the same half. Halves cost less than the fit each, so that the choice
costs less than twice the fit, but for the model, whose rows are few.

The model is kernel ridge regression on standardized columns: with a target of kernel
exp(-|x - x'|^2 / k), without one of linear kernel, to reconstruct all columns.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg
from sklearn.base import clone
from sklearn.utils import check_array

from featuremask.exceptions import InputError
from featuremask.selectors._data import Rows
from featuremask.selectors._inputs import checked_target, from_torch, is_frame, taken_rows
from featuremask.selectors._specs import state_of

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["choose_count", "selection_curve"]

_MOST_ROWS = 5_000
_MODEL_ROWS = 500
_POINTS = 16
_RIDGE = 0.1
_CHUNK = 4_096

_ENOUGH = 0.1
"""Without a target: share of the variance that may be lost. Each column's own noise can only be
reconstructed from itself, so that the curve falls until all are there."""

_PLAIN: dict[str, Any] = {
    "early_stopping": False,
    "cv": None,
    "warm_start": False,
    "checkpoint": None,
    "callbacks": None,
    "verbose": False,
}
"""Words of the fits to halves."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Sample:
    """The rows that are halved.

    Attributes
    ----------
    index : ndarray of int
        Positions in what was passed to `fit`.
    half : ndarray of int
        0 or 1.
    fits : ndarray of bool
        Whether the model may be fitted to a row; the others are judged only.
    numbers : ndarray of shape (n, n_numbers)
    target : ndarray of shape (n, n_outputs)
    weight : ndarray of shape (n,)
    """

    index: NDArray[np.int64]
    half: NDArray[np.int64]
    fits: NDArray[np.bool_]
    numbers: Array
    target: Array
    weight: Array


def selection_curve(
    selector: BaseSelector, X: Any, y: Any, sample_weight: Any, rows: Rows
) -> dict[str, NDArray[Any]]:
    """Return the validation curve of a selector.

    Parameters
    ----------
    selector : BaseSelector
        Not fitted; clones of it are.
    X, y, sample_weight
        As passed to `fit`.
    rows : Rows
        The same, checked.

    Returns
    -------
    dict
        Arrays of equal length: ``k``; the mean ``loss`` of held-out rows (share of wrong classes
        or labels, squared error of standardized numbers, share of variance not reconstructed); its
        ``standard_error``; and what is ``selected``, one k.
    """
    seed = int(state_of(selector.random_state).randint(2**31 - 1))
    sample = _sampled(rows, seed)
    n_groups = int(rows.groups.max()) + 1
    least = max(1, len(np.unique(rows.groups[rows.kept])))
    ks = np.unique(np.rint(np.geomspace(least, n_groups, _POINTS)).astype(np.int64))
    weight = None if sample_weight is None else np.asarray(from_torch(sample_weight))
    X = from_torch(X)
    if not is_frame(X):
        X = check_array(X, accept_sparse="csr", ensure_all_finite=False)
    y = checked_target(from_torch(y), X)
    losses = np.empty((len(ks), len(sample.half)))
    for half in (0, 1):
        told = sample.index[sample.half == half]
        part = clone(selector).set_params(
            n_features_to_select=max(least, n_groups // 2),
            objective=rows.target.objective.kind,  # a half could be read in another way
            random_state=seed + half,
            **_PLAIN,
        )
        part.fit(
            taken_rows(X, told),
            None if y is None else y[told],
            None if weight is None else weight[told],
        )
        group_ranks = part.group_ranking_[rows.column_of]
        for i, k in enumerate(ks):
            losses[i, sample.half != half] = _losses(rows, sample, half, group_ranks <= k)
    return _curve(ks, losses, sample.weight, rows.target.objective.kind)


def _curve(
    ks: NDArray[np.int64], losses: Array, weight: Array, kind: str
) -> dict[str, NDArray[Any]]:
    share = weight / weight.sum()
    mean = losses @ share
    error = np.sqrt(np.square(losses - mean[:, None]) @ share / weight.sum())
    chosen = choose_count(mean, error, _ENOUGH if kind == "reconstruction" else 0.0)
    return {
        "k": ks,
        "loss": mean,
        "standard_error": error,
        "selected": np.arange(len(ks)) == chosen,
    }


def choose_count(loss: Array, error: Array, enough: float = 0.0) -> int:
    """Return the first place within one standard error of the best, or at most `enough`.

    Examples
    --------
    >>> choose_count(np.array([0.5, 0.22, 0.2, 0.21]), np.array([0.05, 0.03, 0.03, 0.03]))
    1
    """
    best = int(np.argmin(loss))
    return int(np.argmax(loss <= max(enough, loss[best] + error[best])))


# ---- the rows ----------------------------------------------------------------------------------


def _sampled(rows: Rows, seed: int) -> _Sample:
    """Return the rows to halve, drawn by class; copies of a row stay together."""
    places = _places(rows, seed)
    labels = np.zeros(len(places), dtype=np.int64)
    if rows.target.stratify is not None:
        labels = rows.target.stratify[rows.index]
    order = np.lexsort((places, labels))
    new = np.append(True, np.diff(labels[order]) | (np.diff(places[order]) != 0)).astype(bool)
    number = np.cumsum(new) - 1  # of each distinct row, class after class
    step = max(1.0, (number[-1] + 1) / _MOST_ROWS)
    drawn = np.floor(number / step) > np.floor((number - 1) / step)
    thinned = np.floor(number / step).astype(np.int64)[drawn]
    chosen = order[drawn]
    half = thinned % 2
    per_model = max(1.0, (thinned[-1] + 1) / (2 * _MODEL_ROWS))
    fits = np.floor(thinned // 2 / per_model) > np.floor((thinned // 2 - 1) / per_model)
    back = np.argsort(chosen)
    _check_halves(rows, labels[chosen], half)
    x, target, weight = _gathered(rows, chosen[back])
    return _Sample(rows.index[chosen[back]], half[back], fits[back], x, target, weight)


def _places(rows: Rows, seed: int) -> NDArray[np.uint64]:
    """Return a random number for each row that is the same for equal rows."""
    key, digests = seed.to_bytes(8, "little"), bytearray()
    for chunk in rows.source.chunks(_CHUNK, device=torch.device("cpu"), dtype=torch.float32):
        parts = [chunk.x.numpy()]
        if chunk.target is not None:
            parts.append(chunk.target.reshape(len(chunk.x), -1).numpy().astype(np.float32))
        for row in np.hstack(parts):
            digests += hashlib.blake2b(row.tobytes(), digest_size=8, key=key).digest()
    return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64)


def _check_halves(rows: Rows, labels: NDArray[np.int64], half: NDArray[np.int64]) -> None:
    needed = 1 if rows.target.stratify is None else 2
    for side in (0, 1):
        told = labels[half == side]
        if len(told) < 2 or len(np.unique(told)) < needed:
            raise InputError(
                'n_features_to_select="auto" halves the rows and needs at least two different rows '
                "in each half, and of two classes where there are classes; got "
                f"n_samples = {len(labels)}. Set a number, or give more than 1 sample of each."
            )


def _gathered(rows: Rows, chosen: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """Return numbers, target and weights of some rows."""
    n = len(chosen)
    source = rows.source.subset(chosen)
    (chunk,) = source.chunks(n, device=torch.device("cpu"), dtype=torch.float32)
    x = chunk.x.numpy().astype(np.float64)
    weight = (
        np.ones(n)
        if chunk.sample_weight is None
        else chunk.sample_weight.numpy().astype(np.float64)
    )
    weight *= rows.effective_rows / rows.source.weight_sum  # the source's have a scale of their own
    if chunk.target is None:
        return x, np.empty((n, 0)), weight
    target = chunk.target.numpy()
    if rows.target.classes is not None:
        return x, np.eye(len(rows.target.classes))[target], weight
    return x, target.reshape(n, -1).astype(np.float64), weight


# ---- the model ---------------------------------------------------------------------------------


def _losses(rows: Rows, sample: _Sample, half: int, columns: NDArray[np.bool_]) -> Array:
    """Return the loss of each row of the other half, by a model of these columns."""
    told, judged = (sample.half == half) & sample.fits, sample.half != half
    weight = sample.weight[told]
    share = weight / weight.sum()
    whole, other = sample.numbers[told], sample.numbers[judged]
    mean = share @ whole
    spread = np.sqrt(share @ np.square(whole - mean))
    scale = np.where(spread > 0.0, spread, 1.0)[columns]
    z, z_other = (v[:, columns] / scale for v in (whole - mean, other - mean))
    kind = rows.target.objective.kind
    if kind == "reconstruction":
        size = float(np.sqrt(np.mean(np.square(spread)))) or 1.0
        target, wanted = (whole - mean) / size, (other - mean) / size
        found = _predicted(z @ z.T, z_other @ z.T, target, weight)
    else:
        target, wanted = sample.target[told], sample.target[judged]
        center = share @ target
        kernels = _radial(z, z), _radial(z_other, z)
        found = center + _predicted(*kernels, target - center, weight)
    if kind != "classification":
        return np.asarray(np.square(found - wanted).mean(axis=1))
    if rows.target.classes is not None:
        return np.asarray(found.argmax(axis=1) != wanted.argmax(axis=1), dtype=np.float64)
    return np.asarray(((found > 0.5) != (wanted > 0.5)).mean(axis=1))


def _radial(a: Array, b: Array) -> Array:
    squares = np.square(a).sum(axis=1)[:, None] + np.square(b).sum(axis=1) - 2.0 * a @ b.T
    return np.asarray(np.exp(-np.maximum(squares, 0.0) / max(1, a.shape[1])))


def _predicted(among: Array, across: Array, target: Array, weight: Array) -> Array:
    """Return the predictions of kernel ridge regression."""
    damped = among + np.diag(_RIDGE / weight)
    return np.asarray(across @ linalg.solve(damped, target, assume_a="pos"))
