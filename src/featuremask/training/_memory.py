"""Memory that could not be had, told in one way whatever asked for it."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from featuremask.exceptions import OutOfMemoryError
from featuremask.sources import Source

__all__ = ["out_of_memory_told"]

_ARRAYS_A_WEIGHT = 4
_ARRAYS_A_BATCH = 3
_BYTES = 4


@contextmanager
def out_of_memory_told(source: Source, batch_size: int, n_weights: int) -> Iterator[None]:
    """Turn the errors of NumPy and PyTorch into one that says what was needed for what.

    Nothing is tried again by itself: another batch size is another result.

    Parameters
    ----------
    source : Source
        The training rows.
    batch_size : int
    n_weights : int
        Of gate and network, about.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not _is_lack_of_memory(error):
            raise
        raise OutOfMemoryError(_said(source, batch_size, n_weights)) from error


def _is_lack_of_memory(error: Exception) -> bool:
    known = isinstance(error, MemoryError | torch.OutOfMemoryError)
    return known or "DefaultCPUAllocator" in str(error)


def _said(source: Source, batch_size: int, n_weights: int) -> str:
    batch = batch_size * source.n_features
    return (
        f"Memory ran out while fitting {source.n_rows} rows of {source.n_features} features: "
        f"about {_megabytes(_ARRAYS_A_WEIGHT * n_weights)} for weights, gradients and the "
        f"optimizer, about {_megabytes(_ARRAYS_A_BATCH * batch)} for a batch of {batch_size} rows. "
        f"Try batch_size={max(1, batch_size // 2)}, smaller networks, or fewer jobs at a time."
    )


def _megabytes(numbers: int) -> str:
    return f"{_BYTES * numbers / 2**20:,.0f} MB"
