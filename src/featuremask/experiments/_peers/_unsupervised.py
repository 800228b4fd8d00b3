"""Peers that need no target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["laplacian", "mcfs", "pca_loadings", "variance"]

Rows = NDArray[np.float32]
Classes = NDArray[np.int64]
Scores = NDArray[Any]


def variance(X: Rows, y: Classes, *, seed: int, threads: int) -> Scores:
    """Return the variances of the columns."""
    return np.asarray(X.var(axis=0, dtype=np.float64))


def pca_loadings(X: Rows, y: Classes, *, seed: int, threads: int, components: int = 10) -> Scores:
    """Return the part of each column's variance that the leading principal components hold."""
    from sklearn.decomposition import PCA

    model = PCA(min(components, *X.shape), svd_solver="randomized", random_state=seed).fit(X)
    return np.asarray(model.explained_variance_ @ np.square(model.components_))


def laplacian(X: Rows, y: Classes, *, seed: int, threads: int, neighbors: int = 5) -> Scores:
    """Return minus the Laplacian score of He, Cai and Niyogi on a graph of nearest neighbors."""
    weights = _graph(X, neighbors)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    columns = X.astype(np.float64)
    columns -= degree @ columns / degree.sum()
    spread = degree @ np.square(columns)
    rough = spread - np.einsum("ij,ij->j", columns, weights @ columns)
    scores = np.full(X.shape[1], -np.inf)
    varies = spread > 1e-12 * spread.max()
    scores[varies] = -rough[varies] / spread[varies]
    return scores


def mcfs(
    X: Rows,
    y: Classes,
    *,
    seed: int,
    threads: int,
    neighbors: int = 5,
    clusters: int = 10,
    n_sparse: int = 100,
) -> Scores:
    """Return multi-cluster feature selection (Cai, Zhang, He): sparse fits of a spectral embedding.

    Each of `clusters` eigenvectors of the graph of neighbors is fitted by least angles with at
    most `n_sparse` columns; a column counts by its largest coefficient.
    """
    from sklearn.linear_model import Lars
    from sklearn.manifold import SpectralEmbedding

    embedding = SpectralEmbedding(clusters, affinity="precomputed", random_state=seed)
    places = embedding.fit_transform(_graph(X, neighbors).toarray())
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    sizes = [
        np.abs(Lars(n_nonzero_coefs=min(n_sparse, X.shape[1])).fit(Z, place).coef_)
        for place in places.T
    ]
    return np.asarray(np.max(sizes, axis=0))


def _graph(X: Rows, neighbors: int) -> Any:
    """Return the symmetric graph of nearest neighbors, weighted by a kernel of median width."""
    from sklearn.neighbors import kneighbors_graph

    graph = kneighbors_graph(X, min(neighbors, len(X) - 1), mode="distance")
    width = np.median(np.square(graph.data)) or 1.0
    graph.data = np.exp(-np.square(graph.data) / width)
    return sparse.csr_array(graph.maximum(graph.T))
