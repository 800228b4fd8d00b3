"""A problem small enough for every test of training, and a gate that tells what is done to it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask.gates import FeatureMask, Gate, Importance
from featuremask.networks import GatedNetwork, mlp
from featuremask.objectives import Classes, Objective
from featuremask.sources import ArraySource
from featuremask.training import TrainingOptions, TrainingResult, fit_network

N_ROWS, N_FEATURES = 100, 8


class Problem:
    """Two classes told apart by the first of eight columns."""

    def __init__(self, n_rows: int = N_ROWS, n_features: int = N_FEATURES) -> None:
        rng = np.random.default_rng(0)
        self.X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
        self.y = torch.from_numpy((self.X[:, 0] > 0).astype(np.int64))
        self.source = ArraySource(self.X, self.y)

    def model(self, gate: Gate | None = None, dropout: float = 0.0) -> GatedNetwork:
        generator = torch.Generator().manual_seed(1)
        n = self.X.shape[1]
        gate = gate or FeatureMask(n, mask_units=8, scale=3.0, generator=generator)
        network = mlp(gate.out_features, (16,), 2, dropout=dropout, generator=generator)
        return GatedNetwork(gate, network)

    def fit(
        self,
        model: GatedNetwork | None = None,
        objective: Objective | None = None,
        source: ArraySource | None = None,
        **options: Any,
    ) -> TrainingResult:
        """Fit with some options; those that are no `TrainingOptions` go to `fit_network`."""
        names = ("callbacks", "validation", "checkpoint", "standardize", "optimizer_object")
        others = {name: options.pop(name) for name in names if name in options}
        if "optimizer_object" in others:
            others["optimizer"] = others.pop("optimizer_object")
        if not {"epochs", "steps"} & set(options):
            options["epochs"] = 3
        settings = TrainingOptions(**{"batch_size": 32, "learning_rate": 0.01, **options})
        return fit_network(
            model or self.model(),
            objective or Classes(2),
            source or self.source,
            settings,
            **others,
        )


class TellingGate(Gate):
    """Lets rows pass times one weight and writes down every call of a verb."""

    def __init__(self, penalty: Callable[[Tensor], Tensor] | None = None) -> None:
        super().__init__()
        self.n_entries = self.out_features = N_FEATURES
        self.weight = nn.Parameter(torch.ones(N_FEATURES))
        self.calls: list[Any] = []
        self.seen: list[list[float]] = []
        self._penalty = penalty

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        if self.training:
            self.calls.append("forward")
            self.seen.append(x[:, 0].tolist())
        return x * self.weight

    def penalty(self, network: nn.Module) -> Tensor | None:
        self.calls.append("penalty")
        return None if self._penalty is None else self._penalty(self.weight)

    def anneal(self, progress: float) -> None:
        self.calls.append(("anneal", progress))

    def project(self) -> None:
        self.calls.append("project")

    def importance(self, statistic: Tensor | None) -> Importance:
        return Importance(self.weight.detach().double())

    @property
    def annealed(self) -> list[float]:
        return [call[1] for call in self.calls if isinstance(call, tuple)]


@pytest.fixture(scope="session")
def problem() -> Problem:
    return Problem()


@pytest.fixture
def telling_gate() -> type[TellingGate]:
    return TellingGate


@pytest.fixture
def make_problem() -> type[Problem]:
    return Problem
