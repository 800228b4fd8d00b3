"""How many of ten planted features each method finds among two hundred, in 2,000 rows.

    python -m benchmarks.recovery [--seeds 3] [--methods AFSSelector ...] [--json FILE]

Each method runs as it comes and with other words: a learning rate of its search space, for ConAE
also more epochs, for FM the joint mask. Supervised data have linear features, products of pairs and
squares, of which an F-test sees the linear ones. Unsupervised data have ten columns that four
hidden factors drive, and an autoencoder whose narrowest layer has four units; the F-test is then
against the size of the factors' sum, which a user without a target could not make.
"""

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import f_classif, f_regression

import featuremask
import featuremask.exceptions
from featuremask.datasets import Planted, make_planted

ROWS, D, K = 2000, 200, 10
OBJECTIVES = ("classification", "regression", "reconstruction")

OTHER: dict[str, dict[str, dict[str, Any]]] = {
    "FeatureMaskSelector": {key: {"strategy": "joint"} for key in OBJECTIVES},
    "AFSSelector": {key: {"learning_rate": 0.003} for key in OBJECTIVES},
    "BSFSelector": {key: {"learning_rate": 0.003} for key in OBJECTIVES},
    "CancelOutSelector": {
        "classification": {"learning_rate": 0.01},
        "regression": {"learning_rate": 0.01},
        "reconstruction": {"learning_rate": 0.003},
    },
    "ConcreteSelector": {
        key: {"learning_rate": 0.03, "max_epochs": 600, "max_tries": 1} for key in OBJECTIVES
    },
    "DFSSelector": {key: {"learning_rate": 0.003} for key in OBJECTIVES},
    "FSDNNSelector": {
        "classification": {"learning_rate": 0.01},
        "regression": {"learning_rate": 0.01},
        "reconstruction": {"learning_rate": 0.0003},
    },
    "RandomSelector": {key: {} for key in OBJECTIVES},
}


def planted(objective: str, seed: int) -> Planted:
    """Return the data of an objective."""
    if objective == "reconstruction":
        return make_planted(ROWS, D, K, kind="factors", n_factors=4, noise=0.5, random_state=seed)
    return make_planted(ROWS, D, K, kind="mixed", task=objective, random_state=seed)


def by_f_test(data: Planted, objective: str) -> NDArray[np.intp]:
    """Return what an F-test selects."""
    if objective == "classification":
        return np.argsort(-f_classif(data.X, data.y)[0])[:K]
    target = np.abs(data.signal) if objective == "reconstruction" else data.y
    return np.argsort(-f_regression(data.X, target)[0])[:K]


def by_method(
    name: str, words: dict[str, Any], data: Planted, objective: str, seed: int
) -> NDArray[np.intp]:
    """Return what a method selects."""
    bottleneck = {"hidden_units": (128, 4)} if objective == "reconstruction" else {}
    selector = getattr(featuremask, name)(K, random_state=seed, **bottleneck, **words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", featuremask.exceptions.FeatureMaskWarning)
        selector.fit(data.X, None if objective == "reconstruction" else data.y)
    return np.flatnonzero(selector.support_)


def measure(methods: list[str], n_seeds: int) -> dict[str, dict[str, list[int]]]:
    """Return the number of planted features found: method, objective, seeds."""
    found: dict[str, dict[str, list[int]]] = {}
    for objective in OBJECTIVES:
        for seed in range(n_seeds):
            data = planted(objective, seed)
            chosen = {"F-test": by_f_test(data, objective)}
            for name in methods:
                chosen[name] = by_method(name, {}, data, objective, seed)
                if words := OTHER[name][objective]:
                    label = f"{name}, other"
                    chosen[label] = by_method(name, words, data, objective, seed)
            for label, columns in chosen.items():
                count = len(set(columns) & set(data.relevant))
                found.setdefault(label, {}).setdefault(objective, []).append(count)
    return found


def main() -> None:
    """Print the table and write it as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=list(OTHER))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found = measure(arguments.methods, arguments.seeds)
    lines = [f"{'found of 10, by seed':30}" + "".join(f"{name:>18}" for name in OBJECTIVES)]
    for label, row in found.items():
        cells = (" ".join(map(str, row[objective])) for objective in OBJECTIVES)
        lines.append(f"{label:30}" + "".join(f"{cell:>18}" for cell in cells))
    print("\n".join(lines))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
