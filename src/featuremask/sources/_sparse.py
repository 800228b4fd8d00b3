"""Rows that are mostly zero: what a batch of them is, and how it is multiplied."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from featuremask._gradients import gradient_memory, passed_on
from featuremask._tall import tall_product
from featuremask.exceptions import InputError

__all__ = ["SparseRows", "as_sparse"]

_ENTRIES_AT_ONCE = 2**16
"""Entries whose part of a gradient is made at a time, so that memory stays bounded."""


class SparseRows:
    """Rows with a few stored entries each, and one row that is added to all of them.

    It stands for the tensor ``stored + shift``, of which only the stored entries are held: rows
    that were centered stay sparse, ``(x - mu) W' = x W' - mu W'``. It takes the place of a tensor
    where it is multiplied by a vector or passed to a dense layer, and raises elsewhere. A gate
    that does no more than that with its input says so by `MaskGate.takes_sparse`.

    Parameters
    ----------
    offsets : Tensor of int64, shape (rows + 1,)
        Where the entries of each row begin and end.
    columns, values : Tensor of shape (n_entries,)
    n_columns : int
    shift : Tensor of shape (n_columns,), optional
        None stands for zeros.

    Examples
    --------
    >>> rows = SparseRows(torch.tensor([0, 1, 3]), torch.tensor([2, 0, 1]), torch.ones(3), 3)
    >>> (rows * torch.tensor([1.0, 2.0, 3.0])).dense()
    tensor([[0., 0., 3.],
            [1., 2., 0.]])
    >>> torch.nn.functional.linear(rows, torch.ones(1, 3))
    tensor([[1.],
            [2.]])
    """

    ndim = 2

    def __init__(
        self,
        offsets: Tensor,
        columns: Tensor,
        values: Tensor,
        n_columns: int,
        shift: Tensor | None = None,
    ) -> None:
        self.offsets = offsets
        self.columns = columns
        self.values = values
        self.shape = torch.Size((offsets.numel() - 1, n_columns))
        self.shift = shift

    @property
    def row_of(self) -> Tensor:
        """The row that each entry belongs to."""
        return torch.repeat_interleave(self.offsets.diff())

    def __len__(self) -> int:
        return self.shape[0]

    def __mul__(self, multiplier: Tensor) -> "SparseRows":
        """Return the rows with each column multiplied by a number."""
        values = self.values * multiplier.index_select(0, self.columns)
        return self._with(values, None if self.shift is None else self.shift * multiplier)

    def standardized(self, inverse: Tensor, shift: Tensor, bound: float = math.inf) -> "SparseRows":
        """Return the rows times a vector, plus another one, no number farther from zero than this.

        A stored entry is what a number differs from that of a zero, so that zeros stay unstored.
        """
        rows = self * inverse
        shift = shift if rows.shift is None else rows.shift + shift
        if bound == math.inf:
            return rows._with(rows.values, shift)
        zero = shift.clamp(-bound, bound)
        full = rows.values + shift.index_select(0, rows.columns)
        return rows._with(full.clamp_(-bound, bound) - zero.index_select(0, rows.columns), zero)

    def index_select(self, dim: int, columns: Tensor) -> "SparseRows":
        """Return the rows with these columns alone, which ascend."""
        if dim != 1:
            raise InputError(f"Sparse rows are cut by columns, dim=1; got dim={dim!r}.")
        place = columns.new_full((self.shape[1],), -1)
        place[columns] = torch.arange(len(columns), device=columns.device)
        place = place[self.columns]
        stay = place >= 0
        before = functional.pad(stay.cumsum(0), (1, 0))
        return SparseRows(
            before[self.offsets],
            place[stay],
            self.values[stay],
            len(columns),
            None if self.shift is None else self.shift[columns],
        )

    def to(self, device: torch.device) -> "SparseRows":
        """Return the rows on a device."""
        return SparseRows(
            self.offsets.to(device),
            self.columns.to(device),
            self.values.to(device),
            self.shape[1],
            None if self.shift is None else self.shift.to(device),
        )

    def abs(self) -> Tensor:
        """Return the absolute values of the stored entries."""
        return self.values.abs()

    def row(self, i: int) -> Tensor:
        """Return one row as a dense vector."""
        part = slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        row = self.values.new_zeros(self.shape[1]).index_add_(
            0, self.columns[part], self.values[part]
        )
        return row if self.shift is None else row + self.shift

    def dense(self) -> Tensor:
        """Return all numbers."""
        rows = self.values.new_zeros(self.shape)
        rows.index_put_((self.row_of, self.columns), self.values, accumulate=True)
        return rows if self.shift is None else rows + self.shift

    def _with(self, values: Tensor, shift: Tensor | None) -> "SparseRows":
        return SparseRows(self.offsets, self.columns, values, self.shape[1], shift)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Multiply by the weights of a dense layer; nothing else is known."""
        if func is not functional.linear:
            raise InputError(
                f"Sparse rows go through a dense layer first; got {getattr(func, '__name__', func)}"
                ". Pass a dense array, or fit with a gate and network that begin so."
            )
        return _linear(*args, **(kwargs or {}))


def _linear(input: SparseRows, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    product: Tensor = _Product.apply(input.values, input.shift, weight, input)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    return product if bias is None else product + bias


def as_sparse(x: object) -> SparseRows | None:
    """Return what stands in for a tensor as what it is; None if it is a tensor."""
    return x if isinstance(x, SparseRows) else None


class _Product(torch.autograd.Function):
    """Sparse rows times weights: the cost of the stored entries, and of one row for the shift."""

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, shift: Tensor | None, weight: Tensor, rows: SparseRows
    ) -> Tensor:
        ctx.save_for_backward(values, shift, weight)
        ctx.rows = rows
        product = functional.embedding_bag(
            rows.columns,
            weight.t().contiguous(),
            rows.offsets,
            mode="sum",
            per_sample_weights=values,
            include_last_offset=True,
        )
        return product if shift is None else product.add_(weight @ shift)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        values, shift, weight = ctx.saved_tensors
        rows, gradient = ctx.rows, grad_outputs[0].contiguous()
        row_of, total = rows.row_of, gradient.sum(0)
        of_values = of_shift = of_weight = None
        table = weight.t().contiguous()
        if ctx.needs_input_grad[0]:
            of_values = torch.ops.aten._embedding_bag_per_sample_weights_backward(
                gradient, table, rows.columns, rows.offsets[:-1], row_of, 0
            )
        if ctx.needs_input_grad[1]:
            of_shift = tall_product(table, total)
        if ctx.needs_input_grad[2]:
            memory = gradient_memory(weight)
            whole = memory.t()
            if shift is None:
                whole.zero_()
            else:
                torch.outer(shift, total, out=whole)
            _add_entries(whole, rows.columns, row_of, values, gradient)
            of_weight = passed_on(weight, memory)
        return of_values, of_shift, of_weight, None


def _add_entries(
    whole: Tensor, columns: Tensor, row_of: Tensor, values: Tensor, gradient: Tensor
) -> None:
    """Add each entry's value times the gradient of its row to the place of its column."""
    for start in range(0, columns.numel(), _ENTRIES_AT_ONCE):
        part = slice(start, start + _ENTRIES_AT_ONCE)
        terms = gradient.index_select(0, row_of[part]).mul_(values[part, None])
        whole.index_add_(0, columns[part], terms)
