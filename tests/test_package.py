"""The package is light to import, and gives what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

import featuremask

_HEAVY = "('torch', 'sklearn', 'numpy', 'scipy', 'pandas', 'polars', 'matplotlib', 'narwhals')"


def loaded_by(code: str) -> str:
    program = f"import sys\n{code}\nprint([m for m in {_HEAVY} if m in sys.modules])"
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import featuremask; dir(featuremask); featuremask.__version__") == "[]"


@pytest.mark.parametrize("module", ["plot", "evaluation"])
def test_importing_what_needs_no_torch_loads_none(module: str) -> None:
    assert "torch" not in loaded_by(f"import featuremask.{module}")


@pytest.mark.slow
def test_importing_the_selectors_loads_no_pictures_and_no_polars() -> None:
    found = loaded_by("import featuremask.selectors, featuremask.training")
    assert "torch" in found
    assert "polars" not in found
    assert "matplotlib" not in found


@pytest.mark.parametrize("name", featuremask.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(featuremask, name) is not None
    assert name in dir(featuremask)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'featuremask' has no attribute 'Selektor'"):
        featuremask.Selektor  # noqa: B018  # asking is the point
    with pytest.raises(ImportError, match="cannot import name 'Selektor'"):
        from featuremask import Selektor  # noqa: F401


def test_the_public_names_are_sorted_and_unique() -> None:
    names = [name for name in featuremask.__all__ if not name.startswith("_")]
    assert len(set(names)) == len(names)


def test_the_package_is_typed() -> None:
    assert (Path(featuremask.__file__).parent / "py.typed").exists()
