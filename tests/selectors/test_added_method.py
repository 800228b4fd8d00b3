"""The method that the documentation adds as an example keeps to what all methods keep to."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.stats import norm
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.pages import ROOT, example
from torch import nn

from featuremask.datasets import make_planted
from featuremask.networks import GatedNetwork, mlp

Gap = Callable[[Any, Any], float]

MODULE = example("stochastic_gates")
Gate, Selector = MODULE.StochasticGate, MODULE.StochasticGatesSelector


def test_the_example_is_short() -> None:
    text = (ROOT / "docs" / "examples" / "stochastic_gates.py").read_text()
    assert len(text.splitlines()) < 60


@parametrize_with_checks([Selector(max_epochs=2)])
def test_scikit_learns_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_penalty_is_the_mean_chance_to_be_open(gap: Gap) -> None:
    gate = Gate(5, weight=0.3, spread=0.7)
    nn.init.normal_(gate.mu)
    chance = norm.cdf((gate.mu.detach().numpy() + 0.5) / 0.7)
    assert gap(gate.penalty(nn.Identity()), 0.3 * chance.mean()) < 1e-6
    assert gap(gate.importance(None).shares, chance) < 1e-6


def test_noise_is_for_training_alone() -> None:
    gate, x = Gate(5, weight=0.1, spread=0.5, must_keep=[2]), torch.ones(3, 5)
    assert not torch.equal(gate(x), gate(x))
    assert (gate(x)[:, 2] == 1.0).all()
    gate.eval()
    assert gate(x)[0].tolist() == [0.5, 0.5, 1.0, 0.5, 0.5]


def test_it_folds_into_the_first_layer(gap: Gap) -> None:
    folded = GatedNetwork(Gate(5, weight=0.1, spread=0.5), mlp(5, (4,), 2)).eval()
    plain = copy.deepcopy(folded)
    plain.fold = False
    x = torch.randn(7, 5)
    assert gap(folded(x), plain(x)) < 1e-6


def test_it_finds_planted_features() -> None:
    data = make_planted(400, 30, 4, kind="linear", random_state=0)
    selector = Selector(4, learning_rate=0.01, max_epochs=40, random_state=0).fit(data.X, data.y)
    assert np.array_equal(selector.get_support(indices=True), data.relevant)
