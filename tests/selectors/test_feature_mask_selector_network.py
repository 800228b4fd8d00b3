"""A network of the user's own is tried before training, trained, and left as it was."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError

WORDS: dict[str, Any] = {"max_epochs": 3, "random_state": 0}
N, D = 80, 6


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, D))
    return X, (X[:, 0] > 0).astype(int)


def small() -> nn.Sequential:
    return nn.Sequential(nn.Linear(D, 8), nn.ReLU(), nn.Linear(8, 2))


def state_of(module: nn.Module) -> dict[str, Any]:
    return {name: value.clone() for name, value in module.state_dict().items()}


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(small(), id="dense"),
        pytest.param(nn.Sequential(small()), id="nested"),
        pytest.param(nn.Sequential(nn.BatchNorm1d(D), nn.Linear(D, 2)), id="batch norm"),
        pytest.param(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(D, 2)), id="in place"),
        pytest.param(nn.Sequential(nn.Dropout(0.5), nn.Linear(D, 2)), id="dropout"),
        pytest.param(
            nn.Sequential(nn.Unflatten(1, (1, D)), nn.Conv1d(1, 2, D), nn.Flatten()), id="conv"
        ),
    ],
)
def test_any_module_serves_and_is_not_changed(data: Any, network: nn.Module) -> None:
    before = state_of(network)
    selector = FeatureMaskSelector(network=network, **WORDS).fit(*data)
    assert network.training
    assert all(p.grad is None for p in network.parameters())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert sorted(selector.ranking_) == list(range(1, D + 1))
    assert selector.network_(torch.from_numpy(data[0])).shape == (N, 2)
    trained = selector.network_[1].network
    assert type(trained) is type(network)
    assert trained is not network


def test_a_second_fit_starts_from_the_same_weights(data: Any) -> None:
    selector = FeatureMaskSelector(network=small(), **WORDS)
    assert np.array_equal(selector.fit(*data).scores_, selector.fit(*data).scores_)


def test_a_function_gets_the_widths_and_its_random_weights_follow_the_seed(data: Any) -> None:
    asked: list[tuple[int, int]] = []

    def factory(n_inputs: int, n_outputs: int) -> nn.Module:
        asked.append((n_inputs, n_outputs))
        return nn.Linear(n_inputs, n_outputs)

    state = torch.get_rng_state()
    scores = []
    for caller, seed in [(0, 3), (1, 3), (0, 4)]:
        torch.manual_seed(caller)
        before = torch.get_rng_state()
        words = WORDS | {"random_state": seed, "strategy": "joint"}
        scores.append(FeatureMaskSelector(network=factory, **words).fit(*data).scores_)
        assert torch.equal(torch.get_rng_state(), before)
    torch.set_rng_state(state)
    assert asked == [(D, 2)] * 3
    assert np.array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


def test_a_function_gets_the_widths_of_the_columns_that_vary(data: Any) -> None:
    X = data[0].copy()
    X[:, 0] = 1.0
    asked: list[tuple[int, int]] = []

    def factory(n_inputs: int, n_outputs: int) -> nn.Module:
        asked.append((n_inputs, n_outputs))
        return nn.Linear(n_inputs, n_outputs)

    FeatureMaskSelector(network=factory, **WORDS).fit(X)
    assert asked == [(D - 1, D - 1)]


class Pair(nn.Module):
    def forward(self, x: Any) -> Any:
        return x[:, :2], x


def full_of(value: float) -> nn.Module:
    network = nn.Linear(D, 2)
    nn.init.constant_(network.weight, value)
    return network


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(D, 3), r"must return 2 outputs a row for classification.*got \(2, 3\)"),
        (nn.Sequential(nn.Linear(D, 2), nn.Flatten(0)), r"shape \(rows, 2\); got \(4,\) for 2"),
        (nn.Linear(5, 2), "The network cannot take rows of 6 features: mat1 and mat2"),
        (full_of(float("nan")), "returns NaN or infinity before training; check its weights"),
        (full_of(float("inf")), "returns NaN or infinity before training; check its weights"),
        (Pair(), "The network must return a tensor; got tuple"),
        (lambda n, m: "no module", "must return an nn.Module; got 'no module'"),
        ("mlp", "network must be None, a module, or a function"),
        (nn.Linear, r"^$"),
    ],
)
def test_a_network_that_does_not_fit_is_refused_before_training(
    data: Any, network: Any, message: str
) -> None:
    selector = FeatureMaskSelector(network=network, **WORDS)
    if network is nn.Linear:  # a class is a function that returns a module
        assert sorted(selector.fit(*data).ranking_) == list(range(1, D + 1))
        return
    with pytest.raises(InputError, match=message):
        selector.fit(*data)
    assert not hasattr(selector, "history_")


def test_an_autoencoder_of_the_users_must_return_the_columns(data: Any) -> None:
    with pytest.raises(InputError, match="must return 6 outputs a row for reconstruction"):
        FeatureMaskSelector(network=nn.Linear(D, 2), **WORDS).fit(data[0])


def test_the_default_network_has_the_widths_of_the_word(data: Any) -> None:
    selector = FeatureMaskSelector(hidden_units=(7, 5), **WORDS).fit(*data)
    dense = [m for m in selector.network_[1].network if isinstance(m, nn.Linear)]
    assert [(m.in_features, m.out_features) for m in dense] == [(D, 7), (7, 5), (5, 2)]
    mirrored = FeatureMaskSelector(hidden_units=(7, 5), **WORDS).fit(data[0]).network_[1].network
    assert [m.out_features for m in mirrored if isinstance(m, nn.Linear)] == [7, 5, 7, D]


def test_dropout_is_that_of_the_word_where_there_is_enough_data() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3))
    selector = FeatureMaskSelector(dropout=0.25, max_epochs=1).fit(X, X[:, 0] > 0)
    rates = [m.rate for m in selector.network_.modules() if hasattr(m, "rate")]
    assert rates == [0.25]


def test_the_mask_has_the_form_of_its_words(data: Any) -> None:
    words = {"mask_units": 5, "mask_depth": 2, "mask_scale": 2.5, "mask_init": "ones"}
    gate = FeatureMaskSelector(**words, **WORDS).fit(*data).network_[1].gate
    assert [layer.out_features for layer in gate.transformation.hidden] == [5, 5]
    assert gate.scale == 2.5


@pytest.mark.parametrize("attenuation", [True, False])
@pytest.mark.parametrize("normalization", [True, False])
def test_the_ablations_of_the_paper_run(data: Any, attenuation: Any, normalization: Any) -> None:
    words = {"attenuation": attenuation, "normalization": normalization, "strategy": "joint"}
    selector = FeatureMaskSelector(**words, **WORDS).fit(*data)
    assert sorted(selector.ranking_) == list(range(1, D + 1))
    assert selector.network_[1].gate.attenuation is attenuation
    assert selector.network_[1].gate.normalization is normalization
