"""The words of BSF."""

from typing import Any

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import BSFGate


def test_features_pass_as_often_as_p_says() -> None:
    gate = BSFGate(3, draw="row")
    with torch.no_grad():
        gate.p.copy_(torch.tensor([0.0, 0.3, 1.0]))
    passed = gate(torch.ones(20_000, 3)).detach().mean(0)
    assert passed[0] == 0.0
    assert float(passed[1]) == pytest.approx(0.3, abs=0.01)
    assert passed[2] == 1.0


def test_one_draw_serves_the_batch_or_each_row() -> None:
    def distinct_rows(draw: str) -> int:
        return len(BSFGate(30, draw=draw)(torch.ones(10, 30)).detach().unique(dim=0))

    assert distinct_rows("batch") == 1
    assert distinct_rows("row") == 10


def test_ties_are_broken_by_the_mean_over_the_steps() -> None:
    gate = BSFGate(3)
    for p in ([0.2, 1.5, 1.0], [1.0, 1.0, 1.0]):
        with torch.no_grad():
            gate.p.copy_(torch.tensor(p))
        gate.project()
    importance = gate.importance(None)
    assert importance.scores.tolist() == [1.0, 1.0, 1.0]
    assert importance.ties.tolist() == pytest.approx([0.6, 1.0, 1.0])


def test_the_penalty_pulls_at_zero_too() -> None:
    gate = BSFGate(2, init=0.0, l1_weight=0.5)
    gate.penalty(nn.Identity()).backward()
    assert gate.p.grad.tolist() == [0.5, 0.5]


def test_without_a_coefficient_there_is_no_penalty() -> None:
    assert BSFGate(2, l1_weight=0.0).penalty(nn.Identity()) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"estimator": "v3"}, 'estimator must be "v1" or "v2"; got \'v3\''),
        ({"draw": "epoch"}, 'draw must be "batch" or "row"; got \'epoch\''),
        ({"l1_weight": -1.0}, r"l1_weight must not be negative; got -1\.0"),
        ({"init": 1.5}, r"init must be a probability, 0 to 1; got 1\.5"),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BSFGate(5, **words)
