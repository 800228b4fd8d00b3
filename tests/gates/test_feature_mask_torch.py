"""The layer as a citizen of PyTorch: state, copies, export, precision, devices, random state."""

import copy
import io
import pickle
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounter

from featuremask import FeatureMask
from featuremask.networks import GatedNetwork, mlp

Gap = Callable[[Any, Any], float]


def layer(seed: int = 0, **words: Any) -> FeatureMask:
    return FeatureMask(12, mask_units=8, generator=torch.Generator().manual_seed(seed), **words)


def rows(n: int = 9) -> Tensor:
    return torch.randn(n, 12)


def frozen(**words: Any) -> FeatureMask:
    gate = layer(**words)
    gate.freeze_from([rows(30)])
    return gate.eval()


# ---- state and copies --------------------------------------------------------------------------


def through_state_dict(gate: FeatureMask) -> FeatureMask:
    other = layer(seed=1, must_keep=[2])
    other.load_state_dict(gate.state_dict())
    return other.train(gate.training)


def through_a_file(gate: FeatureMask) -> FeatureMask:
    file = io.BytesIO()
    torch.save(gate.state_dict(), file)
    file.seek(0)
    other = layer(seed=1, must_keep=[2])
    other.load_state_dict(torch.load(file, weights_only=True))
    return other.train(gate.training)


def through_meta(gate: FeatureMask) -> FeatureMask:
    other = FeatureMask(12, mask_units=8, must_keep=[2], device="meta")
    other.load_state_dict(gate.state_dict(), assign=True)
    return other.train(gate.training)


COPIES = {
    "state_dict": through_state_dict,
    "file": through_a_file,
    "meta device": through_meta,
    "deepcopy": copy.deepcopy,
    "pickle": lambda gate: pickle.loads(pickle.dumps(gate)),
}


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
@pytest.mark.parametrize("freeze", [True, False], ids=["frozen", "never frozen"])
@pytest.mark.parametrize("how", COPIES)
def test_a_copy_does_what_the_original_does(how: str, freeze: bool) -> None:
    gate, x = layer(must_keep=[2]), rows()
    gate(rows(30))
    if freeze:
        gate.freeze_from([rows(30)])
    other = COPIES[how](gate)
    assert torch.equal(other(x), gate(x))
    assert torch.equal(other.eval()(x), gate.eval()(x))
    assert bool(other.is_frozen) is freeze


@pytest.mark.filterwarnings("ignore:This FeatureMask was never frozen")
def test_loading_the_state_of_a_gate_never_frozen_thaws() -> None:
    gate, x = layer(), rows()
    gate(rows(30))
    other = frozen()
    other.load_state_dict(gate.state_dict())
    assert torch.equal(other(x), gate.eval()(x))


def test_a_copy_shares_nothing() -> None:
    gate, x = frozen(), rows()
    before = gate(x)
    other = copy.deepcopy(gate)
    for parameter in other.parameters():
        nn.init.zeros_(parameter)
    other.freeze_from([x])
    assert torch.equal(gate(x), before)
    assert not torch.equal(other(x), before)


def test_it_is_found_inside_a_sequential_and_its_state_with_it() -> None:
    network, x = nn.Sequential(layer(), nn.Linear(12, 3)), rows()
    network[0].freeze_from([x])
    other = nn.Sequential(layer(seed=1), nn.Linear(12, 3))
    other.load_state_dict(network.state_dict())
    assert torch.equal(other.eval()(x), network.eval()(x))


# ---- export and compilation --------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"must_keep": [2]}, {"feature_groups": "abcd" * 3}], ids=str)
def test_it_exports_with_any_number_of_rows(words: dict[str, Any]) -> None:
    model = GatedNetwork(frozen(**words), mlp(12, (4,), 2)).eval()
    program = torch.export.export(model, (rows(),), dynamic_shapes=({0: torch.export.Dim("rows")},))
    for x in (rows(5), rows(1000)):
        assert torch.equal(program.module()(x), model(x))


def test_it_exports_in_batch_mode() -> None:
    gate, x = layer(inference="batch").eval(), rows()
    assert torch.equal(torch.export.export(gate, (x,)).module()(x), gate(x))


