"""The words of DFS, and why its two penalties belong together."""

from typing import Any

import pytest
import torch

from featuremask.exceptions import InputError
from featuremask.gates import DFSGate
from featuremask.networks import GatedNetwork, mlp


def test_weights_start_at_one() -> None:
    x = torch.randn(3, 5)
    assert torch.equal(DFSGate(5)(x), x)


def rescaled(gate: DFSGate, model: GatedNetwork, factor: float) -> None:
    """Shrink the weights of the features and undo it in the first layer of the network."""
    with torch.no_grad():
        gate.weight.mul_(factor)
        model.network[0].weight.div_(factor)


def test_without_the_networks_penalty_weights_shrink_at_no_cost() -> None:
    x = torch.randn(4, 5).double()
    for network_penalty, gains in ((0.0, True), (0.1, False)):
        gate = DFSGate(5, network_penalty=network_penalty).double()
        model = GatedNetwork(gate, mlp(5, (4,), 2).double())
        output, penalty = model(x), gate.penalty(model.network)
        rescaled(gate, model, 0.01)
        assert torch.allclose(model(x), output)
        assert (gate.penalty(model.network) < penalty) == gains


def test_negative_weights_count_by_their_size() -> None:
    gate = DFSGate(3)
    with torch.no_grad():
        gate.weight.copy_(torch.tensor([0.5, -2.0, 1.0]))
    assert gate.importance(None).scores.tolist() == [0.5, 2.0, 1.0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"weight_penalty": -1.0}, r"weight_penalty must not be negative; got -1\.0"),
        ({"network_penalty": float("nan")}, "network_penalty must not be negative; got nan"),
        ({"weight_l1_ratio": 1.1}, r"weight_l1_ratio must be from 0 .* to 1 .*; got 1\.1"),
        ({"network_l1_ratio": -0.1}, r"network_l1_ratio must be from 0 .*; got -0\.1"),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DFSGate(5, **words)


def test_by_default_features_are_penalized_by_size_and_the_network_by_squares() -> None:
    network = mlp(5, (4,), 2)
    said = DFSGate(5, weight_l1_ratio=1.0, network_l1_ratio=0.0).penalty(network)
    assert torch.equal(DFSGate(5).penalty(network), said)
    assert not torch.equal(DFSGate(5, network_l1_ratio=1.0).penalty(network), said)
