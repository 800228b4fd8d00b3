"""One name, one dataset: the functions over public, built-in and registered datasets."""

import difflib
from pathlib import Path

from featuremask.datasets._builtin import BUILTIN_SETS, load_builtin
from featuremask.datasets._catalog import PUBLIC_SETS
from featuremask.datasets._dataset import Dataset
from featuremask.datasets._places import find_file
from featuremask.datasets._public import fetch_public, load_public
from featuremask.datasets._registry import fetch_own, load_own, own_spec, own_specs
from featuremask.datasets._spec import TableSpec
from featuremask.exceptions import InputError

__all__ = ["available", "fetch", "load", "where"]


def available() -> list[str]:
    """List the names that `load` knows: public, built-in, registered.

    Returns
    -------
    list of str
        The names; that a public one is listed does not mean that its files are here.

    Examples
    --------
    >>> from featuremask.datasets import available
    >>> available()[:5]
    ['mnist', 'fashion-mnist', 'coil20', 'isolet', 'pcmac']
    """
    names = [*PUBLIC_SETS, *BUILTIN_SETS]
    return names + [name for name in own_specs() if name not in names]


def load(name: str, *, download_if_missing: bool = True) -> Dataset:
    """Load a dataset by name.

    Files are looked for in the folder named by the environment variable ``FEATUREMASK_DATA``,
    then in the user's cache, and else downloaded. Every file of a public dataset is compared
    with its SHA-256.

    Parameters
    ----------
    name : str
        A name of `available`.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Dataset
        Rows, targets, names and the fixed split.

    Examples
    --------
    >>> from featuremask.datasets import load
    >>> digits = load("digits")
    >>> digits.X_train.shape, digits.image_shape
    ((1438, 64), (8, 8))
    """
    if name in PUBLIC_SETS:
        return load_public(name, download_if_missing=download_if_missing)
    if name in BUILTIN_SETS:
        return load_builtin(name)
    return load_own(_own(name))


def fetch(name: str, *, force: bool = False) -> list[Path]:
    """Make sure that a dataset's files are on this machine and intact.

    Parameters
    ----------
    name : str
        A name of `available`.
    force : bool, default=False
        Whether to download the files of a public dataset again, into the cache.

    Returns
    -------
    list of Path
        The files; none for a dataset that comes with scikit-learn.

    Examples
    --------
    >>> from featuremask.datasets import fetch
    >>> fetch("wine")
    []
    """
    if name in PUBLIC_SETS:
        return fetch_public(name, force=force)
    if name in BUILTIN_SETS:
        return []
    return [fetch_own(_own(name))]


def where(name: str) -> dict[str, Path | None]:
    """Say where a dataset's files lie; nothing is downloaded or read.

    Parameters
    ----------
    name : str
        A name of `available`.

    Returns
    -------
    dict
        By file name, the file's place, or None where it is missing. Empty for a dataset that
        comes with scikit-learn.

    Examples
    --------
    >>> from featuremask.datasets import where
    >>> where("iris")
    {}
    """
    if name in PUBLIC_SETS:
        return {file.name: find_file(file.path) for file in PUBLIC_SETS[name].files}
    if name in BUILTIN_SETS:
        return {}
    path = _own(name).path
    return {path.name: path if path.is_file() else None}


def _own(name: str) -> TableSpec:
    spec = own_spec(name)
    if spec is None:
        names = available()
        close = difflib.get_close_matches(str(name).lower(), names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise InputError(
            f"there is no dataset {name!r}; {hint}known are {', '.join(names)}; "
            f"add one of your own with register"
        )
    return spec
