"""Selectors that are fitted together are those that are fitted one by one."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from joblib import parallel_config
from scipy import sparse
from sklearn.feature_selection import SelectKBest

import featuremask.selectors._together as together_module
from featuremask import (
    CancelOutSelector,
    ConcreteSelector,
    FeatureMaskSelector,
    StabilitySelection,
    fit_together,
)
from featuremask.exceptions import InputError, TrainingDivergedError
from featuremask.training import Callback

N, D = 90, 14


def data() -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(0)
    X = draw.standard_normal((N, D))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 1)


def seeds(n: int = 3, cls: Any = FeatureMaskSelector, **words: Any) -> list[Any]:
    usual = {"max_epochs": 8, "batch_size": 32, "dtype": "float64", "n_jobs": 1}
    return [cls(4, **{**usual, "random_state": seed, **words}) for seed in range(n)]


@pytest.fixture
def batched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many selectors each batched computation has trained."""
    sizes: list[int] = []
    fit_members = together_module.fit_members

    def counting(members: Any, *rest: Any) -> Any:
        found = fit_members(members, *rest)
        sizes.append(0 if found is None else len(members))
        return found

    monkeypatch.setattr(together_module, "fit_members", counting)
    return sizes


def assert_same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-7, atol=1e-10)
    assert (one.ranking_ == other.ranking_).all()
    assert (one.support_ == other.support_).all()
    X = data()[0]
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert len(one.history_) == len(other.history_)
    rows = torch.as_tensor(X[:5])
    torch.testing.assert_close(one.network_(rows), other.network_(rows))


@pytest.mark.parametrize("words", [{}, {"strategy": "joint"}, {"dropout": 0.5}], ids=str)
def test_seeds(words: dict[str, Any], batched: list[int]) -> None:
    X, y = data()
    for one, other in zip(fit_together(seeds(**words), X, y), seeds(**words), strict=True):
        assert_same(one, other.fit(X, y))
    assert batched == [3]


def test_without_a_target(batched: list[int]) -> None:
    X, _ = data()
    for one, other in zip(fit_together(seeds(), X), seeds(), strict=True):
        assert_same(one, other.fit(X))
    assert batched == [3]


def test_halves_of_the_rows(batched: list[int]) -> None:
    X, y = data()
    rows = [np.random.default_rng(i).permutation(N)[: N // 2] for i in range(3)]
    found = fit_together(seeds(), X, y, rows=rows)
    for one, other, part in zip(found, seeds(), rows, strict=True):
        assert_same(one, other.fit(X[part], y[part]))
    assert batched == [3]


def test_weights_of_a_bootstrap(batched: list[int]) -> None:
    X, y = data()
    draw = np.random.default_rng(0)
    weights = [draw.multinomial(N, np.full(N, 1 / N)).astype(float) for _ in range(3)]
    found = fit_together(seeds(), X, y, sample_weights=weights)
    for one, other, weight in zip(found, seeds(), weights, strict=True):
        assert_same(one, other.fit(X, y, sample_weight=weight))
    assert batched == [3]


def test_learning_rates(batched: list[int]) -> None:
    X, y = data()

    def rates() -> list[Any]:
        return [s.set_params(learning_rate=1e-3 * (i + 1)) for i, s in enumerate(seeds())]

    for one, other in zip(fit_together(rates(), X, y), rates(), strict=True):
        assert_same(one, other.fit(X, y))
    assert batched == [3]


def test_data_frames(batched: list[int]) -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(D)])
    for one, other in zip(fit_together(seeds(), frame, y), seeds(), strict=True):
        other.fit(frame, y)
        assert (one.ranking_ == other.ranking_).all()
        assert one.selected_names_.tolist() == other.selected_names_.tolist()
    assert batched == [3]


class _Watching(Callback):
    """A callback; a fit that has one is trained by itself."""


@pytest.mark.parametrize(
    "words",
    [
        {"cls": CancelOutSelector},
        {"cls": ConcreteSelector, "max_tries": 1},
        {"strategy": "sequential"},
        {"attenuation": False},
        {"early_stopping": True},
        {"callbacks": [_Watching()]},
        {"max_seconds": 60.0},
        {"feature_groups": [i // 2 for i in range(D)]},
        {"network": lambda n, m: torch.nn.Sequential(torch.nn.LayerNorm(n), torch.nn.Linear(n, m))},
    ],
    ids=lambda words: ", ".join(words),
)
def test_what_cannot_be_batched_is_fitted_all_the_same(words: dict[str, Any]) -> None:
    X, y = data()
    for one, other in zip(fit_together(seeds(2, **words), X, y), seeds(2, **words), strict=True):
        other.fit(X, y)
        np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-7, atol=1e-10)


def test_sparse_rows_are_fitted_one_by_one(batched: list[int]) -> None:
    X = sparse.random(N, 300, density=0.01, random_state=0, format="csr")
    y = np.arange(N) % 2
    for one, other in zip(fit_together(seeds(2), X, y), seeds(2), strict=True):
        assert (one.ranking_ == other.fit(X, y).ranking_).all()
    assert batched == [0]


def test_selectors_of_other_packages_are_fitted_one_by_one(batched: list[int]) -> None:
    X, y = data()
    found = fit_together([SelectKBest(k=2), *seeds(2)], X, y)
    assert found[0].get_support().sum() == 2
    assert batched == [2]


def test_no_more_are_trained_at_a_time_than_memory_suggests(
    batched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together_module, "_MOST_MEMBERS", 2)
    found = fit_together(seeds(5), *data())
    assert batched == [2, 2, 0]
    assert_same(found[4], seeds(5)[4].fit(*data()))


def test_the_one_that_diverges_is_named_by_its_own_error() -> None:
    selectors = seeds(dtype="float32")
    selectors[1].set_params(learning_rate=1e30)
    with pytest.raises(TrainingDivergedError, match=r"learning rate 1e\+30"):
        fit_together(selectors, *data())
    assert selectors[0].ranking_.shape == (D,)


@pytest.mark.parametrize("word", ["rows", "sample_weights"])
def test_each_selector_has_its_own(word: str) -> None:
    with pytest.raises(InputError, match=f"{word} must have one entry for each of the 3"):
        fit_together(seeds(), *data(), **{word: [np.arange(N)]})


def test_stability_selection_fits_together(batched: list[int]) -> None:
    X, y = data()
    base = seeds(1)[0]
    found = StabilitySelection(base, n_resamples=12, random_state=0).fit(X, y)
    assert batched == [10, 2]
    with parallel_config("threading"):
        other = StabilitySelection(base, n_resamples=12, random_state=0, n_jobs=2).fit(X, y)
    assert (other.supports_ == found.supports_).all()
