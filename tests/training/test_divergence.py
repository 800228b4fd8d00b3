"""Training that goes wrong stops at once and says where and why."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask.exceptions import TrainingDivergedError
from featuremask.networks import GatedNetwork, mlp
from featuremask.objectives import Classes, Regression
from featuremask.sources import ArraySource


def finite(model: nn.Module) -> bool:
    return all(bool(torch.isfinite(p).all()) for p in model.parameters())


def test_a_learning_rate_too_high_is_named(problem: Any) -> None:
    model = problem.model()
    message = r"The loss became (nan|inf) in epoch \d+, step \d+ of 300\. .*learning rate 1e\+20"
    with pytest.raises(TrainingDivergedError, match=message):
        problem.fit(model, epochs=100, optimizer="sgd", learning_rate=1e20)
    assert finite(model)


def test_epoch_and_step_of_the_divergence_are_counted_from_one(problem: Any) -> None:
    calls = []

    def loss(output: Tensor, target: Tensor) -> Tensor:
        calls.append(1)
        return output.sum(1) * (float("inf") if len(calls) == 5 else 1e-3)

    with pytest.raises(TrainingDivergedError, match="in epoch 2, step 5 of 9"):
        problem.fit(problem.model(), Classes(2, loss), epochs=3)


def test_large_input_is_named(problem: Any) -> None:
    model = GatedNetwork(problem.model().gate, mlp(8, (16,), 1))
    source = ArraySource(problem.X * 1e25, torch.zeros(100, 1))
    with pytest.raises(TrainingDivergedError, match=r"step 1 of 9.*input is large.*standardize it"):
        problem.fit(model, Regression(1), source)
    assert finite(model)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_input_that_is_not_finite_is_named(problem: Any, value: float) -> None:
    X = problem.X.copy()
    X[3, 2] = value
    model = problem.model()
    with pytest.raises(TrainingDivergedError, match="input of the batch is not finite"):
        problem.fit(model, source=ArraySource(X, problem.y))
    assert finite(model)


def test_a_penalty_that_is_not_finite_stops_training(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate(lambda weight: torch.tensor(float("-inf")))
    with pytest.raises(TrainingDivergedError, match="loss became -inf in epoch 1, step 1"):
        problem.fit(problem.model(gate))


def test_weights_that_are_not_finite_after_the_last_step_are_an_error(problem: Any) -> None:
    def loss(output: Tensor, target: Tensor) -> Tensor:
        return torch.sqrt((output * 0.0).abs().sum(1))  # 0, with a gradient of NaN

    with pytest.raises(TrainingDivergedError, match=r"not finite.*after the last step"):
        problem.fit(problem.model(), Classes(2, loss), steps=1)


def test_an_error_of_the_users_loss_comes_through(problem: Any) -> None:
    def loss(output: Tensor, target: Tensor) -> Tensor:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        problem.fit(problem.model(), Classes(2, loss))
