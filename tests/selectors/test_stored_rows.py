"""Fitting on files: what is chosen is what a fit in memory chooses."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import featuremask
from featuremask import FeatureMaskSelector
from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.selectors import BaseSelector
from featuremask.sources import ArrowSource, NpySource, ParquetSource, Stored

N, D = 400, 8
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)).astype(np.float32)
Y = (X[:, 2] + X[:, 5] > 0).astype(np.int64)
WORDS: dict[str, Any] = {"max_epochs": 4, "random_state": 0}
SELECTORS = [
    getattr(featuremask, name) for name in featuremask.__all__ if name.endswith("Selector")
]


def table(x: np.ndarray = X, **more: Any) -> pa.Table:
    columns = {f"c{i}": column for i, column in enumerate(x.T)}
    return pa.table({**columns, "bin": Y[: len(x)], **more})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pq.write_table(table(lot=["a"] * N), tmp_path / "rows.parquet", row_group_size=90)
    return tmp_path / "rows.parquet"


def same(one: BaseSelector, other: BaseSelector) -> bool:
    return np.array_equal(one.ranking_, other.ranking_) and np.array_equal(
        one.scores_, other.scores_
    )


@pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)
def test_every_selector_chooses_from_a_file_what_it_chooses_in_memory(
    cls: type[BaseSelector], path: Path
) -> None:
    once = {"max_tries": 1} if cls is featuremask.ConcreteSelector else {}
    in_memory = cls(3, **WORDS, **once).fit(X, Y)
    streamed = cls(3, **WORDS, **once).fit(ParquetSource(path, target="bin", drop=["lot"]))
    assert same(in_memory, streamed)
    assert streamed.classes_.tolist() == [0, 1]


def as_reader(path: Path) -> Any:
    return pq.read_table(path, columns=[*(f"c{i}" for i in range(D)), "bin"]).to_reader()


GIVEN: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "a source": lambda path: (ParquetSource(path, target="bin", drop=["lot"]),),
    "a source and a name": lambda path: (ParquetSource(path, drop=["lot"]), "bin"),
    "a source and numbers": lambda path: (ParquetSource(path, drop=["lot", "bin"]), Y),
    "a stream and a name": lambda path: (as_reader(path), "bin"),
    "a source of a stream": lambda path: (ArrowSource(as_reader(path), target="bin"),),
    "a source of a frame": lambda path: (ArrowSource(pl.read_parquet(path), "bin", ["lot"]),),
}


@pytest.mark.parametrize("given", GIVEN)
def test_files_and_streams_are_named_in_several_ways(given: str, path: Path) -> None:
    found = FeatureMaskSelector(3, **WORDS).fit(*GIVEN[given](path))
    assert same(found, FeatureMaskSelector(3, **WORDS).fit(X, Y))
    assert found.feature_names_in_.tolist() == [f"c{i}" for i in range(D)]


@pytest.mark.parametrize("as_text", [str, Path])
def test_a_path_is_enough(as_text: Any, tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", Y)
    in_memory = FeatureMaskSelector(3, **WORDS).fit(X, Y)
    assert same(FeatureMaskSelector(3, **WORDS).fit(as_text(tmp_path), "bin"), in_memory)
    found = FeatureMaskSelector(3, **WORDS).fit(
        as_text(tmp_path / "x.npy"), as_text(tmp_path / "y.npy")
    )
    assert same(found, in_memory)
    assert not hasattr(found, "feature_names_in_")


OPTIONS: dict[str, tuple[dict[str, Any], Any]] = {
    "weights": ({}, RNG.random(N) * (np.arange(N) % 5 > 0)),
    "class weights": ({"class_weight": "balanced"}, None),
    "both": ({"class_weight": {0: 3.0}}, RNG.random(N)),
    "a validation part": ({"early_stopping": True}, None),
    "no target": ({"objective": "reconstruction"}, None),
    "numbers": ({"objective": "regression"}, None),
    "float64": ({"dtype": "float64"}, None),
    "columns scaled": ({"standardize": "column"}, None),
    "groups": ({"feature_groups": [0, 0, 1, 1, 2, 2, 3, 3], "must_keep": [7]}, None),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_all_words_mean_for_files_what_they_mean_in_memory(option: str, tmp_path: Path) -> None:
    words, weight = OPTIONS[option]
    more = {} if weight is None else {"w": weight}
    pq.write_table(table(**more), tmp_path / "rows.parquet", row_group_size=150)
    source = ParquetSource(
        tmp_path / "rows.parquet", target="bin", sample_weight=None if weight is None else "w"
    )
    in_memory = FeatureMaskSelector(3, **WORDS, **words).fit(X, Y, sample_weight=weight)
    for _ in range(2):  # the second time from the statistics that are kept
        assert same(FeatureMaskSelector(3, **WORDS, **words).fit(source), in_memory)


def with_gaps() -> np.ndarray:
    x = X.astype(np.float64)
    x[::9, 1] = x[:30, 4] = x[:, 6] = np.nan
    x[:, 3] = 7.0
    return x


def test_gaps_and_constant_columns_are_treated_as_in_memory(tmp_path: Path) -> None:
    x = with_gaps()
    pq.write_table(table(x), tmp_path / "rows.parquet", row_group_size=50)
    np.save(tmp_path / "rows.npy", x)
    for source in (
        ParquetSource(tmp_path / "rows.parquet", "bin"),
        NpySource(tmp_path / "rows.npy", Y),
    ):
        found = FeatureMaskSelector(3, missing="auto", **WORDS).fit(source)
        in_memory = FeatureMaskSelector(3, missing="auto", **WORDS).fit(x, Y)
        assert np.array_equal(found.ranking_, in_memory.ranking_)
        assert found.scores_ == pytest.approx(in_memory.scores_, abs=1e-5)


def test_data_of_many_windows_leads_to_the_same_choice(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet", row_group_size=40)
    source = ParquetSource(tmp_path / "rows.parquet", "bin", window_bytes=150 * 4 * D)
    words: dict[str, Any] = {"max_epochs": 30, "random_state": 0, "batch_size": 50}
    streamed = FeatureMaskSelector(2, **words).fit(source)
    again = FeatureMaskSelector(2, **words).fit(source)
    in_memory = FeatureMaskSelector(2, **words).fit(X, Y)
    assert same(streamed, again)
    assert not same(streamed, in_memory)  # other batches
    assert streamed.support_.tolist() == in_memory.support_.tolist()
    assert set(np.flatnonzero(streamed.support_)) == {2, 5}


def test_a_portion_may_be_a_file(path: Path) -> None:
    source = ParquetSource(path, target="bin", drop=["lot"])
    found, in_memory = (FeatureMaskSelector(3, random_state=0) for _ in range(2))
    for _ in range(2):
        found.partial_fit(source)
        in_memory.partial_fit(X, Y)
    assert same(found, in_memory)


def test_a_fit_on_files_goes_on_from_its_checkpoint(path: Path, tmp_path: Path) -> None:
    words = WORDS | {"checkpoint": tmp_path / "state"}
    whole = FeatureMaskSelector(3, **words).fit(ParquetSource(path, "bin", ["lot"]))
    again = FeatureMaskSelector(3, **words).fit(ParquetSource(path, "bin", ["lot"]))
    assert same(whole, again)
    assert len(again.history_) == 4


# ---- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda x: x.__setitem__((3, 1), np.nan), r"missing value \(NaN\) in 1 column: 'c1'"),
        (lambda x: x.__setitem__((3, 1), np.inf), "infinite value .*'c1'"),
        (lambda x: x.__setitem__((3, 1), 1e39), "beyond the range of float32.*'c1'"),
    ],
)
def test_values_that_cannot_be_used_are_counted_by_column(
    change: Callable[[Any], None], match: str, tmp_path: Path
) -> None:
    x = X.astype(np.float64)
    change(x)
    pq.write_table(table(x), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=match):
        FeatureMaskSelector(3, **WORDS).fit(tmp_path, "bin")


def test_whole_numbers_that_float32_rounds_are_warned_of(tmp_path: Path) -> None:
    pq.write_table(table(id=np.arange(N) + 2**30), tmp_path / "rows.parquet")
    with pytest.warns(FeatureMaskWarning, match=r"beyond 2\*\*24.*'id'"):
        FeatureMaskSelector(3, **WORDS).fit(tmp_path, "bin")
    FeatureMaskSelector(3, dtype="float64", **WORDS).fit(tmp_path, "bin")


def test_files_without_rows_or_features_are_refused(tmp_path: Path) -> None:
    pq.write_table(table()[:0], tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="At least two rows are needed; got 0"):
        FeatureMaskSelector(3, **WORDS).fit(tmp_path, "bin")
    source = ParquetSource(tmp_path, "bin", drop=[f"c{i}" for i in range(D)])
    with pytest.raises(InputError, match="At least one feature is needed"):
        FeatureMaskSelector(3, **WORDS).fit(source)


def test_a_target_of_another_length_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        FeatureMaskSelector(3, **WORDS).fit(ParquetSource(path, drop=["lot", "bin"]), Y[:-1])


# ---- statistics that are kept ---------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The blocks that are read for the features."""
    seen: list[int] = []
    read = ParquetSource.read

    def watched(self: Any, block: int, columns: Any = None) -> Iterator[Any]:
        seen.append(block)
        return read(self, block, columns)

    monkeypatch.setattr(ParquetSource, "read", watched)
    return seen


