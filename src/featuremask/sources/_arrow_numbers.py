"""Columns of Arrow as numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask._extras import needed
from featuremask.exceptions import InputTypeError

__all__ = ["check_numbers", "is_wide_integer", "numbers_of", "values_of"]


def check_numbers(name: str, kind: Any, where: str) -> None:
    """Raise unless the type of a column is one of numbers."""
    types = needed("pyarrow.types", "io")
    if types.is_boolean(kind) or _is_plain(kind) or types.is_decimal(kind):
        return
    raise InputTypeError(
        f"The column {name!r} of {where} holds {kind}; features must be numbers. Leave it out with "
        f"drop=[{name!r}], or store it as numbers."
    )


def is_wide_integer(kind: Any) -> bool:
    """Whether a type holds integers of more than 16 bits."""
    return bool(needed("pyarrow.types", "io").is_integer(kind)) and kind.bit_width > 16


def numbers_of(batch: Any) -> NDArray[Any]:
    """Return a record batch of numbers as rows of float32 or float64, gaps as NaN.

    Examples
    --------
    >>> import pyarrow
    >>> numbers_of(pyarrow.record_batch({"a": [1, None], "b": [True, False]}))
    array([[ 1.,  1.],
           [nan,  0.]])
    """
    arrow = needed("pyarrow", "io")
    plain = [_plain(column) for column in batch.columns]
    kinds = {str(column.type) for column in plain}
    if len(kinds) > 1 and "halffloat" in kinds:
        plain = [c.cast(arrow.float32()) if str(c.type) == "halffloat" else c for c in plain]
    names = [str(i) for i in range(len(plain))]
    tensor = arrow.RecordBatch.from_arrays(plain, names=names).to_tensor(
        null_to_nan=True, row_major=True
    )
    found: NDArray[Any] = tensor.to_numpy()
    return found


def values_of(column: Any) -> NDArray[Any]:
    """Return a chunked column of any plain type as an array; text as objects that are shared."""
    types = needed("pyarrow.types", "io")
    column = column.combine_chunks()
    if not (types.is_dictionary(column.type) or _is_text(column.type)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    if _is_text(column.type):
        column = column.dictionary_encode()
    words = np.asarray(column.dictionary.to_numpy(zero_copy_only=False))
    return np.asarray(words[column.indices.to_numpy(zero_copy_only=False)])


def _is_text(kind: Any) -> bool:
    types = needed("pyarrow.types", "io")
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_plain(kind: Any) -> bool:
    types = needed("pyarrow.types", "io")
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _plain(column: Any) -> Any:
    arrow = needed("pyarrow", "io")
    if arrow.types.is_boolean(column.type):
        return column.cast(arrow.uint8())
    if arrow.types.is_decimal(column.type):
        return column.cast(arrow.float64())
    return column
