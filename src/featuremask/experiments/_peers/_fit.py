"""One fit of a peer: rows up to its cap, scores, a ranking."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.experiments._bench import Selected
from featuremask.experiments._peers import _filters, _models, _unsupervised
from featuremask.experiments._plan import FitRun
from featuremask.experiments._prepare import Prepared

__all__ = ["PEERS", "PREFIX", "fit_peer"]

PREFIX = "peer:"
"""What the selector of a method begins with that is a function of this package."""

Peer = Callable[..., NDArray[Any]]
"""From rows, classes, seed, threads and settings to one score a feature, higher is better."""

PEERS: Mapping[str, Peer] = {
    "anova": _filters.anova,
    "boruta": _models.boruta,
    "forest": _models.forest,
    "l1": _models.l1_logistic,
    "laplacian": _unsupervised.laplacian,
    "lassonet": _models.lassonet,
    "lightgbm": _models.lightgbm_gain,
    "mcfs": _unsupervised.mcfs,
    "mrmr": _filters.mrmr,
    "mutual-information": _filters.mutual_information,
    "pca": _unsupervised.pca_loadings,
    "permutation": _models.permutation,
    "relieff": _filters.relieff,
    "variance": _unsupervised.variance,
}


def fit_peer(run: FitRun, data: Prepared) -> Selected:
    """Return what a peer makes of the training rows.

    The setting `rows` caps the rows it sees, drawn by class; all others are its own.
    """
    name = run.method.selector.removeprefix(PREFIX)
    if name not in PEERS:
        raise InputError(f"methods.toml: peers are {', '.join(sorted(PEERS))}; got {name!r}.")
    settings = dict(run.settings)
    X, y = _capped(data, settings.pop("rows", None), run.seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scores = PEERS[name](X, y, seed=run.seed, threads=run.threads, **settings)
        except TypeError as error:
            raise InputError(f"The settings of {run.method.name!r} do not fit: {error}.") from error
    scores = np.array(scores, dtype=np.float64)
    known = np.isfinite(scores)
    scores[~known] = scores[known].min(initial=0.0) - 1.0  # what cannot be scored comes last
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    more: dict[str, Any] = {"rows": len(X)}
    if caught:
        more["warnings"] = sorted({str(warning.message) for warning in caught})
    return Selected(ranks, scores, more=more)


def _capped(
    data: Prepared, most: int | None, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return at most so many rows, drawn by class, and their classes as numbers."""
    from sklearn.model_selection import train_test_split

    classes = np.unique(data.y_train, return_inverse=True)[1]
    if most is None or most >= len(classes):
        return data.X_train, classes
    rows, _ = train_test_split(
        np.arange(len(classes)), train_size=most, random_state=seed, stratify=classes
    )
    rows.sort()
    return data.X_train[rows], classes[rows]
