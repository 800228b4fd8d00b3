"""Datasets as experiments see them: checked against their fingerprint, scaled, split."""

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.experiments._spec import DatasetSpec, HoldOut

__all__ = ["Prepared", "fingerprint", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training and test rows as float32, and what pictures need.

    Attributes
    ----------
    name : str
    X_train, y_train, X_test, y_test : ndarray
    raw : Any
        The `featuremask.datasets.Dataset` that they come from.
    """

    name: str
    X_train: NDArray[np.float32]
    y_train: NDArray[Any]
    X_test: NDArray[np.float32]
    y_test: NDArray[Any]
    raw: Any = None


def fingerprint(dataset: Any) -> str:
    """Return the start of a SHA-256 over values, targets and split of a dataset."""
    digest = hashlib.sha256(str(dataset.X.shape).encode())
    dense = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.toarray()
    for array in (dense, dataset.y, dataset.train, dataset.test):
        kind = "<i8" if array.dtype.kind in "iub" and array is not dense else "<f8"
        for rows in np.array_split(array, max(1, array.size >> 22)):
            digest.update(np.ascontiguousarray(rows, dtype=kind).tobytes())
    return digest.hexdigest()[:16]


@functools.lru_cache(maxsize=2)
def prepare(spec: DatasetSpec) -> Prepared:
    """Load a dataset, check that it is the declared one, and scale it.

    Parameters
    ----------
    spec : DatasetSpec

    Returns
    -------
    Prepared
        The same object if called again soon.
    """
    from featuremask.datasets import load

    dataset = load(spec.source)
    found = fingerprint(dataset)
    if found != spec.content:
        raise InputError(
            f"The dataset {spec.source!r} is not the one that was declared: its fingerprint must "
            f"be {spec.content!r}, but it is {found!r}. Fetch the declared files, or declare these "
            "in datasets.toml, which makes all their runs new ones."
        )
    return prepared(dataset.split(spec.split) if spec.split else dataset, spec)


def prepared(dataset: Any, spec: DatasetSpec) -> Prepared:
    """Return a loaded dataset, split and scaled as declared."""
    train, test = dataset.X_train, dataset.X_test
    y_train, y_test = dataset.y_train, dataset.y_test
    if spec.hold_out is not None:
        kept, held = _held_out(y_train, spec.hold_out)
        train, test, y_train, y_test = train[kept], train[held], y_train[kept], y_train[held]
    scaled = _SCALINGS[spec.scaling](_dense(train), _dense(test), spec)
    return Prepared(spec.name, scaled[0], y_train, scaled[1], y_test, dataset)


def _held_out(y: NDArray[Any], part: HoldOut) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the training rows to train on and to judge on."""
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    if part.rows < len(rows):
        rows, _ = train_test_split(rows, train_size=part.rows, random_state=part.seed, stratify=y)
    kept, held = train_test_split(
        rows, test_size=part.fraction, random_state=part.seed, stratify=y[rows]
    )
    return np.sort(kept), np.sort(held)


def _dense(X: Any) -> NDArray[np.float32]:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float32)


def _pair(
    train: NDArray[Any], test: NDArray[Any]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return train.astype(np.float32, copy=False), test.astype(np.float32, copy=False)


def _unit(train: NDArray[Any], test: NDArray[Any], spec: DatasetSpec) -> Any:
    factor = np.float32(spec.divisor)
    return _pair(train / factor, test / factor)


def _maxabs(train: NDArray[Any], test: NDArray[Any], spec: DatasetSpec) -> Any:
    largest = np.abs(train).max(axis=0)
    largest[largest == 0.0] = 1.0
    return _pair(train / largest, test / largest)


_SCALINGS: Mapping[str, Any] = {
    "none": lambda train, test, spec: _pair(train, test),
    "unit": _unit,
    "log1p": lambda train, test, spec: _pair(np.log1p(train), np.log1p(test)),
    "maxabs": _maxabs,
}
