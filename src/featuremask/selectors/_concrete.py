"""The selector of ConAE."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.gates import ConcreteGate
from featuremask.selectors._attempt import Attempt
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._data import Rows
from featuremask.selectors._fitting import Fitted, fit_rows
from featuremask.selectors._specs import GateSpec

__all__ = ["ConcreteSelector"]

_CONVERGED = 0.998
"""Mean over neurons of their largest probability from which they count as decided."""


@dataclass(eq=False, repr=False, kw_only=True)
class ConcreteSelector(BaseSelector):
    """Select features by a concrete autoencoder (ConAE): k neurons that each pick one.

    Unlike all other methods it is trained for its number of features. If that number is changed
    after `fit`, nothing is trained anew: fewer features are those picked with the largest
    probability, more are filled up as `fill` says. Neurons may pick the same feature, see
    `n_unique_`.

    Words that are not listed, and attributes, are those of `FeatureMaskSelector`.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], None for half, or "auto".
    start_temperature, end_temperature : float, default=10.0, 0.1
        Between which the temperature of the choice falls, exponentially. The published research
        code ends at 0.01.
    max_tries : int, default=5
        Trainings at most. A training in which the neurons have not decided (`converged_`) is
        followed by one from other weights that takes twice as long; `max_epochs` is that of the
        first, `max_seconds` that of all together. 1 takes the first training as it is.
    fill : {"probability", None}, default="probability"
        What follows the features that neurons picked: those of the largest probability in any
        neuron, so that exactly k are selected; or none, so that it may be fewer, as published.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest probability in any neuron, plus one for features that a neuron picked.
    n_unique_ : int
        Number of features (groups count as one) that the k neurons picked.
    converged_ : bool
        Whether the neurons have decided: their largest probabilities have a mean of 0.998.
    history_ : list of dict
        One record an epoch; `attempt` is the training it belongs to, and the last record of each
        has `mean_max`, the number that `converged_` judges.

    See Also
    --------
    featuremask.gates.ConcreteGate : The formulas, and what differs from the publication.

    Notes
    -----
    NOTE[DIFF] code: up to 5 trainings, and no word if the neurons never decided; here: up to 5,
    then a warning, because a selection by undecided neurons is half random.

    NOTE[DIFF] code: `get_support` counts how often a feature was picked, and `transform` takes
    rows; here: both are those of scikit-learn, because pipelines rely on them.

    NOTE[DIFF] paper: fewer than k features where neurons agree; code: the same; here: filled up
    to k, because the user asked for k. ``fill=None`` is the published way.

    References
    ----------
    A. Abid, M. F. Balin, J. Zou, "Concrete Autoencoders: Differentiable Feature Selection and
    Reconstruction", ICML 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from featuremask import ConcreteSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = ConcreteSelector(5, max_tries=1, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (178, 5)
    >>> 1 <= selector.n_unique_ <= 5
    True
    """

    start_temperature: float = 10.0
    end_temperature: float = 0.1
    max_tries: int = 5
    fill: Literal["probability"] | None = "probability"

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {
        "end_temperature": (0.1, 0.01),
        "learning_rate": (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    }

    def _make_gate(self, spec: GateSpec) -> ConcreteGate:
        return ConcreteGate(
            spec.n_features,
            min(spec.n_select, spec.n_features),
            start_temperature=self.start_temperature,
            end_temperature=self.end_temperature,
            must_keep=spec.kept,
            generator=spec.generator(),
        )

    def _train(self, rows: Rows, groups: Any) -> Fitted:
        _check_words(self)
        start, history = time.monotonic(), list[dict[str, Any]]()
        left = self.max_seconds
        for number in range(self.max_tries):
            fitted = fit_rows(self, rows, groups, Attempt(number, left))
            gate = fitted.setup.model.gate
            assert isinstance(gate, ConcreteGate)
            history += [record | {"attempt": number + 1} for record in fitted.history]
            history[-1]["mean_max"] = gate.mean_max()
            if self.max_seconds is not None:
                left = self.max_seconds - (time.monotonic() - start)
            if history[-1]["mean_max"] >= _CONVERGED or (left is not None and left <= 0.0):
                break
        else:
            self._warn(history[-1]["mean_max"])
        return replace(fitted, history=history)

    def _warn(self, mean_max: float) -> None:
        if self.max_tries > 1:
            warnings.warn(
                f"After {self.max_tries} trainings the neurons have not decided: the mean of their "
                f"largest probabilities is {mean_max:.3f}, below {_CONVERGED}. Raise max_epochs or "
                "learning_rate, or set max_tries=1 to take the first training as it is.",
                FeatureMaskWarning,
                stacklevel=4,
            )

    def _get_support_mask(self) -> NDArray[np.bool_]:
        support = super()._get_support_mask()
        if self.fill is None:
            support = support & (self.group_ranking_ <= self.n_unique_)
        return support

    @property
    def n_unique_(self) -> int:
        """Number of features that the neurons picked, groups counted as one."""
        check_is_fitted(self, "ranking_")
        return len(np.unique(self.groups_[self.scores_ > 1.0]))

    @property
    def converged_(self) -> bool:
        """Whether the neurons have decided."""
        check_is_fitted(self, "ranking_")
        gate = self.network_[1].gate
        assert isinstance(gate, ConcreteGate)
        return gate.mean_max() >= _CONVERGED


def _check_words(selector: ConcreteSelector) -> None:
    if isinstance(selector.max_tries, bool | float) or selector.max_tries < 1:
        raise InputError(f"max_tries must be a positive integer; got {selector.max_tries!r}.")
    if selector.fill not in ("probability", None):
        raise InputError(f'fill must be "probability" or None; got {selector.fill!r}.')
