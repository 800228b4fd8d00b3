"""What a docstring says of a default is what the code does."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import featuremask

_SAID = re.compile(r"^ *(\w+) : .*\bdefault=(.+)$", re.MULTILINE)


def _modules() -> Iterator[Any]:
    for module in pkgutil.walk_packages(featuremask.__path__, "featuremask."):
        if "__main__" not in module.name and ".cli" not in module.name:
            yield importlib.import_module(module.name)


def _documented() -> Iterator[tuple[str, Any]]:
    """Yield functions, classes and their methods that have a docstring, by name."""
    for module in _modules():
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(thing):
                yield f"{module.__name__}.{name}", thing
                inner = {n: one for n, one in vars(thing).items() if inspect.isfunction(one)}
                yield from ((f"{module.__name__}.{name}.{n}", one) for n, one in inner.items())
            elif inspect.isfunction(thing):
                yield f"{module.__name__}.{name}", thing


def _said(thing: Any) -> Iterator[tuple[str, Any]]:
    for word, text in _SAID.findall(thing.__doc__ or ""):
        try:
            yield word, ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            continue  # a word for what is computed, such as the current folder


def _defaults(thing: Any) -> dict[str, Any]:
    parameters = inspect.signature(thing).parameters.items()
    return {name: one.default for name, one in parameters if one.default is not one.empty}


def test_documented_defaults_are_those_of_the_code() -> None:
    compared, wrong = 0, []
    for name, thing in _documented():
        said = list(_said(thing))
        defaults = _defaults(thing) if said else {}
        for word, value in said:
            found = repr(defaults.get(word, "missing"))
            compared += 1
            if found not in (repr(value), "<factory>"):  # a dataclass makes the second anew
                wrong.append(f"{name}: {word} is {found}, not {value!r}")
    assert wrong == []
    assert compared > 200
