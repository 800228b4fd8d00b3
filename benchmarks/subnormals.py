"""What subnormal floats cost: the paper's recipe with and without flushing them, in one run.

    python -m benchmarks.subnormals [--rows 10000] [--epochs 20]

A mask whose entries sum to one has most of them far below one, and a sharp softmax drives weights,
gradients and Adam's moments into subnormal floats. The first epochs are as fast either way; what
counts is the last ones. Also counted: how many of 4,000,000 subnormal products are flushed when the
flag is set in a thread whose OpenMP workers run already, and in a thread of its own.
"""

import argparse

import numpy as np
import torch

from featuremask import GatedNetwork
from featuremask.benchmarking._epochs import CLASSES, gate, network, standardize
from featuremask.objectives import Classes
from featuremask.sources import ArraySource
from featuremask.training import TrainingOptions, fit_network
from featuremask.training._isolation import run_isolated

_MANY = 4_000_000


def learnable(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return bytes in the shape of MNIST whose classes follow from ten columns."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n, 784), dtype=np.uint8)
    x[rng.random((n, 784)) < 0.8] = 0
    x[:, :200] = 0
    return x, x[:, 300 : 300 + CLASSES].argmax(axis=1)


def seconds(x: np.ndarray, y: np.ndarray, epochs: int, flush: bool) -> list[float]:
    """Return the time of each epoch."""
    options = TrainingOptions(epochs=epochs, batch_size=256, flush_subnormals=flush)
    source = ArraySource(x, torch.from_numpy(y))
    model = GatedNetwork(gate(), network())
    result = fit_network(model, Classes(CLASSES), source, options, standardize=standardize())
    return np.diff([0.0, *(record["seconds"] for record in result.history)]).tolist()


def flushed() -> int:
    """Return how many of many subnormal products are zero in this thread and its workers."""
    tiny = torch.full((_MANY,), 1e-30) * 1e-11
    return int((tiny == 0).sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    x, y = learnable(arguments.rows)
    flushing = seconds(x, y, arguments.epochs, True)
    plain = seconds(x, y, arguments.epochs, False)
    print(f"{'epoch':>6}{'flushed':>10}{'as is':>10}{'ratio':>8}")
    for i in sorted({0, arguments.epochs // 4, arguments.epochs // 2, arguments.epochs - 1}):
        ratio = plain[i] / flushing[i]
        print(f"{i + 1:>6}{flushing[i]:>10.3f}{plain[i]:>10.3f}{ratio:>8.1f}")
    print(f"{'all':>6}{sum(flushing):>10.3f}{sum(plain):>10.3f}{sum(plain) / sum(flushing):>8.1f}")
    flushed()  # starts the workers of this thread
    torch.set_flush_denormal(True)
    here = flushed()
    torch.set_flush_denormal(False)
    own = run_isolated(lambda _: flushed(), flush_subnormals=True)
    print(f"flushed of {_MANY:,}: {here:,} by the flag of a running thread, {own:,} in its own")


if __name__ == "__main__":
    main()
