"""The selector of sequential attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from featuremask.gates import SequentialAttentionGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["SequentialAttentionSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class SequentialAttentionSelector(BaseSelector):
    """Select features by sequential attention: one after the other, each by a softmax.

    It is trained for its number of features. If that number is changed after `fit`, nothing is
    trained anew: fewer features are those taken first, more follow by the logits of the last
    phase.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto".
    warm_up : float, default=0.1
        The part of training, in [0, 1), in which all features pass.
    init_spread : float, default=1e-5
        Standard deviation of the logits at the start of a phase.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The number of phases for which a feature was in, plus a part in (0, 1] for its place.

    See Also
    --------
    featuremask.gates.SequentialAttentionGate : The formulas, and what differs from the publication.

    References
    ----------
    T. Yasuda, M. Bateni, L. Chen, M. Fahrbach, G. Fu, V. Mirrokni, "Sequential Attention for
    Feature Selection", ICLR 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import SequentialAttentionSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> SequentialAttentionSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    warm_up: float = 0.1
    init_spread: float = 1e-5

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "warm_up": (0.0, 0.1, 0.3),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> SequentialAttentionGate:
        return SequentialAttentionGate(
            spec.n_features,
            spec.n_select,
            warm_up=self.warm_up,
            init_spread=self.init_spread,
            must_keep=spec.kept,
            generator=spec.generator(),
        )
