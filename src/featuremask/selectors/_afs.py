"""The selector of AFS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from featuremask.gates import AFSGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["AFSSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class AFSSelector(BaseSelector):
    """Select features by attention (AFS): each row decides on each feature.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.
    attention_units : int, default=32
        Width of the code of a row that the attention heads read.
    head_depth : {0, 1}, default=0
        Hidden layers of each head.
    network_penalty : float, default=1e-4
        Coefficient of half the squares of the learning network's matrices.
    readout : {"all", "last_batch"}, default="all"
        The rows over which attention is averaged: all training rows, or the last batch of training
        as in the published code.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Mean attention, 0 to 1.

    See Also
    --------
    featuremask.gates.AFSGate : The formulas, and what differs from the publication.

    References
    ----------
    N. Gui, D. Ge, Z. Hu, "AFS: An Attention-Based Mechanism for Supervised Feature Selection",
    AAAI 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import AFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> AFSSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    attention_units: int = 32
    head_depth: Literal[0, 1] = 0
    network_penalty: float = 1e-4
    readout: Literal["all", "last_batch"] = "all"

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "attention_units": (8, 16, 32, 64, 128),
        "head_depth": (0, 1),
        "network_penalty": (0.0, 1e-5, 1e-4, 1e-3),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> AFSGate:
        return AFSGate(
            spec.n_features,
            attention_units=self.attention_units,
            head_depth=self.head_depth,
            network_penalty=self.network_penalty,
            readout=self.readout,
            must_keep=spec.kept,
            generator=spec.generator(),
        )
