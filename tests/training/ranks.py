"""Processes that train together; this file is started once for each."""

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch
import torch.distributed as dist

import featuremask
from featuremask.selectors import BaseSelector
from featuremask.sources import ArraySource, Batch, Source
from featuremask.training import Ranks, across_ranks
from featuremask.training._shared import SharedSource

TIMEOUT_S = 280
SHARES = {
    2: {"even": [0.5, 0.5], "uneven, weighted": [0.8, 0.2], "empty": [1.0, 0.0]},
    3: {
        "even": [1 / 3, 1 / 3, 1 / 3],
        "uneven, weighted": [0.6, 0.1, 0.3],
        "empty": [0.0, 1.0, 0.0],
    },
}
FULL, MANY = 60, 420
COMMON: dict[str, Any] = {
    "random_state": 0,
    "dtype": "float64",
    "hidden_units": (8,),
    "max_epochs": 6,
}
BATCHED: dict[str, Any] = {"batch_size": 70, "max_epochs": 3, "dropout": 0.0}
CASES: dict[str, tuple[str, int, dict[str, Any]]] = {
    "FM": ("FeatureMaskSelector", FULL, {}),
    "FM joint": ("FeatureMaskSelector", FULL, {"strategy": "joint", "mask_units": 8}),
    "FM sequential": ("FeatureMaskSelector", FULL, {"strategy": "sequential"}),
    "FM without attenuation": ("FeatureMaskSelector", FULL, {"attenuation": False}),
    "FM numbers": ("FeatureMaskSelector", FULL, {"objective": "regression"}),
    "FM no target": ("FeatureMaskSelector", FULL, {"objective": "reconstruction"}),
    "AFS": ("AFSSelector", FULL, {}),
    "AFS last batch": ("AFSSelector", FULL, {"readout": "last_batch"}),
    "BSF": ("BSFSelector", FULL, {}),
    "BSF rows": ("BSFSelector", FULL, {"estimator": "v2", "draw": "row"}),
    "CancelOut": ("CancelOutSelector", FULL, {}),
    "ConAE": ("ConcreteSelector", FULL, {"max_tries": 1}),
    "DFS": ("DFSSelector", FULL, {}),
    "SAND": ("SANDSelector", FULL, {"draw": "row"}),
    "sequential attention": ("SequentialAttentionSelector", FULL, {}),
    "FSDNN": ("FSDNNSelector", FULL, {}),
    "FM batches": ("FeatureMaskSelector", MANY, BATCHED),
    "FM dropout": ("FeatureMaskSelector", MANY, BATCHED | {"dropout": 0.3}),
    "DFS batches": ("DFSSelector", MANY, BATCHED),
    "BSF batches": ("BSFSelector", MANY, BATCHED | {"draw": "row"}),
    "early stopping": ("DFSSelector", MANY, BATCHED | {"early_stopping": True}),
    "max_seconds": ("DFSSelector", FULL, {"max_seconds": 1e-6}),
}


def data(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 6))
    return x, (x[:, 1] + x[:, 4] > 0).astype(np.int64), rng.random(n) + 0.1


def fitted(case: str, kind: str) -> BaseSelector:
    name, n, words = CASES[case]
    x, y, weight = data(n)
    selector: BaseSelector = getattr(featuremask, name)(2, **(COMMON | words))
    return selector.fit(x, y, sample_weight=weight if "weighted" in kind else None)


def found(case: str, kind: str) -> dict[str, Any]:
    selector = fitted(case, kind)
    return {
        "scores": selector.scores_.tolist(),
        "ranking": selector.ranking_.tolist(),
        "history": [
            {k: v for k, v in record.items() if k != "seconds"} for record in selector.history_
        ],
    }


def cut(n: int, shares: list[float]) -> list[np.ndarray]:
    """Rows of each rank: one run after the other."""
    edges = np.round(np.cumsum([0.0, *shares]) * n).astype(int)
    return [np.arange(a, b) for a, b in itertools.pairwise(edges)]


@contextmanager
def dealt_by(shares: list[float]) -> Iterator[None]:
    """Deal rows out in these shares."""

    def shard(self: ArraySource, number: int, n_shards: int) -> ArraySource:
        return self.subset(cut(self.n_rows, shares)[number])

    with mock.patch.object(ArraySource, "shard", shard):
        yield


class Together(Source):
    """One process that sees the batches of all ranks, one behind the other."""

    def __init__(self, whole: Source, size: int) -> None:
        self.whole = whole
        self.n_rows, self.n_features = whole.n_rows, whole.n_features
        self.weight_sum = whole.weight_sum
        self.parts = [SharedSource(whole, Ranks(None, rank, size)) for rank in range(size)]

    def batches(self, *arguments: Any, **words: Any) -> Iterator[Batch]:
        for batches in zip(*(p.batches(*arguments, **words) for p in self.parts), strict=True):
            yield Batch(
                *(
                    None if part[0] is None else torch.cat(part)
                    for part in zip(*batches, strict=True)
                )
            )

    def chunks(self, *arguments: Any, **words: Any) -> Iterator[Batch]:
        return self.whole.chunks(*arguments, **words)

    def subset(self, *arguments: Any) -> Any:
        raise NotImplementedError

    def shard(self, *arguments: Any) -> Any:
        raise NotImplementedError


def as_one_of_several(folder: Path, rank: int, size: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meeting",
        rank=rank,
        world_size=size,
        timeout=timedelta(seconds=TIMEOUT_S / 2),
    )
    results: dict[str, Any] = {}
    with across_ranks():
        for kind, shares in SHARES[size].items():
            with dealt_by(shares):
                for case in CASES:
                    results[f"{kind}, {case}"] = found(case, kind)
    torch.save(results, folder / f"rank{rank}.pt")
    dist.destroy_process_group()


def start(arguments: list[str], size: int, **environment: str) -> list["subprocess.Popen[str]"]:
    """Start a program once for each rank."""
    return [
        subprocess.Popen(
            [sys.executable, *arguments],
            env={
                **os.environ,
                "OMP_NUM_THREADS": "1",
                "GLOO_SOCKET_IFNAME": "lo",
                "RANK": str(rank),
                **environment,
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(size)
    ]


def finished(processes: list["subprocess.Popen[str]"]) -> list[tuple[int, str]]:
    """Return how each process ended, and what it said; none outlives the test."""
    try:
        said = [process.communicate(timeout=TIMEOUT_S)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [(process.returncode, text) for process, text in zip(processes, said, strict=True)]


if __name__ == "__main__":
    as_one_of_several(Path(sys.argv[1]), int(os.environ["RANK"]), int(sys.argv[2]))
