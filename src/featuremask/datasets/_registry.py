"""The user's own datasets: a name and the TOML file that describes it."""

import os
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from featuremask.datasets._builtin import BUILTIN_SETS, with_common_split
from featuremask.datasets._catalog import PUBLIC_SETS
from featuremask.datasets._content import check_sha256
from featuremask.datasets._dataset import Dataset, Task
from featuremask.datasets._errors import DatasetError
from featuremask.datasets._memory import forget, known_sets, remember_set
from featuremask.datasets._spec import TableSpec, read_spec
from featuremask.datasets._tabular import read_table
from featuremask.exceptions import InputError

__all__ = ["fetch_own", "load_own", "own_spec", "own_specs", "register", "unregister"]


def register(toml_path: str | os.PathLike[str], *, remember: bool = False) -> str:
    r"""Add a dataset of your own, described by a small TOML file.

    The file says at least ``name``, ``path`` (CSV, Parquet, NPZ or MAT; relative to the TOML file)
    and, for a table, the ``target`` column. Further keys are ``task``, ``drop``, ``features``,
    ``sha256``, ``max_gigabytes``, ``image_shape``, ``description``, ``origin``, ``license``, and a
    table ``[split]`` with ``test_size``, ``random_state`` and ``stratify``. Any other key is
    refused. The data are read by `load`, not here.

    Parameters
    ----------
    toml_path : str or path
        The TOML file.
    remember : bool, default=False
        Whether later processes of this user know the dataset, too. Else it is known until this
        process ends.

    Returns
    -------
    str
        The dataset's name.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from featuremask.datasets import load, register, unregister
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "dice.npz"), X=np.eye(10), y=np.arange(10) % 2)
    ...     _ = Path(folder, "dice.toml").write_text('name = "dice"\npath = "dice.npz"')
    ...     name = register(Path(folder, "dice.toml"))
    ...     load(name)
    Dataset('dice', 10 x 10, 8 train, 2 test, 2 classes)
    >>> unregister("dice")
    """
    spec = read_spec(Path(toml_path))
    if spec.name in PUBLIC_SETS or spec.name in BUILTIN_SETS:
        raise InputError(
            f"{spec.toml_path}: {spec.name!r} is the name of a dataset of featuremask; "
            f"choose another name"
        )
    known = known_sets()
    if spec.name in known:
        raise InputError(
            f"a dataset {spec.name!r} is registered already, by {known[spec.name]}; choose another "
            f"name, or call unregister({spec.name!r}) first"
        )
    remember_set(spec.name, spec.toml_path, on_disk=remember)
    return spec.name


def unregister(name: str) -> None:
    """Forget a dataset that was registered; its files stay.

    Parameters
    ----------
    name : str
        The name that `register` gave back.
    """
    known = known_sets()
    if name not in known:
        raise InputError(f"no dataset {name!r} is registered; there are {sorted(known)}")
    forget(name)


def own_specs() -> dict[str, TableSpec | Exception]:
    """Read the TOML file of every registered dataset.

    Returns
    -------
    dict
        By name, what the file says, or the error that reading it gave.
    """
    specs: dict[str, TableSpec | Exception] = {}
    for name, toml_path in sorted(known_sets().items()):
        try:
            specs[name] = _checked(name, toml_path)
        except (InputError, DatasetError, ValueError) as error:
            specs[name] = error
    return specs


def own_spec(name: str) -> TableSpec | None:
    """Read the TOML file of one registered dataset.

    Parameters
    ----------
    name : str
        The dataset's name.

    Returns
    -------
    TableSpec or None
        None when no such dataset is registered.
    """
    toml_path = known_sets().get(name)
    return None if toml_path is None else _checked(name, toml_path)


def fetch_own(spec: TableSpec) -> Path:
    """Make sure that the data file is there and has the sum that was promised.

    Parameters
    ----------
    spec : TableSpec
        What the TOML file says.

    Returns
    -------
    Path
        The data file.
    """
    if not spec.path.is_file():
        raise DatasetError(
            f"the dataset {spec.name!r} needs the file {spec.path}, which is not there; put it "
            f"there or correct path in {spec.toml_path}"
        )
    if spec.sha256:
        check_sha256(spec.path, spec.sha256)
    return spec.path


def load_own(spec: TableSpec) -> Dataset:
    """Load a registered dataset.

    Parameters
    ----------
    spec : TableSpec
        What the TOML file says.

    Returns
    -------
    Dataset
        With the split that the TOML file asks for.
    """
    fetch_own(spec)
    X, raw, feature_names = read_table(spec)
    task = _task_of(spec, raw)
    y, target_names = _encode(spec, raw, task)
    if spec.image_shape is not None and np.prod(spec.image_shape) != X.shape[1]:
        raise InputError(
            f"{spec.toml_path}: image_shape must multiply to the {X.shape[1]} features of "
            f"{spec.path}; got {list(spec.image_shape)}"
        )
    return with_common_split(
        name=spec.name,
        X=X,
        y=y,
        task=task,
        test_size=spec.test_size,
        random_state=spec.random_state,
        stratified=spec.stratify,
        feature_names=feature_names,
        target_names=target_names,
        image_shape=spec.image_shape,
        domain="image" if spec.image_shape else "table",
        description=spec.description,
        origin=spec.origin,
        license=spec.license,
    )


def _task_of(spec: TableSpec, raw: NDArray[Any]) -> Task:
    """Say what the target is: as the TOML file says, else by whether it has fractions."""
    if raw.dtype.kind == "f" and not np.isfinite(raw).all():
        raise InputError(
            f"{spec.path}: the target {spec.target!r} must be finite; it has "
            f"{int((~np.isfinite(raw)).sum())} values that are missing or infinite; remove those "
            f"rows"
        )
    if spec.task:
        return cast("Task", spec.task)
    return "regression" if raw.dtype.kind == "f" and (raw % 1).any() else "classification"


def _encode(spec: TableSpec, raw: NDArray[Any], task: Task) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Classes become 0 .. C-1 with their old values as names; real targets stay."""
    if task == "regression":
        if raw.dtype.kind not in "fiub":
            raise InputError(
                f"{spec.path}: a target for regression must be numbers; {spec.target!r} holds "
                f'text such as {str(raw[0])!r}; say task = "classification"'
            )
        return raw.astype(np.float64), ()
    classes, y = np.unique(raw, return_inverse=True)
    if len(classes) < 2:
        raise InputError(
            f"{spec.path}: the target {spec.target!r} has one value only, {classes.tolist()}; "
            f"two classes are needed"
        )
    return y, tuple(_class_name(value) for value in classes.tolist())


def _class_name(value: object) -> str:
    """Whole numbers kept as reals lose their point: 1.0 is class 1."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _checked(name: str, toml_path: Path) -> TableSpec:
    """Read a TOML file again; it may have changed since it was registered."""
    spec = read_spec(toml_path)
    if spec.name != name:
        raise InputError(
            f"{toml_path} was registered as {name!r} and now says name = {spec.name!r}; call "
            f"unregister({name!r}) and register the file again"
        )
    return spec
