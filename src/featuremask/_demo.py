"""The first thing to run: ten pixels of scikit-learn's digits."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from featuremask.plot import Picture, write_pictures

__all__ = ["DemoResult", "run_demo"]

_K = 10
_RANDOM_DRAWS = 20


@dataclass(frozen=True)
class DemoResult:
    """What the demo found, all of it computed while it ran.

    Attributes
    ----------
    all_features, selected, random : float
        Accuracy of a random forest on rows that the selection has not seen.
    names : list of str
        The selected columns, best first.
    seconds : float
        Time of the selection.
    picture : Path
        The file that was written.
    """

    all_features: float
    selected: float
    random: float
    names: list[str]
    seconds: float
    picture: Path


def run_demo(folder: Path) -> DemoResult:
    """Select 10 of the 64 pixels of the bundled digits, judge them, and draw the mask."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import train_test_split

    from featuremask import FeatureMaskSelector

    digits = load_digits()
    X_train, X_test, y_train, y_test = train_test_split(
        digits.data, digits.target, test_size=0.25, random_state=0, stratify=digits.target
    )
    start = time.perf_counter()
    selector = FeatureMaskSelector(_K, random_state=0).fit(X_train, y_train)
    seconds = time.perf_counter() - start

    def accuracy(columns: np.ndarray) -> float:
        forest = RandomForestClassifier(random_state=0)
        forest.fit(X_train[:, columns], y_train)
        return float(forest.score(X_test[:, columns], y_test))

    draws = np.random.default_rng(0)
    n_columns = X_train.shape[1]
    at_random = [accuracy(draws.choice(n_columns, _K, replace=False)) for _ in range(_RANDOM_DRAWS)]
    folder.mkdir(parents=True, exist_ok=True)
    shape = (8, 8)
    chosen = selector.support_.reshape(shape)
    picture = write_pictures(
        folder / "demo",
        [
            Picture("average digit", X_train.mean(axis=0).reshape(shape)),
            Picture("importance of each pixel", selector.feature_importances_.reshape(shape)),
            Picture(f"the {_K} selected pixels", X_train.mean(axis=0).reshape(shape), chosen),
        ],
    )
    return DemoResult(
        all_features=accuracy(np.arange(n_columns)),
        selected=accuracy(selector.get_support(indices=True)),
        random=float(np.mean(at_random)),
        names=[str(digits.feature_names[i]) for i in np.argsort(selector.ranking_)[:_K]],
        seconds=seconds,
        picture=picture,
    )
