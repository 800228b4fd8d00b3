"""Read the rows and labels of a MATLAB file without trusting it."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._content import describe_start
from featuremask.datasets._dataset import Matrix
from featuremask.datasets._mat5 import HEADER_BYTES, Variable, variables
from featuremask.exceptions import FileFormatError

__all__ = ["read_mat", "read_mat_arrays"]

_MATRICES = frozenset({"numeric", "sparse"})
_HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"


def read_mat(
    path: Path, *, x_key: str = "X", y_key: str = "Y", max_bytes: int
) -> tuple[Matrix, NDArray[Any]]:
    """Read a matrix and a vector of labels from a MATLAB file of version 5 to 7.

    Parameters
    ----------
    path : Path
        The file.
    x_key, y_key : str, default="X", "Y"
        The variables to read.
    max_bytes : int
        Limit on the file's size, also when inflated.

    Returns
    -------
    X : array or csr_array of shape (n_samples, n_features)
        The matrix in the type in which it is stored; sparse where it is sparse in the file.
    y : array of shape (n_samples,)
        The labels as they are in the file.
    """
    content = _read(path, max_bytes)
    with _damage_told(path):
        found = {variable.name: variable for variable in variables(content, max_bytes)}
        X = _matrix(_pick(found, x_key, path), path, max_bytes)
        y = _vector(_pick(found, y_key, path), path, max_bytes)
    if len(y) != X.shape[0]:
        raise FileFormatError(
            f"{path}: {x_key!r} has {X.shape[0]} rows and {y_key!r} has {len(y)} labels; "
            f"they must be equal"
        )
    return X, y


def read_mat_arrays(path: Path, max_bytes: int) -> dict[str, Matrix]:
    """Read all matrices of real numbers of a MATLAB file of version 5 to 7.

    Parameters
    ----------
    path : Path
        The file.
    max_bytes : int
        Limit on the file's size, also when inflated.

    Returns
    -------
    dict of array or csr_array
        By name; cells, structs, objects and text are passed over.
    """
    content = _read(path, max_bytes)
    with _damage_told(path):
        found = {variable.name: variable for variable in variables(content, max_bytes)}
        return {
            name: _matrix(_pick(found, name, path), path, max_bytes)
            for name, variable in found.items()
            if variable.kind in _MATRICES
        }


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    try:
        yield
    except FileFormatError:
        raise
    except (ValueError, zlib.error) as error:
        raise FileFormatError(
            f"{path} is cut off or damaged, or too large ({error}); get it again"
        ) from error


def _read(path: Path, max_bytes: int) -> bytes:
    """Read a file if it is one of version 5; else say what it is."""
    with path.open("rb") as stream:
        # Not more than there is: Python makes room for all that is asked for.
        content = stream.read(min(os.fstat(stream.fileno()).st_size, max_bytes) + 1)
    if content.startswith((b"MATLAB 7.3", _HDF5_MAGIC)) or content[512:520] == _HDF5_MAGIC:
        raise FileFormatError(
            f"{path} is a MATLAB 7.3 file (HDF5), which is not read; save it again in MATLAB with "
            f"save(..., '-v7'), or as NPZ"
        )
    if not content.startswith(b"MATLAB 5.0 MAT-file") or len(content) < HEADER_BYTES:
        raise FileFormatError(
            f"{path} is not a MATLAB file of version 5 to 7 ({describe_start(content)}); "
            f"get it again"
        )
    if len(content) > max_bytes:
        raise FileFormatError(
            f"{path} holds more than the {max_bytes} bytes that are accepted; raise the limit if "
            f"you trust it"
        )
    return content


def _pick(found: dict[str, Variable], key: str, path: Path) -> Variable:
    """Take a variable that is an array of real numbers with two axes."""
    if key not in found:
        raise FileFormatError(
            f"{path} has no variable {key!r}; it has {sorted(found)}; name the right one"
        )
    variable = found[key]
    if variable.kind not in _MATRICES:
        raise FileFormatError(
            f"{path}: {key!r} is of the kind {variable.kind}; only numeric arrays are read, "
            f"never cells, structs, objects or text"
        )
    if variable.is_complex or len(variable.shape) != 2 or 0 in variable.shape:
        kind = "complex" if variable.is_complex else "real"
        raise FileFormatError(
            f"{path}: {key!r} must be a matrix of real numbers with rows and columns; "
            f"got {kind} numbers of shape {variable.shape}"
        )
    return variable


def _matrix(variable: Variable, path: Path, max_bytes: int) -> Matrix:
    if variable.kind == "numeric":
        values = variable.dense()
        return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    from scipy.sparse import csc_array, csr_array

    if max(variable.shape) * 8 > max_bytes:
        raise FileFormatError(
            f"{path}: {variable.name!r} says it is {variable.shape}, whose index alone has more "
            f"than the {max_bytes} bytes that are accepted"
        )
    parts = [np.array(part, dtype=part.dtype.newbyteorder("=")) for part in variable.sparse_parts()]
    matrix = csc_array(tuple(parts), shape=variable.shape)
    matrix.check_format(full_check=True)
    return csr_array(matrix)


def _vector(variable: Variable, path: Path, max_bytes: int) -> NDArray[Any]:
    if 1 not in variable.shape:
        raise FileFormatError(
            f"{path}: {variable.name!r} must be one row or column; got the shape {variable.shape}"
        )
    matrix: Any = _matrix(variable, path, max_bytes)
    dense: NDArray[Any] = matrix.toarray() if variable.kind == "sparse" else matrix
    return dense.reshape(-1)
