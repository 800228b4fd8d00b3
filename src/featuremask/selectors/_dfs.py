"""The selector of DFS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from featuremask.gates import DFSGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["DFSSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class DFSSelector(BaseSelector):
    """Select features by deep feature selection (DFS): one sparse weight a feature.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.
    weight_penalty : float, default=0.001
        Coefficient of the elastic net on the weights of the features (lambda 1).
    weight_l1_ratio : float, default=1.0
        Its share of absolute values against squares (lambda 2).
    network_penalty : float, default=0.001
        Coefficient of the elastic net on the matrices of the learning network (alpha 1). Without
        it the other one means nothing: the network can undo what the weights shrink.
    network_l1_ratio : float, default=0.0
        Its share of absolute values against squares (alpha 2).

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Size of the weights.

    See Also
    --------
    featuremask.gates.DFSGate : The formulas, and what differs from the publication.

    References
    ----------
    Y. Li, C.-Y. Chen, W. W. Wasserman, "Deep feature selection: theory and application to identify
    enhancers and promoters", RECOMB 2015; Journal of Computational Biology 23(5), 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import DFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> DFSSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    weight_penalty: float = 0.001
    weight_l1_ratio: float = 1.0
    network_penalty: float = 0.001
    network_l1_ratio: float = 0.0

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "weight_penalty": (1e-5, 1e-4, 1e-3, 1e-2),
        "weight_l1_ratio": (0.0, 0.5, 1.0),
        "network_penalty": (0.0, 1e-5, 1e-4, 1e-3, 1e-2),
        "network_l1_ratio": (0.0, 0.5, 1.0),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> DFSGate:
        return DFSGate(
            spec.n_features,
            weight_penalty=self.weight_penalty,
            weight_l1_ratio=self.weight_l1_ratio,
            network_penalty=self.network_penalty,
            network_l1_ratio=self.network_l1_ratio,
            must_keep=spec.kept,
        )
