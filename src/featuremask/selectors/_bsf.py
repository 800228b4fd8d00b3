"""The selector of BSF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from featuremask.gates import BSFGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["BSFSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class BSFSelector(BaseSelector):
    """Select features by binary stochastic filtering (BSF): features pass by chance.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.
    estimator : {"v1", "v2"}, default="v1"
        How the gradient of the probabilities is estimated.
    draw : {"batch", "row"}, default="batch"
        One draw for a batch, or one for each of its rows. With "row" a row of weight two is not
        quite the same as two rows.
    l1_weight : float, default=0.001
        Coefficient of the sum of the probabilities.
    init : float, default=0.5
        The probability that all features start from.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Probability to pass, 0 to 1. Equal ones are ranked by their mean over training.

    See Also
    --------
    featuremask.gates.BSFGate : The formulas, and what differs from the publication.

    References
    ----------
    A. Trelin, A. Prochazka, "Binary Stochastic Filtering: Feature Selection and Beyond",
    arXiv:2007.03920, 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import BSFSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> BSFSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    estimator: Literal["v1", "v2"] = "v1"
    draw: Literal["batch", "row"] = "batch"
    l1_weight: float = 0.001
    init: float = 0.5

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "estimator": ("v1", "v2"),
        "l1_weight": (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 5e-2),
        "init": (0.5, 0.9, 0.99),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> BSFGate:
        return BSFGate(
            spec.n_features,
            estimator=self.estimator,
            draw=self.draw,
            l1_weight=self.l1_weight,
            init=self.init,
            must_keep=spec.kept,
        )
