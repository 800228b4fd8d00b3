"""Changes of the data that change the ranking in a known way, or not at all."""

from typing import Any

import numpy as np
import pandas as pd
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from featuremask import FeatureMaskSelector
from featuremask.gates import FeatureMask
from featuremask.networks import GatedNetwork, mlp
from featuremask.objectives import Classes
from featuremask.sources import ArraySource
from featuremask.training import TrainingOptions, fit_network

N_ROWS, N_COLUMNS, K = 40, 7, 2

few = settings(max_examples=4)
seeds = st.integers(0, 2**16)


def planted(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Two columns that tell the class, and noise."""
    X = np.random.default_rng(seed).normal(size=(N_ROWS, N_COLUMNS))
    return X, (X[:, 2] + X[:, 5] > 0).astype(np.int64)


def fitted(X: Any, y: Any, **words: Any) -> FeatureMaskSelector:
    small = {"max_epochs": 20, "hidden_units": (8,), "dtype": "float64", "random_state": 0}
    weight = words.pop("sample_weight", None)
    return FeatureMaskSelector(K, **small | words).fit(X, y, sample_weight=weight)


@few
@given(seeds, st.permutations(range(N_ROWS)))
def test_the_order_of_rows_does_not_matter_where_each_step_sees_all(seed: int, order: Any) -> None:
    X, y = planted(seed)
    found = fitted(X[order], y[order]).scores_
    assert np.allclose(found, fitted(X, y).scores_, rtol=1e-7)


@few
@given(seeds, st.permutations(range(N_COLUMNS)))
def test_permuted_columns_have_permuted_scores_if_the_first_weights_are(
    seed: int, order: Any
) -> None:
    X, y = planted(seed)
    scores = [_trained(X, y, None), _trained(X[:, order], y, torch.tensor(order))]
    assert torch.allclose(scores[1], scores[0][order], rtol=1e-8)


def _trained(X: Any, y: Any, order: Any) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    words: dict[str, Any] = {"generator": generator, "dtype": torch.float64}
    gate = FeatureMask(N_COLUMNS, mask_units=5, **words)  # a narrowing one draws by position
    model = GatedNetwork(gate, mlp(N_COLUMNS, (8,), 2, **words))
    if order is not None:
        with torch.no_grad():
            for parameter in model.parameters():
                for axis in range(parameter.ndim):
                    if parameter.shape[axis] == N_COLUMNS:
                        parameter.copy_(parameter.index_select(axis, order))
    source = ArraySource(X.copy(), torch.from_numpy(y))
    options = TrainingOptions(epochs=20, batch_size=N_ROWS, dtype=torch.float64)
    return fit_network(model, Classes(2), source, options).importance.scores


@few
@given(seeds, st.lists(st.text("ab$<", min_size=1), min_size=7, max_size=7, unique=True))
def test_names_do_not_matter(seed: int, names: Any) -> None:
    X, y = planted(seed)
    found = fitted(pd.DataFrame(X, columns=names), y)
    assert np.array_equal(found.scores_, fitted(X, y).scores_)
    assert found.selected_names_.tolist() == [names[i] for i in np.argsort(found.ranking_)[:K]]


@few
@given(seeds, st.lists(st.integers(0, 3), min_size=N_ROWS, max_size=N_ROWS))
def test_a_weight_is_a_number_of_repetitions(seed: int, times: Any) -> None:
    X, y = planted(seed)
    times = np.array(times) + np.array([1, 1] + [0] * (N_ROWS - 2))
    y[:2] = 0, 1
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = fitted(X, y, sample_weight=times.astype(float))
    assert np.allclose(weighted.scores_, repeated.scores_, rtol=1e-7)


@few
@given(seeds, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4))
def test_constant_columns_rank_last_and_change_nothing_else(seed: int, constants: Any) -> None:
    X, y = planted(seed)
    alone = fitted(X, y)
    more = fitted(np.column_stack([X, np.tile(constants, (N_ROWS, 1))]), y)
    assert np.array_equal(more.ranking_[:N_COLUMNS], alone.ranking_)
    assert more.ranking_[N_COLUMNS:].tolist() == list(
        range(N_COLUMNS + 1, N_COLUMNS + len(constants) + 1)
    )
    assert np.array_equal(np.flatnonzero(more.support_), np.flatnonzero(alone.support_))


@few
@given(seeds, st.integers(0, N_COLUMNS - 1), st.floats(1e-30, 1e30))
def test_by_column_the_unit_of_a_column_does_not_matter(seed: int, column: int, by: float) -> None:
    X, y = planted(seed)
    expected = fitted(X, y, standardize="column").scores_
    X[:, column] *= by
    assert np.allclose(fitted(X, y, standardize="column").scores_, expected, rtol=1e-7)


@few
@given(seeds)
def test_classes_may_have_any_names(seed: int) -> None:
    X, y = planted(seed)
    expected = fitted(X, y).scores_
    for names in (["no", "yes"], [-5, 3], [False, True]):
        assert np.array_equal(fitted(X, np.array(names)[y]).scores_, expected)