def passes(reads: list[int], source: Stored, **words: Any) -> int:
    """How often a fit of no more than one window goes through the data."""
    reads.clear()
    FeatureMaskSelector(3, **WORDS).fit(source, **words)
    return len(reads) // len(source.block_rows)


def test_a_second_fit_needs_no_pass_for_statistics(path: Path, reads: list[int]) -> None:
    first = passes(reads, ParquetSource(path, "bin", ["lot"]))
    assert passes(reads, ParquetSource(path, "bin", ["lot"])) == first - 1
    assert passes(reads, ParquetSource(path, "bin", ["lot", "c0"])) == first


def test_weights_have_statistics_of_their_own(path: Path, reads: list[int]) -> None:
    source = ParquetSource(path, "bin", ["lot"])
    usual = passes(reads, source) - 1
    for weight, more in ((np.arange(N), 1), (np.arange(N), 0), (np.arange(N) + 1, 1)):
        assert passes(reads, source, sample_weight=weight) == usual + more


def test_statistics_hold_for_the_files_as_they_were(path: Path, reads: list[int]) -> None:
    first = passes(reads, ParquetSource(path, "bin", ["lot"]))
    pq.write_table(table(2 * X, lot=["a"] * N), path, row_group_size=90)
    assert passes(reads, ParquetSource(path, "bin", ["lot"])) == first
    found = FeatureMaskSelector(3, **WORDS).fit(ParquetSource(path, "bin", ["lot"]))
    assert same(found, FeatureMaskSelector(3, **WORDS).fit(2 * X, Y))
    assert len(list(path.parent.glob(".featuremask-*"))) == 1


