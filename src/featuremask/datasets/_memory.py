"""Which datasets of the user's own are known: in this process, and in their config folder.

In the config folder each dataset is one file, called by its name, that holds the path of its TOML
file. A file appears whole or not at all, and the first process to write a name wins.
"""

import os
import tempfile
from pathlib import Path

from featuremask.datasets._errors import DatasetError
from featuremask.datasets._places import config_folder
from featuremask.exceptions import InputError

__all__ = ["forget", "known_sets", "remember_set"]

_IN_PROCESS: dict[str, Path] = {}
_MAX_PATH_BYTES = 1 << 14


def known_sets() -> dict[str, Path]:
    """Give the TOML file of every registered dataset.

    Returns
    -------
    dict of Path
        By name; this process's own registrations win over those of the config folder.
    """
    folder = config_folder()
    on_disk = {
        entry.name: Path(entry.read_text(encoding="utf-8"))
        for entry in (folder.iterdir() if folder.is_dir() else ())
        if _is_registration(entry)
    }
    return on_disk | _IN_PROCESS


def remember_set(name: str, toml_path: Path, *, on_disk: bool) -> None:
    """Remember a dataset.

    Parameters
    ----------
    name : str
        A checked name, safe as the name of a file.
    toml_path : Path
        Its TOML file, absolute.
    on_disk : bool
        Whether other processes shall know it, too.
    """
    if on_disk:
        _write(name, toml_path)
    else:
        _IN_PROCESS[name] = toml_path


def forget(name: str) -> None:
    """Forget a dataset, in this process and on disk.

    Parameters
    ----------
    name : str
        A key of `known_sets`.
    """
    _IN_PROCESS.pop(name, None)
    (config_folder() / name).unlink(missing_ok=True)


def _is_registration(entry: Path) -> bool:
    return (
        not entry.name.startswith(".")
        and entry.is_file()
        and entry.stat().st_size <= _MAX_PATH_BYTES
    )


def _write(name: str, toml_path: Path) -> None:
    """Write beside the place, then link: a link fails where the name is taken."""
    folder = config_folder()
    temporary = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(os.fspath(toml_path))
            stream.flush()
            os.fsync(stream.fileno())
        os.link(temporary, folder / name)
    except FileExistsError as error:
        raise InputError(
            f"a dataset {name!r} is registered already in {folder}; choose another name"
        ) from error
    except OSError as error:
        raise DatasetError(
            f"{folder} cannot be written ({error}); register without remember=True"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
