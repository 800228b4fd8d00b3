"""The sequential mask in the layer: taken features pass whole, the free ones compete."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from featuremask import FeatureMask
from featuremask.gates import geometric_takes

Gap = Callable[[Any, Any], float]


def layer(takes: tuple[int, ...] | None = (2, 5, 8), **words: Any) -> FeatureMask:
    gate = FeatureMask(8, mask_units=16, takes=takes, dtype=torch.float64, **words)
    torch.nn.init.normal_(gate.transformation.output.weight)
    return gate


def rows(n: int) -> Tensor:
    return torch.randn(n, 8, dtype=torch.float64)


def taken(gate: FeatureMask) -> set[int]:
    return set(gate.competition.is_open.nonzero().flatten().tolist())


def ranking(gate: FeatureMask, x: Tensor) -> list[int]:
    return gate.importance(gate.statistic(x)).scores.argsort(descending=True).tolist()


@pytest.mark.parametrize("scale", ["sum", "mean"])
def test_taken_features_pass_whole_and_leave_the_softmax(scale: str, gap: Gap) -> None:
    gate, x = layer(scale=scale), rows(20)
    gate(x)
    best = gate.logits(x).topk(2).indices.tolist()
    gate.anneal(1 / 3)
    assert taken(gate) == set(best)
    multiplier = gate.multiplier(x)
    assert multiplier[best].tolist() == [1.0, 1.0]
    free = [feature for feature in range(8) if feature not in best]
    assert gap(multiplier[free], gate.logits(x)[free].softmax(0) * gate.scale) < 1e-12


def test_the_logits_that_decide_are_those_of_the_running_code() -> None:
    gate = layer()
    for batch in rows(60).split(12):
        gate(batch)
    best = gate.transformation.decode(gate.running_code).topk(2).indices.tolist()
    gate.anneal(1 / 3)
    assert taken(gate) == set(best)


def test_rounds_end_when_they_are_due() -> None:
    gate = layer(takes=(1, 2, 4, 7))
    gate(rows(20))
    found = []
    for progress in (0.0, 0.1, 0.2499, 0.25, 0.3, 0.5, 0.74, 0.75, 0.99, 1.0):
        gate.anneal(progress)
        found.append(len(taken(gate)))
    assert found == [0, 0, 0, 1, 1, 2, 2, 4, 4, 7]


def test_ending_ends_all_rounds_at_once() -> None:
    gate = layer(takes=(1, 2, 4, 7))
    gate(rows(20))
    gate.anneal(1.0)
    assert gate.competition.finished == 4
    assert len(taken(gate)) == 7
    assert sorted(gate.competition.open_since.tolist()) == [-1, 1, 2, 3, 3, 4, 4, 4]


def test_a_gate_without_rounds_takes_nothing() -> None:
    gate, x = layer(takes=None), rows(20)
    gate(x)
    before = gate.multiplier(x)
    gate.anneal(1.0)
    assert taken(gate) == set()
    assert torch.equal(gate.multiplier(x), before)


def test_features_are_ranked_by_round_and_then_by_logit() -> None:
    gate, x = layer(takes=(2, 5)), rows(20)
    expected: list[int] = []
    for progress, count in ((0.5, 2), (1.0, 5)):
        gate(x)
        order = gate.transformation.decode(gate.running_code).argsort(descending=True).tolist()
        gate.anneal(progress)
        expected += [feature for feature in order if feature not in expected][
            : count - len(expected)
        ]
        torch.nn.init.normal_(gate.transformation.output.weight)
    order = gate.logits(x).argsort(descending=True).tolist()
    expected += [feature for feature in order if feature not in expected]
    assert ranking(gate, x) == expected


def test_the_ranking_of_taken_features_no_longer_changes() -> None:
    gate, x = layer(takes=(3, 6)), rows(20)
    gate(x)
    gate.anneal(1.0)
    before = ranking(gate, x)[:6]
    torch.nn.init.normal_(gate.transformation.output.weight)
    assert ranking(gate, x)[:6] == before


@pytest.mark.parametrize("n_entries", [1, 2, 10, 784])
def test_takes_depend_on_the_number_of_features_alone_and_rank_them_all(n_entries: int) -> None:
    takes = geometric_takes(n_entries, 6)
    assert takes[-1] == n_entries
    assert takes == tuple(sorted(takes))
    assert len(takes) == 6


@pytest.mark.parametrize(
    "words", [{}, {"attenuation": False}, {"normalization": False}, {"must_keep": [3]}], ids=str
)
def test_with_all_features_taken_nothing_is_nan(words: dict[str, Any]) -> None:
    gate, x = layer(**words), rows(20).requires_grad_()
    gate(x)
    gate.anneal(1.0)
    assert len(taken(gate)) == 8
    output = gate(x)
    assert torch.equal(output, x)
    output.sum().backward()
    assert x.grad.isfinite().all()
    importance = gate.importance(gate.statistic(x))
    assert importance.scores.isfinite().all()
    gate.freeze(gate.statistic(x))
    assert torch.equal(gate.eval()(x), x)
    assert gate.mask(x).isfinite().all()


@pytest.mark.parametrize("words", [{}, {"attenuation": False}], ids=str)
def test_rounds_that_end_before_any_batch_give_finite_scores(words: dict[str, Any]) -> None:
    gate = layer(**words)
    gate.anneal(1.0)
    assert gate.importance(gate.statistic(rows(5))).scores.isfinite().all()


def test_kept_features_rank_before_taken_ones_and_are_not_counted_as_taken() -> None:
    gate, x = layer(takes=(2, 3), must_keep=[6, 1]), rows(20)
    gate(x)
    gate.anneal(0.5)
    assert len(taken(gate)) == 4
    assert taken(gate) > {1, 6}
    assert set(ranking(gate, x)[:2]) == {1, 6}


def test_groups_are_taken_as_one() -> None:
    gate = FeatureMask(6, takes=(1, 2), feature_groups="aabbcc", dtype=torch.float64)
    x = torch.randn(9, 6, dtype=torch.float64)
    gate(x)
    gate.anneal(0.5)
    whole = (gate.multiplier(x) == 1.0).reshape(3, 2)
    assert whole.sum(0).tolist() == [1, 1]
    assert torch.equal(whole[:, 0], whole[:, 1])


def test_logits_of_taken_features_get_no_gradient(gap: Gap) -> None:
    gate, x = layer(), rows(20)
    gate(x)
    gate.anneal(1 / 3)
    gate(x).square().sum().backward()
    gradient = gate.transformation.output.bias.grad
    assert gradient[gate.competition.is_open].tolist() == [0.0, 0.0]
    assert abs(float(gradient.sum())) < 1e-12 * float(gradient.abs().max())


def roundtrip(gate: FeatureMask, how: str) -> FeatureMask:
    if how == "deepcopy":
        return copy.deepcopy(gate)
    other = layer()
    other.load_state_dict(gate.state_dict())
    return other


@pytest.mark.parametrize("how", ["state_dict", "deepcopy"])
def test_a_copy_of_the_state_goes_on_where_it_stood(how: str) -> None:
    gate, x = layer(), rows(20)
    gate(x)
    gate.anneal(0.4)
    other = roundtrip(gate, how)
    assert taken(other) == taken(gate)
    assert torch.equal(other(x), gate(x))
    for progress in (0.5, 0.7, 1.0):
        for each in (gate, other):
            each(x)
            each.anneal(progress)
        assert taken(other) == taken(gate)
    assert torch.equal(
        gate.importance(gate.statistic(x)).scores, other.importance(other.statistic(x)).scores
    )


def test_loading_an_early_state_opens_nothing() -> None:
    early, late = layer(), layer()
    late(rows(20))
    late.anneal(1.0)
    late.load_state_dict(early.state_dict())
    assert taken(late) == set()
    assert (late.multiplier(rows(5)) < 1.0).all()
