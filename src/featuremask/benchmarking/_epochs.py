"""Epochs on MNIST shapes: the floor, the bare network, the mask fast and naive.

The floor is the four matrix products that the algorithm cannot avoid: rows times the first weights
of the mask and of the network, and their two weight gradients. All rows are visited in each
variant.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from featuremask.benchmarking._clock import Timer, best_of
from featuremask.gates import (
    AFSGate,
    AllFeaturesGate,
    BSFGate,
    CancelOutGate,
    ConcreteGate,
    DFSGate,
    FeatureMask,
    FSDNNGate,
    Gate,
)
from featuremask.networks import GatedNetwork, Standardize, mlp
from featuremask.objectives import Classes
from featuremask.selectors import FeatureMaskSelector
from featuremask.sources import ArraySource

__all__ = ["CLASSES", "epochs", "gate", "network", "standardize", "steps"]

D, E, H, CLASSES = 784, 128, 128, 10


def rows(n: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return random bytes in the shape of MNIST, four fifths of them zero, and classes."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (n, D), dtype=np.uint8)
    x[rng.random((n, D)) < 0.8] = 0
    return x, rng.integers(0, CLASSES, n)


def network() -> nn.Sequential:
    """Return the paper's learning network."""
    return mlp(D, (H, 64), CLASSES, dropout=0.3, generator=torch.Generator().manual_seed(1))


def gate() -> FeatureMask:
    """Return the paper's mask."""
    return FeatureMask(D, mask_units=E, generator=torch.Generator().manual_seed(0))


def standardize() -> Standardize:
    """Return a scaling of bytes to [0, 1]."""
    return Standardize(torch.zeros(D), torch.full((D,), 255.0))


class _NaiveMask(nn.Module):
    """The equations (3) to (5) as they are written."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(D, E), nn.Linear(E, D)

    def forward(self, x: Tensor) -> Tensor:
        """Return mask times rows."""
        z: Tensor = self.second(torch.tanh(self.first(x)))
        mask: Tensor = z.mean(0).softmax(0)
        return x * mask


class _Ungated(GatedNetwork):
    """The learning network alone, trained by the same loop."""

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the network's output for the input as it is."""
        output: Tensor = self.network(x)
        return output


class _NaiveGate(FeatureMask):
    """The formulas inside the product's loop: all logits, then their mean, then a product."""

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return mask times rows."""
        mask: Tensor = self.transformation(x).mean(0).softmax(0)
        return x * mask


def _products(n: int, batch: int) -> None:
    """Compute the four products of an epoch."""
    block = torch.rand(batch, D)
    weight, back = torch.rand(H, D), torch.rand(batch, H)
    for _ in range(round(n / batch)):
        block @ weight.t()
        block @ weight.t()
        back.t() @ block
        back.t() @ block


class _PlainLoop:
    """The formulas, a DataLoader and plain Adam."""

    def __init__(self, x: NDArray[np.uint8], y: NDArray[np.int64], batch: int) -> None:
        data = TensorDataset(torch.from_numpy(x).float() / 255.0, torch.from_numpy(y))
        self.loader = DataLoader(data, batch_size=batch, shuffle=True)
        self.model = nn.Sequential(_NaiveMask(), network())
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3)

    def epoch(self) -> None:
        """Visit every row once."""
        loss_of = nn.CrossEntropyLoss()
        for batch, labels in self.loader:
            self.optimizer.zero_grad()
            loss_of(self.model(batch), labels).backward()
            self.optimizer.step()


def epochs(timer: Timer, n: int, batches: list[int], repeats: int) -> dict[str, dict[str, float]]:
    """Return the best seconds an epoch of each variant, by batch size."""
    found: dict[str, dict[str, float]] = {}
    for batch in batches:
        for name, seconds in best_of(_variants(timer, n, batch), repeats).items():
            found.setdefault(name, {})[str(batch)] = seconds
    return found


def _variants(timer: Timer, n: int, batch: int) -> dict[str, Callable[[], float]]:
    x, y = rows(n)
    objective, source = Classes(CLASSES), ArraySource(x, torch.from_numpy(y))

    def lean(model: GatedNetwork, autocast: bool = False) -> float:
        return timer.epoch(
            model, objective, source, batch, standardize=standardize(), autocast=autocast
        )

    def formulas() -> GatedNetwork:
        naive = _NaiveGate(D, mask_units=E, generator=torch.Generator().manual_seed(0))
        return GatedNetwork(naive, network(), fold=False)

    plain = _PlainLoop(x, y, batch)
    return {
        "floor": timer.settled(lambda: timer.seconds(lambda: _products(n, batch))),
        "bare network": lambda: lean(_Ungated(gate(), network())),
        "FM": lambda: lean(GatedNetwork(gate(), network())),
        "FM, products in bfloat16": lambda: lean(GatedNetwork(gate(), network()), autocast=True),
        "FM formulas, same loop": lambda: lean(formulas()),
        "FM formulas, DataLoader, Adam": timer.settled(lambda: timer.seconds(plain.epoch)),
        "whole fit of 3 epochs, by 3": lambda: timer.seconds(lambda: _fit(timer, x, y, batch)) / 3,
    }


def _fit(timer: Timer, x: NDArray[np.uint8], y: NDArray[np.int64], batch: int) -> None:
    FeatureMaskSelector(
        50,
        strategy="joint",
        max_epochs=3,
        early_stopping=False,
        batch_size=batch,
        random_state=0,
        n_jobs=timer.threads,
    ).fit(x, y)


def steps(timer: Timer, n: int, repeats: int, batch: int = 256) -> dict[str, float]:
    """Return the best seconds a step of each method, on the same rows in the product's loop."""
    x, y = rows(n)
    source = ArraySource(x, torch.from_numpy(y))

    def step(make: Callable[[], Gate]) -> float:
        made = make()
        model = GatedNetwork(made, mlp(made.out_features, (H, 64), CLASSES, dropout=0.3))
        return timer.epoch(model, Classes(CLASSES), source, batch) / round(n / batch)

    gates: dict[str, Callable[[], Gate]] = {
        "FM": lambda: FeatureMask(D),
        "FM, narrowing": lambda: FeatureMask(D, narrowing=True),
        "AFS": lambda: AFSGate(D),
        "ConAE, k = 50": lambda: ConcreteGate(D, 50),
        "CancelOut": lambda: CancelOutGate(D),
        "BSF": lambda: BSFGate(D),
        "BSF, a draw a row": lambda: BSFGate(D, draw="row"),
        "DFS": lambda: DFSGate(D),
        "FSDNN": lambda: FSDNNGate(D),
        "no gate": lambda: AllFeaturesGate(D),
    }
    return best_of({name: partial(step, make) for name, make in gates.items()}, repeats)
