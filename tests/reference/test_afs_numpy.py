"""AFS against its formulas, written in NumPy as they stand in the publication."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from featuremask.gates import AFSGate
from featuremask.networks import mlp

Array = NDArray[np.float64]
Gap = Callable[[Any, Any], float]

ROWS, D, E = 7, 5, 4


def gate_with_random_weights(**words: Any) -> AFSGate:
    gate = AFSGate(D, attention_units=E, dtype=torch.float64, **words)
    for parameter in gate.parameters():
        nn.init.normal_(parameter)
    return gate


def sigmoid(logits: Array) -> Array:
    return 1 / (1 + np.exp(-logits))


def values(gate: AFSGate, *names: str) -> list[Array]:
    return [getattr(gate, name).detach().numpy() for name in names]


def test_attention_and_gradients_are_those_derived_by_hand(gap: Gap) -> None:
    gate = gate_with_random_weights()
    x, upstream = torch.randn(ROWS, D).double().requires_grad_(), torch.randn(ROWS, D).double()
    output = gate(x)
    output.backward(upstream)
    w, b, d, c = values(gate, "encoder_weight", "encoder_bias", "head_weight", "head_bias")
    rows, u = x.detach().numpy(), upstream.numpy()
    e = np.tanh(rows @ w.T + b)
    a = sigmoid(np.array([[d[k] @ e_n + c[k] for k in range(D)] for e_n in e]))
    d_logit = u * rows * a * (1 - a)
    d_code = (d_logit @ d) * (1 - e**2)
    assert gap(output, a * rows) < 1e-12
    assert gap(gate.head_weight.grad, d_logit.T @ e) < 1e-12
    assert gap(gate.head_bias.grad, d_logit.sum(axis=0)) < 1e-12
    assert gap(gate.encoder_weight.grad, d_code.T @ rows) < 1e-12
    assert gap(gate.encoder_bias.grad, d_code.sum(axis=0)) < 1e-12
    assert gap(x.grad, u * a + d_code @ w) < 1e-12


def test_one_logit_a_head_is_the_softmax_of_two(gap: Gap) -> None:
    gate, x = gate_with_random_weights(), torch.randn(ROWS, D).double()
    w, b, d, c = values(gate, "encoder_weight", "encoder_bias", "head_weight", "head_bias")
    rng = np.random.default_rng(0)
    heads, biases = rng.normal(size=(D, 2, E)), rng.normal(size=(D, 2))
    heads[:, 1], biases[:, 1] = heads[:, 0] + d, biases[:, 0] + c
    e = np.tanh(x.numpy() @ w.T + b)
    logits = np.einsum("ne,kle->nkl", e, heads) + biases
    two = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    assert gap(gate.attention(x), two[:, :, 1]) < 1e-12


def test_deep_heads_have_a_hidden_layer_of_their_own(gap: Gap) -> None:
    gate, x = gate_with_random_weights(head_depth=1), torch.randn(ROWS, D).double()
    w, b, d, c = values(gate, "encoder_weight", "encoder_bias", "head_weight", "head_bias")
    hidden, hidden_bias = values(gate, "hidden_weight", "hidden_bias")
    e = np.tanh(x.numpy() @ w.T + b)
    logits = [
        [d[k] @ np.tanh(hidden[k] @ e_n + hidden_bias[k]) + c[k] for k in range(D)] for e_n in e
    ]
    assert gap(gate.attention(x), sigmoid(np.array(logits))) < 1e-12


def test_penalty_is_half_the_squares_of_the_networks_matrices(gap: Gap) -> None:
    gate, network = gate_with_random_weights(network_penalty=0.3), mlp(D, (4, 3), 2).double()
    penalty = gate.penalty(network)
    penalty.backward()
    matrices = [network[i].weight for i in (0, 2, 4)]
    expected = sum(0.3 / 2 * np.sum(m.detach().numpy() ** 2) for m in matrices)
    assert gap(penalty, expected) < 1e-12
    assert all(gap(m.grad, 0.3 * m.detach().numpy()) < 1e-12 for m in matrices)
    assert all(parameter.grad is None for parameter in gate.parameters())


def test_score_is_the_mean_attention_over_the_rows(gap: Gap) -> None:
    gate, x, weight = gate_with_random_weights(), torch.randn(ROWS, D).double(), np.arange(ROWS)
    attention = gate.attention(x).detach().numpy()
    scores = gate.importance(gate.statistic(x, torch.from_numpy(weight).double())).scores
    assert gap(scores, np.average(attention, axis=0, weights=weight)) < 1e-12
