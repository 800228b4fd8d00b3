"""How much of a selection stays the same with another number of threads, and with another seed.

    python -m benchmarks.threads [--page benchmarks/THREADS.md] [--rows 2000]

The default selector chooses 50 columns of the training rows of each dataset, of MNIST and
Fashion-MNIST of the first rows, with one and with two threads and three seeds. A share is the
Jaccard index of two choices, averaged over the seeds, or over the pairs of seeds; "same bits" says
whether all scores are equal.
"""

import argparse
import itertools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask import FeatureMaskSelector
from featuremask.datasets import load

K, SEEDS, THREADS = 50, (0, 1, 2), (1, 2)
DATASETS = ("mnist", "fashion-mnist", "coil20", "isolet", "pcmac")

Scores = NDArray[np.float64]


def jaccard(one: Scores, other: Scores) -> float:
    """Return how much two choices of the best columns have in common."""
    a, b = (set(np.argsort(-scores, kind="stable")[:K].tolist()) for scores in (one, other))
    return len(a & b) / len(a | b)


def training_rows(name: str, most: int) -> tuple[Any, Any]:
    """Return rows of a dataset, in the scale of the experiments."""
    data = load(name)
    if "mnist" not in name:
        return data.X_train, data.y_train
    return np.asarray(data.X_train[:most], dtype=np.float32) / 255.0, data.y_train[:most]


def measured(name: str, most: int) -> dict[str, Any]:
    """Return the shares of one dataset."""
    X, y = training_rows(name, most)

    def scores(threads: int, seed: int) -> Scores:
        return np.asarray(
            FeatureMaskSelector(K, n_jobs=threads, random_state=seed).fit(X, y).scores_
        )

    found = {(n, seed): scores(n, seed) for n in THREADS for seed in SEEDS}
    again = scores(1, 0)
    over_threads = [jaccard(found[1, seed], found[2, seed]) for seed in SEEDS]
    over_seeds = [jaccard(found[1, a], found[1, b]) for a, b in itertools.combinations(SEEDS, 2)]
    return {
        "data": f"{name}, {X.shape[0]:,} x {X.shape[1]:,}",
        "same fit again": "same bits" if np.array_equal(again, found[1, 0]) else "other bits",
        "1 and 2 threads": f"{np.mean(over_threads):.2f} ({min(over_threads):.2f})",
        "same bits": f"{sum(bits_equal(found, seed) for seed in SEEDS)} of {len(SEEDS)}",
        "other seeds": f"{np.mean(over_seeds):.2f} ({min(over_seeds):.2f})",
    }


def bits_equal(found: dict[tuple[int, int], Scores], seed: int) -> bool:
    """Whether one and two threads gave the same scores."""
    return np.array_equal(found[1, seed], found[2, seed])


def as_page(rows: list[dict[str, Any]]) -> str:
    """Return the table in Markdown."""
    lines = [
        "# The same selection with other threads, and with other seeds",
        "",
        f"Jaccard index of the {K} best columns, mean of three (the least in brackets);",
        "`python -m benchmarks.threads --page benchmarks/THREADS.md`.",
        "",
        "| " + " | ".join(rows[0]) + " |",
        "|" + "---|" * len(rows[0]),
    ]
    return "\n".join(
        [*lines, *("| " + " | ".join(map(str, row.values())) + " |" for row in rows), ""]
    )


def main() -> None:
    """Measure, print, and write a page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--datasets", nargs="+", default=list(DATASETS))
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    rows = []
    for name in arguments.datasets:
        rows.append(measured(name, arguments.rows))
        print(rows[-1], flush=True)
    if arguments.page:
        arguments.page.write_text(as_page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
