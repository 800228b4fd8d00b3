"""What is known of each dataset without loading it."""

from typing import Any

from featuremask.datasets._builtin import BUILTIN_SETS, LICENSE, ORIGIN
from featuremask.datasets._catalog import PUBLIC_SETS, PublicSet
from featuremask.datasets._places import find_file
from featuremask.datasets._registry import own_specs
from featuremask.datasets._spec import TableSpec

__all__ = ["describe_all"]

_EMPTY: dict[str, Any] = {
    "name": "",
    "kind": "",
    "domain": "table",
    "n_train": None,
    "n_test": None,
    "n_features": None,
    "n_classes": None,
    "is_here": False,
    "files": [],
    "description": "",
    "origin": "",
    "license": "",
}


def describe_all() -> list[dict[str, Any]]:
    """Describe every dataset without loading one.

    Returns
    -------
    list of dict
        One a dataset, with the keys ``name``, ``kind`` ("public", "built-in" or "registered"),
        ``domain``, ``n_train``, ``n_test``, ``n_features``, ``n_classes`` (0: regression; sizes
        are None where only the data tell), ``is_here``, ``files``, ``description``, ``origin``
        and ``license``. A registered dataset whose TOML file cannot be read has the reason as
        its description.

    Examples
    --------
    >>> from featuremask.datasets import describe_all
    >>> [entry["n_features"] for entry in describe_all()][:5]
    [784, 784, 1024, 617, 3289]
    """
    taken = {*PUBLIC_SETS, *BUILTIN_SETS}
    return [
        *map(_public, PUBLIC_SETS.values()),
        *map(_builtin, BUILTIN_SETS),
        *(_own(name, spec) for name, spec in own_specs().items() if name not in taken),
    ]


def _public(entry: PublicSet) -> dict[str, Any]:
    return _EMPTY | {
        "name": entry.name,
        "kind": "public",
        "domain": entry.domain,
        "n_train": entry.n_train,
        "n_test": entry.n_test,
        "n_features": entry.n_features,
        "n_classes": len(entry.target_names),
        "is_here": all(find_file(file.path) for file in entry.files),
        "files": [file.path for file in entry.files],
        "description": entry.description,
        "origin": entry.origin,
        "license": entry.license,
    }


def _builtin(name: str) -> dict[str, Any]:
    n_samples, n_features, n_classes, description = BUILTIN_SETS[name]
    n_test = int(0.2 * n_samples)
    return _EMPTY | {
        "name": name,
        "kind": "built-in",
        "domain": "image" if name == "digits" else "table",
        "n_train": n_samples - n_test,
        "n_test": n_test,
        "n_features": n_features,
        "n_classes": n_classes,
        "is_here": True,
        "description": description,
        "origin": ORIGIN,
        "license": LICENSE,
    }


def _own(name: str, spec: TableSpec | Exception) -> dict[str, Any]:
    named = _EMPTY | {"name": name, "kind": "registered"}
    if isinstance(spec, Exception):
        return named | {"description": f"cannot be read: {spec}"}
    return named | {
        "domain": "image" if spec.image_shape else "table",
        "is_here": spec.path.is_file(),
        "files": [str(spec.path)],
        "description": spec.description,
        "origin": spec.origin,
        "license": spec.license,
    }