def test_damaged_statistics_are_computed_again(path: Path, reads: list[int]) -> None:
    first = passes(reads, ParquetSource(path, "bin", ["lot"]))
    (kept,) = path.parent.glob(".featuremask-*")
    content = kept.read_bytes()
    kept.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert passes(reads, ParquetSource(path, "bin", ["lot"])) == first
    assert passes(reads, ParquetSource(path, "bin", ["lot"])) == first - 1


def no_writing(folder: Path) -> Callable[..., None]:
    from featuremask._tensorfile import write_tensors

    def write(place: Path, *arguments: Any) -> None:
        if folder in place.parents:
            raise OSError(30, "Read-only file system")
        write_tensors(place, *arguments)

    return write


def test_beside_data_that_cannot_be_written_to_the_users_cache_serves(
    path: Path, reads: list[int], tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("FEATUREMASK_CACHE", str(cache))
    monkeypatch.setattr("featuremask.sources._statistics.write_tensors", no_writing(path.parent))
    first = passes(reads, ParquetSource(path, "bin", ["lot"]))
    assert passes(reads, ParquetSource(path, "bin", ["lot"])) == first - 1
    assert list(path.parent.glob(".featuremask-*")) == []
    assert len(list(cache.rglob(".featuremask-*"))) == 1


def test_statistics_that_can_be_kept_nowhere_are_a_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("featuremask.sources._statistics.write_tensors", no_writing(Path("/")))
    with pytest.warns(FeatureMaskWarning, match="could not be kept .*Read-only"):
        found = FeatureMaskSelector(3, **WORDS).fit(ParquetSource(path, "bin", ["lot"]))
    assert same(found, FeatureMaskSelector(3, **WORDS).fit(X, Y))


def test_a_temporary_file_of_a_stream_goes_with_its_source(tmp_path: Path) -> None:
    source = ArrowSource(table().to_reader(), "bin", folder=tmp_path)
    other = source.with_target("c0")
    assert len(os.listdir(tmp_path)) == 1
    del source
    assert other.target() is not None
    del other
    assert os.listdir(tmp_path) == []


def test_a_stream_of_many_small_batches_becomes_few_row_groups(tmp_path: Path) -> None:
    source = ArrowSource(table().to_reader(max_chunksize=3))
    assert source.block_rows.tolist() == [N]
