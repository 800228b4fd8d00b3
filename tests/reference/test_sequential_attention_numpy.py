"""Sequential attention against its definition, written in NumPy as it stands in the publication."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from featuremask.exceptions import InputError
from featuremask.gates import SequentialAttentionGate

Gap = Callable[[Any, Any], float]

D, K = 5, 3


def gate(**words: Any) -> SequentialAttentionGate:
    return SequentialAttentionGate(D, K, **{"init_spread": 0.1, "dtype": torch.float64, **words})


def set_logits(gate: SequentialAttentionGate, *logits: float) -> np.ndarray:
    with torch.no_grad():
        gate.logits.copy_(torch.tensor(logits))
    return np.asarray(logits)


def multiplier(gate: SequentialAttentionGate) -> torch.Tensor:
    return gate(torch.ones(1, D, dtype=torch.float64))[0].detach()


def test_features_that_are_left_share_a_softmax_and_taken_ones_pass(gap: Gap) -> None:
    attention = gate(warm_up=0.0)
    w = set_logits(attention, 0.5, -1.0, 2.0, 0.0, 1.0)
    assert gap(multiplier(attention), np.exp(w) / np.exp(w).sum()) < 1e-12
    attention.anneal(1 / K)
    w = set_logits(attention, 0.5, -1.0, 9.0, 0.0, 1.0)
    left = np.exp(w) * (np.arange(D) != 2)
    expected = np.where(np.arange(D) == 2, 1.0, left / left.sum())
    assert gap(multiplier(attention), expected) < 1e-12


def test_all_pass_while_it_warms_up_and_nothing_is_taken() -> None:
    attention = gate(warm_up=0.4)
    for progress in (0.0, 0.2, 0.39):
        attention.anneal(progress)
        assert multiplier(attention).tolist() == [1.0] * D
    attention.anneal(0.4)
    assert multiplier(attention).sum() == pytest.approx(1.0)
    attention.anneal(0.59)
    assert int(attention.rounds.is_open.sum()) == 0
    attention.anneal(0.6)
    assert int(attention.rounds.is_open.sum()) == 1


def test_each_phase_takes_the_best_and_starts_from_the_first_logits() -> None:
    attention = gate(warm_up=0.0)
    first = attention.logits.detach().clone()
    for phase, best in enumerate((3, 0, 4), start=1):
        set_logits(attention, *(1.0 if i == best else 0.0 for i in range(D)))
        attention.anneal(phase / K)
        assert bool(attention.rounds.is_open[best])
        assert torch.equal(attention.logits.detach(), first) is (phase < K)
    order = attention.importance(None).scores.argsort(descending=True)
    assert order[:3].tolist() == [3, 0, 4]


def test_what_was_not_taken_follows_by_the_last_logits() -> None:
    attention = gate(warm_up=0.0)
    for phase in range(1, K + 1):
        set_logits(attention, 0.5, -1.0, 2.0, 0.0, 1.0)
        attention.anneal(phase / K)
    order = attention.importance(None).scores.argsort(descending=True)
    assert order.tolist() == [2, 4, 0, 3, 1]


@pytest.mark.parametrize("words", [{"warm_up": 1.0}, {"warm_up": -0.1}, {"init_spread": -1.0}])
def test_words_out_of_range_are_refused(words: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(words))):
        gate(**words)
