"""Faults of what is passed to `fit`, `transform` and the constructor: rows 1 to 13, 31 and 32."""

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from tests.faults.scenarios import N_COLUMNS, N_ROWS, NAMES, rows, short
from torch import nn

from featuremask.exceptions import FeatureMaskWarning, InputError, InputTypeError


def with_value(value: float) -> Any:
    X, _ = rows()
    X[3, 1] = X[7, 1] = value
    return pd.DataFrame(X, columns=NAMES)


def test_01_gaps_are_refused_with_count_column_and_option() -> None:
    with pytest.raises(InputError, match=r"2 missing values.*'b' \(2\).*missing='auto'"):
        short().fit(with_value(np.nan), rows()[1])
    assert short(missing="auto").fit(with_value(np.nan), rows()[1]).ranking_.max() == N_COLUMNS


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e39])
def test_02_what_float32_cannot_hold_is_refused_with_its_column(value: float) -> None:
    with pytest.raises(InputError, match=r"2 (infinite )?values .* 'b'"):
        short().fit(with_value(value), rows()[1])


def test_03_whole_numbers_that_float32_rounds_are_told_once() -> None:
    X, y = (rows()[0] * 2**30).astype(np.int64), rows()[1]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        short().fit(X, y)
    assert [warning.category for warning in told] == [FeatureMaskWarning]
    assert "2**24" in str(told[0].message)
    assert "float64" in str(told[0].message)
    short(dtype="float64").fit(X, y)  # warnings are errors here


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "column",
    [
        ["x", "y"] * (N_ROWS // 2),
        np.arange(N_ROWS).astype("datetime64[ms]"),
        np.arange(N_ROWS).astype("timedelta64[ms]"),
    ],
    ids=["text", "dates", "durations"],
)
def test_04_columns_that_are_no_numbers_are_a_type_error(library: Any, column: Any) -> None:
    with pytest.raises(InputTypeError, match=r"got .* in 'odd' \("):
        short().fit(library({"even": rows()[0][:, 0], "odd": column}), rows()[1])


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[s]"])
def test_04_an_array_of_dates_is_no_array_of_numbers(dtype: str) -> None:
    X = np.arange(N_ROWS * N_COLUMNS).reshape(N_ROWS, N_COLUMNS).astype(dtype)
    with pytest.raises(InputTypeError, match=f"got dtype {dtype[:8]}"):
        short().fit(X, rows()[1])


def test_04_a_target_of_dates_is_refused() -> None:
    with pytest.raises(InputError, match="got dates of dtype datetime64"):
        short().fit(rows()[0], np.arange(N_ROWS).astype("datetime64[D]"))


def test_05_column_names_are_unique_and_of_one_kind_and_levels_keep_positions() -> None:
    X, y = rows()
    with pytest.raises(InputError, match="column names must be unique"):
        short().fit(pd.DataFrame(X, columns=["a", "b", "a", "d"]), y)
    with pytest.raises(TypeError, match="must all be strings or none"):
        short().fit(pd.DataFrame(X, columns=["a", 1, "c", "d"]), y)
    levels = pd.MultiIndex.from_product([["a", "b"], [1, 2]])
    by_level = short().fit(pd.DataFrame(X, columns=levels), y)
    assert by_level.selected_names_[0].startswith("x")
    assert np.array_equal(by_level.scores_, short().fit(X, y).scores_)


@pytest.mark.parametrize("columns", [NAMES[::-1], NAMES[:-1], [*NAMES, "more"]])
def test_06_other_columns_at_transform_are_refused(columns: Any) -> None:
    frame = pd.DataFrame(rows()[0], columns=NAMES)
    selector = short().fit(frame, rows()[1])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame.assign(more=1.0)[columns])


def test_07_constant_and_equal_columns_are_fitted_and_constants_come_last() -> None:
    X, y = rows()
    X = np.column_stack([np.zeros(N_ROWS), X, np.full(N_ROWS, 3.0), X[:, 0]])
    selector = short(max_epochs="auto").fit(X, y)
    assert selector.ranking_[[0, 5]].tolist() == [6, 7]
    assert set(np.argsort(selector.ranking_)[:2]) & {1, 6}


@pytest.mark.parametrize(("n_rows", "n_columns"), [(0, 4), (1, 4), (60, 0)])
def test_08_data_without_two_rows_or_a_column_is_refused(n_rows: int, n_columns: int) -> None:
    with pytest.raises(ValueError, match=r"minimum of|0 feature"):
        short().fit(np.ones((n_rows, n_columns)), np.arange(n_rows))


def test_08_the_number_to_select_is_checked() -> None:
    X, y = rows()
    for k in (0, -1, 0.0, 1.5, True):
        with pytest.raises(InputError, match="n_features_to_select must be"):
            short(k).fit(X, y)
    with pytest.warns(FeatureMaskWarning, match="all are kept"):
        assert short(9).fit(X, y).transform(X).shape == X.shape
    assert short(1).fit(X[:, :1], y).support_.tolist() == [True]


def test_09_one_class_is_refused() -> None:
    with pytest.raises(InputError, match="at least two classes"):
        short().fit(rows()[0], np.ones(N_ROWS))


def test_09_a_class_of_one_row_is_told_and_does_not_stop_the_fit() -> None:
    X = np.random.default_rng(0).normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int)
    y[5] = 2
    with pytest.warns(FeatureMaskWarning, match="drawn without regard to classes"):
        selector = short(early_stopping=True).fit(X, y)
    assert selector.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(selector.history_[-1]["validation_loss"])


