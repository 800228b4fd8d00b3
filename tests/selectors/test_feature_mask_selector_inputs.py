"""The same rows give the same ranking, whatever they come in; bad ones are named."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import sparse

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError, InputTypeError

NAMES = ["age", "b", "c d", "ö", "e"]
WORDS: dict[str, Any] = {"max_epochs": 4, "random_state": 0}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 5)).astype(np.float64)
    return X, (X[:, 1] > 1).astype(int)


@pytest.fixture(scope="module")
def expected(data: Any) -> Any:
    return FeatureMaskSelector(2, **WORDS).fit(*data).scores_


def arrow(X: Any) -> pa.Table:
    return pa.table({name: X[:, i] for i, name in enumerate(NAMES)})


CONTAINERS = {
    "lists": (lambda X: X.tolist(), list),
    "column by column": (np.asfortranarray, np.asarray),
    "every second column": (lambda X: np.repeat(X, 2, axis=1)[:, ::2], np.asarray),
    "float32": (lambda X: X.astype(np.float32), lambda y: y.astype(np.float32)),
    "bytes": (lambda X: X.astype(np.uint8), lambda y: y.astype(np.int8)),
    "big endian": (lambda X: X.astype(">f8"), lambda y: y.astype(">i4")),
    "torch": (torch.tensor, torch.tensor),
    "torch with gradients": (lambda X: torch.tensor(X, requires_grad=True), torch.tensor),
    "csr": (sparse.csr_matrix, np.asarray),
    "csc": (sparse.csc_matrix, np.asarray),
    "coo": (sparse.coo_matrix, np.asarray),
    "csr array": (sparse.csr_array, np.asarray),
    "pandas": (lambda X: pd.DataFrame(X, columns=NAMES), pd.Series),
    "pandas integers with gaps allowed": (
        lambda X: pd.DataFrame(X, columns=NAMES).astype("Int64"),
        pd.Series,
    ),
    "polars": (lambda X: pl.DataFrame(X, schema=NAMES), pl.Series),
    "arrow": (arrow, pa.array),
}


@pytest.mark.parametrize(("of_X", "of_y"), CONTAINERS.values(), ids=CONTAINERS.keys())
def test_every_container_gives_the_same_ranking(
    data: Any, expected: Any, of_X: Any, of_y: Any
) -> None:
    selector = FeatureMaskSelector(2, **WORDS).fit(of_X(data[0]), of_y(data[1]))
    assert np.array_equal(selector.scores_, expected)
    out = selector.transform(of_X(data[0]))
    out = out.toarray() if sparse.issparse(out) else np.asarray(out, dtype=float)
    assert np.array_equal(out, data[0][:, selector.support_])


def test_a_read_only_memory_map_is_fitted(data: Any, expected: Any, tmp_path: Any) -> None:
    np.save(tmp_path / "X.npy", data[0])
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.array_equal(FeatureMaskSelector(**WORDS).fit(X, data[1]).scores_, expected)


@pytest.mark.parametrize("of_X", [CONTAINERS[name][0] for name in ("pandas", "polars", "arrow")])
def test_names_of_columns_are_remembered(data: Any, of_X: Any) -> None:
    selector = FeatureMaskSelector(2, **WORDS).fit(of_X(data[0]), data[1])
    assert selector.feature_names_in_.tolist() == NAMES
    chosen = [NAMES[i] for i in np.flatnonzero(selector.support_)]
    assert selector.get_feature_names_out().tolist() == chosen
    assert selector.selected_names_.tolist() == [
        NAMES[i] for i in np.argsort(selector.ranking_)[:2]
    ]


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_output_may_be_a_data_frame(data: Any, library: Any, kind: Any) -> None:
    selector = FeatureMaskSelector(2, **WORDS).set_output(transform=library)
    frame = selector.fit(pd.DataFrame(data[0], columns=NAMES), data[1]).transform(
        pd.DataFrame(data[0], columns=NAMES)
    )
    assert type(frame) is kind
    assert list(frame.columns) == selector.get_feature_names_out().tolist()


@pytest.mark.parametrize("change", [lambda c: c[::-1], lambda c: c[:-1], lambda c: [*c[:-1], "z"]])
def test_other_columns_at_transform_are_refused(data: Any, change: Any) -> None:
    frame = pd.DataFrame(data[0], columns=NAMES).assign(z=1.0)
    selector = FeatureMaskSelector(2, **WORDS).fit(frame[NAMES], data[1])
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(frame[change(NAMES)])


def test_sparse_data_is_never_made_dense_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    n_rows, n_columns = 9000, 2000
    X = sparse.random(n_rows, n_columns, density=1e-3, format="csr", random_state=rng)
    X = sparse.csr_matrix(X)
    largest = 0
    toarray = sparse.csr_matrix.toarray

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        nonlocal largest
        largest = max(largest, self.shape[0] * self.shape[1])
        return toarray(self, *args, **options)

    monkeypatch.setattr(sparse.csr_matrix, "toarray", watched)
    monkeypatch.setattr(sparse.csr_matrix, "todense", None)
    selector = FeatureMaskSelector(5, max_epochs=1, hidden_units=(4,), mask_units=4)
    out = selector.fit(X, rng.integers(2, size=n_rows)).transform(X)
    assert sparse.issparse(out)
    assert out.shape == (n_rows, 5)
    assert 0 < largest <= 2**24 < n_rows * n_columns


# ---- what cannot be used --------------------------------------------------------------------


def with_value(X: Any, value: float) -> Any:
    X = X.copy()
    X[3, 1] = X[7, 1] = value
    return X


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"2 missing values \(NaN\) in 1 column: {where} \(2\).*Set missing='auto'"),
        (np.inf, r"2 infinite values \(inf\) in 1 column: {where} \(2\).*clip or replace"),
        (-np.inf, r"2 infinite values \(inf\) in 1 column: {where} \(2\)"),
        (1e39, r"2 values beyond the range of float32 in 1 column: {where}.*dtype='float64'"),
    ],
)
@pytest.mark.parametrize(
    ("container", "where"),
    [("float32", "column 1"), ("csr", "column 1"), ("pandas", "'b'"), ("polars", "'b'")],
)
def test_values_that_cannot_be_used_are_counted_and_their_column_named(
    data: Any, value: float, message: str, container: str, where: str
) -> None:
    if container == "float32" and value == 1e39:
        container = "column by column"
    X = CONTAINERS[container][0](with_value(data[0], value))
    selector = FeatureMaskSelector(**WORDS)
    with pytest.raises(InputError, match=message.format(where=where)):
        selector.fit(X, data[1])
    assert not hasattr(selector, "ranking_")


def test_numbers_beyond_float32_are_fine_in_float64(data: Any) -> None:
    selector = FeatureMaskSelector(dtype="float64", max_epochs=2)
    selector.fit(with_value(data[0], 1e39), data[1])
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["x", "y"] * 30, r"categorical='error'.*'city' \(.*Set categorical='auto'"),
        (["1", "2"] * 30, r"categorical='error'.*'city'"),
        (
            np.array(["2026-11-18", "2026-11-19"] * 30, dtype="datetime64[us]"),
            r"dates='error'.*'city' \(.*Set dates='auto'",
        ),
    ],
)
def test_columns_of_text_and_dates_are_named(
    data: Any, make: Any, column: Any, message: str
) -> None:
    with pytest.raises(InputTypeError, match=message):
        FeatureMaskSelector(**WORDS).fit(make({"age": data[0][:, 0], "city": column}), data[1])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(60), "Expected 2D array, got 1D array instead"),
        (np.ones((60, 2, 2)), "Found array with dim 3"),
        (np.ones((60, 0)), r"Found array with 0 feature\(s\)"),
        (np.ones((0, 3)), r"Found array with 0 sample\(s\)"),
        (np.ones((1, 3)), r"Found array with 1 sample\(s\).*minimum of 2"),
        (np.ones((59, 3)), r"inconsistent numbers of samples: \[59, 60\]"),
        (np.ones((60, 3), dtype=complex), "Complex data not supported"),
        (pd.DataFrame(np.ones((60, 2)), columns=["a", "a"]), "column names must be unique"),
    ],
)
def test_data_of_a_wrong_shape_is_refused(data: Any, X: Any, message: str) -> None:
    y = data[1][: len(X)] if len(X) < 59 else data[1]
    with pytest.raises(ValueError, match=message):
        FeatureMaskSelector(**WORDS).fit(X, y)


def test_names_of_mixed_types_are_refused(data: Any) -> None:
    frame = pd.DataFrame(data[0][:, :2], columns=["a", 1])
    with pytest.raises(TypeError, match="column names must all be strings or none of them"):
        FeatureMaskSelector(**WORDS).fit(frame, data[1])
