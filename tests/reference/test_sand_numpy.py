"""SAND against its formulas, written in NumPy as they stand in the publication."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from featuremask.exceptions import InputError
from featuremask.gates import SANDGate

Gap = Callable[[Any, Any], float]

D, K, SIGMA = 5, 2, 0.7
W = np.array([0.3, -0.9, 1.6, 0.1, 0.5])


def gate(**words: Any) -> SANDGate:
    made = SANDGate(D, K, noise_scale=SIGMA, dtype=torch.float64, **words)
    with torch.no_grad():
        made.weight.copy_(torch.from_numpy(W))
    return made


def gains() -> np.ndarray:
    clipped = np.minimum(np.abs(W), 1.0)
    return clipped * np.sqrt(K) / np.sqrt(np.sum(clipped**2))


def test_gains_start_equal_and_their_squares_sum_to_k() -> None:
    start = SANDGate(D, K).gains().detach().numpy()
    assert start == pytest.approx(np.full(D, np.sqrt(K / D)))
    assert float(gate().gains().detach().square().sum()) == pytest.approx(K)


@pytest.mark.parametrize("draw", ["batch", "row"])
def test_what_the_gains_lack_is_noise(gap: Gap, draw: Any) -> None:
    sand, x = gate(draw=draw), torch.randn(7, D, dtype=torch.float64)
    sand.generator = torch.Generator().manual_seed(3)
    found = sand(x).detach()
    again = torch.Generator().manual_seed(3)
    shape = (7, D) if draw == "row" else (D,)
    z = torch.randn(shape, generator=again, dtype=torch.float64).numpy()
    a = gains()
    assert gap(found, a * x.numpy() + (1 - a) * SIGMA * z) < 1e-12


def test_evaluation_adds_no_noise(gap: Gap) -> None:
    x = torch.randn(7, D, dtype=torch.float64)
    assert gap(gate().eval()(x), gains() * x.numpy()) < 1e-12


def test_steps_go_on_from_the_normalized_gains(gap: Gap) -> None:
    sand = gate()
    sand.project()
    assert gap(sand.weight, gains()) < 1e-12


def test_a_kept_feature_takes_its_part_of_the_budget() -> None:
    found = gate(must_keep=[3]).gains().detach()
    assert found[3] == 1.0
    assert float(found.square().sum()) == pytest.approx(K)


@pytest.mark.parametrize("words", [{"noise_scale": -1.0}, {"draw": "column"}])
def test_words_out_of_range_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(words))):
        SANDGate(D, K, **words)
