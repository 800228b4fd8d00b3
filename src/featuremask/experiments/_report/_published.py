"""The numbers that the paper prints."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featuremask.experiments._parse import read_toml
from featuremask.experiments._report._cells import Cell

__all__ = ["Printed", "Published"]

_FORESTS_TABLE = {"classifiers": "table2", "k-curve": "table2"}
_K = 50


@dataclass(frozen=True)
class Printed:
    """A mean and, where it is printed, a standard deviation."""

    mean: float
    std: float | None = None

    @property
    def text(self) -> str:
        """Mean and deviation."""
        return f"{self.mean:.3f}" + ("" if self.std is None else f" ± {self.std:.3f}")


class Published:
    """The paper's numbers by experiment, dataset and method.

    Parameters
    ----------
    path : Path
        A TOML file; nothing is published if it is not there.
    """

    def __init__(self, path: Path) -> None:
        self._tables: dict[str, Any] = read_toml(path) if path.exists() else {}

    def of(self, cell: Cell) -> Printed | None:
        """Return what the paper prints for a cell; None if nothing.

        Both ways to run the FM-module are compared with the paper's one.
        """
        name = cell.experiment
        if name in _FORESTS_TABLE:
            if cell.classifier != "rf" or cell.k not in (_K, None):
                return None
            name = _FORESTS_TABLE[name]
        row = self._tables.get(name, {}).get(cell.dataset.name, {})
        found = row.get(_as_printed(cell.method.name))
        return None if found is None else Printed(*found)

    def sizes(self, dataset: str) -> list[int] | None:
        """Return features, training rows, test rows and classes of Table I."""
        found: list[int] | None = self._tables.get("data", {}).get(dataset)
        return found


def _as_printed(method: str) -> str:
    family, slash, variant = method.partition("/")
    return ("fm" if family == "fm-paper" else family) + slash + variant
