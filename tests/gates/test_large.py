"""Large weights: products into kept memory, with the numbers and gradients of plain ones."""

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from featuremask._gradients import gradient_memory, keep_gradients
from featuremask.gates import _large
from featuremask.gates._large import masked_linear, one_row_linear


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_large, "_LARGE", 1)


def both() -> tuple[nn.Linear, nn.Linear]:
    dense = nn.Linear(7, 4).double()
    return dense, copy.deepcopy(dense)


@pytest.mark.parametrize("masked", [True, False])
def test_a_masked_layer_and_its_gradients_are_those_of_the_formula(masked: bool, gap: Any) -> None:
    ours, theirs = both()
    found = []
    for dense, plain in ((ours, False), (theirs, True)):
        x = torch.linspace(-1, 1, 21, dtype=torch.float64).view(3, 7).requires_grad_()
        m = torch.linspace(0, 1, 7, dtype=torch.float64).requires_grad_() if masked else None
        with keep_gradients():
            for _ in range(2):  # the second time memory is there, and the gradient grows
                scaled = x if m is None else x * m
                output = dense(scaled) if plain else masked_linear(x, dense, m)
                torch.autograd.backward(output.square().sum())
        found.append([output, x.grad, dense.weight.grad, dense.bias.grad])
        found[-1] += [] if m is None else [m.grad]
    for one, other in zip(*found, strict=True):
        assert gap(one, other) < 1e-12


def test_the_gradient_of_one_row_is_written_where_that_of_the_last_step_was(gap: Any) -> None:
    ours, theirs = both()
    places = set()
    with keep_gradients():
        for step in range(3):
            row = torch.arange(7.0, dtype=torch.float64) + step
            for dense, output in (
                (ours, one_row_linear(row, ours)),
                (theirs, functional.linear(row, theirs.weight, theirs.bias)),
            ):
                dense.weight.grad = None
                torch.autograd.backward(output.sin().sum())
            assert ours.weight.grad is not None
            assert gap(ours.weight.grad, theirs.weight.grad) < 1e-12
            places.add(ours.weight.grad.data_ptr())
    assert len(places) == 1


def test_outside_of_training_each_gradient_has_its_own_memory() -> None:
    weight = nn.Parameter(torch.zeros(3, 2))
    assert gradient_memory(weight) is not gradient_memory(weight)
    with keep_gradients():
        assert gradient_memory(weight) is gradient_memory(weight)
        weight.grad = torch.zeros(3, 2)
        assert gradient_memory(weight) is not gradient_memory(weight)
