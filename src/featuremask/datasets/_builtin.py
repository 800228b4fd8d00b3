"""Small datasets that come with scikit-learn, with the same split as the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._dataset import Dataset, Matrix, Task, split_rows

__all__ = ["BUILTIN_SETS", "load_builtin", "with_common_split"]

BUILTIN_SETS: dict[str, tuple[int, int, int, str]] = {
    "breast_cancer": (569, 30, 2, "Measures of cell nuclei; is the tumor malignant?"),
    "diabetes": (442, 10, 0, "Ten measures of patients; progress of diabetes after a year."),
    "digits": (1797, 64, 10, "Handwritten digits, 8 x 8 counts from 0 to 16."),
    "iris": (150, 4, 3, "Measures of flowers of three species of iris."),
    "wine": (178, 13, 3, "Chemical analysis of wines of three growers."),
}
"""Rows, features, classes (0 for regression) and description by name."""

ORIGIN = "scikit-learn, taken from the UCI Machine Learning Repository or the cited papers"
LICENSE = "as scikit-learn ships it (BSD-3-Clause package); see its page on toy datasets"


def load_builtin(name: str) -> Dataset:
    """Load a dataset that comes with scikit-learn.

    Parameters
    ----------
    name : str
        A key of ``BUILTIN_SETS``.

    Returns
    -------
    Dataset
        With the common split.
    """
    import sklearn.datasets

    bunch = getattr(sklearn.datasets, f"load_{name}")()
    *_, n_classes, description = BUILTIN_SETS[name]
    return with_common_split(
        name=name,
        X=bunch.data,
        y=bunch.target,
        task="classification" if n_classes else "regression",
        feature_names=tuple(map(str, bunch.feature_names)),
        target_names=tuple(map(str, bunch.target_names)) if n_classes else (),
        image_shape=(8, 8) if name == "digits" else None,
        domain="image" if name == "digits" else "table",
        description=description,
        origin=ORIGIN,
        license=LICENSE,
    )


def with_common_split(
    *,
    X: Matrix,
    y: NDArray[Any],
    task: Task,
    test_size: float = 0.2,
    random_state: int = 0,
    stratified: bool = True,
    **described: Any,
) -> Dataset:
    """Make a dataset with the split of the common recipe.

    The recipe is ``train_test_split(X, y, test_size=int(0.2 * N), random_state=0, stratify=y)``,
    without ``stratify`` for regression.

    Parameters
    ----------
    X, y : array
        Rows and encoded targets.
    task : {"classification", "regression"}
        What the target is.
    test_size : float, default=0.2
        Share of the rows for testing; at least one row.
    random_state : int, default=0
        The random state of the split.
    stratified : bool, default=True
        Whether a classification split keeps the shares of the classes.
    **described : Any
        The other fields of `Dataset`.

    Returns
    -------
    Dataset
        The dataset.
    """
    n_samples = int(X.shape[0])
    stratified = stratified and task == "classification"
    n_test = max(1, int(test_size * n_samples))
    train, test = split_rows(n_samples, n_test, random_state, y if stratified else None)
    target = y.astype(np.int64) if task == "classification" else y
    return Dataset(
        X=X, y=target, train=train, test=test, task=task, stratified=stratified, **described
    )
