"""The mean over rows."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from featuremask.gates._attenuation import attenuate, weighted_mean

Gap = Callable[[Any, Any], float]

WEIGHTS = st.lists(st.floats(0, 100), min_size=1, max_size=12).filter(lambda w: sum(w) > 1e-3)


@given(weights=WEIGHTS)
def test_rows_are_counted_by_their_weight(weights: list[float], gap: Gap) -> None:
    values = torch.randn(len(weights), 4, dtype=torch.float64) + 3.0
    weight = torch.tensor(weights, dtype=torch.float64)
    expected = np.average(values.numpy(), axis=0, weights=weights)
    assert gap(attenuate(values, weight), expected) < 1e-12
    assert gap(weighted_mean(values, weight), expected) < 1e-12


@given(times=st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any))
def test_a_weight_of_two_is_a_repeated_row(times: list[int], gap: Gap) -> None:
    values, counts = torch.randn(len(times), 3, dtype=torch.float64), torch.tensor(times)
    assert gap(attenuate(values, counts), attenuate(values.repeat_interleave(counts, 0))) < 1e-12


def test_without_weights_it_is_the_mean(gap: Gap) -> None:
    values = torch.randn(7, 3)
    assert gap(attenuate(values), values.mean(0)) < 1e-6


def test_only_the_ratio_of_weights_matters(gap: Gap) -> None:
    values, weight = torch.randn(7, 3, dtype=torch.float64), torch.rand(7, dtype=torch.float64)
    assert gap(attenuate(values, 1e6 * weight), attenuate(values, weight)) < 1e-12


def test_each_row_gets_its_share_of_the_gradient(gap: Gap) -> None:
    values = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.tensor([1.0, 2.0, 0.0, 5.0], dtype=torch.float64)
    upstream = torch.randn(3, dtype=torch.float64)
    attenuate(values, weight).backward(upstream)
    assert gap(values.grad, weight[:, None] / 8 * upstream) < 1e-12
    assert torch.autograd.gradcheck(attenuate, (values, weight.requires_grad_()))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_statistics_are_in_double_precision_whatever_the_input(
    dtype: torch.dtype, gap: Gap
) -> None:
    values = torch.full((3001, 2), 1.1).to(dtype)
    for weight in (None, torch.ones(3001).to(dtype)):
        found = weighted_mean(values, weight)
        assert found.dtype == torch.float64
        assert gap(found, values[0].double()) < 1e-12


def test_the_precision_of_the_values_is_kept() -> None:
    for dtype in (torch.bfloat16, torch.float32, torch.float64):
        values = torch.ones(3, 2, dtype=dtype)
        assert attenuate(values).dtype == dtype
        assert attenuate(values, torch.ones(3)).dtype == dtype
