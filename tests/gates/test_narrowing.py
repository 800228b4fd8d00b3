"""The narrowing mask: a budget of open features that falls from all of them to one."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from featuremask import FeatureMask
from featuremask.exceptions import InputError
from featuremask.gates._narrowing import Narrowing
from featuremask.networks import draw_from

Gap = Callable[[Any, Any], float]

N = 8


def layer(n_features: int = N, **words: Any) -> FeatureMask:
    gate = FeatureMask(n_features, mask_units=16, narrowing=True, dtype=torch.float64, **words)
    torch.nn.init.normal_(gate.transformation.output.weight)
    return gate


def rows(n: int, n_features: int = N) -> Tensor:
    return torch.randn(n, n_features, dtype=torch.float64)


def trained(gate: FeatureMask, x: Tensor, n_steps: int = 40) -> FeatureMask:
    """Train the mask to let as much as it can of the squares of the first features pass."""
    optimizer = torch.optim.Adam(gate.parameters(), 0.05)
    worth = torch.arange(x.shape[1], 0, -1, dtype=x.dtype)
    with draw_from(gate, torch.Generator().manual_seed(0)):
        for step in range(n_steps):
            gate.anneal(step / n_steps)
            loss = -(gate(x).square() * worth).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    gate.anneal(1.0)
    return gate


@given(
    logits=st.lists(st.floats(-300, 300), min_size=2, max_size=20),
    progress=st.floats(0, 1),
    data=st.data(),
)
def test_gates_sum_to_the_budget_and_follow_the_logits(
    logits: list[float], progress: float, data: st.DataObject
) -> None:
    n = len(logits)
    kept = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))
    narrowing = Narrowing(n, sorted(kept), dtype=torch.float64)
    values = torch.tensor(logits, dtype=torch.float64)
    narrowing.anneal(progress, lambda: values)
    gates = narrowing.gate(values)
    free = [entry for entry in range(n) if entry not in kept]
    n_free = len(free)
    assert gates[sorted(kept)].tolist() == [1.0] * len(kept)
    assert float(gates[free].sum()) == pytest.approx(
        min(0.999 * n_free, n_free ** (1 - progress)), rel=1e-6
    )
    assert ((gates >= 0) & (gates <= 1)).all()
    order = values[free].argsort()
    assert (gates[free][order].diff() >= 0).all()


def test_the_gradient_is_that_of_the_gates_at_a_fixed_budget(gap: Gap) -> None:
    narrowing, logits = Narrowing(5, [2], dtype=torch.float64), torch.randn(5).double()
    narrowing.anneal(0.5, lambda: logits)
    direction = torch.randn(5, dtype=torch.float64)
    logits.requires_grad_()
    (narrowing.gate(logits) @ direction).backward()
    step = 1e-6
    slopes = []
    for k in range(5):
        ends = []
        for sign in (1, -1):
            moved = logits.detach().clone()
            moved[k] += sign * step
            ends.append(float(narrowing.gate(moved) @ direction))
        slopes.append((ends[0] - ends[1]) / (2 * step))
    assert gap(logits.grad, slopes) < 1e-6
    assert float(logits.grad[2]) == 0.0
    assert abs(float(logits.grad.sum())) < 1e-12


def test_a_draw_is_zeros_and_ones_and_has_the_gradient_of_the_gates(gap: Gap) -> None:
    narrowing, logits = Narrowing(6, [1], dtype=torch.float64), torch.randn(6).double()
    narrowing.anneal(0.4, lambda: logits)
    for _ in range(20):
        narrowing.draw(logits)  # the level follows
    drawn, gates = (f(logits.requires_grad_()) for f in (narrowing.draw, narrowing.gate))
    assert set(drawn.round(decimals=12).tolist()) <= {0.0, 1.0}
    direction = torch.randn(6, dtype=torch.float64)
    one, other = (torch.autograd.grad(g @ direction, logits)[0] for g in (drawn, gates))
    assert gap(one, other) < 1e-9


def test_draws_pass_as_often_as_the_gate_says() -> None:
    narrowing, logits = Narrowing(4, [], dtype=torch.float64), torch.tensor([2.0, 0.5, 0.0, -1.0])
    narrowing.anneal(0.5, lambda: logits)
    drawn = torch.stack([narrowing.draw(logits.double()).detach() for _ in range(4000)])
    assert (drawn.mean(0) - narrowing.gate(logits.double())).abs().max() < 0.03


@pytest.mark.parametrize("n", [1, 2, 784])
def test_the_budget_falls_from_all_to_one(n: int) -> None:
    gate = layer(n)
    budgets = []
    for progress in np.linspace(0.0, 1.0, 21):
        gate.anneal(float(progress))
        budgets.append(gate.scale)
    assert budgets[0] == pytest.approx(n, rel=2e-3)
    assert budgets[-1] == pytest.approx(1.0, rel=2e-3)
    assert np.all(np.diff(budgets) <= 0.0)


def test_the_output_of_evaluation_is_input_times_budget_times_mask(gap: Gap) -> None:
    gate, x = layer(must_keep=[3]), rows(20)
    gate.anneal(0.3)
    gate.freeze(gate.statistic(x))
    gate.eval()
    assert gap(gate(x), x * gate.scale * gate.mask(x)) < 1e-12
    free = [feature for feature in range(N) if feature != 3]
    assert float(gate.mask(x)[free].sum()) == pytest.approx(1.0, rel=1e-9)


def test_features_rank_by_how_long_they_stay_open() -> None:
    x = rows(50)
    gate = trained(layer(), x)
    importance = gate.importance(gate.statistic(x))
    assert importance.scores.tolist() == gate.competition.mean_gate.tolist()
    assert (importance.scores > 0).all()
    assert importance.scores.argmax() == 0
    assert importance.scores[:3].mean() > importance.scores[-3:].mean()


def test_features_to_keep_rank_first() -> None:
    x = rows(50)
    gate = trained(layer(must_keep=[7, 5]), x)
    scores = gate.importance(gate.statistic(x)).scores
    assert set(scores.argsort(descending=True)[:2].tolist()) == {5, 7}


def test_all_features_kept_pass_whole() -> None:
    gate, x = layer(must_keep=range(N)), rows(9)
    assert torch.equal(gate(x), x)
    assert gate.importance(gate.statistic(x)).scores.isfinite().all()


def test_groups_pass_as_one() -> None:
    gate = FeatureMask(6, narrowing=True, feature_groups="aabbcc", dtype=torch.float64)
    gate.anneal(0.5)
    drawn = gate.multiplier(torch.randn(9, 6, dtype=torch.float64)).reshape(3, 2)
    assert torch.equal(drawn[:, 0], drawn[:, 1])


@pytest.mark.parametrize("how", ["state_dict", "deepcopy"])
def test_a_copy_of_the_state_goes_on_where_it_stood(how: str) -> None:
    gate, x = layer(), rows(20)
    gate.anneal(0.4)
    gate(x)
    other = copy.deepcopy(gate) if how == "deepcopy" else layer()
    if how == "state_dict":
        other.load_state_dict(gate.state_dict())
    outputs = []
    for each in (gate, other):
        with draw_from(each, torch.Generator().manual_seed(1)):
            outputs.append(each(x))
    assert torch.equal(*outputs)
    assert torch.equal(gate.competition.mean_gate, other.competition.mean_gate)


@pytest.mark.parametrize(
    "words", [{"scale": 3.0}, {"takes": (2, 4)}, {"attenuation": False}, {"normalization": False}]
)
def test_words_that_do_not_go_with_it_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="narrowing=True has a budget in place of"):
        FeatureMask(5, narrowing=True, **words)


def test_entries_far_beyond_the_budget_are_shut_for_good() -> None:
    narrowing = Narrowing(40, [7], dtype=torch.float64)
    rising = torch.arange(40, dtype=torch.float64)
    narrowing.anneal(0.5, lambda: rising)
    assert narrowing.passing() is None or 7 in narrowing.passing().tolist()
    narrowing.anneal(0.8, lambda: rising)
    passing = narrowing.passing()
    assert passing is not None
    n = int(np.ceil(4 * 39**0.2))
    assert passing.tolist() == [7, *range(40 - n, 40)]
    narrowing.anneal(0.8, lambda: -rising)
    gates = narrowing.gate(-rising)  # the others do not come back, however high their logit
    assert (gates[[i for i in range(40) if i not in passing.tolist()]] == 0.0).all()
    assert float(gates.sum()) == pytest.approx(1.0 + narrowing.scale, rel=1e-6)


def test_what_is_shut_is_part_of_the_state() -> None:
    gate = layer(40)
    gate.anneal(0.9)
    assert gate.passing_columns() is not None
    other = layer(40)
    other.load_state_dict(gate.state_dict())
    assert torch.equal(other.passing_columns(), gate.passing_columns())
    moved = copy.deepcopy(gate).float()
    assert torch.equal(moved.passing_columns(), gate.passing_columns())
    assert moved(rows(5, 40).float()).dtype == torch.float32


def test_a_mask_that_is_narrow_sums_to_its_budget_however_many_are_shut() -> None:
    narrowing, logits = Narrowing(1000, [], dtype=torch.float64), torch.randn(1000).double()
    for progress in (0.4, 0.7, 1.0):
        narrowing.anneal(progress, lambda: logits)
        assert narrowing.passing() is not None
        assert float(narrowing.gate(logits).sum()) == pytest.approx(narrowing.scale, rel=1e-9)
