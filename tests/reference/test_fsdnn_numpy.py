"""FSDNN against its formulas, written in NumPy as they stand in the publication."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import FSDNNGate
from featuremask.networks import mlp

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

ROWS, D, UNITS = 11, 5, 4


def potentials(x: Array, w: Array, b: Array, weight: Array) -> Array:
    """p_ij, one row, unit and feature after the other."""
    p = np.zeros((UNITS, D))
    for n in range(len(x)):
        for j in range(UNITS):
            for i in range(D):
                p[j, i] += weight[n] * abs(w[j, i] * x[n, i] + b[j])
    return p / np.sum(weight)


def contributions(p: Array) -> Array:
    """c_i, from the shares c_ij."""
    return np.sum([p_j / np.sum(p_j) for p_j in p], axis=0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("include_bias", [False, True])
def test_statistic_and_scores_are_the_publications(
    include_bias: bool, weighted: bool, gap: Gap
) -> None:
    gate, network = FSDNNGate(D, include_bias=include_bias), mlp(D, (UNITS,), 2).double()
    x, weight = torch.randn(ROWS, D).double(), torch.rand(ROWS).double()
    statistic = gate.statistic(x, weight if weighted else None, network=network)
    w, b = (value.detach().numpy() for value in (network[0].weight, network[0].bias))
    counted = weight.numpy() if weighted else np.ones(ROWS)
    expected = potentials(x.numpy(), w, b if include_bias else 0 * b, counted)
    assert gap(statistic, expected) < 1e-12
    assert gap(gate.importance(statistic).scores, contributions(expected)) < 1e-12


def test_weights_and_biases_of_zero_have_the_potentials_of_the_formula(gap: Gap) -> None:
    network = nn.Linear(D, UNITS).double()
    with torch.no_grad():
        network.weight[0], network.weight[:, 1], network.bias[0], network.bias[2] = 0, 0, 0, 0
    x = torch.randn(ROWS, D).double().round(decimals=0)
    statistic = FSDNNGate(D).statistic(x, network=network)
    w, b = network.weight.detach().numpy(), network.bias.detach().numpy()
    assert gap(statistic, potentials(x.numpy(), w, b, np.ones(ROWS))) < 1e-12


def test_input_and_loss_are_left_as_they_are() -> None:
    gate, x = FSDNNGate(D), torch.randn(ROWS, D)
    assert torch.equal(gate(x), x)
    assert gate.penalty(mlp(D, (UNITS,), 2)) is None
