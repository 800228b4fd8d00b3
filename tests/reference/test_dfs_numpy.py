"""DFS against its formulas, written in NumPy as they stand in the publication."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import DFSGate
from featuremask.networks import mlp

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

LAMBDA_1, LAMBDA_2, ALPHA_1, ALPHA_2 = 0.3, 0.7, 0.2, 0.4


def gate_and_network() -> tuple[DFSGate, nn.Module]:
    gate = DFSGate(
        5,
        weight_penalty=LAMBDA_1,
        weight_l1_ratio=LAMBDA_2,
        network_penalty=ALPHA_1,
        network_l1_ratio=ALPHA_2,
        dtype=torch.float64,
    )
    nn.init.normal_(gate.weight)
    return gate, mlp(5, (4, 3), 2).double()


def elastic_net(weight: Array, ratio: float) -> float:
    return (1 - ratio) / 2 * np.sum(weight**2) + ratio * np.sum(np.abs(weight))


def elastic_net_gradient(weight: Array, ratio: float) -> Array:
    return (1 - ratio) * weight + ratio * np.sign(weight)


def test_rows_are_multiplied_by_the_weights(gap: Gap) -> None:
    gate, _ = gate_and_network()
    x, upstream = torch.randn(7, 5).double().requires_grad_(), torch.randn(7, 5).double()
    output = gate(x)
    output.backward(upstream)
    w, rows, u = gate.weight.detach().numpy(), x.detach().numpy(), upstream.numpy()
    assert gap(output, [w * row for row in rows]) < 1e-12
    assert gap(gate.weight.grad, sum(u_i * x_i for u_i, x_i in zip(u, rows, strict=True))) < 1e-12
    assert gap(x.grad, u * w) < 1e-12


def test_penalty_is_two_elastic_nets_and_spares_biases(gap: Gap) -> None:
    gate, network = gate_and_network()
    penalty = gate.penalty(network)
    penalty.backward()
    w = gate.weight.detach().numpy()
    matrices = [network[i].weight for i in (0, 2, 4)]
    expected = LAMBDA_1 * elastic_net(w, LAMBDA_2)
    expected += ALPHA_1 * sum(elastic_net(m.detach().numpy(), ALPHA_2) for m in matrices)
    assert gap(penalty, expected) < 1e-12
    assert gap(gate.weight.grad, LAMBDA_1 * elastic_net_gradient(w, LAMBDA_2)) < 1e-12
    for m in matrices:
        by_hand = ALPHA_1 * elastic_net_gradient(m.detach().numpy(), ALPHA_2)
        assert gap(m.grad, by_hand) < 1e-12
    assert all(network[i].bias.grad is None for i in (0, 2, 4))


def test_scores_are_the_sizes_of_the_weights(gap: Gap) -> None:
    gate, _ = gate_and_network()
    assert (gate.weight < 0).any()
    assert gap(gate.importance(None).scores, np.abs(gate.weight.detach().numpy())) < 1e-12
