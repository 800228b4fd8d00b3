"""Centering and scaling of columns, as the first layer of a fitted network."""

import math
from typing import Any, cast

import torch
from torch import Tensor, nn

from featuremask.sources import as_sparse

__all__ = ["Standardize"]

_FAR = 1000.0
_SMALL = 1e-32


class Standardize(nn.Module):
    """Subtract a mean and divide by a scale, for each column; bring far values back into a bound.

    Where a column lies far from zero, measured by its scale, the subtraction is done in float64:
    in float32 little of the column would be left. So is all of it where a scale is so small that
    float32 would lose digits of the values.

    Parameters
    ----------
    mean, scale : Tensor of shape (n_features,)
        Of the training rows. A scale is positive.
    columns : Tensor of shape (n_features,), optional
        The columns of the input that are used, in this order; all if None.
    dtype : torch.dtype, default=torch.float32
        Of the output.
    bound : float, default=math.inf
        Values of larger magnitude, after scaling, become this one.

    Attributes
    ----------
    work_dtype : torch.dtype
        In which rows should come.
    """

    mean: Tensor
    scale: Tensor
    columns: Tensor | None
    inverse: Tensor
    shift: Tensor
    bound: Tensor

    def __init__(
        self,
        mean: Tensor,
        scale: Tensor,
        columns: Tensor | None = None,
        dtype: torch.dtype = torch.float32,
        *,
        bound: float = math.inf,
    ) -> None:
        super().__init__()
        far = bool((mean.abs() > _FAR * scale).any() or (scale < _SMALL).any())
        self.dtype = dtype
        self.work_dtype = torch.float64 if far else dtype
        mean, scale = mean.to(self.work_dtype), scale.to(self.work_dtype)
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)
        self.register_buffer("columns", columns)
        self.register_buffer("bound", torch.tensor(bound, dtype=torch.float64))
        self.register_buffer("inverse", 1.0 / scale, persistent=False)
        self.register_buffer("shift", -mean / scale, persistent=False)
        self._bound = bound

    def _load_from_state_dict(
        self, state_dict: dict[str, Tensor], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        # Files of earlier versions know of no bound.
        state_dict.setdefault(prefix + "bound", torch.tensor(math.inf, dtype=torch.float64))
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)
        self._bound = float(self.bound)
        self.inverse.copy_(1.0 / self.scale)
        self.shift.copy_(-self.mean / self.scale)

    def forward(self, x: Tensor) -> Tensor:
        """Return the standardized columns of whole rows.

        **Shape**: (rows, all columns) to (rows, n_features).
        """
        if self.columns is not None:
            x = x[:, self.columns]
        x = x.to(self.work_dtype)
        return self._bounded(torch.addcmul(self.shift, x, self.inverse)).to(self.dtype)

    def apply_(self, x: Tensor) -> Tensor:
        """Standardize a batch of just the used columns, in place unless the dtype changes."""
        rows = as_sparse(x)
        if rows is not None:
            return cast(Tensor, rows.standardized(self.inverse, self.shift, self._bound))
        torch.addcmul(self.shift, x, self.inverse, out=x)
        return self._bounded(x).to(self.dtype)

    def _bounded(self, x: Tensor) -> Tensor:
        """Bring values back into the bound, in place."""
        return x if self._bound == math.inf else x.clamp_(-self._bound, self._bound)
