"""What holds for every fit, whatever the shape, type, layout, names, groups, weights and number."""

import contextlib
import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import featuremask
from featuremask._tensorfile import digest_of, read_tensors
from featuremask.exceptions import InputError, TrainingDivergedError
from featuremask.selectors import BaseSelector

SELECTORS = [getattr(featuremask, name) for name in featuremask.__all__ if "Selector" in name]
DTYPES = ["f2", "f4", "f8", ">f4", ">f8", "i1", "u1", "i2", ">i4", "i8", "u8", "?"]

few = settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def short(cls: type[BaseSelector], k: Any = None, **words: Any) -> BaseSelector:
    tries = {"max_tries": 1} if "max_tries" in inspect.signature(cls).parameters else {}
    small = {"max_epochs": 1, "hidden_units": (3,), "random_state": 0}
    return cls(k, **small | tries | words)


@st.composite
def arrays(draw: Any, dtypes: Any = DTYPES) -> Any:
    """Rows of any type and layout."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(st.tuples(st.integers(2, 9), st.integers(1, 6)))
    bounds = {"min_value": -100, "max_value": 100}
    if dtype.kind in "iu":
        low = max(-100, int(np.iinfo(dtype).min))
        values = st.integers(low, 100)
    elif dtype.kind == "b":
        values = st.booleans()
    else:
        values = st.floats(**bounds, width=16)
    X = draw(hnp.arrays(dtype, shape, elements=values))
    layout = draw(st.sampled_from(["C", "F", "strided", "reversed", "read-only"]))
    if layout == "F":
        return np.asfortranarray(X)
    if layout == "strided":
        return np.repeat(X, 3, axis=1)[:, ::3]
    if layout == "reversed":
        return X[::-1]
    X.flags.writeable = layout != "read-only"
    return X


@st.composite
def questions(draw: Any) -> Any:
    """Rows with a target or none, weights, groups, columns to keep and a number."""
    X = draw(arrays())
    n, d = X.shape
    weight = draw(st.none() | hnp.arrays(float, n, elements=st.floats(0.25, 4.0)))
    groups = draw(st.none() | st.lists(st.integers(0, 2), min_size=d, max_size=d))
    keep = draw(st.lists(st.integers(0, d - 1), max_size=1))
    k = draw(st.none() | st.just(1) | st.floats(0.01, 1.0))
    kind = draw(st.sampled_from(["none", "classes", "number", "labels"]))
    y = {
        "none": None,
        "classes": np.arange(n) % 2,
        "number": np.linspace(-1.0, 1.0, n) ** 3 + 0.5,
        "labels": np.stack([np.arange(n) % 2, np.arange(n) // 2 % 2], axis=1),
    }[kind]
    return X, y, weight, {"feature_groups": groups, "must_keep": keep}, k


@pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)
@few
@given(questions())
def test_the_promises_of_a_ranking_hold(cls: type[BaseSelector], question: Any) -> None:
    X, y, weight, words, k = question
    before = X.copy()
    selector = short(cls, k, **words).fit(X, y, sample_weight=weight)
    d = X.shape[1]
    groups = words["feature_groups"] or list(range(d))
    n_groups = len(set(groups))
    wanted = max(1, n_groups // 2) if k is None else max(1, round(k * n_groups))
    wanted = 1 if isinstance(k, int) else wanted
    assert sorted(selector.ranking_) == list(range(1, d + 1))
    assert np.array_equal(np.argsort(-selector.scores_, kind="stable"), selector.ranking_.argsort())
    assert np.isfinite(selector.scores_).all()
    assert math.isclose(selector.feature_importances_.sum(), 1.0, rel_tol=1e-6)
    assert len({groups[i] for i in np.flatnonzero(selector.support_)}) == wanted
    assert all(selector.support_[i] for i in words["must_keep"])
    chosen = selector.transform(X)
    assert chosen.dtype == X.dtype
    assert np.array_equal(chosen, X[:, selector.support_])
    assert np.array_equal(X, before)


@few
@given(arrays(["f8", "i4", "u1", "?"]), st.data())
def test_frames_of_three_libraries_give_one_ranking_and_keep_their_names(X: Any, data: Any) -> None:
    d = X.shape[1]
    letters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
    names = data.draw(st.lists(letters, min_size=d, max_size=d, unique=True))
    X = np.ascontiguousarray(X)
    frames = [
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
        pa.table([pa.array(column) for column in X.T], names=names),
    ]
    y = np.arange(len(X)) % 2
    expected = short(featuremask.FeatureMaskSelector).fit(X, y)
    for frame in frames:
        found = short(featuremask.FeatureMaskSelector).fit(frame, y)
        assert np.array_equal(found.scores_, expected.scores_)
        assert found.feature_names_in_.tolist() == names
        assert np.array_equal(found.transform(frame), expected.transform(X))


@few
@given(
    st.sampled_from(SELECTORS),
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(1, 5), max_size=2).map(tuple),
    st.sampled_from(["float32", "float64"]),
    st.sampled_from(["auto", "global", "shrunk", "column", "none"]),
    st.booleans(),
)
def test_what_was_saved_is_loaded(
    tmp_path: Path, cls: Any, seed: int, hidden: Any, dtype: str, standardize: str, named: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(8, 4))
    rows = pd.DataFrame(X, columns=list("abcd")) if named else X
    words = {"hidden_units": hidden or (2,), "dtype": dtype, "standardize": standardize}
    selector = short(cls, 2, **words, random_state=seed).fit(rows, np.arange(8) % 2)
    path = tmp_path / "selector.fm"
    selector.save(path)
    again = featuremask.load(path)
    assert type(again) is cls
    assert again.get_params() == selector.get_params()
    for name in ("scores_", "ranking_", "feature_importances_", "support_", "selected_names_"):
        assert np.array_equal(getattr(again, name), getattr(selector, name))
    assert np.array_equal(again.transform(rows), selector.transform(rows))
    again.save(path.with_suffix(".again"))
    first, second = (read_tensors(p, "selector") for p in (path, path.with_suffix(".again")))
    assert first[1] == second[1]
    assert {k: digest_of(v) for k, v in first[0].items()} == {
        k: digest_of(v) for k, v in second[0].items()
    }


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=9), st.binary(max_size=9)
)


# A large number of these is honored, and a text is a folder.
HONORED = {"max_epochs", "hidden_units", "mask_units", "mask_depth", "checkpoint", "device"}
WORDS = sorted(set(featuremask.FeatureMaskSelector().get_params(deep=False)) - HONORED)


@pytest.mark.filterwarnings("ignore::featuremask.exceptions.FeatureMaskWarning")
@settings(max_examples=100)
@given(st.sampled_from(WORDS), JUNK)
def test_a_word_of_any_value_is_taken_or_refused_in_our_words(word: str, value: Any) -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    selector = short(featuremask.FeatureMaskSelector).set_params(**{word: value})
    with contextlib.suppress(InputError, TrainingDivergedError):
        selector.fit(X, [0, 1, 0, 1, 0, 1])
        assert sorted(selector.ranking_) == [1, 2, 3]
