"""The chosen columns of files, written to a file without holding the rows in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from featuremask._files import open_atomically
from featuremask.exceptions import InputError
from featuremask.sources import Stored, open_source, write_parquet

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["transform_file"]


def transform_file(
    selector: BaseSelector,
    data: Any,
    path: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
) -> int:
    """Write the columns that a selector has chosen to a file, reading no others.

    Rows go through memory a few megabytes at a time. The file is written whole or not at all.

    Parameters
    ----------
    selector : BaseSelector
        A fitted selector.
    data : path, source, or object with ``__arrow_c_stream__``
        Rows that have these columns. Files with column names are read by name, whatever other
        columns there are.
    path : path
        What to write: ``.parquet``, which keeps the columns' types, or ``.npy``.
    keep : sequence of str, default=()
        Further columns to pass on, before the chosen ones; to Parquet only.

    Returns
    -------
    int
        Number of rows written.

    Examples
    --------
    >>> import pathlib, tempfile, numpy as np
    >>> from featuremask import FeatureMaskSelector
    >>> folder = tempfile.TemporaryDirectory()
    >>> x, out = pathlib.Path(folder.name) / "x.npy", pathlib.Path(folder.name) / "chosen.npy"
    >>> np.save(x, np.random.default_rng(0).normal(size=(50, 4)))
    >>> selector = FeatureMaskSelector(2, max_epochs=3, random_state=0).fit(x)
    >>> transform_file(selector, x, out)
    50
    >>> np.array_equal(np.load(out), selector.transform(np.load(x)))
    True
    >>> folder.cleanup()
    """
    check_is_fitted(selector, "ranking_")
    path = Path(path)
    if path.suffix not in _WRITERS:
        raise InputError(
            f"The file to write must end in {' or '.join(_WRITERS)}; got {str(path)!r}."
        )
    stored, chosen = _chosen(selector, data)
    with open_atomically(path) as file:
        return _WRITERS[path.suffix](stored, chosen, list(keep), file)


def _chosen(selector: BaseSelector, data: Any) -> tuple[Stored, NDArray[np.int64]]:
    """Return the rows, and the places of the selected columns in them."""
    chosen = np.flatnonzero(selector.support_)
    names = getattr(selector, "feature_names_in_", None)
    wanted = None if names is None else [str(name) for name in names[chosen]]
    stored = open_source(data, wanted)
    if stored is None:
        raise InputError(
            "transform_file reads a path, a source or a stream of Arrow; got "
            f"{type(data).__name__}. Use transform for rows in memory."
        )
    if wanted is not None and stored.names is not None:
        lacking = sorted(set(wanted) - set(stored.names))
        if lacking:
            raise InputError(
                f"The data has no column {lacking[0]!r}, which is selected; it has "
                f"{stored.shape[1]} others."
            )
        return stored, np.array([stored.names.index(name) for name in wanted], dtype=np.int64)
    if stored.shape[1] != selector.n_features_in_:
        raise InputError(
            f"The selector was fitted on {selector.n_features_in_} columns; the data has "
            f"{stored.shape[1]}, and no names to tell them apart. Leave the others out."
        )
    return stored, chosen


def _write_npy(stored: Stored, chosen: NDArray[np.int64], keep: list[str], file: BinaryIO) -> int:
    if keep:
        raise InputError("An array has no names: keep passes columns on to Parquet only.")
    dtype = stored.dtype(chosen)
    head = {
        "descr": np.lib.format.dtype_to_descr(dtype),
        "fortran_order": False,
        "shape": (stored.shape[0], len(chosen)),
    }
    np.lib.format.write_array_header_1_0(file, head)
    for block in range(len(stored.block_rows)):
        for x in stored.read(block, chosen):
            file.write(np.ascontiguousarray(x, dtype=dtype).tobytes())
    return stored.shape[0]


_WRITERS = {".parquet": write_parquet, ".npy": _write_npy}
