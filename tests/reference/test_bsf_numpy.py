"""BSF against its formulas, written in NumPy as they stand in publication and codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import BSFGate

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

ROWS, D = 7, 5


class Step:
    """A forward and backward pass of a gate, and the draw behind it."""

    def __init__(self, weight: torch.Tensor | None = None, **words: Any) -> None:
        self.gate = BSFGate(D, dtype=torch.float64, **words)
        nn.init.uniform_(self.gate.p)
        self.x = torch.randn(ROWS, D).double().requires_grad_()
        self.upstream = torch.randn(ROWS, D).double()
        self.gate.generator = torch.Generator().manual_seed(3)
        self.output = self.gate(self.x, weight)
        self.output.backward(self.upstream)

    @property
    def p(self) -> Array:
        return self.gate.p.detach().numpy()

    @property
    def r(self) -> Array:
        """ceil(p - u): one where u < p."""
        shape = (D,) if self.gate.draw == "batch" else (ROWS, D)
        u = torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
        return np.ceil(self.p - u.numpy())

    @property
    def data_gradient(self) -> Array:
        """Of each row, as if the draw were a number like any other."""
        return self.upstream.numpy() * self.x.detach().numpy()


@pytest.mark.parametrize("draw", ["batch", "row"])
@pytest.mark.parametrize("estimator", ["v1", "v2"])
def test_rows_are_multiplied_by_the_draw(estimator: str, draw: str, gap: Gap) -> None:
    step = Step(estimator=estimator, draw=draw)
    assert set(np.unique(step.r)) == {0.0, 1.0}
    assert gap(step.output, step.r * step.x.detach().numpy()) < 1e-12
    assert gap(step.x.grad, step.r * step.upstream.numpy()) < 1e-12


@pytest.mark.parametrize("draw", ["batch", "row"])
def test_v1_passes_the_gradient_of_the_draw_straight_through(draw: str, gap: Gap) -> None:
    step = Step(estimator="v1", draw=draw)
    assert gap(step.gate.p.grad, np.sum(step.data_gradient, axis=0)) < 1e-12


@pytest.mark.parametrize("draw", ["batch", "row"])
def test_v2_takes_the_mean_and_multiplies_by_p(draw: str, gap: Gap) -> None:
    step = Step(estimator="v2", draw=draw)
    assert gap(step.gate.p.grad, np.mean(step.p * step.data_gradient, axis=0)) < 1e-12


def test_the_mean_of_v2_counts_rows_by_weight(gap: Gap) -> None:
    weight = torch.rand(ROWS).double()
    step = Step(weight, estimator="v2")
    expected = np.sum(step.p * step.data_gradient, axis=0) / weight.numpy().sum()
    assert gap(step.gate.p.grad, expected) < 1e-12


def test_penalty_is_the_l1_norm_of_p(gap: Gap) -> None:
    gate = BSFGate(D, l1_weight=0.3, dtype=torch.float64)
    nn.init.uniform_(gate.p)
    penalty = gate.penalty(nn.Identity())
    penalty.backward()
    assert gap(penalty, 0.3 * np.sum(np.abs(gate.p.detach().numpy()))) < 1e-12
    assert gap(gate.p.grad, np.full(D, 0.3)) < 1e-12


def test_p_is_clipped_after_a_step_and_its_mean_goes_on(gap: Gap) -> None:
    gate, seen = BSFGate(D, dtype=torch.float64), []
    for _ in range(4):
        nn.init.normal_(gate.p)
        seen.append(np.clip(gate.p.detach().numpy(), 0.0, 1.0))
        gate.project()
        assert gap(gate.p, seen[-1]) < 1e-12
    importance = gate.importance(None)
    assert gap(importance.scores, seen[-1]) < 1e-12
    assert gap(importance.ties, np.mean(seen, axis=0)) < 1e-12


def test_evaluation_multiplies_by_the_expected_draw(gap: Gap) -> None:
    gate = BSFGate(D, dtype=torch.float64).eval()
    nn.init.uniform_(gate.p)
    x = torch.randn(ROWS, D).double()
    assert gap(gate(x), gate.p.detach().numpy() * x.numpy()) < 1e-12