def test_training_steps_are_traced_once() -> None:
    counter = CompileCounter()
    gate = layer(must_keep=[2])
    compiled, expected = torch.compile(gate, backend=counter, fullgraph=True), layer(must_keep=[2])
    for _ in range(12):
        x = rows()
        output = compiled(x)
        output.sum().backward()
        assert torch.equal(output, expected(x))
    assert counter.frame_count == 1
    assert torch.equal(gate.running_code, expected.running_code)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:`torch.jit:DeprecationWarning"
)  # PyTorch's own compiler uses it
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_it_compiles(gap: Gap) -> None:
    model = GatedNetwork(layer(scale="mean"), mlp(12, (4,), 2))
    reference, x = copy.deepcopy(model), rows()
    compiled = torch.compile(model)
    output, expected = compiled(x), reference(x)
    output.square().sum().backward()
    expected.square().sum().backward()
    assert gap(output, expected) < 1e-5
    for parameter, same in zip(model.parameters(), reference.parameters(), strict=True):
        assert gap(parameter.grad, same.grad) < 1e-5
    model.gate.freeze_from([x])
    reference.gate.freeze_from([x])
    assert gap(torch.compile(model.eval())(x), reference.eval()(x)) < 1e-5


# ---- precision ---------------------------------------------------------------------------------


def test_autocast_computes_in_half_precision_and_stays_close(gap: Gap) -> None:
    model, x = GatedNetwork(layer(scale="mean"), mlp(12, (4,), 2)), rows(300)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mask, output = model.gate.mask(x), model(x, torch.ones(300))
        output.float().square().sum().backward()
        statistic = model.gate.statistic(x)
    assert gap(mask.float(), model.gate.mask(x)) < 0.02
    assert gap(output.float(), model(x)) < 0.05
    assert all(
        p.grad.dtype == torch.float32 and p.grad.isfinite().all() for p in model.parameters()
    )
    assert statistic.dtype == torch.float64
    assert gap(statistic, model.gate.statistic(x)) < 0.02


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_precision_asked_for_or_changed_to_is_kept(dtype: torch.dtype) -> None:
    x = rows().to(dtype)
    for gate in (layer(dtype=dtype), layer().to(dtype)):
        assert gate(x).dtype == gate.mask(x).dtype == gate.running_code.dtype == dtype
        gate.freeze(gate.statistic(x))
        assert gate.eval()(x).dtype == dtype


def test_double_precision_computes_the_same(gap: Gap) -> None:
    gate, x = layer(), rows()
    assert gap(gate.mask(x), copy.deepcopy(gate).double().mask(x.double())) < 1e-6


def test_a_new_default_precision_holds_for_the_layer() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert {value.dtype for value in layer().parameters()} == {torch.float64}
        assert layer().running_code.dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


# ---- devices -----------------------------------------------------------------------------------


def test_the_meta_device_costs_no_memory_and_gives_shapes() -> None:
    gate = FeatureMask(10**6, mask_units=10**4, must_keep=[1], device="meta")
    assert {value.device.type for value in gate.state_dict().values()} == {"meta"}
    assert gate(torch.empty(3, 10**6, device="meta")).shape == (3, 10**6)


def test_it_follows_the_default_device() -> None:
    with torch.device("meta"):
        gate = FeatureMask(6, feature_groups="aabbcc", must_keep=[1])
    assert {value.device.type for value in gate.state_dict().values()} == {"meta"}


ELSEWHERE = [
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
    ),
    pytest.param(
        "mps",
        marks=pytest.mark.skipif(
            not torch.backends.mps.is_available(), reason="there is no MPS device"
        ),
    ),
]
WORDS: dict[str, Any] = {"feature_groups": "abcdef" * 2, "must_keep": [1], "takes": (1, 2)}


@pytest.mark.parametrize("device", ELSEWHERE)
def test_it_computes_the_same_on_another_device(device: str, gap: Gap) -> None:
    there, here, x = layer(device=device, **WORDS), layer(**WORDS), rows()
    assert {value.device.type for value in there.state_dict().values()} == {device}
    for gate in (there, here, here_and_back := layer(**WORDS).to(device).to("cpu")):
        gate(x.to(gate.running_code.device)).square().sum().backward()
        gate.anneal(0.5)
        gate.freeze_from([x])
    for gate in (there, here_and_back):
        for parameter, same in zip(gate.parameters(), here.parameters(), strict=True):
            assert gap(parameter.grad.cpu(), same.grad) < 1e-4
        found = gate.eval()(x.to(gate.running_code.device))
        assert gap(found.cpu(), here.eval()(x)) < 1e-4
        scores = gate.importance(gate.statistic(x.to(gate.running_code.device))).scores
        assert gap(scores.cpu(), here.importance(here.statistic(x)).scores) < 1e-4


# ---- random state and settings -----------------------------------------------------------------


def test_equal_generators_give_equal_weights() -> None:
    one, other, third = layer(seed=3), layer(seed=3), layer(seed=4)
    assert torch.equal(one.logits(rows := torch.ones(2, 12)), other.logits(rows))
    assert not torch.equal(one.logits(rows), third.logits(rows))


@pytest.mark.usefixtures("untouched_generators")
def test_with_a_generator_the_global_ones_are_never_touched() -> None:
    x = torch.linspace(-1, 1, 120).reshape(10, 12)
    for words in ({}, {"attenuation": False}, WORDS, {"init": "normal"}, {"init": "authors"}):
        gate = layer(**words)
        gate(x).sum().backward()
        gate.anneal(1.0)
        gate.freeze_from([x])
        gate.eval()(x)
        gate.importance(gate.statistic(x))
    GatedNetwork(frozen_at(x), mlp(12, (4,), 2, generator=torch.Generator())).prune(3)


def frozen_at(x: Tensor) -> FeatureMask:
    gate = layer()
    gate.freeze_from([x])
    return gate


def test_training_leaves_parameters_and_input_as_they_are() -> None:
    gate, x = layer(**WORDS), rows()
    before = [parameter.clone() for parameter in gate.parameters()]
    same = x.clone()
    gate(x)
    gate.anneal(0.5)
    gate.freeze_from([x])
    assert torch.equal(x, same)
    assert all(torch.equal(a, b) for a, b in zip(gate.parameters(), before, strict=True))
