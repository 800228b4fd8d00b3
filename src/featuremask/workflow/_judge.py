"""What columns are worth: a fixed model on rows that were held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.evaluation import CLASSIFIERS
from featuremask.reporting import Curve, Point
from featuremask.workflow._prepare import Prepared
from featuremask.workflow._progress import Progress

__all__ = ["Judge", "counts_to_try", "measure_curve", "scores_of"]

_ROWS = 4_000
"""More rows than this, on each side, are not looked at."""

_POINTS = 10
_APART = 1.25
"""No number is tried that is nearer than by this factor to the one that was chosen."""

_DRAWS = 3
_CODES_TO_REBUILD = 500
"""More numbers than this are not rebuilt; which, is drawn."""

Places = NDArray[np.intp]


@dataclass(frozen=True)
class _Model:
    score: str
    name: str
    make: Any


def _classifying(seed: int) -> Any:
    return CLASSIFIERS["rf"].make(seed, -1)


def _regressing(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(random_state=seed, n_jobs=-1)


def _rebuilding(seed: int) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), Ridge(1e-3))


_MODELS = {
    "classification": _Model("accuracy", "random forest", _classifying),
    "regression": _Model("R^2", "random forest", _regressing),
    "reconstruction": _Model("R^2 of all columns", "linear model", _rebuilding),
}
"""By what was learned."""


class Judge:
    """A fixed model, trained on the training rows and judged on those held out.

    Parameters
    ----------
    prepared : Prepared
        The rows.
    objective : {"classification", "regression", "reconstruction"}
        What the selector learned.
    """

    def __init__(self, prepared: Prepared, objective: str) -> None:
        self._prepared = prepared
        self._model = _MODELS[objective]
        seed = prepared.request.seed
        draws = np.random.default_rng(seed)
        self._seed = seed
        self._train = _some(draws, len(prepared.train.index))
        self._test = _some(draws, len(prepared.test.index))

    @property
    def score_name(self) -> str:
        """What is measured."""
        return self._model.score

    @property
    def how(self) -> str:
        """The model and the rows, in words."""
        return f"{self._model.name}, {len(self._test):,} rows held out"

    def score(self, columns: NDArray[np.bool_]) -> float:
        """Return the score of some columns.

        Parameters
        ----------
        columns : ndarray of bool of shape (n_columns,)
            Which columns the model sees.

        Returns
        -------
        float
            On the rows that were held out.
        """
        codes = np.flatnonzero(columns[self._prepared.column_of])
        y_train, y_test = self._targets
        if len(codes) == 0:
            return 0.0
        model = self._model.make(self._seed)
        x_train = _part(self._prepared.train.codes, self._train, codes)
        x_test = _part(self._prepared.test.codes, self._test, codes)
        if self._rebuilt is None:
            return float(model.fit(x_train, y_train).score(x_test, y_test))
        from sklearn.metrics import r2_score

        # The codes of a category depend on each other: of that, float32 leaves too few digits.
        found = model.fit(x_train.astype(np.float64), y_train).predict(x_test.astype(np.float64))
        weights = _one_for_each_column(self._prepared.column_of[self._rebuilt])
        return float(r2_score(y_test, found, multioutput=weights))

    @cached_property
    def _rebuilt(self) -> Places | None:
        """The numbers that are to be rebuilt where there is no target: all that vary, or some."""
        if self._prepared.train.y is not None:
            return None
        spread = _part(self._prepared.train.codes, self._train, self._every_number).std(axis=0)
        moving = np.flatnonzero(spread > 0)
        draws = np.random.default_rng(self._seed)
        return np.sort(draws.permutation(moving)[:_CODES_TO_REBUILD])

    @property
    def _every_number(self) -> Places:
        return np.arange(len(self._prepared.column_of))

    @cached_property
    def _targets(self) -> tuple[NDArray[Any], NDArray[Any]]:
        train, test = self._prepared.train, self._prepared.test
        if train.y is not None and test.y is not None:
            return train.y[self._train], test.y[self._test]
        assert self._rebuilt is not None
        rows = _part(train.codes, self._train, self._rebuilt).astype(np.float64)
        spread = rows.std(axis=0)
        return rows / spread, _part(test.codes, self._test, self._rebuilt) / spread


def _one_for_each_column(column_of: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return weights of numbers, by which each column counts as one however many it has."""
    return 1.0 / np.bincount(column_of)[column_of]


def _some(draws: np.random.Generator, n_rows: int) -> Places:
    return np.sort(draws.permutation(n_rows)[:_ROWS])


def _part(codes: Any, rows: Places, columns: Places) -> NDArray[Any]:
    found = codes[rows][:, columns]
    dense: NDArray[Any] = found if isinstance(found, np.ndarray) else found.toarray()
    return dense


def counts_to_try(n_places: int, k: int) -> list[int]:
    """Return the numbers of columns to try: in even ratios, and the one that was chosen.

    Examples
    --------
    >>> counts_to_try(100, 30)
    [1, 2, 3, 5, 8, 13, 22, 30, 60, 100]
    """
    ratios = np.round(np.geomspace(1, n_places, _POINTS)).astype(int).tolist()
    apart = [n for n in ratios if n in (1, n_places) or not k / _APART < n < k * _APART]
    return sorted({*apart, k})


def scores_of(counts: Sequence[int]) -> int:
    """Return how many models `measure_curve` trains."""
    return len(counts) * (1 + _DRAWS)


def measure_curve(
    judge: Judge, places: NDArray[np.int64], counts: Sequence[int], seed: int, progress: Progress
) -> Curve:
    """Judge the best columns of a ranking, all columns, and random ones.

    Parameters
    ----------
    judge : Judge
        The model.
    places : ndarray of int of shape (n_columns,)
        The rank of the group of each column, from 1.
    counts : sequence of int
        Numbers of groups.
    seed : int
        Of the random choices.
    progress : Progress
        Told after each number.

    Returns
    -------
    Curve
        The scores.
    """
    n_places = int(places.max())
    draws = np.random.default_rng(seed)
    chosen, random = [], []
    for k in progress.track(counts, "judging"):
        chosen.append(Point(k, judge.score(places <= k)))
        if k < n_places:
            picks = [draws.permutation(n_places)[:k] + 1 for _ in range(_DRAWS)]
            scores = [judge.score(np.isin(places, pick)) for pick in picks]
            random.append(Point(k, float(np.mean(scores)), float(np.std(scores))))
    everything = Point(n_places, judge.score(places <= n_places))
    return Curve(judge.score_name, judge.how, tuple(chosen), tuple(random), everything)
