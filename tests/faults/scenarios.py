"""The small data that most faults are tried on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask import FeatureMaskSelector

N_ROWS, N_COLUMNS = 60, 4
NAMES = ["age", "b", "c d", "ö"]


def rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows whose first column tells the class."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    return X, (X[:, 0] > 0).astype(np.int64)


def short(n_features_to_select: Any = 2, **words: Any) -> FeatureMaskSelector:
    """A selector that trains for a moment."""
    words = {"max_epochs": 2, "random_state": 0} | words
    return FeatureMaskSelector(n_features_to_select, **words)
