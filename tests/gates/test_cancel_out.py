"""The words of CancelOut."""

from typing import Any

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import CancelOutGate


def test_all_weights_start_at_four_as_in_the_pytorch_code() -> None:
    assert (CancelOutGate(5).weight == 4.0).all()


def test_weights_start_with_the_spread_of_the_paper() -> None:
    weight = CancelOutGate(400, init=1.0, init_spread="paper").weight.detach()
    assert float((weight - 1.0).abs().max()) <= 1.0 / 20.0
    assert float((weight - 1.0).abs().mean()) == pytest.approx(0.025, rel=0.1)


def test_saturated_gates_are_still_told_apart() -> None:
    gate = CancelOutGate(3)
    with torch.no_grad():
        gate.weight.copy_(torch.tensor([200.0, 300.0, 100.0]))
    importance = gate.importance(None)
    assert (importance.shares == 1.0).all()
    assert importance.scores.argsort(descending=True).tolist() == [1, 0, 2]


def test_coefficients_that_are_given_replace_the_published_ones() -> None:
    gate = CancelOutGate(4, penalty="keras", l1_weight=0.5, l2_weight=0.0)
    assert float(gate.penalty(nn.Identity()).detach()) == pytest.approx(0.5 * 4 * 4.0)


def test_every_term_can_be_had_under_every_form() -> None:
    gate = CancelOutGate(4, penalty="torch", l1_weight=0.0, variance_weight=0.0, l2_weight=1.0)
    gates = torch.sigmoid(gate.weight)
    assert torch.allclose(gate.penalty(nn.Identity()), gates.norm())


def test_no_penalty_is_none_at_all() -> None:
    assert CancelOutGate(4, penalty="none").penalty(nn.Identity()) is None


def test_one_feature_has_no_variance() -> None:
    gate = CancelOutGate(1, penalty="paper", l1_weight=0.0)
    penalty = gate.penalty(nn.Identity())
    penalty.backward()
    assert float(penalty.detach()) == 0.0
    assert float(gate.weight.grad) == 0.0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"activation": "relu"}, "activation must be one of .*softmax.*; got 'relu'"),
        ({"penalty": "l1"}, "penalty must be one of .*keras.*; got 'l1'"),
        ({"l1_weight": -0.1}, r"l1_weight must be None or 0 or more; got -0\.1"),
        ({"penalty": "none", "l1_weight": 0.1}, 'l1_weight needs a penalty other than "none"'),
        ({"init_spread": -1.0}, r'init_spread must be "paper" or 0 or more; got -1\.0'),
        ({"init_spread": "wide"}, "init_spread must be \"paper\" or 0 or more; got 'wide'"),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CancelOutGate(5, **words)
