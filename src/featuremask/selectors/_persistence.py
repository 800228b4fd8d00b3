"""Fitted selectors in files, without pickle."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from featuremask import __version__
from featuremask._tensorfile import read_tensors, write_tensors
from featuremask.exceptions import FileFormatError, InputError
from featuremask.networks import GatedNetwork, Standardize
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._specs import GateSpec, NetworkSpec
from featuremask.selectors._stability import StabilitySelection
from featuremask.tables import TableEncoding

__all__ = [
    "FORMAT_VERSION",
    "load_selector",
    "restored",
    "restored_stability",
    "save_selector",
    "save_stability",
]

Restore = Callable[[dict[str, torch.Tensor], dict[str, Any]], Any]

_KIND = "selector"
FORMAT_VERSION = 1

_ARRAYS = ("scores_", "feature_importances_", "ranking_", "group_ranking_", "groups_")
_CURVE = "selection_curve."
_STABILITY_ARRAYS = ("supports_", "selection_frequencies_", "ranking_")
_ITEMS = "items"
"""Under which the items of a mapping are listed, whose keys may be other than text."""

_NOT_SAVED = ("network", "loss", "callbacks", "checkpoint", "cv", "random_state")
"""Words that may hold objects; they are saved where they are plain values."""


def save_selector(selector: BaseSelector, path: str | os.PathLike[str]) -> None:
    """Write a fitted selector to one file."""
    table = selector.selection_table()  # raises if it is not fitted
    assert table
    tensors = {name: torch.from_numpy(getattr(selector, name)) for name in _ARRAYS}
    curve = getattr(selector, "selection_curve_", {})
    tensors |= {_CURVE + name: torch.from_numpy(found) for name, found in curve.items()}
    network_spec = selector._network_spec
    if network_spec is not None:
        state = selector.network_.state_dict()
        tensors |= {f"network.{name}": value for name, value in state.items()}
    values = _head(selector) | {
        "words": _words(selector.get_params(deep=False)),
        "words_then": _words(selector._words_then),
        "n_rows": selector._n_rows,
        "objective": selector.objective_,
        "classes": None if selector.classes_ is None else _plain(selector.classes_.tolist()),
        "history": selector.history_,
        "gate": asdict(selector._gate_spec),
        "network": None if network_spec is None else asdict(network_spec),
        "picked": network_spec is not None and selector.network_[0].columns is not None,
    }
    try:
        write_tensors(path, _KIND, tensors, values)
    except OSError as error:
        said = f"{error.strerror or error} (the selector stays fitted; save it elsewhere)"
        raise OSError(error.errno, said, os.fspath(path)) from error


def load_selector(path: str | os.PathLike[str], known: Mapping[str, Restore]) -> Any:
    """Read what was saved; `known` maps class names to what makes it of tensors and values."""
    tensors, values = read_tensors(path, _KIND)
    if values["format"] > FORMAT_VERSION:
        raise FileFormatError(
            f"{str(path)!r} has format version {values['format']}, written by featuremask "
            f"{values['featuremask']}; this version reads up to {FORMAT_VERSION}. "
            "Upgrade featuremask to read it."
        )
    if values["class"] not in known:
        raise FileFormatError(f"{str(path)!r} holds the unknown selector {values['class']!r}.")
    return known[values["class"]](tensors, values)


def restored(
    cls: type[BaseSelector], tensors: dict[str, torch.Tensor], values: dict[str, Any]
) -> BaseSelector:
    """Return the selector that `save_selector` wrote."""
    selector = cls(**_read_words(values["words"]))
    for name in _ARRAYS:
        setattr(selector, name, tensors[name].numpy())
    _read_columns(selector, values)
    selector._n_rows = values.get("n_rows")
    selector.objective_ = values["objective"]
    selector.classes_ = None if values["classes"] is None else np.asarray(values["classes"])
    selector.history_ = values["history"]
    selector._words_then = _read_words(values["words_then"])
    selector._gate_spec = GateSpec(**values["gate"])
    selector._network_spec = None
    curve = _below(_CURVE, tensors)
    if curve:
        selector.selection_curve_ = {name: found.numpy() for name, found in curve.items()}
    if values["network"] is not None:
        selector._network_spec = NetworkSpec(**values["network"])
        state = _below("network.", tensors)
        selector.network_ = _network(selector, state, values["picked"])
    return selector


def _below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors whose names begin with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def save_stability(found: StabilitySelection, path: str | os.PathLike[str]) -> None:
    """Write a fitted stability selection to one file."""
    check_is_fitted(found, "ranking_")
    base = found.selector
    if base is not None and not isinstance(base, BaseSelector):
        raise InputError(
            "A stability selection can be saved if its selector is one of featuremask; got "
            f"{base!r}. Use joblib or pickle for this one."
        )
    tensors = {name: torch.from_numpy(getattr(found, name)) for name in _STABILITY_ARRAYS}
    words = found.get_params(deep=False)
    values = _head(found) | {
        "words": _words({name: words[name] for name in words if name != "selector"}),
        "selector": None if base is None else type(base).__name__,
        "selector_words": None if base is None else _words(base.get_params(deep=False)),
    }
    write_tensors(path, _KIND, tensors, values)


def restored_stability(
    known: Mapping[str, type[BaseSelector]],
    tensors: dict[str, torch.Tensor],
    values: dict[str, Any],
) -> StabilitySelection:
    """Return the stability selection that `save_stability` wrote."""
    name = values["selector"]
    base = None if name is None else known[name](**_read_words(values["selector_words"]))
    found = StabilitySelection(base, **_read_words(values["words"]))
    for array in _STABILITY_ARRAYS:
        setattr(found, array, tensors[array].numpy())
    _read_columns(found, values)
    return found


def _head(selector: BaseSelector | StabilitySelection) -> dict[str, Any]:
    """Return what every file says: who wrote it, and the columns."""
    encoding = selector._encoding
    return {
        "format": FORMAT_VERSION,
        "featuremask": __version__,
        "class": type(selector).__name__,
        "n_features_in": selector.n_features_in_,
        "names": _names(selector),
        "encoding": None if encoding is None else encoding.to_dict(),
    }


def _read_columns(selector: BaseSelector | StabilitySelection, values: dict[str, Any]) -> None:
    selector.n_features_in_ = values["n_features_in"]
    if values["names"] is not None:
        selector.feature_names_in_ = np.asarray(values["names"], dtype=object)
    encoding = values["encoding"]
    selector._encoding = None if encoding is None else TableEncoding.from_dict(encoding)


def _network(selector: BaseSelector, state: dict[str, torch.Tensor], picked: bool) -> nn.Sequential:
    spec = selector._network_spec
    assert spec is not None
    then = type(selector)(**selector._words_then)  # the words may have changed since the fit
    gate = then._make_gate(selector._gate_spec)
    columns = torch.zeros_like(state["0.columns"]) if picked else None
    dtype = then._torch_dtype()
    first = Standardize(state["0.mean"], state["0.scale"], columns, dtype)
    model = GatedNetwork(gate, spec.build()).to(dtype)
    network = nn.Sequential(first, model).eval()
    network.load_state_dict(state)
    return network


def _words(given: dict[str, Any]) -> dict[str, Any]:
    words: dict[str, Any] = {}
    for name, value in given.items():
        try:
            words[name] = _plain(value)
        except InputError:
            if name not in _NOT_SAVED:
                raise
    return words


def _read_words(words: dict[str, Any]) -> dict[str, Any]:
    return {name: _read_word(value) for name, value in words.items()}


def _read_word(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read_word(item) for item in value)
    if isinstance(value, dict):
        return {_read_word(key): _read_word(item) for key, item in value[_ITEMS]}
    return value


def _names(selector: BaseSelector | StabilitySelection) -> list[str] | None:
    names = getattr(selector, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _plain(value: Any) -> Any:
    """Return a value that JSON can say, or raise."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {_ITEMS: [[_plain(key), _plain(item)] for key, item in value.items()]}
    raise InputError(
        f"A selector can be saved if its parameters are plain values; got {value!r}. "
        "Use joblib or pickle for this one, or set the parameter to a plain value."
    )
