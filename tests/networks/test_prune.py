"""Pruning: the network of the chosen columns equals the whole one with the others at zero."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from featuremask import FeatureMask
from featuremask.exceptions import InputError
from featuremask.gates import AFSGate, BSFGate, CancelOutGate, ConcreteGate, DFSGate, MaskGate
from featuremask.networks import GatedNetwork, mlp

Gap = Callable[[Any, Any], float]

D = 12


def model(gate: MaskGate | None = None, network: nn.Module | None = None) -> GatedNetwork:
    """A network whose mask is far from flat, frozen, in evaluation mode."""
    if gate is None:
        gate = FeatureMask(D, scale="mean")
        nn.init.normal_(gate.transformation.output.bias)
        gate.freeze_from([torch.randn(30, D)])
    return GatedNetwork(gate, network or mlp(D, (8, 6), 3, dropout=0.3)).eval()


def others_zeroed(whole: GatedNetwork, x: Tensor, columns: list[int]) -> Tensor:
    kept = torch.zeros(D).index_fill(0, torch.tensor(columns), 1.0)
    return whole.network(whole.gate(x) * kept)


def largest(whole: GatedNetwork, k: int) -> list[int]:
    multiplier = whole.gate.multiplier(torch.zeros(1, D)).abs()
    return sorted(multiplier.topk(k).indices.tolist())


@pytest.mark.parametrize("k", [1, 5, D])
def test_it_equals_the_whole_network_with_the_others_at_zero(k: int, gap: Gap) -> None:
    whole, x = model(), torch.randn(20, D)
    columns = largest(whole, k)
    assert gap(whole.prune(k)(x[:, columns]), others_zeroed(whole, x, columns)) < 1e-6


def test_with_all_columns_it_equals_the_whole_network(gap: Gap) -> None:
    whole, x = model(), torch.randn(20, D)
    assert gap(whole.prune(D)(x), whole(x)) < 1e-6


@given(columns=st.lists(st.integers(0, D - 1), min_size=1, unique=True))
def test_any_columns_can_be_named_in_any_order(columns: list[int], gap: Gap) -> None:
    whole, x = model(), torch.randn(6, D)
    expected = others_zeroed(whole, x, columns)
    chosen = x[:, sorted(columns)]
    support = np.isin(np.arange(D), columns)
    for named in (columns, np.array(columns), torch.tensor(columns), support, support.tolist()):
        assert gap(whole.prune(named)(chosen), expected) < 1e-6


def test_a_number_of_numpy_is_a_number() -> None:
    assert model().prune(np.int64(5))[0].in_features == 5


@pytest.mark.parametrize(
    "network",
    [
        lambda: nn.Linear(D, 2),
        lambda: nn.Linear(D, 2, bias=False),
        lambda: nn.Sequential(nn.Sequential(nn.Linear(D, 4), nn.ReLU()), nn.Linear(4, 2)),
        lambda: nn.Sequential(nn.Linear(D, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)),
    ],
    ids=["linear", "no bias", "nested", "batch norm"],
)
def test_the_rest_of_the_network_comes_along(network: Callable[[], nn.Module], gap: Gap) -> None:
    whole, x = model(network=network()), torch.randn(20, D)
    pruned = whole.prune(4)
    columns = largest(whole, 4)
    assert gap(pruned(x[:, columns]), others_zeroed(whole, x, columns)) < 1e-6
    assert sum(p.numel() for p in pruned.parameters()) < sum(
        p.numel() for p in whole.network.parameters()
    )


@pytest.mark.parametrize(
    "gate",
    [
        lambda: FeatureMask(D, must_keep=[3], feature_groups="abcd" * 3),
        lambda: FeatureMask(D, attenuation=False),
        lambda: FeatureMask(D, normalization=False),
        lambda: CancelOutGate(D),
        lambda: BSFGate(D),
        lambda: DFSGate(D),
    ],
    ids=["FM groups", "FM no BA", "FM no FMN", "CancelOut", "BSF", "DFS"],
)
def test_any_gate_with_one_multiplier_can_be_pruned(gate: Callable[[], MaskGate], gap: Gap) -> None:
    one = gate()
    for parameter in one.parameters():
        nn.init.normal_(parameter)
    one.freeze(one.statistic(torch.randn(30, D)))
    whole, x = model(one), torch.randn(20, D)
    columns = [0, 3, 7, 8]
    assert gap(whole.prune(columns)(x[:, columns]), others_zeroed(whole, x, columns)) < 1e-6


def test_columns_of_large_negative_multiplier_are_large() -> None:
    gate = DFSGate(D)
    with torch.no_grad():
        gate.weight[4] = -9.0
    whole, x = model(gate), torch.randn(5, 1)
    assert torch.equal(whole.prune(1)(x), whole.prune([4])(x))


@pytest.mark.parametrize("training", [True, False])
def test_modes_stay_as_they_are(training: bool) -> None:
    whole = model().train(training)
    whole.network[0].eval()
    pruned = whole.prune(3)
    assert {m.training for m in pruned.modules()} == {training}
    assert whole.gate.training is training
    assert not whole.network[0].training
    with pytest.raises(InputError, match="got k=0"):
        whole.prune(0)
    assert whole.gate.training is training


def test_the_pruned_network_is_its_own() -> None:
    whole, x = model(), torch.randn(20, D)
    before = whole(x)
    pruned = whole.prune(D)
    for parameter in pruned.parameters():
        assert parameter.is_leaf
        assert parameter.requires_grad
        nn.init.zeros_(parameter)
    assert torch.equal(whole(x), before)


@pytest.mark.usefixtures("untouched_generators")
def test_pruning_draws_no_random_numbers() -> None:
    with torch.random.fork_rng():
        whole = model()
    whole.prune(3)


def test_precision_is_kept() -> None:
    whole = model().double()
    assert {p.dtype for p in whole.prune(3).parameters()} == {torch.float64}


@pytest.mark.parametrize("k", [0, -1, D + 1])
def test_a_number_of_columns_that_are_not_there_is_refused(k: int) -> None:
    with pytest.raises(InputError, match=f"prune keeps 1 to {D} columns; got k={k}"):
        model().prune(k)


@pytest.mark.parametrize(
    "columns", [[], [0, 0], [-1], [D], [True, False], [[0, 1], [2, 3]], [False] * D], ids=str
)
def test_columns_that_are_not_there_once_are_refused(columns: Any) -> None:
    with pytest.raises(InputError, match=f"columns among 0 to {D - 1}, each once; got"):
        model().prune(columns)


@pytest.mark.parametrize("network", [nn.ReLU(), nn.Sequential(nn.Tanh(), nn.Linear(D, 2))], ids=str)
def test_a_network_without_a_first_dense_layer_is_refused(network: nn.Module) -> None:
    with pytest.raises(InputError, match=r"begins with a plain nn.Linear behind a gate that mult"):
        model(network=network).prune(3)


def test_a_gate_that_does_not_multiply_is_refused() -> None:
    whole = GatedNetwork(ConcreteGate(D, 3), nn.Linear(3, 2))
    with pytest.raises(InputError, match="got Linear behind ConcreteGate"):
        whole.prune(3)


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
@pytest.mark.parametrize(
    "gate",
    [
        lambda: FeatureMask(D, inference="batch"),
        lambda: FeatureMask(D),
        lambda: FeatureMask(D, attenuation=False, inference="batch"),
        lambda: AFSGate(D),
    ],
    ids=["batch mode", "never trained", "batch mode without attenuation", "AFS"],
)
def test_a_mask_that_depends_on_the_rows_is_refused(gate: Callable[[], MaskGate]) -> None:
    with pytest.raises(InputError, match=r"the same for all rows.*depends on them. Freeze it"):
        model(gate()).prune(3)
