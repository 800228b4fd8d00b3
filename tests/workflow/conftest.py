"""A small table of known truth in a file, trained on and judged in no time."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from featuremask.workflow import _judge

Write = Callable[..., Path]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "slow" not in request.keywords:
        monkeypatch.setattr("featuremask.selectors._rules._STEPS", 120)  # not 300
    models = {
        "classification": lambda seed: DecisionTreeClassifier(max_depth=4, random_state=seed),
        "regression": lambda seed: DecisionTreeRegressor(max_depth=4, random_state=seed),
        "reconstruction": lambda seed: LinearRegression(),
    }
    monkeypatch.setattr(_judge, "_POINTS", 3)
    monkeypatch.setattr(_judge, "_DRAWS", 1)
    for objective, make in models.items():
        monkeypatch.setitem(
            _judge._MODELS, objective, _judge._Model("accuracy", "a small model", make)
        )


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A function that writes a table of 120 rows and returns its path.

    The target y is 1 where `signal` is above zero; `copy` is close to `signal`.
    """

    def write(name: str = "table.csv", rows: int = 120, **more: list[object]) -> Path:
        rng = np.random.default_rng(5)
        signal = rng.normal(size=rows)
        columns: dict[str, list[object]] = {
            "signal": np.round(signal, 4).tolist(),
            "copy": np.round(signal + 0.1 * rng.normal(size=rows), 4).tolist(),
            "noise": np.round(rng.normal(size=rows), 4).tolist(),
            "city": rng.choice(["Rome", "Oslo", ""], rows).tolist(),
            "born": [f"19{60 + d % 40}-0{1 + d % 9}-11" for d in rng.integers(0, 400, rows)],
            "id": list(range(1000, 1000 + rows)),
            "y": (signal > 0).astype(int).tolist(),
        } | more
        path = tmp_path / name
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
        return path

    return write
