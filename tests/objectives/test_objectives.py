"""Losses of rows, and their weighted means."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error
from torch import Tensor, nn
from torch.nn import functional

from featuremask.exceptions import InputError
from featuremask.objectives import (
    BinaryLabels,
    Classes,
    Objective,
    Reconstruction,
    Regression,
    loss_function,
)

Gap = Callable[[Any, Any], float]

N = 11
RANDOM = torch.Generator().manual_seed(0)


def outputs(width: int) -> Tensor:
    return 2.0 * torch.randn(N, width, dtype=torch.float64, generator=RANDOM)


def labels(n_classes: int) -> Tensor:
    return torch.randint(n_classes, (N,), generator=RANDOM)


def flags(width: int) -> Tensor:
    return torch.randint(2, (N, width), generator=RANDOM).double()


def wild_loss(output: Tensor, target: Tensor) -> Tensor:
    """A user's loss: one value a row, of any kind of target."""
    return (output.sum(1) - target.reshape(len(target), -1).sum(1)).abs() ** 1.5


class Case(NamedTuple):
    objective: Objective
    output: Tensor
    target: Tensor


CASES = {
    "two classes": Case(Classes(2), outputs(2), labels(2)),
    "five classes": Case(Classes(5), outputs(5), labels(5)),
    "classes, own loss": Case(Classes(3, wild_loss), outputs(3), labels(3)),
    "one label": Case(BinaryLabels(1), outputs(1), flags(1)),
    "four labels": Case(BinaryLabels(4), outputs(4), flags(4)),
    "labels, own loss": Case(BinaryLabels(2, wild_loss), outputs(2), flags(2)),
    "one number": Case(Regression(1), outputs(1), outputs(1)),
    "three numbers": Case(Regression(3), outputs(3), outputs(3)),
    "huber": Case(Regression(3, "huber"), outputs(3), outputs(3)),
    "absolute": Case(Regression(3, "absolute_error"), outputs(3), outputs(3)),
    "own loss": Case(Regression(3, wild_loss), outputs(3), outputs(3)),
    "reconstruction": Case(Reconstruction(6), outputs(6), outputs(6)),
}
every_objective = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@every_objective
def test_each_row_has_one_loss(case: Case) -> None:
    losses = case.objective.row_losses(case.output, case.target)
    assert losses.shape == (N,)
    assert case.objective.n_outputs == case.output.shape[1]


@every_objective
def test_a_loss_of_a_row_is_its_loss_alone(case: Case, gap: Gap) -> None:
    together = case.objective.row_losses(case.output, case.target)
    for i in range(N):
        alone = case.objective.row_losses(case.output[i : i + 1], case.target[i : i + 1])
        assert gap(alone, together[i : i + 1]) < 1e-12


@every_objective
def test_the_loss_is_the_mean_over_rows(case: Case, gap: Gap) -> None:
    objective, output, target = case
    expected = objective.row_losses(output, target).mean()
    assert gap(objective.loss(output, target, None), expected) < 1e-12
    assert gap(objective.loss(output, target, torch.full((N,), 3.0).double()), expected) < 1e-12


@every_objective
@given(times=st.lists(st.integers(0, 3), min_size=N, max_size=N).filter(any))
def test_a_weight_is_a_number_of_repetitions(case: Case, times: list[int], gap: Gap) -> None:
    objective, output, target = case
    counts = torch.tensor(times)
    weighted = objective.loss(output, target, counts.double())
    repeated = objective.loss(
        output.repeat_interleave(counts, 0), target.repeat_interleave(counts, 0), None
    )
    assert gap(weighted, repeated) < 1e-12


@every_objective
def test_the_loss_is_differentiable(case: Case) -> None:
    weight = torch.rand(N, dtype=torch.float64)
    for w in (None, weight):
        assert torch.autograd.gradcheck(
            lambda output, w=w: case.objective.loss(output, case.target, w),
            case.output.clone().requires_grad_(),
        )


