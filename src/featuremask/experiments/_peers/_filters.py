"""Peers that look at columns and target, without a model: filters."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["anova", "mrmr", "mutual_information", "relieff"]

Rows = NDArray[np.float32]
Classes = NDArray[np.int64]
Scores = NDArray[Any]


def mutual_information(X: Rows, y: Classes, *, seed: int, threads: int) -> Scores:
    """Return scikit-learn's estimate of the mutual information of column and class."""
    from sklearn.feature_selection import mutual_info_classif

    return np.asarray(mutual_info_classif(X, y, random_state=seed, n_jobs=threads))


def anova(X: Rows, y: Classes, *, seed: int, threads: int) -> Scores:
    """Return the F statistic of column and class."""
    from sklearn.feature_selection import f_classif

    varies = np.ptp(X, axis=0) > 0.0
    scores = np.zeros(X.shape[1])
    scores[varies] = f_classif(X[:, varies], y)[0]
    return scores


def mrmr(X: Rows, y: Classes, *, seed: int, threads: int, n_greedy: int = 100) -> Scores:
    """Return minimum redundancy, maximum relevance: F over mean absolute correlation, greedily.

    The first `n_greedy` are chosen one after the other; the rest follow by F.
    """
    relevance = anova(X, y, seed=seed, threads=threads)
    columns = X - X.mean(axis=0)
    norms = np.linalg.norm(columns, axis=0)
    columns /= np.where(norms > 0.0, norms, 1.0)
    redundancy, order = np.zeros(X.shape[1]), list[int]()
    for step in range(min(n_greedy, X.shape[1])):
        worth = relevance / np.maximum(redundancy / max(1, step), 1e-3)
        worth[order] = -1.0
        order.append(int(np.argmax(worth)))
        redundancy += np.abs(columns[:, order[-1]] @ columns)
    scores = np.asarray(relevance / (1.0 + relevance.max()))
    scores[order] = np.arange(len(order), 0, -1)
    return scores


def relieff(
    X: Rows, y: Classes, *, seed: int, threads: int, neighbors: int = 10, probes: int = 500
) -> Scores:
    """Return ReliefF: how much columns differ at the nearest misses, less than at the hits.

    The distance is that of Manhattan on columns from 0 to 1, as published; `probes` rows are
    drawn, whose `neighbors` nearest in each class are looked at.
    """
    width = np.ptp(X, axis=0)
    Z = (X - X.min(axis=0)) / np.where(width > 0.0, width, 1.0)
    draw = np.random.default_rng(seed)
    shares = np.bincount(y) / len(y)
    scores = np.zeros(X.shape[1])
    chosen = draw.permutation(len(X))[:probes]
    for row in chosen:
        distance = np.abs(Z - Z[row]).sum(axis=1)
        distance[row] = np.inf
        for label in np.unique(y):
            members = np.flatnonzero((y == label) & np.isfinite(distance))
            if len(members) == 0:
                continue
            near = members[np.argsort(distance[members], kind="stable")[:neighbors]]
            apart = np.abs(Z[near] - Z[row]).mean(axis=0)
            is_hit = label == y[row]
            scores += -apart if is_hit else shares[label] / (1.0 - shares[y[row]]) * apart
    return scores / len(chosen)
