"""The one training loop does what it says, step by step."""

import itertools
import json
import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask.networks import GatedNetwork, Standardize, mlp
from featuremask.objectives import Classes, Reconstruction, Regression
from featuremask.sources import ArraySource
from featuremask.training import (
    Callback,
    TrainingOptions,
    TrainingState,
    _loop,  # the module, for its clock
    read_out,
    statistic_of,
)


def watched(kind: type[torch.optim.Optimizer], seen: list[Any], look: Any) -> Any:
    """Return a factory of optimizers that note something before each step."""

    class Watched(kind):  # type: ignore[misc, valid-type]  # made for this test
        def step(self, closure: Any = None) -> Any:
            seen.append(look(self))
            return super().step(closure)

    return lambda groups, rate: Watched(groups, rate)


def zero_loss(output: Tensor, target: Tensor) -> Tensor:
    return (output * 0.0).sum(1)


# ---- it learns ------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd"])
def test_the_loss_falls(problem: Any, optimizer: str) -> None:
    history = problem.fit(epochs=40, optimizer=optimizer).history
    assert history[-1]["loss"] < 0.6 * history[0]["loss"]


def test_the_feature_that_matters_comes_first(problem: Any) -> None:
    assert int(problem.fit(epochs=60).importance.scores.argmax()) == 0


def test_reconstruction_learns_from_the_rows_themselves(problem: Any) -> None:
    X = problem.X.copy()
    X[:, 1] = X[:, 0]
    model = GatedNetwork(problem.model().gate, mlp(8, (16,), 8))
    history = problem.fit(model, Reconstruction(8), ArraySource(X), epochs=40).history
    assert history[-1]["loss"] < 0.8 * history[0]["loss"]


def test_a_users_loss_is_what_is_minimized(problem: Any) -> None:
    target = torch.full((100, 1), 7.0)
    model = GatedNetwork(problem.model().gate, mlp(8, (4,), 1))
    objective = Regression(1, lambda output, wanted: (output - wanted).abs())
    problem.fit(model, objective, ArraySource(problem.X, target), epochs=150, learning_rate=0.03)
    output = model(torch.from_numpy(problem.X)).detach()
    assert float((output - 7.0).abs().mean()) < 1.0


def test_it_trains_where_gradients_are_switched_off(problem: Any) -> None:
    with torch.no_grad():
        history = problem.fit(epochs=30).history
    assert history[-1]["loss"] < history[0]["loss"]


# ---- when it ends ---------------------------------------------------------------------------


def test_epochs_bound_training(problem: Any) -> None:
    history = problem.fit(epochs=3).history
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert [record["step"] for record in history] == [3, 6, 9]


def test_steps_bound_training_in_the_middle_of_an_epoch(problem: Any) -> None:
    history = problem.fit(steps=7).history
    assert [record["step"] for record in history] == [3, 6, 7]


def test_the_first_of_epochs_and_steps_bounds(problem: Any) -> None:
    assert problem.fit(epochs=2, steps=1000).history[-1]["step"] == 6
    assert problem.fit(epochs=1000, steps=2).history[-1]["step"] == 2


def test_the_clock_bounds_training(problem: Any) -> None:
    start = time.monotonic()
    history = problem.fit(epochs=10**7, max_seconds=0.15).history
    assert 0.1 < time.monotonic() - start < 5.0
    assert 0 < history[-1]["step"] < 10**7
    assert history[-1]["seconds"] >= 0.1


def test_a_clock_that_has_run_out_still_leaves_one_step(problem: Any) -> None:
    history = problem.fit(epochs=5, max_seconds=1e-9).history
    assert [record["step"] for record in history] == [1]
    assert history[0]["loss"] > 0.1


def test_a_clock_that_runs_out_never_turns_the_learning_rate_negative(problem: Any) -> None:
    rates: list[float] = []
    make = watched(torch.optim.SGD, rates, lambda o: o.param_groups[0]["lr"])
    problem.fit(epochs=5, max_seconds=1e-9, schedule="linear", optimizer=make)
    assert min(rates) >= 0.0


@pytest.mark.parametrize("ticks", range(3, 24))
def test_progress_never_falls_wherever_the_clock_runs_out(
    problem: Any, telling_gate: Any, monkeypatch: pytest.MonkeyPatch, ticks: int
) -> None:
    clock = itertools.count()
    monkeypatch.setattr(_loop, "time", SimpleNamespace(monotonic=lambda: next(clock) / ticks))
    gate = telling_gate()
    history = problem.fit(problem.model(gate), epochs=1000, max_seconds=1.0).history
    assert gate.annealed == sorted(gate.annealed)
    assert [progress < 1.0 for progress in gate.annealed] == [True] * (len(gate.annealed) - 1) + [
        False
    ]
    steps = [0, *(record["step"] for record in history)]
    assert all(before < after for before, after in itertools.pairwise(steps))


# ---- what a step does -----------------------------------------------------------------------


