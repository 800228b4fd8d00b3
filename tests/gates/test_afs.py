"""The words of AFS, and its read-outs."""

import math
from typing import Any

import pytest
import torch

from featuremask.exceptions import InputError
from featuremask.gates import AFSGate
from featuremask.networks import GatedNetwork, mlp


def test_initial_weights_are_truncated_at_two_standard_deviations() -> None:
    gate = AFSGate(500).requires_grad_(False)
    assert float(gate.encoder_weight.abs().max()) <= 0.2
    assert float(gate.encoder_weight.std()) == pytest.approx(0.088, abs=0.002)
    assert float(gate.head_weight.std()) == pytest.approx(math.sqrt(2) * 0.088, abs=0.003)
    assert (gate.encoder_bias == 0.1).all()
    assert not gate.head_bias.any()


def test_attention_starts_near_one_half() -> None:
    attention = AFSGate(50).attention(torch.randn(100, 50)).detach()
    assert float((attention.mean() - 0.5).abs()) < 0.05


def test_all_heads_are_one_parameter() -> None:
    shapes = {name: tuple(p.shape) for name, p in AFSGate(50, attention_units=8).named_parameters()}
    assert shapes == {
        "encoder_weight": (8, 50),
        "encoder_bias": (8,),
        "head_weight": (50, 8),
        "head_bias": (50,),
    }
    deep = AFSGate(50, attention_units=8, head_depth=1)
    assert deep.hidden_weight.shape == (50, 8, 8)


def test_last_batch_is_read_out_as_training_saw_it() -> None:
    gate = AFSGate(5, readout="last_batch")
    model = GatedNetwork(gate, mlp(5, (4,), 2)).train()
    for _ in range(2):
        x, weight = torch.randn(6, 5), torch.rand(6)
        model(x, weight)
    seen = (weight @ gate.attention(x)) / weight.sum()
    assert gate.statistic(torch.randn(9, 5)) is None
    model.eval()(torch.randn(3, 5))
    assert torch.allclose(gate.importance(None).scores.float(), seen)


def test_all_rows_are_needed_where_all_are_read() -> None:
    with pytest.raises(InputError, match="needs the statistic of the training rows; got None"):
        AFSGate(5).importance(None)


def test_without_a_coefficient_there_is_no_penalty() -> None:
    assert AFSGate(5, network_penalty=0.0).penalty(mlp(5, (4,), 2)) is None


def test_wide_rows_are_read_in_blocks_with_the_same_mean() -> None:
    gate, x = AFSGate(3000, attention_units=4, head_depth=1).double(), torch.randn(200, 3000)
    found = gate.statistic(x.double())
    assert torch.allclose(found, gate.attention(x.double()).mean(0), rtol=1e-12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"attention_units": 0}, "attention_units must be a positive integer; got 0"),
        ({"head_depth": 2}, "head_depth must be 0 or 1; got 2"),
        ({"network_penalty": -1.0}, r"network_penalty must not be negative; got -1\.0"),
        ({"readout": "some"}, 'readout must be "all" or "last_batch"; got \'some\''),
    ],
)
def test_words_out_of_range_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AFSGate(5, **words)


def test_it_shows_its_words() -> None:
    assert "50, attention_units=8, head_depth=0" in repr(AFSGate(50, attention_units=8))
    assert "head_depth=1" in repr(AFSGate(50, attention_units=8, head_depth=1))


def test_one_unit_is_enough() -> None:
    assert AFSGate(5, attention_units=1)(torch.randn(3, 5)).shape == (3, 5)
