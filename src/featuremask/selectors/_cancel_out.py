"""The selector of CancelOut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from featuremask.gates import CancelOutGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["CancelOutSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class CancelOutSelector(BaseSelector):
    """Select features by CancelOut: one bounded gate a feature.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.
    activation : {"sigmoid", "softmax"}, default="sigmoid"
        From weights to gates.
    penalty : {"paper", "torch", "keras", "none"}, default="torch"
        Which of the published penalties is added to the loss: that of the paper, of the authors'
        PyTorch or Keras code, or none.
    variance_weight, l1_weight, l2_weight : float, optional
        Coefficients of the penalty: of the variance that is rewarded, and of the norms. None
        takes the published ones.
    init : float, default=4.0
        Middle of the initial weights.
    init_spread : float or "paper", default=0.0
        Largest distance of the initial weights from the middle; "paper" is one over the root of
        the number of features.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights; the gate is their sigmoid or softmax.

    See Also
    --------
    featuremask.gates.CancelOutGate : The formulas, and what differs from the publication.

    References
    ----------
    V. Borisov, J. Haug, G. Kasneci, "CancelOut: A Layer for Feature Selection in Deep Neural
    Networks", ICANN 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import CancelOutSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> CancelOutSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    activation: Literal["sigmoid", "softmax"] = "sigmoid"
    penalty: Literal["paper", "torch", "keras", "none"] = "torch"
    variance_weight: float | None = None
    l1_weight: float | None = None
    l2_weight: float | None = None
    init: float = 4.0
    init_spread: float | Literal["paper"] = 0.0

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "activation": ("sigmoid", "softmax"),
        "penalty": ("paper", "torch", "keras"),
        "variance_weight": (0.0, 1e-3, 1e-2, 1e-1),
        "l1_weight": (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
        "init": (0.0, 1.0, 4.0),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> CancelOutGate:
        return CancelOutGate(
            spec.n_features,
            activation=self.activation,
            penalty=self.penalty,
            variance_weight=self.variance_weight,
            l1_weight=self.l1_weight,
            l2_weight=self.l2_weight,
            init=self.init,
            init_spread=self.init_spread,
            must_keep=spec.kept,
            generator=spec.generator(),
        )
