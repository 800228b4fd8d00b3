"""What tells a fit from others, so that it goes on from no checkpoint but its own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import torch

from featuremask._tensorfile import digest_of
from featuremask.selectors._data import Rows
from featuremask.selectors._setup import Setup
from featuremask.training import TrainingOptions

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["identity_of"]

_CHUNK_NUMBERS = 2**22

_NO_PART = (
    "callbacks",
    "checkpoint",
    "device",
    "max_seconds",
    "n_features_to_select",
    "n_jobs",
    "network",
    "random_state",
    "verbose",
    "warm_start",
)
"""Words that change nothing, or that show in the first weights, the model or the seed."""


def identity_of(
    selector: BaseSelector, rows: Rows, setup: Setup, options: TrainingOptions
) -> dict[str, Any]:
    """Return plain values that two fits share only if they are the same fit."""
    words = selector.get_params(deep=False).items()
    return {
        "selector": type(selector).__name__,
        "words": {name: _said(value) for name, value in words if name not in _NO_PART},
        "model": repr(setup.model),
        "seed": options.seed,
        "rows": _digest_of_rows(rows, setup.standardize.work_dtype),
    }


def _said(value: Any) -> str:
    """Return a text that is the same in another process."""
    said = repr(value)
    if " at 0x" in said:  # an address
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return said


def _digest_of_rows(rows: Rows, dtype: torch.dtype) -> str:
    known = rows.source.identity()
    if known is not None:
        return known
    digest = hashlib.sha256()
    size = max(1, _CHUNK_NUMBERS // rows.source.n_features)
    for batch in rows.source.chunks(size, device=torch.device("cpu"), dtype=dtype):
        for part in batch:
            digest.update(b"" if part is None else digest_of(part).encode())
    return digest.hexdigest()
