"""The dense transformation: initial weights, activations, stages."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import DenseTransformation, TwoStage

Gap = Callable[[Any, Any], float]


def dense(**words: Any) -> DenseTransformation:
    return DenseTransformation(40, 30, generator=torch.Generator().manual_seed(0), **words)


def matrices(transformation: nn.Module) -> list[torch.Tensor]:
    return [p.detach() for p in transformation.parameters() if p.ndim == 2]


@pytest.mark.parametrize("init", ["xavier", "uniform", "normal", "ones", "authors"])
def test_biases_start_at_zero(init: Any) -> None:
    biases = [p for p in dense(init=init, depth=2).parameters() if p.ndim == 1]
    assert len(biases) == 3
    assert not any(bias.any() for bias in biases)


def assert_uniform(weight: torch.Tensor, low: float, high: float) -> None:
    """Within the bounds, up to them, and of the right mean and spread."""
    width = high - low
    assert low <= weight.min() < low + 0.01 * width
    assert high - 0.01 * width < weight.max() <= high
    assert abs(weight.mean() - (low + high) / 2) < 0.03 * width
    assert abs(weight.std() - width / math.sqrt(12)) < 0.03 * width


def test_xavier_is_uniform_by_the_sizes_of_each_layer() -> None:
    first, second, last = matrices(dense(depth=2))
    for weight, inputs, outputs in ((first, 40, 128), (second, 128, 128), (last, 128, 30)):
        bound = math.sqrt(6 / (inputs + outputs))
        assert_uniform(weight, -bound, bound)


def test_uniform_is_that_of_keras() -> None:
    for weight in matrices(dense(init="uniform")):
        assert_uniform(weight, -0.05, 0.05)


def test_normal_is_that_of_keras() -> None:
    for weight in matrices(dense(init="normal")):
        assert abs(weight.mean()) < 0.003
        assert abs(weight.std() - 0.05) < 0.003
        assert weight.abs().max() > 0.15  # tails, unlike a uniform draw


def test_ones_are_ones() -> None:
    assert all((weight == 1.0).all() for weight in matrices(dense(init="ones", depth=3)))


def test_the_authors_draw_the_last_layer_around_one_and_the_others_by_xavier() -> None:
    first, second, last = matrices(dense(init="authors", depth=2))
    assert_uniform(last, 0.9, 1.1)
    assert_uniform(first, -math.sqrt(6 / 168), math.sqrt(6 / 168))
    assert_uniform(second, -math.sqrt(6 / 256), math.sqrt(6 / 256))


@pytest.mark.usefixtures("untouched_generators")
def test_a_generator_makes_the_weights_reproducible() -> None:
    for one, same in zip(matrices(dense()), matrices(dense()), strict=True):
        assert torch.equal(one, same)


def test_without_a_generator_the_global_one_serves() -> None:
    def first() -> torch.Tensor:
        torch.manual_seed(5)
        return matrices(DenseTransformation(4, 3))[0]

    assert torch.equal(first(), first())


def test_weights_can_be_drawn_anew() -> None:
    transformation = dense()
    before = matrices(transformation)[0].clone()
    transformation.reset_parameters("normal", torch.Generator().manual_seed(1))
    after = matrices(transformation)[0]
    assert not torch.equal(before, after)
    assert abs(after.std() - 0.05) < 0.003


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("tanh", torch.tanh),
        ("relu", torch.relu),
        ("sigmoid", torch.sigmoid),
        ("leaky_relu", lambda x: torch.where(x > 0, x, 0.2 * x)),
    ],
)
def test_activations_are_applied_after_each_hidden_layer_and_not_to_the_logits(
    name: str, function: Callable[[torch.Tensor], torch.Tensor], gap: Gap
) -> None:
    transformation, x = dense(activation=name, depth=2), torch.randn(9, 40)
    w1, b1, w2, b2, w3, b3 = transformation.parameters()
    code = function(function(x @ w1.T + b1) @ w2.T + b2)
    assert gap(transformation.encode(x), code) < 1e-5
    assert gap(transformation(x), code @ w3.T + b3) < 1e-5


def test_the_second_stage_is_affine(gap: Gap) -> None:
    transformation = dense(dtype=torch.float64)
    nn.init.normal_(transformation.output.bias)
    one, other = torch.randn(2, 128, dtype=torch.float64)
    mixed = transformation.decode(0.3 * one + 0.7 * other)
    apart = 0.3 * transformation.decode(one) + 0.7 * transformation.decode(other)
    assert isinstance(transformation, TwoStage)
    assert gap(mixed, apart) < 1e-12


def test_other_modules_have_one_stage() -> None:
    assert not isinstance(nn.Linear(3, 3), TwoStage)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"units": 0}, "mask_units must be a positive integer; got 0"),
        ({"depth": -1}, "depth must be a positive number of hidden layers; got -1"),
        ({"activation": "gelu"}, r"activation must be one of \[.*\]; got 'gelu'"),
        ({"init": "zeros"}, r"init must be one of \[.*\]; got 'zeros'"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        dense(**words)
