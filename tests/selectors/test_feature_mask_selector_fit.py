"""How a fit runs: its length, held-out rows, going on, threads, precision, seeds."""

import threading
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from featuremask import FeatureMaskSelector
from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.training import Callback, EarlyStopping, TrainingState

N = 600


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, 6))
    return X, (X[:, 1] > 0).astype(int)


class Look(Callback):
    """Keeps what a function sees after each epoch."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.seen: list[Any] = []

    def on_epoch_end(self, state: TrainingState) -> None:
        self.seen.append(self.function(state))


# ---- length ---------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
@pytest.mark.parametrize("epochs", [1, 4])
def test_max_epochs_bounds_the_passes_over_the_data(data: Any, strategy: Any, epochs: int) -> None:
    selector = FeatureMaskSelector(strategy=strategy, max_epochs=epochs, batch_size=100)
    history = selector.fit(*data).history_
    assert [record["epoch"] for record in history] == list(range(1, epochs + 1))
    assert history[-1]["step"] == 6 * epochs


def test_max_seconds_bounds_the_time(data: Any) -> None:
    selector = FeatureMaskSelector(max_epochs=10**6, max_seconds=0.1).fit(*data)
    assert selector.history_[-1]["epoch"] < 10**6
    assert selector.history_[-1]["seconds"] < 5.0
    assert sorted(selector.ranking_) == [1, 2, 3, 4, 5, 6]


def test_without_bounds_the_length_follows_from_the_rows(data: Any) -> None:
    small = FeatureMaskSelector().fit(data[0][:100], data[1][:100]).history_
    assert small[-1]["step"] == len(small) == 300
    large = FeatureMaskSelector().fit(*data).history_
    assert 300 < large[-1]["step"] < 1000


def test_small_data_is_fitted_in_one_batch_whatever_the_batch_size(data: Any) -> None:
    selector = FeatureMaskSelector(max_epochs=3, batch_size=10, dropout=0.9, early_stopping=True)
    selector.fit(data[0][:256], data[1][:256])
    assert [record["step"] for record in selector.history_] == [1, 2, 3]
    assert "validation_loss" not in selector.history_[0]
    assert not any("Dropout" in type(m).__name__ for m in selector.network_.modules())


# ---- held-out rows --------------------------------------------------------------------------


def held_out(selector: FeatureMaskSelector, data: Any, **options: Any) -> Any:
    """Return which rows a fit held back: the first column of X says which row it is."""
    X = data[0].copy()
    X[:, 0] = np.arange(N)
    seen: set[int] = set()

    class Watch(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = torch.nn.Linear(6, 2)

        def forward(self, x: Any) -> Any:
            if self.training:
                seen.update((x[:, 0] / gate).round().int().tolist())
            return self.out(x * 0.0)

    gate = 1.0
    words = {"network": Watch(), "standardize": "none", "must_keep": [0], "max_epochs": 2}
    selector.set_params(**words).fit(X, data[1], **options)
    assert "validation_loss" in selector.history_[0]
    return np.array(sorted(set(range(N)) - seen))


def test_early_stopping_holds_a_balanced_part_back(data: Any) -> None:
    y = (np.arange(N) % 10 == 0).astype(int)
    selector = FeatureMaskSelector(early_stopping=True, validation_fraction=0.25, random_state=0)
    held = held_out(selector, (data[0], y))
    assert len(held) == 150
    assert y[held].sum() == 15
    assert set(np.diff(held)) != {1}


def test_groups_are_held_back_as_a_whole(data: Any) -> None:
    groups = np.random.default_rng(1).integers(0, 12, size=N)
    selector = FeatureMaskSelector(early_stopping=True, cv=GroupKFold(4))
    held = held_out(selector, data, groups=groups)
    rest = np.setdiff1d(np.arange(N), held)
    assert len(held) > 50
    assert not set(groups[held]) & set(groups[rest])


def test_in_time_the_last_rows_are_held_back(data: Any) -> None:
    selector = FeatureMaskSelector(early_stopping=True, cv=TimeSeriesSplit(5))
    assert held_out(selector, data).tolist() == list(range(500, 600))


def test_splits_count_the_rows_that_have_weight(data: Any) -> None:
    weight = np.where(np.arange(N) % 2 == 0, 1.0, 0.0)
    selector = FeatureMaskSelector(early_stopping=True, cv=KFold(3))
    held = held_out(selector, data, sample_weight=weight)
    assert held.tolist() == sorted([*range(1, N, 2), *range(400, N, 2)])


def test_groups_are_those_of_the_rows_that_have_weight(data: Any) -> None:
    groups = np.random.default_rng(1).integers(0, 12, size=N)
    weight = np.where((np.arange(N) >= 100) & (np.arange(N) < 500), 1.0, 0.0)
    selector = FeatureMaskSelector(early_stopping=True, cv=GroupKFold(4))
    held = held_out(selector, data, groups=groups, sample_weight=weight)
    held = held[weight[held] > 0]
    assert 60 < len(held) < 140
    assert not set(groups[held]) & set(groups[np.setdiff1d(np.flatnonzero(weight), held)])


def test_early_stopping_ends_a_fit_that_learns_nothing(data: Any) -> None:
    y = np.random.default_rng(2).integers(2, size=N)
    words = {"max_epochs": 300, "learning_rate": 0.01, "random_state": 0, "strategy": "joint"}
    selector = FeatureMaskSelector(early_stopping=True, **words).fit(data[0], y)
    losses = [record["validation_loss"] for record in selector.history_]
    assert len(losses) == int(np.argmin(losses)) + 1 + 10


def test_a_narrowing_mask_goes_through_its_schedule_and_records_the_validation_loss(
    data: Any,
) -> None:
    y = np.random.default_rng(2).integers(2, size=N)
    words = {"max_epochs": 60, "learning_rate": 0.01, "random_state": 0}
    selector = FeatureMaskSelector(early_stopping=True, **words).fit(data[0], y)
    assert len(selector.history_) == 60
    assert all(np.isfinite(record["validation_loss"]) for record in selector.history_)


def test_the_patience_is_that_of_the_users_callback(data: Any) -> None:
    y = np.random.default_rng(2).integers(2, size=N)
    words = {"max_epochs": 300, "learning_rate": 0.01, "random_state": 0}
    selector = FeatureMaskSelector(early_stopping=True, callbacks=[EarlyStopping(2)], **words)
    losses = [record["validation_loss"] for record in selector.fit(data[0], y).history_]
    assert len(losses) == int(np.argmin(losses)) + 1 + 2


def test_early_stopping_of_small_data_does_nothing(data: Any) -> None:
    words = {"max_epochs": 3, "early_stopping": True, "callbacks": [EarlyStopping(1)]}
    assert len(FeatureMaskSelector(**words).fit(data[0][:99], data[1][:99]).history_) == 3


@pytest.mark.parametrize("n_classes", [70, 599])
def test_more_classes_than_held_out_rows_are_split_without_balance(
    data: Any, n_classes: int
) -> None:
    y = np.arange(N) % n_classes
    words = {"objective": "classification", "max_epochs": 1, "early_stopping": True}
    with pytest.warns(FeatureMaskWarning, match="drawn without regard to classes"):
        selector = FeatureMaskSelector(**words).fit(data[0], y)
    assert len(selector.classes_) == n_classes


# ---- going on -------------------------------------------------------------------------------


def test_a_warm_start_goes_on_from_the_weights(data: Any) -> None:
    words = {"strategy": "joint", "max_epochs": 20, "warm_start": True, "random_state": 0}
    selector = FeatureMaskSelector(**words).fit(*data)
    last = selector.history_[-1]["loss"]
    selector.fit(*data)
    assert selector.history_[0]["loss"] < 1.1 * last
    cold = FeatureMaskSelector(**words | {"warm_start": False}).fit(*data)
    assert cold.history_[0]["loss"] > 1.5 * last


def test_without_a_warm_start_a_fit_forgets(data: Any) -> None:
    selector = FeatureMaskSelector(max_epochs=2, random_state=0)
    first = selector.fit(*data).scores_
    assert np.array_equal(selector.fit(*data).scores_, first)


def test_a_warm_start_of_sequential_rounds_takes_features_anew(data: Any) -> None:
    words = {"max_epochs": 3, "warm_start": True, "random_state": 0}
    selector = FeatureMaskSelector(**words).fit(*data).fit(*data)
    assert sorted(selector.ranking_) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "change",
    [lambda X, y: (X[:, :5], y), lambda X, y: (X, y + (X[:, 0] > 0)), lambda X, y: (X, None)],
)
def test_a_warm_start_needs_the_same_columns_and_target(data: Any, change: Any) -> None:
    selector = FeatureMaskSelector(max_epochs=1, warm_start=True).fit(*data)
    with pytest.raises(InputError, match=r"warm_start goes on from a fit with the same columns"):
        selector.fit(*change(*data))


# ---- threads, precision, seeds --------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_n_jobs_is_the_number_of_threads_while_training_alone(data: Any, n_jobs: int) -> None:
    look = Look(lambda state: torch.get_num_threads())
    FeatureMaskSelector(max_epochs=2, n_jobs=n_jobs, callbacks=[look]).fit(*data)
    assert look.seen == [n_jobs, n_jobs]
    assert torch.get_num_threads() == 1


def test_training_happens_in_a_thread_of_its_own(data: Any) -> None:
    look = Look(lambda state: threading.current_thread().name)
    FeatureMaskSelector(max_epochs=1, callbacks=[look]).fit(*data)
    assert look.seen == ["featuremask-fit"]


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("auto", torch.float32), ("float32", torch.float32), ("float64", torch.float64)],
)
def test_the_precision_is_that_of_the_word(data: Any, dtype: Any, kind: Any) -> None:
    selector = FeatureMaskSelector(max_epochs=2, dtype=dtype, random_state=0).fit(*data)
    assert {p.dtype for p in selector.network_.parameters()} == {kind}
    assert selector.network_(torch.from_numpy(data[0])).dtype == kind


def test_a_default_dtype_of_the_callers_does_not_enter(data: Any) -> None:
    words = {"max_epochs": 2, "random_state": 0}
    expected = FeatureMaskSelector(**words).fit(*data).scores_
    torch.set_default_dtype(torch.float64)
    try:
        found = FeatureMaskSelector(**words).fit(*data).scores_
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("strategy", ["narrowing", "sequential", "joint"])
def test_a_seed_gives_the_same_bits_and_another_does_not(data: Any, strategy: Any) -> None:
    def scores(seed: Any) -> Any:
        words = {"strategy": strategy, "max_epochs": 2, "random_state": seed}
        return FeatureMaskSelector(**words).fit(*data).scores_

    assert np.array_equal(scores(3), scores(3))
    assert not np.array_equal(scores(3), scores(4))
    assert np.array_equal(scores(3), scores(np.random.RandomState(3)))


def test_without_a_seed_each_fit_draws_anew_and_leaves_numpy_alone(data: Any) -> None:
    np.random.seed(0)  # noqa: NPY002  # the global generator is what is tested
    before = repr(np.random.get_state())  # noqa: NPY002
    first, second = (
        FeatureMaskSelector(strategy="joint", max_epochs=1).fit(*data).scores_ for _ in range(2)
    )
    assert not np.array_equal(first, second)
    assert repr(np.random.get_state()) == before  # noqa: NPY002


def test_integers_in_memory_are_what_floats_are() -> None:
    X = np.random.default_rng(0).integers(0, 256, size=(400, 6))
    y = X[:, 0] > 100
    words = {"standardize": "none", "max_epochs": 2, "learning_rate": 1e-5, "random_state": 0}
    scores = [
        FeatureMaskSelector(**words).fit(of(X), y).scores_
        for of in (np.float32, np.uint8, np.asfortranarray, np.float64)
    ]
    assert all(np.array_equal(scores[0], other) for other in scores[1:])


def test_progress_is_shown_if_asked_for(data: Any, capsys: pytest.CaptureFixture[str]) -> None:
    FeatureMaskSelector(max_epochs=2).fit(*data)
    assert capsys.readouterr() == ("", "")
    FeatureMaskSelector(max_epochs=2, verbose=True).fit(*data)
    assert "epoch 2: loss" in capsys.readouterr().err
