"""Training on the columns that may still pass, at the cost of these columns alone."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from featuremask.networks._gated import GatedNetwork

__all__ = ["Compaction"]

_PLAIN_OPTIMIZERS = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD)
"""Those whose state has the shape of the parameter, entry by entry."""


class Compaction:
    """A gated network and its optimizer without the columns that their gate has shut for good.

    A column that is cut off is gone for the network and for the gate: the numbers are those of
    rows with a zero there, and its weights are zero afterwards. The network must be one that folds
    the mask into its first layer, and the gate one that shuts columns.

    Parameters
    ----------
    model : GatedNetwork
    optimizer : torch.optim.Optimizer
    by_column : bool, default=False
        Lay out the first layers' weights column after column meanwhile, as sparse rows want them.
    """

    def __init__(
        self,
        model: GatedNetwork,
        optimizer: torch.optim.Optimizer,
        *,
        by_column: bool = False,
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._axes = model.column_axes() if isinstance(optimizer, _PLAIN_OPTIMIZERS) else []
        self._by_column = by_column
        self._whole: list[tuple[Tensor, int, Tensor, dict[str, Tensor]]] = []

    @torch.no_grad()
    def cut(self) -> None:
        """Cut off what is shut by now."""
        columns = self._model.gate.passing_columns() if self._axes else None
        if columns is not None and not self._is_cut_to(columns):
            self._put_back()
            self._cut_to(columns)
        if self._by_column:
            self._lay(lambda values: values.t().contiguous().t())

    def _cut_to(self, columns: Tensor) -> None:
        for parameter, axis in self._axes:
            state = self._state_of(parameter)
            self._whole.append((parameter, axis, torch.zeros_like(parameter), dict(state)))
            parameter.grad = None
            parameter.data = _taken(parameter.data, axis, columns)
            for name, value in state.items():
                self._optimizer.state[parameter][name] = _taken(value, axis, columns)
        self._model.enter(columns)

    @torch.no_grad()
    def restore(self) -> None:
        """Put the columns back, those that were cut off with weights of zero."""
        self._put_back()
        if self._by_column:
            self._lay(Tensor.contiguous)

    def _lay(self, out: Callable[[Tensor], Tensor]) -> None:
        """Lay out the weights of the first layers, and what the optimizer keeps of them."""
        for parameter, axis in self._axes:
            if axis == 1:
                parameter.grad = None
                for name, value in self._state_of(parameter).items():
                    self._optimizer.state[parameter][name] = out(value)
                parameter.data = out(parameter.data)

    def _put_back(self) -> None:
        columns = self._model.columns
        if columns is None:
            return
        for parameter, axis, whole, state in self._whole:
            parameter.grad = None
            parameter.data = _put(whole, axis, columns, parameter.data)
            for name, value in state.items():
                part = self._optimizer.state[parameter][name]
                self._optimizer.state[parameter][name] = _put(value, axis, columns, part)
        self._whole.clear()
        self._model.enter(None)

    def _is_cut_to(self, columns: Tensor) -> bool:
        now = self._model.columns
        return now is not None and now.shape == columns.shape

    def _state_of(self, parameter: Tensor) -> dict[str, Any]:
        state = self._optimizer.state.get(parameter, {})
        return {
            name: value
            for name, value in state.items()
            if isinstance(value, Tensor) and value.shape == parameter.shape
        }


def _taken(values: Tensor, axis: int, columns: Tensor) -> Tensor:
    """Return the values at columns along an axis; of stacked members, at the columns of each."""
    if columns.ndim == 1:
        return values.index_select(axis, columns)
    return values.gather(axis, _spread(columns, axis, values))


def _put(whole: Tensor, axis: int, columns: Tensor, part: Tensor) -> Tensor:
    """Write the values at columns along an axis."""
    if columns.ndim == 1:
        return whole.index_copy_(axis, columns, part)
    return whole.scatter_(axis, _spread(columns, axis, whole), part)


def _spread(columns: Tensor, axis: int, values: Tensor) -> Tensor:
    """Return the columns of each member for all values along the other axes."""
    shape, size = [1] * values.ndim, list(values.shape)
    shape[0], shape[axis] = columns.shape
    size[axis] = columns.shape[-1]
    return columns.view(shape).expand(size)
