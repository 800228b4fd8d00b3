"""The selectors that bound all others: random features, and all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from featuremask.gates import AllFeaturesGate, RandomGate
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._data import Rows
from featuremask.selectors._fitting import Fitted, rank_untrained
from featuremask.selectors._specs import GateSpec

__all__ = ["AllFeaturesSelector", "RandomSelector"]


@dataclass(eq=False, repr=False)
class RandomSelector(BaseSelector):
    """Select features at random: what a method of selection must beat.

    Nothing is trained; the words that concern training do nothing. All words and attributes are
    those of `FeatureMaskSelector`. Features that hold one value come last, as for all methods;
    ``constant_features="compete"`` draws from all features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto". It may be changed after `fit`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Random numbers that follow from `random_state`, 0 to 1; equal within a group.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import RandomSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomSelector(5, random_state=0).fit_transform(X, y).shape
    (178, 5)
    """

    def _make_gate(self, spec: GateSpec) -> RandomGate:
        return RandomGate(spec.n_features, feature_groups=spec.groups, generator=spec.generator())

    def _train(self, rows: Rows, groups: Any) -> Fitted:
        return rank_untrained(self, rows)


@dataclass(eq=False, repr=False)
class AllFeaturesSelector(BaseSelector):
    """Select all features: what a selection of few is measured against.

    Nothing is trained; the words that concern training do nothing. All words and attributes are
    those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=1.0
        The fraction 1.0 is all of them. Fewer are the first ones, by position.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Equal for all features that hold more than one value.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import AllFeaturesSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> AllFeaturesSelector().fit_transform(X, y).shape
    (178, 13)
    """

    n_features_to_select: int | float | Literal["auto"] | None = 1.0

    def _make_gate(self, spec: GateSpec) -> AllFeaturesGate:
        return AllFeaturesGate(spec.n_features)

    def _train(self, rows: Rows, groups: Any) -> Fitted:
        return rank_untrained(self, rows)
