"""The selector of SAND."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from featuremask.gates import SANDGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec

__all__ = ["SANDSelector"]


@dataclass(eq=False, repr=False, kw_only=True)
class SANDSelector(BaseSelector):
    """Select features by additive noise distortion (SAND): a budget of gains against noise.

    It is trained for its number of features. If that number is changed after `fit`, nothing is
    trained anew: features are taken by their gains.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto".
    noise_scale : float, default=1.5
        Standard deviation of the noise, in the units of the standardized columns.
    draw : {"batch", "row"}, default="batch"
        One draw of the noise for a batch, or one for each of its rows, as published.
    standardize : {"auto", "global", "shrunk", "column", "none"}, default="auto"
        "auto" is "column", because the noise is of one size for all columns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Gains, whose squares sum to the number of features.

    See Also
    --------
    featuremask.gates.SANDGate : The formulas, and what differs from the publication.

    References
    ----------
    P. Pad, H. Hammoud, M. Dia, N. Maamari, L. A. Dunbar, "SAND: One-Shot Feature Selection with
    Additive Noise Distortion", ICML 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import SANDSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> SANDSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    noise_scale: float = 1.5
    draw: Literal["batch", "row"] = "batch"

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "noise_scale": (0.5, 1.0, 1.5, 2.0),
        "learning_rate": (3e-4, 1e-3, 3e-3, 1e-2),
    }

    def _make_gate(self, spec: GateSpec) -> SANDGate:
        return SANDGate(
            spec.n_features,
            spec.n_select,
            noise_scale=self.noise_scale,
            draw=self.draw,
            must_keep=spec.kept,
        )

    def _standardize_rule(self, kind: str) -> str:
        return "column" if self.standardize == "auto" else super()._standardize_rule(kind)
