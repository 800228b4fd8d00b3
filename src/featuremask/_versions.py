"""Versions of installed packages."""

import importlib.metadata

__all__ = ["installed_version"]


def installed_version(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed.

    Examples
    --------
    >>> installed_version("no-such-package") is None
    True
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
