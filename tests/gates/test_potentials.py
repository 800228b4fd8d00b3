"""FSDNN's potentials: of which networks, and in how much memory."""

import pytest
import torch
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import FSDNNGate
from featuremask.gates._potentials import mean_potentials
from featuremask.networks import mlp


@pytest.mark.parametrize(
    "network",
    [nn.Sequential(nn.ReLU(), nn.Linear(5, 2)), nn.Linear(4, 2), nn.Identity(), None],
    ids=["dense later", "other width", "not dense", "none"],
)
def test_networks_that_do_not_begin_with_a_dense_layer_are_refused(
    network: nn.Module | None,
) -> None:
    with pytest.raises(InputError, match=r"begins with a plain nn\.Linear on all 5 features; got"):
        FSDNNGate(5).statistic(torch.randn(3, 5), network=network)


def test_they_are_refused_at_the_first_step_already() -> None:
    with pytest.raises(InputError, match="another method"):
        FSDNNGate(5).penalty(nn.Identity())


def test_a_dense_layer_without_bias_has_potentials_without_bias() -> None:
    x, layer = torch.randn(9, 5).double(), nn.Linear(5, 3, bias=False).double()
    found = FSDNNGate(5, include_bias=True).statistic(x, network=layer)
    assert torch.allclose(found, layer.weight.abs() * x.abs().mean(0))


def test_a_unit_that_no_feature_moves_contributes_nothing() -> None:
    statistic = torch.tensor([[0.0, 0.0], [1.0, 3.0]], dtype=torch.float64)
    assert FSDNNGate(2).importance(statistic).scores.tolist() == [0.25, 0.75]


@pytest.mark.parametrize("rows", [2, 300])
@pytest.mark.parametrize("include_bias", [True, False])
def test_potentials_agree_with_the_formula_at_any_size(rows: int, include_bias: bool) -> None:
    x, layer = torch.randn(rows, 40), nn.Linear(40, 16)
    bias = layer.bias.detach() if include_bias else torch.zeros(16)
    weight = layer.weight.detach()
    found = mean_potentials(x, weight, layer.bias.detach() if include_bias else None)
    brute = (weight[None] * x[:, None, :] + bias[None, :, None]).double().abs().mean(0)
    assert torch.allclose(found, brute, rtol=1e-5)


@pytest.mark.slow
def test_twenty_thousand_features_need_little_more_than_their_result() -> None:
    rows, features, units = 256, 20_000, 128
    x, network = torch.randn(rows, features), mlp(features, (units,), 2)
    gate = FSDNNGate(features)
    largest = _largest_allocation(lambda: gate.statistic(x, network=network))
    result = 8 * units * features
    assert largest <= result
    assert rows * units * features * 4 > 100 * result, "the array that must not be made"


def _largest_allocation(work) -> int:  # type: ignore[no-untyped-def]  # any callable
    """Return the bytes of the largest tensor made."""
    with torch.profiler.profile(profile_memory=True) as profile:
        work()
    return max(event.self_cpu_memory_usage for event in profile.events())
