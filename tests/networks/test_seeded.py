"""Noise from a generator of one's own."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.networks import Dropout, draw_from


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def dropped(rate: float, x: Tensor, seed: int = 0) -> Tensor:
    layer = Dropout(rate)
    with draw_from(layer, generator(seed)):
        return layer(x)


@given(rate=st.floats(0.0, 0.99), shape=st.sampled_from([(0,), (1,), (3, 5), (2, 3, 7)]))
def test_entries_are_zero_or_scaled_up(rate: float, shape: tuple[int, ...]) -> None:
    thinned = dropped(rate, torch.ones(shape))
    assert thinned.shape == shape
    kept = thinned[thinned != 0.0]
    assert torch.allclose(kept, torch.full_like(kept, 1 / (1 - rate)), rtol=2e-3)


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.5, 0.9])
def test_the_share_of_zeros_is_the_rate_and_the_mean_stays(rate: float) -> None:
    thinned = dropped(rate, torch.ones(400, 500))
    spread = (rate * (1 - rate) / 200_000) ** 0.5
    assert abs(float((thinned == 0).double().mean()) - rate) < 5 * spread
    assert abs(float(thinned.double().mean()) - 1.0) < 5 * spread / (1 - rate)


def test_neighbors_are_dropped_independently() -> None:
    kept = (dropped(0.5, torch.ones(200_000)) != 0).double()
    for lag in (1, 2, 3, 4, 8):
        assert abs(float((kept[lag:] * kept[:-lag]).mean()) - 0.25) < 0.01


@pytest.mark.usefixtures("untouched_generators")
def test_it_draws_from_its_generator_alone() -> None:
    x = torch.ones(50, 50)
    assert torch.equal(dropped(0.3, x, 1), dropped(0.3, x, 1))
    assert not torch.equal(dropped(0.3, x, 1), dropped(0.3, x, 2))


def test_every_draw_is_a_new_one() -> None:
    layer, x = Dropout(0.3), torch.ones(50, 50)
    with draw_from(layer, generator(0)):
        assert not torch.equal(layer(x), layer(x))


def test_without_a_generator_the_global_one_serves() -> None:
    layer, x = Dropout(0.3), torch.ones(50, 50)
    torch.manual_seed(4)
    first = layer(x)
    torch.manual_seed(4)
    assert torch.equal(layer(x), first)


@pytest.mark.usefixtures("untouched_generators")
def test_in_evaluation_or_at_rate_zero_the_input_itself_comes_back() -> None:
    x = torch.ones(3, 4)
    assert Dropout(0.3).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_gradients_pass_where_entries_do() -> None:
    x = torch.ones(40, 40, requires_grad=True)
    thinned = dropped(0.3, x)
    thinned.sum().backward()
    assert torch.equal(x.grad, thinned.detach())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_precision_and_memory_layout_of_the_input_do_not_matter(dtype: torch.dtype) -> None:
    x = torch.ones(30, 20, dtype=dtype)
    assert dropped(0.3, x).dtype == dtype
    assert torch.equal(dropped(0.3, x.T), dropped(0.3, torch.ones(20, 30, dtype=dtype)))


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match=r"must be in \[0, 1\); got"):
        Dropout(rate)


def test_repr_names_the_rate() -> None:
    assert repr(Dropout(0.25)) == "Dropout(rate=0.25)"


def test_lending_reaches_all_modules_and_is_taken_back() -> None:
    own, lent = generator(1), generator(2)
    model = nn.Sequential(Dropout(0.1), nn.Sequential(Dropout(0.2)))
    model[0].generator = own
    with draw_from(model, lent):
        assert model[0].generator is lent
        assert model[1][0].generator is lent
    assert model[0].generator is own
    assert model[1][0].generator is None


def test_what_was_lent_is_taken_back_after_an_error() -> None:
    layer = Dropout(0.1)
    with pytest.raises(RuntimeError, match="inside"), draw_from(layer, generator(0)):
        raise RuntimeError("inside")
    assert layer.generator is None
