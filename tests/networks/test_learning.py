"""The paper's learning networks."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.networks import Dropout, mirrored, mlp


def kinds(network: nn.Sequential) -> list[str]:
    return [type(module).__name__ for module in network]


def widths(network: nn.Sequential) -> list[tuple[int, int]]:
    return [(m.in_features, m.out_features) for m in network if isinstance(m, nn.Linear)]


def test_it_is_the_classifier_of_the_paper() -> None:
    network = mlp(784, (128, 64), 10, dropout=0.3)
    assert kinds(network) == ["Linear", "LeakyReLU", "Linear", "LeakyReLU", "Dropout", "Linear"]
    assert widths(network) == [(784, 128), (128, 64), (64, 10)]
    assert {m.negative_slope for m in network if isinstance(m, nn.LeakyReLU)} == {0.2}
    assert network[4].rate == 0.3


def test_it_is_the_autoencoder_of_the_paper() -> None:
    network = mlp(617, mirrored((128, 64)), 617)
    assert widths(network) == [(617, 128), (128, 64), (64, 128), (128, 617)]
    assert kinds(network).count("LeakyReLU") == 3
    assert not any(isinstance(m, Dropout) for m in network)


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [((8,), (8,)), ((8, 4), (8, 4, 8)), ((8, 4, 2), (8, 4, 2, 4, 8)), ((), ())],
)
def test_mirroring_repeats_all_but_the_innermost(
    hidden: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert mirrored(hidden) == expected


def test_without_hidden_layers_it_is_linear() -> None:
    assert kinds(mlp(4, (), 3)) == ["Linear"]


@pytest.mark.parametrize("n_inputs", [4, 400])
def test_weights_start_as_those_of_pytorch(n_inputs: int) -> None:
    bound = 1 / math.sqrt(n_inputs)
    for layer in (mlp(n_inputs, (), 500)[0], nn.Linear(n_inputs, 500)):
        for values in (layer.weight, layer.bias):
            assert 0.9 * bound < values.abs().max() <= bound
            assert abs(values.mean()) < 0.1 * bound
            assert abs(values.std() - bound / math.sqrt(3)) < 0.1 * bound


@pytest.mark.usefixtures("untouched_generators")
def test_equal_generators_give_equal_weights() -> None:
    def weights(seed: int) -> list[Any]:
        network = mlp(5, (4,), 2, generator=torch.Generator().manual_seed(seed))
        return [parameter.tolist() for parameter in network.parameters()]

    assert weights(1) == weights(1)
    assert weights(1) != weights(2)


def test_precision_is_that_asked_for() -> None:
    parameters = list(mlp(5, (4,), 2, dtype=torch.float64).parameters())
    assert {parameter.dtype for parameter in parameters} == {torch.float64}
    assert all(parameter.requires_grad for parameter in parameters)


@pytest.mark.parametrize("bad", [(0, (4,), 2), (5, (4, 0), 2), (5, (4,), -1), (5, (2.5,), 2)])
def test_widths_that_are_none_are_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="widths of a network must be positive integers; got"):
        mlp(*bad)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2.0, float("nan")])
def test_rates_that_are_none_are_refused(rate: float) -> None:
    with pytest.raises(InputError, match=r"dropout rate must be in \[0, 1\); got"):
        mlp(5, (4,), 2, dropout=rate)
