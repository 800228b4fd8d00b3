"""Training options say what training does, and refuse what makes no sense."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import FeatureMask
from featuremask.networks import mlp
from featuremask.selectors._attempt import Attempt
from featuremask.selectors._specs import Seeds
from featuremask.training import TrainingOptions


def test_options_cannot_be_changed() -> None:
    options = TrainingOptions(epochs=1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="epochs"):
        options.epochs = 2  # type: ignore[misc]  # the point of the test


def test_options_need_an_end() -> None:
    with pytest.raises(InputError, match="epochs or steps must be given"):
        TrainingOptions()


@pytest.mark.parametrize("name", ["epochs", "steps", "batch_size", "threads"])
def test_counts_are_at_least_one(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be at least 1; got 0"):
        TrainingOptions(**{"epochs": 1, name: 0})


@pytest.mark.parametrize("name", ["learning_rate", "max_seconds", "clip_gradient"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_amounts_are_positive(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} must be positive; got"):
        TrainingOptions(**{"epochs": 1, name: value})


def test_weight_decay_is_not_negative() -> None:
    with pytest.raises(InputError, match=r"weight_decay must not be negative; got -0\.1"):
        TrainingOptions(epochs=1, weight_decay=-0.1)


@pytest.mark.parametrize(
    ("name", "known"), [("optimizer", "adam.*adamw.*sgd"), ("schedule", "constant.*cosine.*linear")]
)
def test_unknown_names_are_refused_and_the_known_ones_listed(name: str, known: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be one of .*{known}.* got 'none'"):
        TrainingOptions(**{"epochs": 1, name: "none"})


@pytest.mark.parametrize(
    ("bounds", "steps"),
    [
        ({"epochs": 3}, 30),
        ({"steps": 7}, 7),
        ({"epochs": 3, "steps": 7}, 7),
        ({"epochs": 1, "steps": 70}, 10),
    ],
)
def test_the_first_bound_ends_training(bounds: dict[str, int], steps: int) -> None:
    assert TrainingOptions(**bounds).total_steps(steps_per_epoch=10) == steps


@pytest.mark.parametrize(
    ("name", "kind"),
    [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW), ("sgd", torch.optim.SGD)],
)
def test_optimizers_go_by_name(name: str, kind: type) -> None:
    options = TrainingOptions(epochs=1, optimizer=name, learning_rate=0.25)
    optimizer = options.make_optimizer(FeatureMask(4), mlp(4, (3,), 2))
    assert isinstance(optimizer, kind)
    assert {group["lr"] for group in optimizer.param_groups} == {0.25}


def test_an_optimizer_may_be_a_function_of_groups_and_rate() -> None:
    got: dict[str, Any] = {}

    def make(groups: list[dict[str, Any]], rate: float) -> torch.optim.Optimizer:
        got.update(groups=groups, rate=rate)
        return torch.optim.RMSprop(groups, rate)

    options = TrainingOptions(epochs=1, optimizer=make, learning_rate=0.5)
    optimizer = options.make_optimizer(FeatureMask(4), mlp(4, (3,), 2))
    assert isinstance(optimizer, torch.optim.RMSprop)
    assert got["rate"] == 0.5
    assert len(got["groups"]) == 3


def test_weight_decay_is_for_the_matrices_of_the_learning_network_alone() -> None:
    gate, network = FeatureMask(4), mlp(4, (3,), 2)
    optimizer = TrainingOptions(epochs=1, weight_decay=0.1).make_optimizer(gate, network)
    decayed = [p for g in optimizer.param_groups if g["weight_decay"] for p in g["params"]]
    assert {id(p) for p in decayed} == {id(network[0].weight), id(network[2].weight)}
    everyone = [id(p) for group in optimizer.param_groups for p in group["params"]]
    expected = [id(p) for module in (gate, network) for p in module.parameters()]
    assert sorted(everyone) == sorted(expected)


def test_a_network_without_parameters_of_a_kind_leaves_no_empty_group() -> None:
    optimizer = TrainingOptions(epochs=1).make_optimizer(nn.Identity(), nn.Linear(4, 2, bias=False))
    assert [len(group["params"]) for group in optimizer.param_groups] == [1]


@pytest.mark.parametrize(
    ("schedule", "at_0", "at_half", "towards_1"),
    [("constant", 1.0, 1.0, 1.0), ("linear", 1.0, 0.5, 0.0), ("cosine", 1.0, 0.5, 0.0)],
)
def test_schedules(schedule: Any, at_0: float, at_half: float, towards_1: float) -> None:
    options = TrainingOptions(epochs=1, schedule=schedule)
    found = [options.rate_factor(progress) for progress in (0.0, 0.5, 1.0 - 1e-6)]
    assert found == pytest.approx([at_0, at_half, towards_1], abs=1e-5)


def test_a_schedule_may_be_a_function() -> None:
    assert TrainingOptions(epochs=1, schedule=lambda p: 3.0 - p).rate_factor(0.5) == 2.5


def test_each_further_training_of_a_fit_takes_twice_as_long() -> None:
    options = TrainingOptions(epochs=3, steps=10, max_seconds=9.0)
    assert Attempt(0, 1.0).options(options) is options
    third = Attempt(2, 5.0).options(options)
    assert (third.epochs, third.steps, third.max_seconds) == (12, 40, 5.0)
    endless = Attempt(1).options(TrainingOptions(steps=10))
    assert (endless.epochs, endless.steps) == (None, 20)


def test_each_training_of_a_fit_has_seeds_of_its_own() -> None:
    assert Attempt().seeds(Seeds(1, 20, 300)) == Seeds(1, 20, 300)
    assert Attempt(2).seeds(Seeds(1, 20, 300)) == Seeds(3, 22, 302)
