"""Peers that read a model out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import MissingExtraError

__all__ = ["boruta", "forest", "l1_logistic", "lassonet", "lightgbm_gain", "permutation"]

Rows = NDArray[np.float32]
Classes = NDArray[np.int64]
Scores = NDArray[Any]


def forest(X: Rows, y: Classes, *, seed: int, threads: int) -> Scores:
    """Return the decrease of impurity in a random forest of 100 trees."""
    return np.asarray(_forest(seed, threads).fit(X, y).feature_importances_)


def permutation(X: Rows, y: Classes, *, seed: int, threads: int, repeats: int = 5) -> Scores:
    """Return the loss of a random forest's accuracy on held-out rows when a column is shuffled.

    A quarter of the rows is held out; ties, of which there are many, go by the decrease of
    impurity.
    """
    from sklearn.inspection import permutation_importance
    from sklearn.model_selection import train_test_split

    kept, held, y_kept, y_held = train_test_split(
        X, y, test_size=0.25, random_state=seed, stratify=y
    )
    model = _forest(seed, threads).fit(kept, y_kept)
    found = permutation_importance(model, held, y_held, n_repeats=repeats, random_state=seed)
    return np.asarray(found.importances_mean + 1e-6 * model.feature_importances_)


def lightgbm_gain(X: Rows, y: Classes, *, seed: int, threads: int) -> Scores:
    """Return the gain of LightGBM with its default settings."""
    try:
        from lightgbm import LGBMClassifier
    except ImportError as error:
        raise _missing("lightgbm") from error
    model = LGBMClassifier(
        importance_type="gain", random_state=seed, n_jobs=threads, deterministic=True, verbosity=-1
    )
    return np.asarray(model.fit(X, y).feature_importances_)


def l1_logistic(
    X: Rows, y: Classes, *, seed: int, threads: int, n_path: int = 12, n_wanted: int = 100
) -> Scores:
    """Return the order in which columns enter a path of L1 logistic regressions.

    Columns are divided by their standard deviations; the penalty falls by factors of two until
    `n_wanted` columns have a coefficient. Columns that enter together, and the rest, go by size.
    """
    from sklearn.linear_model import LogisticRegression

    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    scores = np.zeros(X.shape[1])
    model = LogisticRegression(
        l1_ratio=1.0, solver="saga", max_iter=50, tol=1e-3, warm_start=True, random_state=seed
    )
    for step in range(n_path):
        model.set_params(C=2.0**step / len(X)).fit(Z, y)
        size = np.abs(model.coef_).max(axis=0)
        new = (size > 0.0) & (scores == 0.0)
        scores[new] = n_path - step + size[new] / (1.0 + size.max())
        if (scores > 0.0).sum() >= n_wanted:
            break
    return scores


def boruta(X: Rows, y: Classes, *, seed: int, threads: int, trials: int = 30) -> Scores:
    """Return BorutaPy's ranks; features of equal rank by their mean importance.

    The forest is that of its documentation: trees of depth 5, balanced classes.
    """
    try:
        from boruta import BorutaPy
    except ImportError as error:
        raise _missing("boruta") from error
    from sklearn.ensemble import RandomForestClassifier

    trees = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=threads)
    model = BorutaPy(trees, n_estimators="auto", max_iter=trials, random_state=seed).fit(X, y)
    mean = np.nan_to_num(np.nanmean(model.importance_history_[1:], axis=0))
    return np.asarray(mean / (1.0 + mean.max()) - model.ranking_)


def lassonet(X: Rows, y: Classes, *, seed: int, threads: int, step: float = 1.05) -> Scores:
    """Return the penalty at which LassoNet drops each column.

    One hidden layer of 100 units; the penalty grows by the factor `step`, 1.02 in its default.
    """
    try:
        from lassonet import LassoNetClassifier
    except ImportError as error:
        raise _missing("lassonet") from error
    from threadpoolctl import threadpool_limits

    model = LassoNetClassifier(
        hidden_dims=(100,), path_multiplier=step, random_state=seed, verbose=0, device="cpu"
    )
    with threadpool_limits(threads):
        model.fit(X, y)
    return np.asarray(model.feature_importances_.numpy())


def _forest(seed: int, threads: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=threads)


def _missing(package: str) -> MissingExtraError:
    return MissingExtraError(
        f"This method needs the package {package}; install it with pip install {package}."
    )
