"""A dataset with its fixed split."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Dataset", "Matrix", "Task", "split_rows"]

Matrix: TypeAlias = "NDArray[Any] | csr_array"
Task: TypeAlias = Literal["classification", "regression"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows, targets, names and one fixed split into training and test rows.

    Parameters
    ----------
    name : str
        The name under which `load` knows the dataset.
    X : array or csr_array of shape (n_samples, n_features)
        All rows in the order of the file, values as they are in the file.
    y : array of shape (n_samples,)
        Classes encoded as 0 .. C-1, or real values.
    train, test : int array
        The rows of each side of the split.
    feature_names : tuple of str
        One name a column.
    target_names : tuple of str
        One name a class; empty for regression.
    task : {"classification", "regression"}
        What the target is.
    stratified : bool
        Whether the split keeps the shares of the classes.
    image_shape : (int, int), optional
        Height and width, when a row is an image.
    image_order : {"C", "F"}
        How the pixels of an image lie in a row: row by row, or column by column.
    domain : str
        What the data are: "image", "speech", "text" or "table".
    description, origin, license : str
        What the data are, where they come from, on which terms.

    Examples
    --------
    >>> from featuremask.datasets import load
    >>> iris = load("iris")
    >>> iris
    Dataset('iris', 150 x 4, 120 train, 30 test, 3 classes)
    >>> iris.X_train.shape, iris.y_test.shape
    ((120, 4), (30,))
    """

    name: str
    X: Matrix = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    train: NDArray[np.intp] = field(repr=False)
    test: NDArray[np.intp] = field(repr=False)
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...] = ()
    task: Task = "classification"
    stratified: bool = True
    image_shape: tuple[int, int] | None = None
    image_order: Literal["C", "F"] = "C"
    domain: str = "table"
    description: str = ""
    origin: str = ""
    license: str = ""

    def __repr__(self) -> str:
        """One line: name, shape, split, classes."""
        target = f"{self.n_classes} classes" if self.n_classes else "a real target"
        return (
            f"Dataset({self.name!r}, {self.n_samples} x {self.n_features}, "
            f"{len(self.train)} train, {len(self.test)} test, {target})"
        )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for regression."""
        return len(self.target_names)

    @cached_property
    def X_train(self) -> Matrix:
        """The training rows."""
        return _take(self.X, self.train)

    @cached_property
    def X_test(self) -> Matrix:
        """The test rows."""
        return _take(self.X, self.test)

    @cached_property
    def y_train(self) -> NDArray[Any]:
        """The targets of the training rows."""
        values: NDArray[Any] = _take(self.y, self.train)
        return values

    @cached_property
    def y_test(self) -> NDArray[Any]:
        """The targets of the test rows."""
        values: NDArray[Any] = _take(self.y, self.test)
        return values

    def split(self, seed: int) -> "Dataset":
        """Give the same data with another split of the same size and kind.

        All rows are shuffled, also those of an official test set. Where the fixed split was made
        by the common recipe, ``split(0)`` is that split.

        Parameters
        ----------
        seed : int
            The random state of the split.

        Returns
        -------
        Dataset
            The same rows with other `train` and `test`.

        Examples
        --------
        >>> from featuremask.datasets import load
        >>> wine = load("wine")
        >>> bool((wine.split(0).test == wine.test).all())
        True
        """
        labels = self.y if self.stratified else None
        train, test = split_rows(self.n_samples, len(self.test), seed, labels)
        return replace(self, train=train, test=test)

    def as_images(self, values: NDArray[Any] | Sequence[float]) -> NDArray[Any]:
        """Lay one value a feature out as an upright image.

        Parameters
        ----------
        values : array of shape (..., n_features)
            Rows of the dataset, a mask, scores.

        Returns
        -------
        array of shape (..., height, width)
            The same values; a view where that is possible.

        Examples
        --------
        >>> from featuremask.datasets import load
        >>> digits = load("digits")
        >>> digits.as_images(digits.X[:3]).shape
        (3, 8, 8)
        """
        if self.image_shape is None:
            raise InputError(f"as_images needs a dataset of images; {self.name!r} is not one")
        array = np.asarray(values)
        if array.ndim == 0 or array.shape[-1] != self.n_features:
            raise InputError(
                f"as_images needs {self.n_features} values in the last axis, "
                f"one a feature of {self.name!r}; got {array.shape=}"
            )
        height, width = self.image_shape
        if self.image_order == "C":
            return array.reshape(*array.shape[:-1], height, width)
        return array.reshape(*array.shape[:-1], width, height).swapaxes(-1, -2)

    def summary(self) -> dict[str, Any]:
        """Give the line of an overview table: sizes, classes and kind of data.

        Returns
        -------
        dict
            Keys ``name``, ``n_features``, ``n_train``, ``n_test``, ``n_classes``, ``domain``.

        Examples
        --------
        >>> from featuremask.datasets import load
        >>> load("wine").summary()
        {'name': 'wine', 'n_features': 13, 'n_train': 143, 'n_test': 35, 'n_classes': 3,
         'domain': 'table'}
        """
        return {
            "name": self.name,
            "n_features": self.n_features,
            "n_train": len(self.train),
            "n_test": len(self.test),
            "n_classes": self.n_classes,
            "domain": self.domain,
        }


def split_rows(
    n_samples: int, n_test: int, seed: int, labels: NDArray[Any] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split row numbers as ``train_test_split(X, y, test_size=n_test, random_state=seed)`` does.

    Parameters
    ----------
    n_samples, n_test : int
        Number of rows, and of those that go to the test side.
    seed : int
        The random state of the split.
    labels : array of shape (n_samples,), optional
        Classes whose shares both sides keep.

    Returns
    -------
    train, test : int array
        The shuffled row numbers of each side.
    """
    from sklearn.model_selection import train_test_split

    try:
        train, test = train_test_split(
            np.arange(n_samples), test_size=n_test, random_state=seed, stratify=labels
        )
    except ValueError as error:
        raise InputError(
            f"{n_samples} rows cannot be split into {n_samples - n_test} for training and "
            f"{n_test} for testing ({error}); choose another test size, a split that is not "
            f"stratified, or the task regression for a target of real values"
        ) from error
    return train, test


def _take(values: Any, rows: NDArray[np.intp]) -> Any:
    """Select rows; a run of neighboring rows is a view, not a copy."""
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return values[rows[0] : rows[0] + len(rows)]
    return values[rows]
