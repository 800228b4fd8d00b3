"""Content addresses: the name of a run follows from all that decides its result."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from featuremask.exceptions import InputError

__all__ = ["RESULTS_VERSION", "canonical", "key_of"]

RESULTS_VERSION = 1
"""Raised when the results of all methods change, so that no old record is taken for a new one.

A change of one selector raises the `revision` of its method instead, a change of one classifier or
measure that of its own. The versions of the libraries are recorded with each run but are not part
of its key: an upgrade does not throw away hours of results that still hold, and whether they hold
is seen by running some of them again.
"""

_LENGTH = 20


def canonical(value: Any) -> str:
    """Return JSON that is the same for equal values, whatever the order of their keys."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"What identifies a run must be plain finite values, as TOML has them; {error}."
        ) from error


def key_of(identity: Mapping[str, Any]) -> str:
    """Return the key of what identifies a run: the start of a SHA-256, 80 bits.

    Examples
    --------
    >>> key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1})
    True
    """
    return hashlib.sha256(canonical(dict(identity)).encode()).hexdigest()[:_LENGTH]
