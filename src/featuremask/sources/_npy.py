"""Rows of a `.npy` file, read through a memory map."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError
from featuremask.sources._place import Stamp
from featuremask.sources._stored import PIECE_BYTES, WINDOW_BYTES, Stored

__all__ = ["NpySource"]


class NpySource(Stored):
    """Rows of an array in a `.npy` file, which may be larger than memory.

    Parameters
    ----------
    path : path
        A two-dimensional array of real numbers.
    target, sample_weight : path or array-like, optional
        The target and the weight of each row: a `.npy` file, or the numbers themselves.
    window_bytes : int, default=2**27
        About how much is shuffled at a time; as much again is read ahead.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> from featuremask import FeatureMaskSelector
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "x.npy"
    >>> np.save(path, np.random.default_rng(0).normal(size=(50, 4)))
    >>> source = NpySource(path, target=np.arange(50) % 2)
    >>> FeatureMaskSelector(2, max_epochs=3, random_state=0).fit(source).n_features_in_
    4
    >>> folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: Any = None,
        sample_weight: Any = None,
        *,
        window_bytes: int = WINDOW_BYTES,
    ) -> None:
        self.path = Path(path)
        self._stamp = Stamp.of(self.path)
        self._x = _mapped(self.path)
        if self._x.ndim != 2 or self._x.dtype.kind not in "biuf":
            raise InputError(
                f"{str(path)!r} must hold a two-dimensional array of real numbers; got shape "
                f"{self._x.shape} of dtype {self._x.dtype}."
            )
        self._target, self._weight = target, sample_weight
        self.window_bytes = window_bytes
        n_rows, n_columns = self._x.shape
        self.names = None
        self.shape = (n_rows, n_columns)
        self.folder = self.path.parent
        self.whole = np.full(n_columns, self._x.dtype.kind in "iu" and self._x.dtype.itemsize > 2)
        self._step = max(1, PIECE_BYTES // max(1, n_columns * self._x.itemsize))
        self.block_rows = np.diff(np.append(np.arange(0, n_rows, self._step), n_rows))

    def read(self, block: int, columns: NDArray[np.int64] | None = None) -> Iterator[NDArray[Any]]:
        """Yield the rows of a block."""
        self._stamp.check()
        rows = self._x[block * self._step : block * self._step + int(self.block_rows[block])]
        yield np.asarray(rows if columns is None else rows[:, columns])

    def dtype(self, columns: NDArray[np.int64]) -> np.dtype[Any]:
        """Return that of the array."""
        return self._x.dtype.newbyteorder("=")

    def target(self) -> NDArray[Any] | None:
        """Return the target of all rows."""
        return _values(self._target)

    def sample_weight(self) -> NDArray[Any] | None:
        """Return the weights of all rows."""
        return _values(self._weight)

    def with_target(self, target: Any) -> "NpySource":
        """Return the same rows with another target."""
        return NpySource(self.path, target, self._weight, window_bytes=self.window_bytes)

    def header(self) -> NDArray[Any]:
        """Return an array of no rows."""
        return np.empty((0, self.shape[1]))

    @property
    def key(self) -> str:
        """The place of the file."""
        return str(self.path.resolve())

    @property
    def version(self) -> str:
        """Size and time of the file, shape and dtype of the array."""
        return f"{self._stamp} {self._x.shape} {self._x.dtype.str}"


def _mapped(path: Path) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"{str(path)!r} cannot be read as a .npy file of numbers: {error}. It may be cut off, "
            "damaged, or of another kind; write it again with numpy.save."
        ) from error
    return found


def _values(given: Any) -> NDArray[Any] | None:
    if isinstance(given, str | os.PathLike):
        Stamp.of(Path(given))
        return np.array(_mapped(Path(given)))
    return None if given is None else np.asarray(given)