@pytest.mark.parametrize(
    "y", [[np.nan, 1.0], ["a", None], [np.inf, 1.5]], ids=["NaN", "None", "infinity"]
)
def test_10_gaps_in_the_target_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"y (contains|must hold classes, not gaps)"):
        short().fit(rows()[0], np.array(y * (N_ROWS // 2)))


def test_10_text_labels_and_columns_are_read_as_what_they_are() -> None:
    X, y = rows()
    assert short().fit(X, np.where(y, "yes", "no")).classes_.tolist() == ["no", "yes"]
    labels = short().fit(X, np.eye(2)[y])
    assert (labels.objective_, labels.classes_) == ("classification", None)
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        assert short().fit(X, y[:, None]).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300, 1.7e308])
def test_10_a_target_of_any_scale_gives_the_same_ranking(scale: float) -> None:
    X, _ = rows()
    y = X[:, 0] / np.abs(X[:, 0]).max()
    expected = short().fit(X, y).scores_
    # Sums that scikit-learn checks for infinity overflow beyond 1e300.
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.allclose(short().fit(X, y * scale).scores_, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.full(N_ROWS, -1.0), "Negative values"),
        (np.zeros(N_ROWS), "at least one non-zero"),
        (np.ones(N_ROWS - 1), "sample_weight.shape"),
        (np.full(N_ROWS, np.nan), "contains NaN"),
        (np.full(N_ROWS, np.inf), "contains infinity"),
    ],
)
def test_11_weights_that_make_no_sense_are_refused(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        short().fit(*rows(), sample_weight=weight)


@pytest.mark.parametrize("kind", [list, pd.Series, pl.Series, np.asarray, torch.tensor])
def test_11_weights_come_in_any_container(kind: Any) -> None:
    weight = np.arange(1.0, N_ROWS + 1)
    expected = short().fit(*rows(), sample_weight=weight).scores_
    assert np.array_equal(short().fit(*rows(), sample_weight=kind(weight)).scores_, expected)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 0.5])
def test_11_only_the_proportions_of_small_weights_count(scale: float) -> None:
    weight = np.linspace(0.1, 1.0, N_ROWS)
    expected = short().fit(*rows(), sample_weight=weight).scores_
    found = short().fit(*rows(), sample_weight=weight * scale).scores_
    assert np.allclose(found, expected, rtol=1e-5)


def test_11_enormous_weights_end() -> None:
    selector = short(max_epochs=1).fit(*rows(), sample_weight=np.full(N_ROWS, 1e300))
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_12_sparse_rows_of_either_index_are_taken(layout: str, index: Any) -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(N_ROWS, 30_000, density=1e-3, format=layout, random_state=rng)
    for name in ("indices", "indptr"):
        if hasattr(X, name):
            setattr(X, name, getattr(X, name).astype(index))
    words = {"hidden_units": (2,), "mask_units": 2, "max_epochs": 1}
    assert short(**words).fit(X, rows()[1]).transform(X).shape == (N_ROWS, 2)


@pytest.mark.parametrize("layout", ["memmap", "fortran", "strided", "reversed", "big-endian"])
def test_13_any_layout_in_memory_is_taken_and_never_written(layout: str, tmp_path: Any) -> None:
    X, y = rows()
    np.save(tmp_path / "X.npy", X)
    given = {
        "memmap": np.load(tmp_path / "X.npy", mmap_mode="r"),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "reversed": X[:, ::-1].copy()[:, ::-1],
        "big-endian": X.astype(">f8"),
    }[layout]
    given.flags.writeable = False
    assert np.array_equal(short().fit(given, y).scores_, short().fit(X, y).scores_)
    assert np.array_equal(given, X)


def test_31_it_is_a_member_of_a_pipeline_and_takes_a_target_of_polars() -> None:
    X, y = rows()
    pipeline = make_pipeline(short(1, max_epochs=60), GaussianNB())
    frame = pl.DataFrame(X, schema=NAMES)
    assert cross_val_score(pipeline, frame, pl.Series(y), cv=2).min() > 0.9


class Returns(nn.Module):
    """A network that returns what a function makes of the rows."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(4, 5), r"must return 2 outputs a row.*got \(2, 5\)"),
        (nn.Linear(7, 2), "cannot take rows of 4 features"),
        (nn.Linear(4, 2, device="meta"), "cannot take rows of 4 features.*device meta"),
        (nn.LSTM(4, 2), "must return a tensor; got tuple"),
        (Returns(lambda x: x[:, :2] * float("nan")), "returns NaN or infinity before training"),
    ],
)
def test_32_a_network_that_does_not_fit_is_refused_before_training(
    network: nn.Module, message: str
) -> None:
    selector = short(network=network)
    with pytest.raises(InputError, match=message):
        selector.fit(*rows())
    assert not hasattr(selector, "ranking_")


def test_32_a_network_with_dropout_and_batch_norm_is_trained_and_left_alone() -> None:
    network = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(), nn.Linear(8, 2))
    before = copy.deepcopy(network.state_dict())
    selector = short(network=network).fit(*rows())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    X = torch.from_numpy(rows()[0])
    assert torch.equal(selector.network_(X), selector.network_(X))
