"""A gate and a network as one: where the mask is folded, and that it never shows."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from featuremask import FeatureMask
from featuremask.gates import AFSGate, BSFGate, ConcreteGate, DFSGate, FSDNNGate, Gate
from featuremask.networks import GatedNetwork, draw_from, mlp

Gap = Callable[[Any, Any], float]

D = 9


class Spy(FeatureMask):
    """A mask that tells how it was asked for."""

    multiplied_rows = 0

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        self.multiplied_rows += 1
        return super().forward(x, sample_weight)


def was_folded(network: nn.Module, x: Tensor, **words: Any) -> bool:
    gate = Spy(x.shape[-1], **words)
    GatedNetwork(gate, network)(x)
    return gate.multiplied_rows == 0


@pytest.mark.parametrize(
    "network",
    [
        lambda: nn.Linear(D, 3),
        lambda: nn.Linear(D, 3, bias=False),
        lambda: nn.Sequential(nn.Linear(D, 3), nn.ReLU()),
        lambda: nn.Sequential(nn.Sequential(nn.Linear(D, 3), nn.ReLU()), nn.Linear(3, 2)),
        lambda: mlp(D, (5, 4), 2, dropout=0.3),
    ],
    ids=["linear", "no bias", "sequential", "nested", "mlp"],
)
def test_the_mask_is_folded_into_a_plain_first_layer(
    network: Callable[[], nn.Module], gap: Gap
) -> None:
    network, x = network(), torch.randn(6, D)
    assert was_folded(network, x)
    for mode in (True, False):
        gate = FeatureMask(D, scale="mean")
        gate.freeze_from([x])
        folded = GatedNetwork(gate, network).train(mode)
        multiplied = GatedNetwork(gate, network, fold=False).train(mode)
        outputs = []
        for model in (folded, multiplied):
            with draw_from(model, torch.Generator().manual_seed(0)):
                outputs.append(model(x))
        assert gap(*outputs) < 1e-6


class Doubled(nn.Linear):
    """A layer that looks plain and is not."""

    def forward(self, x: Tensor) -> Tensor:
        return 2.0 * super().forward(x)


class Residual(nn.Sequential):
    """A network that uses its input twice."""

    def forward(self, x: Tensor) -> Tensor:
        return x + super().forward(x)


def with_hook(register: str, hook: Callable[..., Any]) -> nn.Module:
    network = nn.Sequential(nn.Linear(D, 3))
    getattr(network[0], register)(hook)
    return network


def hooked_whole() -> nn.Module:
    network = nn.Sequential(nn.Linear(D, 3))
    network.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 1.0,))
    return network


UNFOLDABLE: dict[str, Callable[[], nn.Module]] = {
    "subclass of Linear": lambda: Doubled(D, 3),
    "subclass of Sequential": lambda: Residual(nn.Linear(D, D)),
    "something before": lambda: nn.Sequential(nn.Tanh(), nn.Linear(D, 3)),
    "nothing": nn.Sequential,
    "forward hook": lambda: with_hook("register_forward_hook", lambda m, i, o: o + 1.0),
    "forward pre-hook": lambda: with_hook("register_forward_pre_hook", lambda m, i: (i[0] + 1.0,)),
    "hook of the whole": hooked_whole,
    "parametrization": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(D, 3)),
}


@pytest.mark.parametrize("kind", UNFOLDABLE)
def test_what_may_do_more_than_multiply_is_not_folded(kind: str, gap: Gap) -> None:
    network, x = UNFOLDABLE[kind](), torch.randn(6, D)
    assert not was_folded(network, x)
    gate = FeatureMask(D)
    assert gap(GatedNetwork(gate, network)(x), network(gate(x))) < 1e-6


@pytest.mark.parametrize(
    ("register", "hook"),
    [
        ("register_full_backward_hook", lambda m, i, o: None),
        ("register_full_backward_pre_hook", lambda m, o: None),
    ],
)
def test_backward_hooks_see_the_first_layer(register: str, hook: Callable[..., Any]) -> None:
    calls = []
    network = with_hook(register, lambda *args: calls.append(1) or hook(*args))
    GatedNetwork(FeatureMask(D), network)(torch.randn(4, D)).sum().backward()
    assert calls == [1]


def test_hooks_of_the_gate_are_called() -> None:
    calls, gate = [], FeatureMask(D)
    gate.register_forward_hook(lambda *args: calls.append(1))
    GatedNetwork(gate, nn.Linear(D, 3))(torch.randn(4, D))
    assert calls == [1]


def test_sequences_are_multiplied(gap: Gap) -> None:
    network, x = nn.Linear(D, 3), torch.randn(2, 6, D)
    assert not was_folded(network, x)
    gate = FeatureMask(D)
    assert gap(GatedNetwork(gate, network)(x), network(gate(x))) < 1e-6


def test_a_mask_on_another_axis_is_not_folded_even_where_the_sizes_agree(gap: Gap) -> None:
    gate, network, x = FeatureMask(D, dims=1), nn.Linear(D, 3), torch.randn(2, D, D)
    assert gap(GatedNetwork(gate, network)(x), network(gate(x))) < 1e-6


def test_a_layer_of_another_width_fails_as_pytorch_does() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        GatedNetwork(FeatureMask(D), nn.Linear(D + 1, 3))(torch.randn(4, D))


def test_a_layer_used_twice_is_folded_only_where_it_comes_first(gap: Gap) -> None:
    dense, x, gate = nn.Linear(D, D), torch.randn(4, D), FeatureMask(D, scale="mean")
    network = nn.Sequential(dense, nn.Tanh(), dense)
    assert gap(GatedNetwork(gate, network)(x), network(gate(x))) < 1e-6


@pytest.mark.parametrize(
    "gate",
    [
        lambda: FeatureMask(D, attenuation=False),
        lambda: FeatureMask(D, normalization=False),
        lambda: FeatureMask(D, feature_groups="abc" * 3, must_keep=[0]),
        lambda: AFSGate(D),
        lambda: BSFGate(D, draw="row"),
        lambda: BSFGate(D, draw="batch"),
        lambda: DFSGate(D),
        lambda: ConcreteGate(D, 4),
        lambda: FSDNNGate(D),
    ],
    ids=["FM no BA", "FM no FMN", "FM groups", "AFS", "BSF row", "BSF", "DFS", "ConAE", "FSDNN"],
)
@pytest.mark.parametrize("training", [True, False])
def test_folding_never_shows(gate: Callable[[], Gate], training: bool, gap: Gap) -> None:
    x, weight = torch.randn(6, D), torch.rand(6)
    one = gate()
    one.freeze(one.statistic(x, network=nn.Linear(D, 3)))
    outputs = []
    for fold in (True, False):
        model = GatedNetwork(one, mlp(one.out_features, (4,), 2, generator=seeded()), fold=fold)
        with draw_from(model.train(training), seeded()):
            outputs.append(model(x, weight))
    assert gap(*outputs) < 1e-6


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("fold", [True, False])
def test_weights_of_rows_reach_the_gate(fold: bool, gap: Gap) -> None:
    model = GatedNetwork(FeatureMask(D, scale="mean"), nn.Linear(D, 3), fold=fold).double()
    x, times = torch.randn(4, D).double(), torch.tensor([1, 3, 0, 2])
    weighted = model(x, times.double()).repeat_interleave(times, 0)
    assert gap(weighted, model(x.repeat_interleave(times, 0))) < 1e-12