def test_classes_have_the_cross_entropy_of_scikit_learn(gap: Gap) -> None:
    objective, output, target = CASES["five classes"]
    weight = torch.rand(N, dtype=torch.float64)
    probabilities = output.softmax(1).numpy()
    expected = log_loss(target, probabilities, sample_weight=weight, labels=range(5))
    assert gap(objective.loss(output, target, weight), expected) < 1e-12


def test_labels_have_the_mean_of_their_binary_cross_entropies(gap: Gap) -> None:
    objective, output, target = CASES["four labels"]
    p = output.sigmoid().numpy()
    by_hand = -np.where(target == 1, np.log(p), np.log(1 - p)).mean(axis=1)
    assert gap(objective.row_losses(output, target), by_hand) < 1e-12
    expected = np.mean([log_loss(target[:, j], p[:, j], labels=[0, 1]) for j in range(4)])
    assert gap(objective.loss(output, target, None), expected) < 1e-12


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("three numbers", mean_squared_error),
        ("absolute", mean_absolute_error),
        ("reconstruction", mean_squared_error),
    ],
)
def test_numbers_have_the_errors_of_scikit_learn(
    name: str, metric: Callable[..., float], gap: Gap
) -> None:
    objective, output, target = CASES[name]
    weight = torch.rand(N, dtype=torch.float64)
    assert gap(objective.loss(output, target, None), metric(target, output)) < 1e-12
    expected = metric(target, output, sample_weight=weight)
    assert gap(objective.loss(output, target, weight), expected) < 1e-12


def test_huber_is_square_near_and_linear_far(gap: Gap) -> None:
    objective, output, target = CASES["huber"]
    error = (output - target).abs()
    assert (error < 1).any()
    assert (error > 1).any()
    by_hand = torch.where(error < 1, error.square() / 2, error - 0.5).mean(1)
    assert gap(objective.row_losses(output, target), by_hand) < 1e-12


@pytest.mark.parametrize(
    "objective",
    [Classes(2, nn.CrossEntropyLoss()), BinaryLabels(2, nn.BCEWithLogitsLoss())],
    ids=["classes", "labels"],
)
def test_a_loss_that_averages_rows_is_refused(objective: Objective) -> None:
    target = labels(2) if isinstance(objective, Classes) else flags(2)
    with pytest.raises(InputError, match=r"one value a row.*reduction='none'.*shape \(\) for 11"):
        objective.loss(outputs(2), target, None)


@pytest.mark.parametrize("loss", [nn.MSELoss(), functional.l1_loss, lambda o, t: (o - t).sum(0)])
def test_a_loss_of_numbers_that_averages_rows_is_refused(loss: Any) -> None:
    for weight in (None, torch.ones(N).double()):
        with pytest.raises(InputError, match="A loss must return one value a row"):
            Regression(3, loss).loss(outputs(3), outputs(3), weight)


def test_a_users_loss_may_return_one_value_an_output(gap: Gap) -> None:
    output, target = outputs(3), outputs(3)
    users = Regression(3, nn.MSELoss(reduction="none")).loss(output, target, None)
    assert gap(users, Regression(3).loss(output, target, None)) < 1e-12


@pytest.mark.parametrize("loss", ["mse", "", None, 3])
def test_a_loss_that_is_none_is_refused(loss: Any) -> None:
    with pytest.raises(InputError, match=r"'huber'.* or a callable of .*; got"):
        loss_function(loss)


def test_each_objective_says_its_family() -> None:
    kinds = {type(case.objective): case.objective.kind for case in CASES.values()}
    assert kinds == {
        Classes: "classification",
        BinaryLabels: "classification",
        Regression: "regression",
        Reconstruction: "reconstruction",
    }


def test_extreme_logits_have_finite_losses() -> None:
    far = torch.tensor([[1e4, -1e4], [-1e4, 1e4]])
    assert Classes(2).row_losses(far, torch.tensor([1, 1])).tolist() == [2e4, 0.0]
    assert BinaryLabels(2).row_losses(far, torch.tensor([[0.0, 0.0], [0.0, 1.0]])).tolist() == [
        5e3,
        0.0,
    ]
