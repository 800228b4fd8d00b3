"""Features whose gate is open from the start."""

from collections.abc import Iterable

import torch
from torch import Tensor

from featuremask.exceptions import InputError

__all__ = ["hold_open", "kept_positions"]


def kept_positions(
    must_keep: Iterable[int], n_features: int, device: torch.device | str | None = None
) -> Tensor | None:
    """Return the positions of the features to keep, ascending; None if there are none.

    Examples
    --------
    >>> kept_positions([3, 1], 5)
    tensor([1, 3])
    """
    positions = sorted(set(must_keep))
    for position in positions:
        if not 0 <= position < n_features:
            raise InputError(
                f"must_keep holds indices of features, 0 to {n_features - 1}; got {position!r}."
            )
    return torch.tensor(positions, device=device) if positions else None


def hold_open(multiplier: Tensor, kept: Tensor | None) -> Tensor:
    """Return the multiplier with 1 for the features to keep.

    **Shape**: (n_features,) or (rows, n_features), as the multiplier.
    """
    return multiplier if kept is None else multiplier.index_fill(-1, kept, 1.0)
