"""A saved selector applied to files."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from featuremask.files import Picks, reduce_files
from featuremask.selectors import load

__all__ = ["apply_selector"]


def apply_selector(
    selector: Path, paths: Iterable[str | Path], out: Path, also: Sequence[str] = ()
) -> int:
    """Copy the columns that a saved selector chose from files to another.

    Parameters
    ----------
    selector : Path
        A file that `save` of a selector wrote.
    paths : iterable of path
        Files, folders or patterns; CSV, Parquet and Feather files stream through memory.
    out : Path
        Where to write, of the same kind.
    also : sequence of str
        More columns (or arrays of an archive) to copy.

    Returns
    -------
    int
        The number of rows.
    """
    fitted = load(selector)
    places = np.flatnonzero(fitted.support_).tolist()
    known = getattr(fitted, "feature_names_in_", None)
    names = None if known is None else tuple(str(known[place]) for place in places)
    picks = Picks(tuple(places), fitted.n_features_in_, names, tuple(also))
    return reduce_files(paths, out, picks)
