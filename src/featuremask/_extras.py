"""Libraries that are installed as extras."""

import importlib
from typing import Any

from featuremask.exceptions import MissingExtraError

__all__ = ["needed"]


def needed(module: str, extra: str) -> Any:
    """Import a module of an extra.

    Examples
    --------
    >>> needed("json", "io").dumps(1)
    '1'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{module} is needed and cannot be imported ({error}). Install it: "
            f"pip install 'featuremask[{extra}]'."
        ) from error
