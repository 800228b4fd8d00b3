"""The selector of FSDNN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from featuremask.gates import FSDNNGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["FSDNNSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class FSDNNSelector(BaseSelector):
    """Select features by activation potentials (FSDNN) of a plainly trained network.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`. A `network` of
    your own must begin with a plain dense layer.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.
    include_bias : bool, default=True
        Whether the biases of the first layer count. If they do, features that are always zero
        have potentials too.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Contribution to the first layer, summed over its units.

    See Also
    --------
    featuremask.gates.FSDNNGate : The formulas, and what differs from the publication.

    References
    ----------
    D. Roy, K. S. R. Murty, C. K. Mohan, "Feature selection using Deep Neural Networks",
    IJCNN 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import FSDNNSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> FSDNNSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    include_bias: bool = True

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "include_bias": (True, False),
        "learning_rate": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
        "dropout": (0.0, 0.3),
    }

    def _make_gate(self, spec: GateSpec) -> FSDNNGate:
        return FSDNNGate(spec.n_features, include_bias=self.include_bias)
