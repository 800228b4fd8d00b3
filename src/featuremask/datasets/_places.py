"""Where files are looked for and kept: the data folder, then the user's cache."""

import os
from pathlib import Path

from featuremask.datasets._errors import DatasetError

__all__ = ["cache_folder", "candidates", "config_folder", "data_folder", "find_file"]


def data_folder() -> Path | None:
    """Give the folder named by ``FEATUREMASK_DATA``; it is read, never written.

    Returns
    -------
    Path or None
        None when the variable is not set.
    """
    value = os.environ.get("FEATUREMASK_DATA")
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        raise DatasetError(
            f"the environment variable FEATUREMASK_DATA must name a folder; {value!r} is none; "
            f"create the folder or unset the variable"
        )
    return folder


def cache_folder() -> Path:
    """Give the folder where downloads are kept; it need not exist yet.

    Returns
    -------
    Path
        ``$FEATUREMASK_CACHE/datasets``, else ``$XDG_CACHE_HOME/featuremask/datasets``, else
        ``~/.cache/featuremask/datasets``.
    """
    value = os.environ.get("FEATUREMASK_CACHE")
    root = Path(value).expanduser() if value else _user_folder("XDG_CACHE_HOME", ".cache")
    return root / "datasets"


def config_folder() -> Path:
    """Give the folder that remembers the user's own datasets; it need not exist yet.

    Returns
    -------
    Path
        ``$XDG_CONFIG_HOME/featuremask/datasets``, else ``~/.config/featuremask/datasets``.
    """
    return _user_folder("XDG_CONFIG_HOME", ".config") / "datasets"


def candidates(path: str) -> list[Path]:
    """List the places of a file, in the order in which they are tried.

    Parameters
    ----------
    path : str
        The file's place below a data folder. One that ends with ``.gz`` may also lie there
        inflated, without the ending.

    Returns
    -------
    list of Path
        In the data folder, if there is one, then in the cache.
    """
    names = [path, path.removesuffix(".gz")] if path.endswith(".gz") else [path]
    folders = [folder for folder in (data_folder(), cache_folder()) if folder is not None]
    return [folder / name for folder in folders for name in names]


def find_file(path: str) -> Path | None:
    """Find a file in the data folder or the cache.

    Parameters
    ----------
    path : str
        The file's place below a data folder.

    Returns
    -------
    Path or None
        The first that exists.
    """
    return next((place for place in candidates(path) if place.is_file()), None)


def _user_folder(variable: str, default: str) -> Path:
    value = os.environ.get(variable)
    return (Path(value) if value else Path.home() / default) / "featuremask"
