"""The public datasets: find or fetch their files, check them, make a `Dataset`."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._catalog import PUBLIC_SETS, PublicFile, PublicSet
from featuremask.datasets._content import read_verified
from featuremask.datasets._dataset import Dataset, Matrix, split_rows
from featuremask.datasets._download import download
from featuremask.datasets._errors import DatasetError
from featuremask.datasets._idx import parse_idx
from featuremask.datasets._mat import read_mat
from featuremask.datasets._places import cache_folder, candidates, find_file
from featuremask.exceptions import FileFormatError

__all__ = ["fetch_public", "load_public"]

_MAT_LIMIT = 1 << 28


def load_public(name: str, *, download_if_missing: bool = True) -> Dataset:
    """Load a public dataset, every file checked against its sum.

    Parameters
    ----------
    name : str
        A key of the catalog.
    download_if_missing : bool, default=True
        Whether a file that is not here may be downloaded.

    Returns
    -------
    Dataset
        With the official split, or the common recipe.
    """
    entry = PUBLIC_SETS[name]
    paths = [_obtain(entry, file, download_if_missing) for file in entry.files]
    if len(paths) == 1:
        return _from_mat(entry, paths[0])
    return _from_idx(entry, paths)


def fetch_public(name: str, *, force: bool = False) -> list[Path]:
    """Make sure that a public dataset's files are here and intact.

    Parameters
    ----------
    name : str
        A key of the catalog.
    force : bool, default=False
        Download into the cache even if the files are here.

    Returns
    -------
    list of Path
        The files.
    """
    entry = PUBLIC_SETS[name]
    paths = []
    for file in entry.files:
        path = _download(entry, file) if force else _obtain(entry, file, True)
        read_verified(path, file.sha256, file.size)
        paths.append(path)
    return paths


def _obtain(entry: PublicSet, file: PublicFile, download_if_missing: bool) -> Path:
    """Give a file's place, downloading it as the last resort."""
    found = find_file(file.path)
    if found is not None:
        return found
    if download_if_missing:
        return _download(entry, file)
    places = "\n".join(f"  {place}" for place in candidates(file.path))
    raise DatasetError(
        f"the dataset {entry.name!r} needs the file {file.name}, which is in none of these "
        f"places:\n{places}\nPut it in one of them (from {entry.mirrors[0]}{file.name}), or let "
        f"it be downloaded: featuremask datasets fetch {entry.name}"
    )


def _download(entry: PublicSet, file: PublicFile) -> Path:
    return download(file, cache_folder().joinpath(*file.path.split("/")), entry.mirrors)


def _from_idx(entry: PublicSet, paths: list[Path]) -> Dataset:
    """Join the four files of an image set; the split is the official one."""
    arrays = [
        parse_idx(
            read_verified(path, file.sha256, file.size),
            ndim=3 if "images" in file.name else 1,
            where=os.fspath(path),
        )
        for path, file in zip(paths, entry.files, strict=True)
    ]
    images = np.concatenate([arrays[0], arrays[2]])
    labels = np.concatenate([arrays[1], arrays[3]])
    rows = np.arange(len(images))
    train, test = rows[: len(arrays[0])], rows[len(arrays[0]) :]
    return _assemble(entry, images.reshape(len(images), -1), labels, train, test)


def _from_mat(entry: PublicSet, path: Path) -> Dataset:
    """Read a MATLAB file; counts that it keeps as bytes become float32."""
    file = entry.files[0]
    read_verified(path, file.sha256, file.size)
    X, labels = read_mat(path, max_bytes=_MAT_LIMIT)
    if X.dtype.kind != "f":
        X = X.astype(np.float32)
    encoded = np.unique(labels, return_inverse=True)[1]
    train, test = split_rows(len(labels), int(0.2 * len(labels)), 0, encoded)
    return _assemble(entry, X, labels, train, test)


def _assemble(
    entry: PublicSet,
    X: Matrix,
    labels: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> Dataset:
    classes, y = np.unique(labels, return_inverse=True)
    found = (len(train), len(test), X.shape[1], len(classes))
    expected = (entry.n_train, entry.n_test, entry.n_features, len(entry.target_names))
    if found != expected:
        raise FileFormatError(
            f"the files of {entry.name!r} hold (train, test, features, classes) = {found}, "
            f"expected {expected}; get them again"
        )
    return Dataset(
        name=entry.name,
        X=X,
        y=y.astype(np.int64),
        train=train,
        test=test,
        feature_names=_feature_names(entry),
        target_names=entry.target_names,
        image_shape=entry.image_shape,
        image_order=entry.image_order,
        domain=entry.domain,
        description=entry.description,
        origin=entry.origin,
        license=entry.license,
    )


def _feature_names(entry: PublicSet) -> tuple[str, ...]:
    """Name pixels by row and column of the upright image, other features by number."""
    if entry.image_shape is None:
        return tuple(f"{entry.feature_prefix}_{number}" for number in range(entry.n_features))
    rows, columns = np.unravel_index(
        np.arange(entry.n_features), entry.image_shape, order=entry.image_order
    )
    return tuple(
        f"{entry.feature_prefix}_{row}_{column}" for row, column in zip(rows, columns, strict=True)
    )
