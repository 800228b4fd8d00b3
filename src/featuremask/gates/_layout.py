"""Which axes of the input are masked, and which features share an entry of the mask."""

import math
import operator
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featuremask.exceptions import InputError

__all__ = ["Layout", "entries_of"]


@dataclass(frozen=True)
class Layout:
    """The masked axes of an input and their sizes.

    Attributes
    ----------
    shape : tuple of int
        Sizes of the masked axes.
    dims : tuple of int
        The masked axes, in the order of `shape`.
    """

    shape: tuple[int, ...]
    dims: tuple[int, ...]

    @classmethod
    def of(cls, n_features: int | tuple[int, ...], dims: int | tuple[int, ...] | None) -> "Layout":
        """Read the arguments of a layer."""
        sizes = n_features if isinstance(n_features, tuple | list) else (n_features,)
        shape = tuple(_size(n) for n in sizes)
        if not shape or min(shape) < 1:
            raise InputError(
                f"n_features must be a positive integer or a tuple of them; got {n_features!r}."
            )
        if dims is None:
            dims = tuple(range(-len(shape), 0))
        elif isinstance(dims, int):
            dims = (dims,)
        if len(dims) != len(shape) or len(set(dims)) != len(dims):
            raise InputError(
                f"dims must name one axis for each size of n_features={shape}; got {dims!r}."
            )
        if 0 in dims:
            raise InputError(f"dims names masked axes, and axis 0 holds the rows; got {dims!r}.")
        return cls(shape, tuple(dims))

    @property
    def size(self) -> int:
        """Number of features: positions along the masked axes."""
        return math.prod(self.shape)

    @property
    def is_plain(self) -> bool:
        """Whether the last axis alone is masked."""
        return self.dims == (-1,)

    @property
    def _tail(self) -> tuple[int, ...]:
        return tuple(range(-len(self.shape), 0))

    def check(self, x: Tensor) -> None:
        """Raise if the input does not have the masked axes."""
        if self.is_plain:
            fits = x.ndim >= 2 and x.shape[-1] == self.shape[0]
        else:
            fits = all(-x.ndim < dim < x.ndim for dim in self.dims)
            axes = {dim % x.ndim for dim in self.dims} if fits else set()
            fits = len(axes) == len(self.dims) and self.shape == tuple(
                x.shape[dim] for dim in self.dims
            )
        if not fits:
            raise InputError(
                f"The input must have sizes {self.shape} along the axes {self.dims} and a batch "
                f"axis before them; got x.shape={tuple(x.shape)}."
            )

    def rows(self, x: Tensor, sample_weight: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Return the input as rows of features, and the weight of each row.

        **Shape**: ``(rows, size)`` and ``(rows,)``.
        """
        self.check(x)
        if self.is_plain and x.ndim == 2:
            return x, sample_weight
        rows = x.movedim(self.dims, self._tail).reshape(-1, self.size)
        if sample_weight is not None:
            sample_weight = sample_weight.repeat_interleave(rows.shape[0] // x.shape[0])
        return rows, sample_weight

    def multiply(self, x: Tensor, multiplier: Tensor) -> Tensor:
        """Return the input times a multiplier of shape ``(size,)`` or ``(rows, size)``."""
        if self.is_plain and x.ndim == 2:
            return x * multiplier
        moved = x.movedim(self.dims, self._tail)
        target = self.shape if multiplier.ndim == 1 else moved.shape
        return (moved * multiplier.reshape(target)).movedim(self._tail, self.dims)


def entries_of(groups: Sequence[Hashable] | None, n_features: int) -> tuple[Tensor | None, int]:
    """Return the entry that each feature belongs to, and the number of entries.

    Entries are numbered by first appearance; None stands for one entry a feature.

    Examples
    --------
    >>> entries_of(["size", "color", "color"], 3)
    (tensor([0, 1, 1]), 2)
    """
    if groups is None:
        return None, n_features
    groups = list(groups)
    if len(groups) != n_features:
        raise InputError(
            f"feature_groups must have one label for each of the {n_features} features; "
            f"got {len(groups)} labels."
        )
    number: dict[Hashable, int] = {}
    entries = [number.setdefault(label, len(number)) for label in groups]
    return torch.tensor(entries, device="cpu"), len(number)


def _size(n: Any) -> int:
    """Return a size as an int; 0 if it is none."""
    try:
        return operator.index(n)
    except TypeError:
        return 0
