"""The words of the concrete selector layer, its schedule and its picks."""

from typing import Any

import pytest
import torch

from featuremask.exceptions import InputError
from featuremask.gates import ConcreteGate


def decided(picks: list[int], n_features: int = 6, **words: Any) -> ConcreteGate:
    """Return a gate whose neurons have decided."""
    gate = ConcreteGate(n_features, len(picks), **words)
    with torch.no_grad():
        gate.logits.zero_()
        for neuron, feature in enumerate(picks):
            gate.logits[neuron, feature] = 50.0 + neuron
    return gate


def test_temperature_falls_exponentially_from_start_to_end() -> None:
    gate = ConcreteGate(5, 2, start_temperature=8.0, end_temperature=0.5)
    found = []
    for progress in (0.0, 0.25, 0.5, 0.75, 1.0):
        gate.anneal(progress)
        found.append(float(gate.temperature))
    assert found == pytest.approx([8.0, 4.0, 2.0, 1.0, 0.5])


def test_calling_the_layer_does_not_cool_it() -> None:
    gate = ConcreteGate(5, 2)
    gate.anneal(0.3)
    before = float(gate.temperature)
    gate(torch.randn(3, 5))
    gate.eval()(torch.randn(3, 5))
    assert float(gate.temperature) == before


def test_one_draw_serves_all_rows_of_a_batch() -> None:
    x = torch.randn(1, 5).expand(4, 5)
    output = ConcreteGate(5, 3)(x)
    assert torch.allclose(output, output[:1].expand(4, 3))


def test_soft_choices_sum_to_one_and_harden_with_the_temperature() -> None:
    gate = ConcreteGate(50, 4)
    warm = gate.selection()
    gate.anneal(1.0)
    cold = gate.selection()
    assert torch.allclose(warm.sum(1), torch.ones(4))
    assert torch.allclose(cold.sum(1), torch.ones(4))
    assert (warm.amax(1) < 0.1).all()
    assert (cold.amax(1) > 0.5).all()


def test_mean_max_is_one_when_all_have_decided() -> None:
    assert decided([1, 4, 4]).mean_max() == pytest.approx(1.0)
    assert ConcreteGate(100, 3).mean_max() < 0.05


def test_features_picked_twice_come_once_and_first() -> None:
    gate = decided([4, 1, 4])
    importance = gate.importance(None)
    assert gate.picks().tolist() == [4, 1, 4]
    assert set(importance.scores.argsort(descending=True)[:2].tolist()) == {1, 4}
    assert int((importance.scores > 1.0).sum()) == 2


def test_what_no_neuron_picks_is_ordered_by_probability_then_logit() -> None:
    gate = decided([0], n_features=5)
    with torch.no_grad():
        gate.logits[0] = torch.tensor([5000.0, 2.0, 4.0, 3.0, 0.0])
    scores, ties, _ = gate.importance(None)
    assert scores.tolist() == [2.0, 0.0, 0.0, 0.0, 0.0], "the probabilities underflow"
    assert ties.argsort(descending=True).tolist() == [0, 2, 3, 1, 4]


def test_features_to_keep_take_neurons() -> None:
    gate = ConcreteGate(6, 3, must_keep=[5])
    assert gate.logits.shape == (2, 6)
    assert gate.out_features == 3
    assert gate.picks()[0] == 5
    assert gate.importance(None).scores[5] == 2.0


def test_more_features_to_keep_than_neurons_leave_none_to_learn() -> None:
    gate = ConcreteGate(6, 2, must_keep=[0, 3, 5])
    assert gate.out_features == 3
    assert gate.mean_max() == 1.0
    assert gate.importance(None).scores.tolist() == [2.0, 0.0, 0.0, 2.0, 0.0, 2.0]
    x = torch.randn(4, 6)
    assert torch.equal(gate(x), x[:, [0, 3, 5]])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_select": 0}, "n_select must be a positive integer; got 0"),
        ({"n_select": 1.5}, r"n_select must be a positive integer; got 1\.5"),
        ({"end_temperature": 0.0}, r"must be positive and must not rise.*end_temperature=0\.0"),
        ({"start_temperature": 0.01}, r"must not rise; got start_temperature=0\.01"),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConcreteGate(5, **{"n_select": 2, **words})


def test_the_temperature_may_stay() -> None:
    gate = ConcreteGate(5, 2, start_temperature=2.0, end_temperature=2.0)
    gate.anneal(0.7)
    assert float(gate.temperature) == 2.0


def test_initial_logits_are_as_spread_as_those_of_the_publication() -> None:
    gate = ConcreteGate(400, 100).requires_grad_(False)
    assert float(gate.logits.std()) == pytest.approx((2.0 / 500) ** 0.5, rel=0.02)
    assert float(gate.logits.mean()) == pytest.approx(0.0, abs=0.002)
