"""The concrete selector layer against its formulas, written in NumPy as they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import ConcreteGate

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

ROWS, D, K = 7, 5, 3


def gate_with_random_logits(**words: Any) -> ConcreteGate:
    gate = ConcreteGate(D, K, dtype=torch.float64, **words)
    nn.init.normal_(gate.logits)
    return gate


def softmax(rows: Array) -> Array:
    return np.exp(rows) / np.exp(rows).sum(axis=1, keepdims=True)


def gumbel(seed: int) -> Array:
    """-log of numbers of the exponential distribution, which are -log of uniform ones."""
    generator = torch.Generator().manual_seed(seed)
    waiting = torch.empty(K, D, dtype=torch.float64).exponential_(generator=generator)
    return -np.log(waiting.numpy())


@pytest.mark.parametrize("progress", [0.0, 0.4, 1.0])
def test_output_and_gradient_follow_from_one_draw_at_the_temperature(
    progress: float, gap: Gap
) -> None:
    gate = gate_with_random_logits(end_temperature=0.5)
    gate.anneal(progress)
    gate.generator = torch.Generator().manual_seed(3)
    x, upstream = torch.randn(ROWS, D).double().requires_grad_(), torch.randn(ROWS, K).double()
    output = gate(x)
    output.backward(upstream)
    temperature = 10.0 * (0.5 / 10.0) ** progress
    m = softmax((gate.logits.detach().numpy() + gumbel(3)) / temperature)
    d_m = upstream.numpy().T @ x.detach().numpy()
    d_logits = m * (d_m - np.sum(m * d_m, axis=1, keepdims=True)) / temperature
    assert gap(output, x.detach().numpy() @ m.T) < 1e-12
    assert gap(gate.logits.grad, d_logits) < 1e-12
    assert gap(x.grad, upstream.numpy() @ m) < 1e-12


def test_the_noise_has_the_gumbel_distribution() -> None:
    gate = ConcreteGate(2, 20_000, start_temperature=1.0, dtype=torch.float64)
    nn.init.constant_(gate.logits, 0.0)
    with torch.no_grad():
        gate.logits[:, 1] = np.log(3.0)
    picked = gate.selection().argmax(1).double().mean()
    assert abs(float(picked) - 0.75) < 0.01, "the largest is drawn with the softmax's probability"


def test_evaluation_picks_the_largest_logit_of_each_neuron(gap: Gap) -> None:
    gate = gate_with_random_logits().eval()
    x = torch.randn(ROWS, D).double()
    one_hot = np.eye(D)[gate.logits.detach().numpy().argmax(axis=1)]
    assert gap(gate(x), x.numpy() @ one_hot.T) < 1e-12


def test_scores_are_the_largest_probabilities_and_picks_come_first(gap: Gap) -> None:
    gate = gate_with_random_logits()
    probabilities = softmax(gate.logits.detach().numpy())
    picked = np.isin(np.arange(D), probabilities.argmax(axis=1))
    importance = gate.importance(None)
    assert gap(importance.scores, probabilities.max(axis=0) + picked) < 1e-12
    assert gap(importance.shares, probabilities.mean(axis=0)) < 1e-12
    assert gap(gate.mean_max(), probabilities.max(axis=1).mean()) < 1e-12
