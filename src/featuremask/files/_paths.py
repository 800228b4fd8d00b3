"""Which files are meant: names, folders and patterns."""

import glob
from collections.abc import Collection, Iterable
from pathlib import Path

from featuremask.exceptions import InputError

__all__ = ["find_files", "suffix_of"]


def suffix_of(path: Path) -> str:
    """Return what the name ends with, in lower case; ``.gz`` counts with what stands before.

    Parameters
    ----------
    path : Path
        A file.

    Returns
    -------
    str
        Such as ".csv" or ".csv.gz".

    Examples
    --------
    >>> suffix_of(Path("a.b.CSV.gz")), suffix_of(Path("a.npz"))
    ('.csv.gz', '.npz')
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return "".join(suffixes[-2:]) if suffixes[-1:] == [".gz"] else "".join(suffixes[-1:])


def find_files(paths: Iterable[str | Path], known: Collection[str]) -> list[Path]:
    """Return the files that names, folders and patterns stand for.

    Parameters
    ----------
    paths : iterable of path
        Files; folders, of which all files with a known ending are taken; patterns with ``*``, for
        shells that do not resolve them.
    known : collection of str
        Endings that can be read.

    Returns
    -------
    list of Path
        In the given order, those of a folder or pattern sorted by name, each once.

    Raises
    ------
    InputError
        If something stands for no file, an ending is unknown, or endings differ.
    """
    found: list[Path] = []
    for given in paths:
        fits = _expanded(Path(given), known)
        if not fits:
            raise InputError(
                f"{str(given)!r} is no file, no folder with files that can be read, and no "
                f"pattern that fits some. Files that can be read end with {', '.join(known)}."
            )
        found += [path for path in fits if path not in found]
    endings = sorted({suffix_of(path) for path in found})
    unknown = [path for path in found if suffix_of(path) not in known]
    if unknown:
        raise InputError(
            f"{str(unknown[0])!r} ends with {suffix_of(unknown[0])!r}; files that can be read end "
            f"with {', '.join(known)}. Rename or convert it."
        )
    if len(endings) > 1:
        raise InputError(f"all files must be of one kind; got {', '.join(endings)}.")
    return found


def _expanded(path: Path, known: Collection[str]) -> list[Path]:
    if path.is_dir():
        inside = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
        return sorted(entry for entry in inside if entry.is_file() and suffix_of(entry) in known)
    if path.exists():
        return [path]
    return [Path(name) for name in sorted(glob.glob(str(path))) if Path(name).is_file()]
