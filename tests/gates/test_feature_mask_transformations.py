"""The dense layers replaced: by the examples of the documentation, and by other modules."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from tests.pages import ROOT, example
from torch import Tensor, nn
from torch.distributions import Normal, kl_divergence

from featuremask import FeatureMask
from featuremask.gates import TwoStage
from featuremask.networks import GatedNetwork, mlp
from featuremask.objectives import Classes, Reconstruction
from featuremask.sources import ArraySource
from featuremask.training import TrainingOptions, TrainingResult, fit_network

Gap = Callable[[Any, Any], float]

CONVOLUTIONAL = example("convolutional_transformation").ConvolutionalTransformation
VARIATIONAL = example("variational_transformation").VariationalTransformation


def trained(gate: FeatureMask, x: Tensor, y: Tensor | None, **options: Any) -> TrainingResult:
    generator = torch.Generator().manual_seed(0)
    n_outputs = x.shape[1] if y is None else 2
    network = mlp(gate.out_features, (16,), n_outputs, generator=generator)
    objective = Reconstruction(n_outputs) if y is None else Classes(2)
    settings = TrainingOptions(**{"batch_size": 64, "learning_rate": 0.01, **options})
    return fit_network(GatedNetwork(gate, network), objective, ArraySource(x.numpy(), y), settings)


@pytest.mark.parametrize("name", ["convolutional_transformation", "variational_transformation"])
def test_the_examples_are_short(name: str) -> None:
    assert len((ROOT / "docs" / "examples" / f"{name}.py").read_text().splitlines()) < 40


# ---- convolutional -----------------------------------------------------------------------------


def test_a_convolution_makes_one_logit_a_pixel(gap: Gap) -> None:
    gate = FeatureMask((6, 5), transformation=CONVOLUTIONAL(6, 5), dtype=torch.float64).double()
    x = torch.randn(7, 1, 6, 5, dtype=torch.float64)
    assert gate.mask(x).shape == (30,)
    assert gap(gate(x), x * gate.mask(x).reshape(6, 5)) < 1e-12
    gate(x).square().sum().backward()
    assert all(p.grad.isfinite().all() for p in gate.parameters())


def test_the_mean_commutes_with_its_second_convolution(gap: Gap) -> None:
    transformation = CONVOLUTIONAL(6, 5).double()
    gate = FeatureMask((6, 5), transformation=transformation, dtype=torch.float64)
    x = torch.randn(7, 6, 5, dtype=torch.float64)
    z = torch.stack([transformation.decode(transformation.encode(row[None]))[0] for row in x])
    assert isinstance(transformation, TwoStage)
    assert gap(gate.logits(x), z.mean(0)) < 1e-12
    assert gate.statistic(x).shape == (8 * 30,)


def test_shifted_images_shift_its_logits(gap: Gap) -> None:
    gate = FeatureMask((16, 16), transformation=CONVOLUTIONAL(16, 16))
    x = torch.zeros(3, 16, 16)
    x[:, 6:8, 6:8] = torch.rand(3, 2, 2)
    logits, shifted = (gate.logits(image).reshape(16, 16) for image in (x, x.roll((1, 1), (1, 2))))
    assert gap(shifted[5:12, 5:12], logits[4:11, 4:11]) < 1e-5  # away from the border


# ---- variational -------------------------------------------------------------------------------


def test_the_penalty_is_the_divergence_from_the_prior(gap: Gap) -> None:
    transformation = VARIATIONAL(6, units=5, weight=0.3).double()
    expected = sum(
        kl_divergence(Normal(layer.mean, layer.log_std.exp()), Normal(0.0, 1.0)).sum()
        for layer in (transformation[0], transformation[2])
    )
    gate = FeatureMask(6, transformation=transformation)
    assert gap(gate.penalty(nn.Linear(6, 1)), 0.3 * expected) < 1e-12


def test_the_penalty_enters_the_loss_of_training(gap: Gap) -> None:
    x = torch.randn(40, 6)

    def first_loss(weight: float) -> tuple[float, float]:
        torch.manual_seed(1)
        gate = FeatureMask(6, transformation=VARIATIONAL(6, units=5, weight=weight))
        penalty = float(gate.penalty(nn.Identity()).detach())
        return trained(gate, x, None, steps=1, seed=3).history[0]["loss"], penalty

    without, nothing = first_loss(0.0)
    with_penalty, penalty = first_loss(0.1)
    assert nothing == 0.0
    assert gap(with_penalty - without, penalty) < 1e-5


def test_weights_are_drawn_in_training_from_the_generator_of_the_loop() -> None:
    x = torch.randn(40, 6)

    def result(seed: int) -> Tensor:
        torch.manual_seed(1)
        gate = FeatureMask(6, transformation=VARIATIONAL(6, units=5))
        torch.manual_seed(seed)  # must not matter
        return trained(gate, x, None, steps=5, seed=3).importance.scores

    assert torch.equal(result(10), result(11))


def test_its_evaluation_is_free_of_chance() -> None:
    gate = FeatureMask(6, transformation=VARIATIONAL(6))
    x = torch.randn(40, 6)
    assert not torch.equal(gate(x), gate(x))
    assert torch.equal(gate.freeze_from([x]), gate.freeze_from([x]))
    gate.eval()
    assert torch.equal(gate(x), gate(x))


# ---- both, and any other -----------------------------------------------------------------------


def planted() -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 20)).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy((x[:, 7] + x[:, 8] > 0).astype(np.int64))


@pytest.mark.parametrize(
    "transformation",
    [
        lambda: CONVOLUTIONAL(4, 5),
        lambda: VARIATIONAL(20, units=16),
        lambda: nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 20)),
    ],
    ids=["convolutional", "variational", "any module"],
)
def test_a_gate_with_another_transformation_finds_planted_features(
    transformation: Callable[[], nn.Module],
) -> None:
    x, y = planted()
    gate = FeatureMask(20, transformation=transformation(), scale="mean")
    scores = trained(gate, x, y, epochs=30).importance.scores
    assert set(scores.topk(2).indices.tolist()) == {7, 8}


def test_a_module_without_stages_is_averaged_as_it_is(gap: Gap) -> None:
    module = nn.Sequential(nn.Linear(6, 6), nn.Softplus()).double()
    gate = FeatureMask(6, transformation=module, dtype=torch.float64)
    x = torch.randn(9, 6, dtype=torch.float64)
    assert gap(gate.logits(x), module(x).mean(0)) < 1e-12
    assert gap(gate.statistic(x), module(x).mean(0)) < 1e-12
    assert gate.penalty(nn.Identity()) is None


def test_an_empty_sequential_is_a_transformation_too(gap: Gap) -> None:
    gate, x = FeatureMask(6, transformation=nn.Sequential()), torch.randn(9, 6)
    assert list(gate.parameters()) == []
    assert gap(gate.logits(x), x.mean(0)) < 1e-6


def test_a_module_may_map_features_to_groups(gap: Gap) -> None:
    gate = FeatureMask(4, feature_groups="aabb", transformation=nn.Linear(4, 2))
    x = torch.randn(9, 4)
    assert gap(gate(x), x * gate.mask(x)[[0, 0, 1, 1]]) < 1e-6