def test_every_row_is_seen_once_an_epoch_in_another_order(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate()
    problem.fit(problem.model(gate), epochs=2)
    epochs = [list(itertools.chain(*batches)) for batches in (gate.seen[:3], gate.seen[3:])]
    assert [len(batch) for batch in gate.seen] == [33, 34, 33] * 2
    for order in epochs:
        assert sorted(order) == sorted(problem.X[:, 0].tolist())
    assert epochs[0] != epochs[1]
    assert epochs[0] != problem.X[:, 0].tolist()


def test_the_verbs_of_a_gate_are_called_in_order_at_each_step(
    problem: Any, telling_gate: Any
) -> None:
    gate = telling_gate()
    problem.fit(problem.model(gate), epochs=1)
    step = ["anneal", "forward", "penalty", "project"]
    names = [call[0] if isinstance(call, tuple) else call for call in gate.calls]
    assert names == [*step * 3, "anneal"]


def test_progress_rises_from_0_and_is_1_only_at_the_end(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate()
    problem.fit(problem.model(gate), epochs=4)
    assert gate.annealed == pytest.approx([*np.arange(12) / 12, 1.0])
    assert gate.annealed[-1] == 1.0
    assert all(progress < 1.0 for progress in gate.annealed[:-1])


def test_progress_follows_the_clock_where_it_is_ahead(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate()
    problem.fit(problem.model(gate), epochs=10**7, max_seconds=0.1)
    assert gate.annealed == sorted(gate.annealed)
    assert 0.5 < gate.annealed[-2] < 1.0
    assert gate.annealed[-1] == 1.0


def test_the_penalty_of_a_gate_is_part_of_the_loss(problem: Any, telling_gate: Any) -> None:
    plain = problem.fit(problem.model(telling_gate()), epochs=1).history[0]["loss"]
    gate = telling_gate(lambda weight: torch.tensor(5.0))
    assert problem.fit(problem.model(gate), epochs=1).history[0]["loss"] == pytest.approx(plain + 5)


def test_the_penalty_of_a_gate_moves_the_gate(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate(lambda weight: (weight - 3.0).square().sum())
    problem.fit(problem.model(gate), Classes(2, zero_loss), epochs=100, learning_rate=0.05)
    assert gate.weight.detach().numpy() == pytest.approx(np.full(8, 3.0), abs=0.05)


def test_a_projection_holds_after_each_step(problem: Any, telling_gate: Any) -> None:
    gate = telling_gate(lambda weight: -weight.sum())
    gate.project = lambda: gate.weight.data.clamp_(0.0, 1.0)
    largest: list[float] = []

    class Look(Callback):
        def on_epoch_end(self, state: TrainingState) -> None:
            largest.append(float(gate.weight.detach().max()))

    problem.fit(problem.model(gate), Classes(2, zero_loss), epochs=3, callbacks=[Look()])
    assert largest == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("schedule", "factor"),
    [
        ("constant", lambda p: 1.0),
        ("linear", lambda p: 1.0 - p),
        ("cosine", lambda p: 0.5 + 0.5 * math.cos(math.pi * p)),
        (lambda p: 2.0 + p, lambda p: 2.0 + p),
    ],
)
def test_the_learning_rate_follows_its_schedule(problem: Any, schedule: Any, factor: Any) -> None:
    rates: list[float] = []
    make = watched(torch.optim.SGD, rates, lambda o: o.param_groups[-1]["lr"])
    problem.fit(epochs=2, optimizer=make, schedule=schedule, learning_rate=0.1)
    assert rates == pytest.approx([0.1 * factor(step / 6) for step in range(6)], rel=1e-5)


def gradient_norm(optimizer: torch.optim.Optimizer) -> float:
    gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
    return float(torch.stack([g.norm() for g in gradients if g is not None]).norm())


def test_gradients_are_clipped_to_a_norm(problem: Any) -> None:
    free: list[float] = []
    clipped: list[float] = []
    problem.fit(epochs=1, optimizer=watched(torch.optim.SGD, free, gradient_norm))
    assert min(free) > 0.02
    make = watched(torch.optim.SGD, clipped, gradient_norm)
    problem.fit(epochs=1, optimizer=make, clip_gradient=0.01)
    assert clipped == pytest.approx([0.01] * 3, rel=1e-3)


def test_gradients_do_not_add_up_over_steps(problem: Any) -> None:
    norms: list[float] = []
    make = watched(torch.optim.SGD, norms, gradient_norm)
    problem.fit(steps=40, optimizer=make, learning_rate=1e-9, batch_size=100)
    assert norms == pytest.approx([norms[0]] * 40, rel=1e-3)


def test_weight_decay_shrinks_matrices_and_nothing_else(problem: Any) -> None:
    model = problem.model()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    problem.fit(
        model,
        Classes(2, zero_loss),
        steps=5,
        optimizer=lambda groups, rate: torch.optim.SGD(groups, rate),
        learning_rate=0.1,
        weight_decay=0.5,
    )
    for name, parameter in model.named_parameters():
        is_matrix = name.startswith("network.") and name.endswith("weight")
        expected = before[name] * (0.95**5 if is_matrix else 1.0)
        torch.testing.assert_close(parameter.detach(), expected)


def test_an_optimizer_passed_in_goes_on_with_its_state(problem: Any) -> None:
    model = problem.model()
    options = TrainingOptions(steps=4, batch_size=32)
    optimizer = options.make_optimizer(model.gate, model.network)
    problem.fit(model, steps=4, optimizer_object=optimizer)
    problem.fit(model, steps=3, optimizer_object=optimizer)
    steps = {float(entry["step"]) for entry in optimizer.state.values()}
    assert steps == {7.0}


def test_rows_are_standardized_for_training_and_for_the_read_out(problem: Any) -> None:
    mean, scale = torch.full((8,), 50.0), torch.full((8,), 4.0)
    shifted = ArraySource(problem.X * 4.0 + 50.0, problem.y)
    plain = problem.fit(epochs=2)
    standardized = problem.fit(source=shifted, epochs=2, standardize=Standardize(mean, scale))
    torch.testing.assert_close(
        standardized.importance.scores, plain.importance.scores, rtol=1e-4, atol=1e-5
    )


def test_a_weight_of_two_is_a_row_twice(problem: Any) -> None:
    weight = np.where(np.arange(100) < 30, 2.0, 1.0)
    twice = np.repeat(np.arange(100), weight.astype(int))
    weighted = ArraySource(problem.X, problem.y, weight)
    repeated = ArraySource(problem.X[twice], problem.y[twice])
    a, b = (problem.fit(source=s, epochs=5, batch_size=1000) for s in (weighted, repeated))
    losses = [[record["loss"] for record in result.history] for result in (a, b)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    torch.testing.assert_close(a.importance.scores, b.importance.scores, rtol=1e-4, atol=1e-5)


# ---- what it leaves -------------------------------------------------------------------------


def test_the_history_is_plain_and_complete(problem: Any) -> None:
    history = problem.fit(epochs=2, validation=problem.source).history
    assert json.loads(json.dumps(history, allow_nan=False)) == history
    keys = {"epoch", "step", "loss", "seconds", "validation_loss"}
    assert [set(record) for record in history] == [keys] * 2
    assert "validation_loss" not in problem.fit(epochs=1).history[0]
    assert history[0]["seconds"] <= history[1]["seconds"]


def test_the_loss_of_an_epoch_is_the_mean_over_its_rows(problem: Any) -> None:
    def loss(output: Tensor, target: Tensor) -> Tensor:
        return output.sum(1) * 0.0 + target

    recorded = problem.fit(problem.model(), Classes(2, loss), epochs=1).history[0]["loss"]
    assert recorded == pytest.approx(float(problem.y.double().mean()), rel=1e-5)


def test_the_validation_loss_is_that_of_the_frozen_network_weighted(problem: Any) -> None:
    weight = np.linspace(0.5, 2.0, 100)
    held = ArraySource(problem.X, problem.y, weight)
    model = problem.model(dropout=0.5)
    record = problem.fit(model, epochs=2, validation=held).history[-1]
    with torch.no_grad():
        output = model(torch.from_numpy(problem.X))
    losses = nn.functional.cross_entropy(output, problem.y, reduction="none")
    expected = np.average(losses.numpy(), weights=weight)
    assert record["validation_loss"] == pytest.approx(expected, rel=1e-5)


def test_a_validation_part_changes_nothing_in_what_is_trained(problem: Any) -> None:
    without = problem.fit(problem.model(dropout=0.5), epochs=3)
    with_part = problem.fit(problem.model(dropout=0.5), epochs=3, validation=problem.source)
    assert torch.equal(without.importance.scores, with_part.importance.scores)


def test_the_model_is_left_in_evaluation_mode_with_a_frozen_mask(problem: Any) -> None:
    model = problem.model()
    problem.fit(model)
    assert not any(module.training for module in model.modules())
    x = torch.from_numpy(problem.X)
    torch.testing.assert_close(model(x)[:1], model(x[:1]))


def test_the_read_out_streams_the_same_statistic(problem: Any, make_problem: Any) -> None:
    large = make_problem(n_rows=9000)
    model = large.model()
    weight = np.linspace(0.0, 3.0, 9000)
    source = ArraySource(large.X, large.y, weight)
    streamed = statistic_of(model, source, TrainingOptions(epochs=1))
    whole = model.gate.statistic(torch.from_numpy(large.X), torch.from_numpy(weight))
    torch.testing.assert_close(streamed, whole, rtol=1e-6, atol=1e-7)


def test_reading_out_does_not_train(problem: Any) -> None:
    model = problem.model()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    result = read_out(model, problem.source, TrainingOptions(epochs=1))
    assert result.history == []
    assert all(torch.equal(p, before[name]) for name, p in model.named_parameters())


def test_a_gate_without_a_statistic_is_read_out_too(problem: Any, telling_gate: Any) -> None:
    assert problem.fit(problem.model(telling_gate())).statistic is None


def test_where_no_time_is_left_the_one_step_is_that_of_the_start(
    problem: Any, telling_gate: Any
) -> None:
    gate = telling_gate()
    problem.fit(problem.model(gate), epochs=5, max_seconds=1e-9)
    assert gate.annealed == [0.0, 1.0]
