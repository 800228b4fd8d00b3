"""Centering and scaling, of whole rows and of batches in place."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from featuremask.networks import Standardize

Gap = Callable[[Any, Any], float]


def double(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


@given(
    mean=st.floats(-1e3, 1e3),
    scale=st.floats(1e-30, 1e30),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
def test_in_place_equals_out_of_place(mean: float, scale: float, dtype: torch.dtype) -> None:
    layer = Standardize(double(mean, 0.0), double(scale, 1.0), dtype=dtype)
    x = torch.randn(5, 2, dtype=layer.work_dtype) * scale + mean
    expected = layer(x)
    assert torch.equal(layer.apply_(x.clone()), expected)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)], ids=["f32", "f64"]
)
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e8])
def test_columns_get_mean_zero_and_scale_one(
    dtype: torch.dtype, tolerance: float, scale: float, offset: float, gap: Gap
) -> None:
    z = np.random.default_rng(0).integers(-5, 6, size=(30, 1)).astype(np.float64)
    x = (z + offset) * scale
    layer = Standardize(double(offset * scale), double(scale), dtype=dtype)
    found = layer(torch.from_numpy(x))
    assert found.dtype == dtype
    assert gap(found, z) < max(tolerance, 2e-16 * offset * 10)


def test_far_columns_are_worked_on_in_double_precision() -> None:
    near = Standardize(double(999.0), double(1.0))
    far = Standardize(double(0.0, -1001.0), double(1.0, 1.0))
    assert near.work_dtype == torch.float32
    assert far.work_dtype == torch.float64
    assert far(torch.zeros(2, 2)).dtype == torch.float32


def test_in_place_means_in_place() -> None:
    layer, x = Standardize(double(1.0), double(2.0)), torch.ones(3, 1)
    assert layer.apply_(x) is x
    assert x.tolist() == [[0.0]] * 3


def test_whole_rows_are_left_as_they_are() -> None:
    layer, x = Standardize(double(1.0), double(2.0)), torch.ones(3, 1)
    layer(x)
    assert x.tolist() == [[1.0]] * 3


def test_columns_are_chosen_in_their_order(gap: Gap) -> None:
    layer = Standardize(double(1.0, 2.0), double(2.0, 4.0), torch.tensor([3, 0]))
    x = torch.randn(6, 5)
    expected = torch.stack([(x[:, 3] - 1.0) / 2.0, (x[:, 0] - 2.0) / 4.0], dim=1)
    assert gap(layer(x), expected) < 1e-6


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int64, np.bool_])
def test_rows_of_any_dtype_are_welcome(dtype: Any, gap: Gap) -> None:
    x = torch.from_numpy(np.eye(3).astype(dtype))
    layer = Standardize(double(0.0, 0.0, 0.0), double(2.0, 2.0, 2.0))
    assert gap(layer(x), np.eye(3) / 2) < 1e-6


def test_a_loaded_state_is_used(gap: Gap) -> None:
    one, x = Standardize(double(1.0, 7.0), double(2.0, 4.0)), torch.randn(4, 2)
    other = Standardize(double(0.0, 0.0), double(1.0, 1.0))
    other.load_state_dict(one.state_dict())
    assert gap(other(x), one(x)) < 1e-6


def test_far_values_end_at_the_bound_and_others_stay() -> None:
    free = Standardize(double(1.0), double(2.0), dtype=torch.float64)
    layer = Standardize(double(1.0), double(2.0), dtype=torch.float64, bound=5.0)
    x = double(-1e9, -8.0, 0.0, 11.0, 12.0).unsqueeze(1)
    assert layer(x)[:, 0].tolist() == [-5.0, -4.5, -0.5, 5.0, 5.0]
    assert torch.equal(layer(x)[1:4], free(x)[1:4])
    assert torch.equal(layer.apply_(x.clone()), layer(x))


def test_a_state_without_a_bound_has_none() -> None:
    layer = Standardize(double(0.0), double(1.0), bound=5.0)
    state = {k: v for k, v in layer.state_dict().items() if k != "bound"}
    layer.load_state_dict(state)
    assert layer(torch.full((1, 1), 7.0)).item() == 7.0
