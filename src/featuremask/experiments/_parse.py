"""From TOML tables to dataclasses; what is not known is refused."""

import dataclasses
import difflib
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from featuremask.exceptions import InputError

__all__ = ["build", "check_keys", "check_shapes", "read_toml"]

T = TypeVar("T")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}; an experiment folder needs it.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from error


_SHAPES: dict[str, type] = {
    "by_dataset": dict,
    "datasets": list,
    "extends": str,
    "methods": list,
    "search": dict,
    "settings": dict,
    "smoke": dict,
    "trials": int,
    "variants": list,
    "vary": dict,
}


def check_shapes(table: Any, where: str) -> None:
    """Refuse what is no table, and keys that hold a table, an array or a text but should not."""
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table; got {table!r}.")
    for key, value in table.items():
        shape = _SHAPES.get(key, object)
        if not isinstance(value, shape):
            names = {dict: "a table", list: "an array", str: "a text", int: "an integer"}
            raise InputError(f"{where}: {key} must be {names[shape]}; got {value!r}.")


def check_keys(table: Mapping[str, Any], known: typing.Collection[str], where: str) -> None:
    """Refuse keys that are not known, naming the nearest that is."""
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            names = ", ".join(sorted(known))
            raise InputError(f"{where}: the key {key!r} is not known.{hint} Known are {names}.")


def build(cls: type[T], table: Mapping[str, Any], where: str) -> T:
    """Return a dataclass from a table that has its fields as keys.

    Arrays become tuples; values are checked against the fields' types.

    Parameters
    ----------
    cls : type
        A dataclass.
    table : mapping
    where : str
        File and table, for messages.
    """
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]  # any dataclass
    check_keys(table, fields, where)
    hints = get_type_hints(cls)
    needed = [
        name
        for name, f in fields.items()
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in needed if name not in table]
    if missing:
        raise InputError(f"{where}: {', '.join(missing)} must be given.")
    return cls(
        **{key: _value(value, hints[key], f"{where}: {key}") for key, value in table.items()}
    )


def _value(value: Any, hint: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
        return _value(value, options[0], where) if value is not None else None
    if origin is tuple and isinstance(value, list | tuple):
        return tuple(_value(item, get_args(hint)[0], where) for item in value)
    if origin is Literal:
        return _one_of(value, get_args(hint), where)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    expected = Mapping if origin is not None and issubclass(origin, Mapping) else origin or hint
    if not isinstance(value, expected) or (isinstance(value, bool) and expected is int):
        raise InputError(f"{where} must be {_described(hint)}; got {value!r}.")
    return value


def _one_of(value: Any, allowed: tuple[Any, ...], where: str) -> Any:
    if value not in allowed:
        raise InputError(f"{where} must be one of {list(allowed)}; got {value!r}.")
    return value


def _described(hint: Any) -> str:
    names = {int: "an integer", str: "a text", float: "a number", bool: "true or false"}
    if get_origin(hint) is tuple:
        return f"an array, each item {_described(get_args(hint)[0])}"
    return names.get(hint, "a table" if get_origin(hint) is not None else str(hint))
