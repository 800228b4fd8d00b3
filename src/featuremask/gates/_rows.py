"""Rows as they come to a gate: checked, and taken in blocks."""

from collections.abc import Iterator

from torch import Tensor

from featuremask.exceptions import InputError

__all__ = ["check_rows", "checked_count", "checked_size", "column_blocks", "row_blocks"]

_BLOCK_NUMBERS = 2**20
"""Numbers that a block may hold: a few megabytes, whatever the width of the data."""


def checked_size(n_features: int) -> int:
    """Return the number of features of a gate, if it can be one."""
    return checked_count("n_features", n_features)


def checked_count(name: str, count: int) -> int:
    """Return a number of features, if it can be one."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"{name} must be a positive integer; got {count!r}.")
    return count


def check_rows(x: Tensor, n_features: int) -> None:
    """Raise unless the input is rows of features."""
    if x.ndim < 2 or x.shape[-1] != n_features:
        raise InputError(
            f"The input must be rows of {n_features} features, shape (rows, {n_features}); "
            f"got {tuple(x.shape)}."
        )


def row_blocks(
    x: Tensor, sample_weight: Tensor | None, numbers_a_row: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield a few rows at a time, with the float64 weight of each.

    `numbers_a_row` is how many numbers are made of a row; a block makes about a million.
    """
    weight = _weights(x, sample_weight)
    size = max(1, _BLOCK_NUMBERS // numbers_a_row)
    for start in range(0, x.shape[0], size):
        yield x[start : start + size], weight[start : start + size]


def column_blocks(x: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield a few columns at a time: which ones, and their values.

    **Shape**: the values are (columns, rows), contiguous and in float64.
    """
    size = max(1, _BLOCK_NUMBERS // x.shape[0])
    for start in range(0, x.shape[1], size):
        columns = slice(start, min(start + size, x.shape[1]))
        yield columns, x[:, columns].double().T.contiguous()


def _weights(x: Tensor, sample_weight: Tensor | None) -> Tensor:
    if sample_weight is None:
        return x.new_ones(x.shape[0]).double()
    return sample_weight.double()
