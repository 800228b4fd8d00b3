"""What runs do: fit a selector, measure what it chose."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import FeatureMaskError, InputError
from featuremask.experiments._packing import (
    pack_integers,
    pack_scores,
    unpack_integers,
    unpack_scores,
)
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._prepare import Prepared, prepare
from featuremask.experiments._spec import DatasetSpec

__all__ = ["Bench", "Selected", "SkippedError"]

_BRIEF = 256


class SkippedError(FeatureMaskError):
    """A run that cannot be made, for a reason that is not a failure."""


@dataclass(frozen=True, eq=False)
class Selected:
    """What a fit leaves.

    Attributes
    ----------
    ranks : ndarray of int, shape (n_features,)
        A permutation of 1 to n_features, 1 the best.
    scores : ndarray of shape (n_features,) or None
    n_distinct : int or None
        How many different features were chosen, where that may be fewer than asked for.
    more : dict
        Plain values that are worth a line: epochs, last loss.
    """

    ranks: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None
    n_distinct: int | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def packed(self, *, brief: bool = False) -> dict[str, Any]:
        """Return plain values for a record; `brief` keeps the best features and no scores."""
        order = np.argsort(self.ranks)
        result: dict[str, Any] = {
            "n_features": len(order),
            "order": pack_integers(order[:_BRIEF] if brief else order),
        }
        if self.scores is not None and not brief:
            result["scores"] = pack_scores(self.scores)
        if self.n_distinct is not None:
            result["n_distinct"] = self.n_distinct
        return result | self.more

    @classmethod
    def unpacked(cls, result: Mapping[str, Any]) -> "Selected":
        """Return what `packed` was made of; features that it left out follow by position."""
        best = unpack_integers(result["order"])
        rest = np.setdiff1d(np.arange(result["n_features"]), best)
        ranks = np.empty(result["n_features"], dtype=np.int64)
        ranks[np.concatenate([best, rest])] = np.arange(1, len(ranks) + 1)
        scores = unpack_scores(result["scores"]) if "scores" in result else None
        return cls(ranks, scores, result.get("n_distinct"))

    def ranks_by(self, rule: str) -> NDArray[np.int64]:
        """Return the ranking, or that of the magnitude of the scores."""
        if rule == "ranking":
            return self.ranks
        if self.scores is None:
            raise InputError("Columns can be ranked by magnitude only where scores are recorded.")
        order = np.lexsort((self.ranks, -np.abs(self.scores)))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(1, len(order) + 1)
        return ranks


Measure = Callable[[Prepared, Selected, MeasureRun], dict[str, Any]]


def select(run: FitRun, data: Prepared) -> Selected:
    """Fit a selector of `featuremask.selectors`, or a peer, whose name begins with ``peer:``."""
    if run.method.selector.startswith("peer:"):
        from featuremask.experiments._peers import fit_peer

        return fit_peer(run, data)
    from featuremask.experiments._selecting import fit_selector

    return fit_selector(run, data)


def accuracy(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
    """Fit a classifier on the chosen columns and return its accuracy on the test rows."""
    from featuremask.evaluation import evaluate

    assert run.classifier is not None
    n_features = len(selected.ranks)
    k = n_features if run.k is None else run.k
    if k > n_features:
        raise SkippedError(f"k = {k} is more than the {n_features} features of the data")
    found = evaluate(
        selected.ranks_by(run.rank_by),
        data,
        k,
        run.classifier,
        run.seed,
        n_distinct=selected.n_distinct,
        n_jobs=run.threads,
    )
    result: dict[str, Any] = {"accuracy": found.accuracy, "n_columns": found.n_columns}
    return result if found.converged else result | {"converged": False}


def _all_measures() -> dict[str, Measure]:
    from featuremask.experiments import _measures

    return {
        "accuracy": accuracy,
        "embedding": _measures.embedding,
        "overview": _measures.overview,
        "redundancy": _measures.redundancy,
    }


@dataclass(frozen=True)
class Bench:
    """What a runner calls; tests put their own functions in.

    Attributes
    ----------
    prepare : callable
        From `DatasetSpec` to `Prepared`.
    select : callable
        From `FitRun` and `Prepared` to `Selected`.
    measures : mapping
        From a name to a function of `Prepared`, `Selected` and `MeasureRun` that returns plain
        values.
    """

    prepare: Callable[[DatasetSpec], Prepared] = prepare
    select: Callable[[FitRun, Prepared], Selected] = select
    measures: Mapping[str, Measure] = field(default_factory=_all_measures)
