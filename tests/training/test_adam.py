"""The lean Adam is PyTorch's fused one."""

import copy

import torch
from torch import nn

from featuremask.training._adam import LeanAdam


def network(dtype=torch.float32):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2)).to(dtype)


def steps(model, optimizer, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(n):
        x = torch.randn(4, 5, generator=generator).to(next(model.parameters()).dtype)
        optimizer.zero_grad()
        model(x).square().sum().backward()
        optimizer.step()


def groups(model):
    return [
        {"params": [model[0].weight, model[2].weight], "weight_decay": 0.1},
        {"params": [model[0].bias, model[2].bias], "weight_decay": 0.0},
    ]


def same(one, two):
    return all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_it_makes_the_steps_of_torch_bit_for_bit():
    lean, plain = network(), network()
    steps(lean, LeanAdam(groups(lean), 1e-2), 20)
    steps(plain, torch.optim.Adam(groups(plain), 1e-2, fused=True), 20)
    assert same(lean, plain)
    assert not same(lean, network())


def test_a_state_that_was_loaded_goes_on_bit_for_bit():
    whole, broken = network(), network()
    optimizer = LeanAdam(groups(whole), 1e-2)
    steps(whole, optimizer, 5)
    steps(whole, optimizer, 5, seed=1)
    first = LeanAdam(groups(broken), 1e-2)
    steps(broken, first, 5)
    second = LeanAdam(groups(broken), 1e-2)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    steps(broken, second, 5, seed=1)
    assert same(whole, broken)


def test_a_state_of_torch_can_be_loaded():
    one, two = network(), network()
    plain = torch.optim.Adam(groups(one), 1e-2, fused=True)
    steps(one, plain, 5)
    two.load_state_dict(one.state_dict())
    lean = LeanAdam(groups(two), 1e-2)
    lean.load_state_dict(copy.deepcopy(plain.state_dict()))
    steps(one, plain, 5, seed=1)
    steps(two, lean, 5, seed=1)
    assert same(one, two)


def test_parameters_of_several_types_are_stepped_too():
    model = network()
    model[2].double()
    reference = copy.deepcopy(model)

    def run(model, optimizer):
        for _ in range(3):
            optimizer.zero_grad()
            model[2](model[0](torch.ones(4, 5)).double()).square().sum().backward()
            optimizer.step()

    run(model, LeanAdam(groups(model), 1e-2))
    run(reference, torch.optim.Adam(groups(reference), 1e-2, fused=True))
    assert same(model, reference)


def test_a_parameter_without_a_gradient_is_left_as_it_is():
    model = network()
    before = model[2].weight.clone()
    optimizer = LeanAdam(groups(model), 1e-2)
    model[0](torch.ones(4, 5)).sum().backward()
    optimizer.step()
    assert torch.equal(model[2].weight, before)
    assert not same(model, network())


def test_after_a_state_was_loaded_its_counters_go_on_together():
    model = network()
    first = LeanAdam(groups(model), 1e-2)
    steps(model, first, 3)
    again = LeanAdam(groups(model), 1e-2)
    again.load_state_dict(copy.deepcopy(first.state_dict()))
    steps(model, again, 2)
    counted = [float(state["step"]) for state in again.state_dict()["state"].values()]
    assert counted == [5.0] * 4
