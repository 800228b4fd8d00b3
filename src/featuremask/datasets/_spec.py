"""The TOML file by which a user describes a dataset of their own."""

import re
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from featuremask.datasets._dataset import Task
from featuremask.datasets._errors import DatasetError
from featuremask.exceptions import FileFormatError, InputError

__all__ = ["FORMATS", "TableSpec", "read_spec"]

FORMATS = {".csv": "csv", ".parquet": "parquet", ".npz": "npz", ".mat": "mat"}
_MAX_TOML_BYTES = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True)
class TableSpec:
    """What a TOML file says about a dataset.

    Parameters
    ----------
    toml_path : Path
        The TOML file itself.
    name : str
        The name for `load`: lower-case letters, digits, ``_`` and ``-``.
    path : Path
        The data; a relative path starts at the TOML file's folder.
    target : str
        The target's column (CSV, Parquet) or array (NPZ, MAT; default "y").
    features : str
        The array of the rows (NPZ, MAT; default "X").
    task : str
        "classification" or "regression"; empty: numbers with fractions mean regression.
    drop : tuple of str
        Columns to leave out (CSV, Parquet).
    sha256 : str
        The expected sum of the data file; empty: not checked.
    max_gigabytes : float
        Limit on the size of the data in memory.
    image_shape : (int, int), optional
        Height and width, when a row is an image.
    description, origin, license : str
        Free text.
    test_size, random_state, stratify
        The table ``[split]``: share of test rows, random state, whether to keep class shares.
    """

    toml_path: Path
    name: str
    path: Path
    target: str = ""
    features: str = "X"
    task: Task | str = ""
    drop: tuple[str, ...] = ()
    sha256: str = ""
    max_gigabytes: float = 4.0
    image_shape: tuple[int, int] | None = None
    description: str = ""
    origin: str = ""
    license: str = ""
    test_size: float = 0.2
    random_state: int = 0
    stratify: bool = True

    @property
    def format(self) -> str:
        """Which reader the data file needs."""
        return FORMATS[self.path.suffix.lower()]

    @property
    def max_bytes(self) -> int:
        """`max_gigabytes` in bytes."""
        return int(self.max_gigabytes * 2**30)


_SPLIT_KEYS: dict[str, tuple[type, ...]] = {
    "test_size": (float,),
    "random_state": (int,),
    "stratify": (bool,),
}
_KEYS: dict[str, tuple[type, ...]] = {
    "max_gigabytes": (float, int),
    "drop": (list,),
    "image_shape": (list,),
    "split": (dict,),
} | {
    field.name: (str,)
    for field in fields(TableSpec)
    if field.name not in {"toml_path", "drop", "image_shape", "max_gigabytes", *_SPLIT_KEYS}
}


def read_spec(toml_path: Path) -> TableSpec:
    """Read and check a TOML file that describes a dataset.

    Parameters
    ----------
    toml_path : Path
        The file.

    Returns
    -------
    TableSpec
        What it says, with paths made absolute.
    """
    toml_path = toml_path.expanduser().resolve()
    said = _parse(toml_path)
    _check_keys(said, _KEYS, f"{toml_path}")
    split = said.pop("split", {})
    _check_keys(split, _SPLIT_KEYS, f"{toml_path}, [split]")
    for key in ("name", "path"):
        if key not in said:
            raise InputError(f'{toml_path} must say {key!r}; add a line {key} = "..."')
    data_path = toml_path.parent / Path(said.pop("path")).expanduser()
    lists: dict[str, Any] = {
        key: tuple(said.pop(key)) for key in ("drop", "image_shape") if key in said
    }
    spec = TableSpec(toml_path=toml_path, path=data_path, **said, **lists, **split)
    _check_values(spec)
    return _with_default_target(spec)


def _parse(toml_path: Path) -> dict[str, Any]:
    if not toml_path.is_file():
        raise DatasetError(
            f"there is no file {toml_path}; name a TOML file that describes a dataset"
        )
    if toml_path.stat().st_size > _MAX_TOML_BYTES:
        raise FileFormatError(
            f"{toml_path} has {toml_path.stat().st_size} bytes; a TOML file that describes a "
            f"dataset has at most {_MAX_TOML_BYTES}"
        )
    try:
        return tomllib.loads(toml_path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FileFormatError(f"{toml_path} is not valid TOML: {error}; correct it") from error


def _check_keys(said: dict[str, Any], known: dict[str, tuple[type, ...]], where: str) -> None:
    unknown = sorted(set(said) - set(known))
    if unknown:
        raise InputError(f"{where} has unknown keys {unknown}; the keys are {sorted(known)}")
    for key, value in said.items():
        if type(value) not in known[key]:
            kinds = " or ".join(kind.__name__ for kind in known[key])
            raise InputError(f"{where}: {key} must be a {kinds}; got {value!r}")


def _check_values(spec: TableSpec) -> None:
    """Check each value alone; the message repeats the rule."""
    shape = spec.image_shape
    rules = [
        (_NAME.fullmatch(spec.name), "name", "1 to 64 of a-z, 0-9, _ and -, no - or _ in front"),
        (spec.path.suffix.lower() in FORMATS, "path", f"a file that ends with one of {[*FORMATS]}"),
        (spec.task in {"", "classification", "regression"}, "task", "classification or regression"),
        (not spec.sha256 or _SHA256.fullmatch(spec.sha256), "sha256", "64 hexadecimal digits"),
        (spec.max_gigabytes > 0, "max_gigabytes", "a number above 0"),
        (all(type(name) is str for name in spec.drop), "drop", "a list of column names"),
        (shape is None or _is_shape(shape), "image_shape", "two whole numbers above 0"),
        (0 < spec.test_size < 1, "test_size", "a number between 0 and 1"),
        (0 <= spec.random_state < 2**32, "random_state", "a whole number from 0 to 2**32 - 1"),
    ]
    for holds, key, rule in rules:
        if not holds:
            raise InputError(f"{spec.toml_path}: {key} must be {rule}; got {getattr(spec, key)!r}")


def _is_shape(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and all(type(side) is int and side > 0 for side in shape)


def _with_default_target(spec: TableSpec) -> TableSpec:
    """Arrays have the usual name "y"; columns have none."""
    if spec.target:
        return spec
    if spec.format in {"csv", "parquet"}:
        raise InputError(
            f'{spec.toml_path} must say which column is the target; add a line target = "..."'
        )
    return replace(spec, target="Y" if spec.format == "mat" else "y")
