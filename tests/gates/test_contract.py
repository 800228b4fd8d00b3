"""What every gate keeps to, whatever its method."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.gates.cases import CASES, Case, permuted_state, randomize
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates import Gate
from featuremask.networks import GatedNetwork, draw_from, mlp
from featuremask.objectives import Classes
from featuremask.sources import ArraySource
from featuremask.training import TrainingOptions, fit_network

Gap = Callable[[Any, Any], float]

ROWS, FEATURES, CLASSES = 13, 7, 2
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

every_gate = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(n: int = ROWS, features: int = FEATURES, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(n, features, dtype=dtype)


def gated(case: Case, features: int = FEATURES, dtype: torch.dtype = torch.float64) -> GatedNetwork:
    gate = case.make(features, generator())
    network = mlp(gate.out_features, (5,), CLASSES, generator=generator())
    return GatedNetwork(gate, network).to(dtype)


def statistic_of(model: GatedNetwork, x: Tensor, weight: Tensor | None = None) -> Tensor | None:
    return model.gate.statistic(x, weight, network=model.network)


def scores_of(model: GatedNetwork, x: Tensor) -> Tensor:
    return model.gate.importance(statistic_of(model, x)).scores


def fitted(case: Case, x: np.ndarray, steps: int = 3) -> GatedNetwork:
    model = gated(case, x.shape[1], torch.float32)
    target = torch.arange(len(x)) % CLASSES
    options = TrainingOptions(steps=steps, learning_rate=0.05)
    fit_network(model, Classes(CLASSES), ArraySource(x, target), options)
    return model


@every_gate
@pytest.mark.parametrize("training", [True, False])
def test_output_is_as_wide_as_the_gate_says(case: Case, training: bool) -> None:
    gate = gated(case).gate.train(training)
    gate.freeze(gate.statistic(rows(), network=mlp(FEATURES, (5,), 2).double()))
    assert gate(rows()).shape == (ROWS, gate.out_features)


@every_gate
def test_rows_of_another_width_are_refused(case: Case) -> None:
    with pytest.raises(InputError, match=rf"{FEATURES}"):
        gated(case).gate(rows(features=FEATURES + 1))


@every_gate
def test_gradients_reach_every_parameter_and_are_finite(case: Case) -> None:
    model = gated(case)
    randomize(model, generator())
    loss = model(rows()).square().sum()
    penalty = model.gate.penalty(model.network)
    (loss if penalty is None else loss + penalty).backward()
    for name, parameter in model.gate.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.any(), name


@every_gate
def test_penalty_is_nothing_or_one_differentiable_number(case: Case) -> None:
    model = gated(case)
    penalty = model.gate.penalty(model.network)
    if penalty is not None:
        assert penalty.shape == ()
        assert torch.isfinite(penalty)
        gradients = torch.autograd.grad(penalty, list(model.parameters()), allow_unused=True)
        assert any(gradient is not None for gradient in gradients)


@every_gate
@pytest.mark.parametrize("training", [True, False])
def test_forward_changes_no_state_but_what_it_tracks(case: Case, training: bool) -> None:
    gate = gated(case).gate.train(training)
    gate.freeze(gate.statistic(rows(), network=mlp(FEATURES, (5,), 2).double()))
    before = {name: value.clone() for name, value in gate.state_dict().items()}
    gate(rows())
    after = gate.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed <= (case.tracks if training else set())


@every_gate
def test_noise_comes_from_the_generator_that_is_lent(case: Case) -> None:
    gate, x = gated(case).gate.train(), rows()
    randomize(gate, generator())
    gate.anneal(0.5)

    def output(seed: int) -> Tensor:
        fresh = copy.deepcopy(gate)
        with draw_from(fresh, generator(seed)):
            return fresh(x).detach()

    before = torch.get_rng_state()
    assert torch.equal(output(1), output(1))
    assert torch.equal(output(1), output(2)) is not case.noisy
    assert torch.equal(before, torch.get_rng_state())


@every_gate
def test_initial_weights_come_from_the_generator(case: Case) -> None:
    before = torch.get_rng_state()
    one, same = (case.make(FEATURES, generator(1)).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert torch.equal(before, torch.get_rng_state())


@every_gate
@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_statistic_is_the_same_in_chunks_of_any_size(
    case: Case, dtype: torch.dtype, tolerance: float, weighted: bool, gap: Gap
) -> None:
    model, x = gated(case, dtype=dtype), rows(dtype=dtype)
    weight = torch.rand(ROWS, dtype=dtype) if weighted else torch.ones(ROWS, dtype=dtype)
    whole = statistic_of(model, x, weight if weighted else None)
    if whole is None:
        assert all(statistic_of(model, chunk) is None for chunk in x.split(4))
        return
    assert whole.dtype == torch.float64
    for size in (1, 4, ROWS):
        parts = zip(x.split(size), weight.split(size), strict=True)
        total = sum(statistic_of(model, part, w) * w.double().sum() for part, w in parts)
        assert gap(total / weight.double().sum(), whole) < tolerance


@every_gate
def test_a_row_of_weight_two_counts_as_two_rows(case: Case, gap: Gap) -> None:
    model, x = gated(case), rows()
    weight = torch.ones(ROWS, dtype=x.dtype)
    weight[0] = 2.0
    repeated = statistic_of(model, torch.cat([x, x[:1]]))
    weighted = statistic_of(model, x, weight)
    assert (repeated is None) == (weighted is None)
    if repeated is not None and weighted is not None:
        assert gap(weighted, repeated) < 1e-12


@every_gate
def test_importance_is_one_finite_score_an_entry(case: Case) -> None:
    model = gated(case)
    importance = model.gate.importance(statistic_of(model, rows()))
    for values in importance:
        assert values is None or values.shape == (model.gate.n_entries,)
        assert values is None or torch.isfinite(values).all()
        assert values is None or not values.requires_grad
        assert values is None or values.dtype == torch.float64
    shares = importance.scores if importance.shares is None else importance.shares
    assert (shares >= 0.0).all()


@every_gate
def test_importance_is_no_view_of_the_state(case: Case) -> None:
    model = gated(case)
    statistic = statistic_of(model, rows())
    importance = model.gate.importance(statistic)
    kept = [None if values is None else values.clone() for values in importance]
    with torch.no_grad():
        for value in model.gate.state_dict().values():
            value.fill_(0)
    for values, before in zip(importance, kept, strict=True):
        assert values is None or torch.equal(values, before)


@every_gate
def test_state_survives_a_round_trip(case: Case) -> None:
    one, x = fitted(case, rows(dtype=torch.float32).numpy()), rows(dtype=torch.float32)
    other = GatedNetwork(case.make(FEATURES, generator(9)), mlp_like(one)).eval()
    other.load_state_dict(one.state_dict())
    assert torch.equal(one(x), other(x))
    assert torch.equal(scores_of(one, x), scores_of(other, x))


def mlp_like(model: GatedNetwork) -> nn.Sequential:
    return mlp(model.gate.out_features, (5,), CLASSES)


@every_gate
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["f32", "f64"])
def test_dtype_and_device_of_the_input_are_kept(
    case: Case, device: str, dtype: torch.dtype
) -> None:
    model, x = gated(case, dtype=dtype).to(device), rows(dtype=dtype).to(device)
    for training in (True, False):
        model.train(training)
        model.gate.freeze(statistic_of(model, x))
        output = model.gate(x)
        assert output.dtype == dtype
        assert output.device.type == device
    assert scores_of(model, x).device.type == device


@every_gate
def test_permuted_columns_have_permuted_scores_if_the_weights_are_permuted(
    case: Case, gap: Gap
) -> None:
    x, order = rows(), torch.randperm(FEATURES)
    one, other = gated(case), gated(case)
    randomize(one, generator())
    other.gate.load_state_dict(permuted_state(one.gate, order))
    other.network.load_state_dict(permuted_state(one.network, order))
    if not case.noisy:
        for model, data in ((one, x), (other, x[:, order])):
            take_steps(model, data)
    assert gap(scores_of(other, x[:, order]), scores_of(one, x)[order]) < 1e-9


def take_steps(model: GatedNetwork, x: Tensor, n_steps: int = 3) -> None:
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for step in range(n_steps):
        model.gate.anneal(step / n_steps)
        loss = model(x).square().mean()
        penalty = model.gate.penalty(model.network)
        optimizer.zero_grad()
        loss = loss if penalty is None else loss + penalty
        if loss.requires_grad:
            loss.backward()
            optimizer.step()
        model.gate.project()


@every_gate
@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(0).normal(size=(20, 1)),
        np.random.default_rng(0).normal(size=(2, 5)),
        np.random.default_rng(0).normal(size=(20, 3)),
        np.zeros((20, 6)),
        np.hstack([np.ones((20, 3)), np.random.default_rng(0).normal(size=(20, 3))]),
    ],
    ids=["one feature", "two rows", "k = D", "all constant", "half constant"],
)
def test_small_and_degenerate_data_are_trained_to_finite_scores(case: Case, x: np.ndarray) -> None:
    model = fitted(case, x.astype(np.float32))
    scores = scores_of(model, torch.from_numpy(x).float())
    assert scores.shape == (x.shape[1],)
    assert torch.isfinite(scores).all()


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name != "FM sequential"], ids=lambda case: case.name
)
@pytest.mark.parametrize("n_features", [0, -1, 2.0])
def test_a_number_of_features_that_is_none_is_refused(case: Case, n_features: Any) -> None:
    with pytest.raises(InputError, match="n_features must be a positive integer"):
        case.make(n_features)


KEEPING = [case for case in CASES if case.name not in ("FSDNN", "FSDNN no bias", "Random", "All")]


@pytest.mark.parametrize("case", KEEPING, ids=lambda case: case.name)
def test_features_to_keep_pass_as_they_are(case: Case) -> None:
    gate: Gate = case.make(FEATURES, generator(), must_keep=[4, 1]).double()
    network = mlp(gate.out_features, (5,), CLASSES).double()
    x = rows()
    for training in (True, False):
        gate.train(training)
        gate.freeze(gate.statistic(x, network=network))
        columns = [1, 4] if gate.out_features == FEATURES else [0, 1]
        assert torch.equal(gate(x)[:, columns], x[:, [1, 4]])


@pytest.mark.parametrize("case", KEEPING, ids=lambda case: case.name)
def test_a_feature_to_keep_that_is_not_there_is_refused(case: Case) -> None:
    with pytest.raises(InputError, match=f"0 to {FEATURES - 1}; got {FEATURES}"):
        case.make(FEATURES, must_keep=[FEATURES])
