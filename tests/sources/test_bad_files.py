"""Files that are not as they should be: a clear error, or the right rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from tests.sources.stores import VALUES, table, write

from featuremask.exceptions import InputError, InputTypeError
from featuremask.sources import ArrowSource, NpySource, ParquetSource, Stored, StreamedSource

CPU = torch.device("cpu")


def rows(stored: Stored) -> np.ndarray:
    found = StreamedSource(stored).chunks(7, device=CPU, dtype=torch.float64)
    return np.concatenate([batch.x.clone().numpy() for batch in found])


def refused(match: str, *arguments: Any, error: type[Exception] = InputError, **words: Any) -> None:
    with pytest.raises(error, match=match):
        ParquetSource(*arguments, **words)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in ("no.parquet", "no*.parquet"):
        refused(path.replace("*", r"\*"), tmp_path / path, error=FileNotFoundError)
    refused("no Parquet file", tmp_path, error=FileNotFoundError)
    with pytest.raises(FileNotFoundError, match=r"no\.npy"):
        NpySource(tmp_path / "no.npy")


def test_no_files_at_all_are_no_source() -> None:
    refused("list of paths is empty", [])


def test_a_file_that_is_named_twice_would_count_its_rows_twice(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    refused("named twice", [tmp_path / "a.parquet", tmp_path])


def test_a_shard_without_a_column_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", VALUES[:, :5])
    refused(r"'c5' of .*a\.parquet' is not in .*b\.parquet'", tmp_path)
    assert ParquetSource(tmp_path, drop=["c5"]).shape == (206, 5)


def test_a_shard_with_a_column_more_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", VALUES[:, :5])
    write(tmp_path / "b.parquet")
    refused(r"'c5' of .*b\.parquet' is not in .*a\.parquet'.*drop=\['c5'\]", tmp_path)
    assert ParquetSource(tmp_path, drop=["c5"]).shape == (206, 5)


def test_a_column_that_is_text_in_one_shard_alone_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", VALUES[:2], more=[1, 2])
    write(tmp_path / "b.parquet", VALUES[:2], more=["1", "2"])
    refused(r"'more' of .*b\.parquet' holds string", tmp_path, error=InputTypeError)


def test_shards_may_hold_their_columns_in_another_order_and_of_another_width(
    tmp_path: Path,
) -> None:
    write(tmp_path / "a.parquet", VALUES[:50])
    other = table(VALUES[50:].astype(np.float64)).select([f"c{i}" for i in (3, 1, 0, 2, 5, 4)])
    pq.write_table(other, tmp_path / "b.parquet")
    assert np.array_equal(rows(ParquetSource(tmp_path)), VALUES)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b"]),
        pa.array([[1.0], [2.0]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array(["a", "b"]).dictionary_encode(),
        pa.array([0, 1], pa.timestamp("s")),
        pa.array([None, None]),
    ],
    ids=lambda column: str(column.type),
)
def test_a_column_that_holds_no_numbers_is_named_with_its_type(column: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", VALUES[:2], lot=column)
    refused(r"'lot' of .*a\.parquet' holds .*drop=\['lot'\]", path, error=InputTypeError)
    assert ParquetSource(path, drop=["lot"]).names == [f"c{i}" for i in range(6)]


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (pa.array([True, None]), [1.0, np.nan]),
        (pa.array([1, None], pa.int8()), [1.0, np.nan]),
        (pa.array([2**40, None]), [2.0**40, np.nan]),
        (pa.array([2**63, 1], pa.uint64()), [2.0**63, 1.0]),
        (pa.array(np.array([0.5, 2.0], np.float16)), [0.5, 2.0]),
        (pa.array([1, 2]).cast(pa.decimal128(21, 2)), [1.0, 2.0]),
    ],
    ids=lambda column: str(getattr(column, "type", "")),
)
def test_numbers_of_all_types_are_taken_and_gaps_are_nan(
    column: Any, numbers: list[float], tmp_path: Path
) -> None:
    alone = ParquetSource(write(tmp_path / "a.parquet", VALUES[:2, :0], own=column))
    beside = ParquetSource(write(tmp_path / "b.parquet", VALUES[:2, :1], own=column))
    assert np.array_equal(rows(alone)[:, 0], numbers, equal_nan=True)
    assert np.array_equal(rows(beside)[:, 1], numbers, equal_nan=True)


def test_files_and_row_groups_without_rows_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", VALUES[:0])
    with pq.ParquetWriter(tmp_path / "b.parquet", table().schema) as writer:
        for part in (VALUES[:0], VALUES[:60], VALUES[60:60], VALUES[60:]):
            writer.write_table(table(part))
    source = ParquetSource(tmp_path)
    assert source.block_rows.tolist() == [60, 43]
    assert np.array_equal(rows(source), VALUES)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not Parquet at all" * 100])
def test_a_file_of_another_kind_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    refused(r"a\.parquet' cannot be read as Parquet", tmp_path)


@pytest.mark.parametrize("share", [0.1, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_named(share: float, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    refused(r"a\.parquet' cannot be read as Parquet", path)


def test_damaged_rows_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    data = bytearray(path.read_bytes())
    data[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
    path.write_bytes(data)
    source = ParquetSource(path)
    with pytest.raises(InputError, match=r"a\.parquet' cannot be read"):
        rows(source)


def test_a_row_group_that_is_too_large_comes_with_the_line_that_writes_smaller_ones(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "a.parquet", group=103)
    refused(r"Row group 0 .*row_group_size=\d+", path, max_group_bytes=1000)


def test_a_large_row_group_of_which_few_columns_are_read_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", group=103)
    source = ParquetSource(path, columns=["c1"], max_group_bytes=1000)
    assert np.array_equal(rows(source), VALUES[:, [1]])
    refused(r"Row group 0", path, columns=["c1", "c2", "c3"], max_group_bytes=1000)


def changed_later(path: Path) -> None:
    later = path.stat().st_mtime_ns + 10**9
    __import__("os").utime(path, ns=(later, later))


@pytest.mark.parametrize("kind", ["parquet", "npy"])
def test_a_file_that_changes_between_epochs_is_an_error(kind: str, tmp_path: Path) -> None:
    if kind == "npy":
        path = tmp_path / "a.npy"
        np.save(path, VALUES)
        source: Stored = NpySource(path)
    else:
        path = write(tmp_path / "a.parquet")
        source = ParquetSource(path)
    rows(source)
    changed_later(path)
    with pytest.raises(InputError, match="has changed since it was opened"):
        rows(source)


def test_a_file_that_vanishes_between_epochs_is_an_error(tmp_path: Path) -> None:
    source = ParquetSource(write(tmp_path / "a.parquet"))
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.parquet"):
        rows(source)


@pytest.mark.parametrize("word", ["target", "drop", "columns", "sample_weight"])
def test_a_column_that_is_not_there_is_named_with_those_that_are(word: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    value = "bin" if word in ("target", "sample_weight") else ["bin"]
    refused("no column 'bin'.*'c0', 'c1'", path, **{word: value})


@pytest.mark.parametrize("word", ["target", "sample_weight"])
def test_a_target_or_weight_with_gaps_is_an_error(word: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", VALUES[:3], bin=[1, None, 2])
    source = ParquetSource(path, **{word: "bin"})
    with pytest.raises(InputError, match="'bin' has 1 missing value"):
        getattr(source, word)()


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.zeros(5), "two-dimensional"),
        (np.zeros((5, 2), complex), "real numbers"),
        (np.array([["a", "b"]]), "real numbers"),
    ],
)
def test_an_array_that_is_no_table_of_numbers_is_refused(
    array: np.ndarray, match: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(InputError, match=match):
        NpySource(tmp_path / "x.npy")


@pytest.mark.parametrize("cut", [0, 50, 1000])
def test_an_array_file_that_is_cut_off_is_named(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, VALUES)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"x\.npy' cannot be read"):
        NpySource(path)


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read"):
        NpySource(tmp_path / "x.npy")


def test_what_streams_no_arrow_is_refused() -> None:
    with pytest.raises(InputTypeError, match="__arrow_c_stream__"):
        ArrowSource([1, 2])


PARTITIONS: dict[str, Callable[[Path], Any]] = {
    "a folder": lambda folder: folder,
    "a pattern": lambda folder: str(folder / "*" / "*.parquet"),
    "a pattern of folders": lambda folder: str(folder / "site=*"),
}


@pytest.mark.parametrize("asked", PARTITIONS)
def test_folders_name_columns(asked: str, tmp_path: Path) -> None:
    write(tmp_path / "site=3" / "a.parquet", VALUES[:50], bin=[0] * 50)
    write(tmp_path / "site=10" / "b.parquet", VALUES[50:], bin=[1] * 53)
    paths = PARTITIONS[asked](tmp_path)
    found = ParquetSource(paths, target="bin")
    assert found.names == [*(f"c{i}" for i in range(6)), "site"]
    expected = np.column_stack([np.vstack([VALUES[50:], VALUES[:50]]), [10] * 53 + [3] * 50])
    assert np.array_equal(rows(found), expected.astype(np.float64))
    assert (
        ParquetSource(paths, target="site", drop=["bin"]).target().tolist() == [10] * 53 + [3] * 50
    )  # type: ignore[union-attr]  # it has one
    some = StreamedSource(found, columns=np.array([6, 2]))
    x = next(iter(some.chunks(2, device=CPU, dtype=torch.float64))).x
    assert np.array_equal(x, expected[:2, [6, 2]].astype(np.float32))


def test_folders_that_name_text_are_targets_but_no_features(tmp_path: Path) -> None:
    write(tmp_path / "site=A%20B" / "a.parquet", VALUES[:2])
    write(tmp_path / "site=__HIVE_DEFAULT_PARTITION__" / "b.parquet", VALUES[:2])
    refused("site=.* name text", tmp_path, error=InputTypeError)
    with pytest.raises(InputError, match="names no value"):
        ParquetSource(tmp_path, target="site").target()
    source = ParquetSource(tmp_path / "site=A%20B" / ".." / "site=A*", target="site")
    assert source.target().tolist() == ["A B", "A B"]  # type: ignore[union-attr]  # it has one


def test_a_column_of_both_folders_and_files_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "c0=3" / "a.parquet")
    refused("'c0', which its folders name too", tmp_path)


def test_files_below_other_partitions_are_an_error(tmp_path: Path) -> None:
    write(tmp_path / "site=3" / "a.parquet")
    write(tmp_path / "b.parquet")
    refused("all files need the same ones", tmp_path)


def test_hidden_files_below_a_folder_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet")
    for name in ("_old.parquet", ".b.parquet", "_tmp/c.parquet"):
        write(tmp_path / name)
    assert ParquetSource(tmp_path).shape[0] == 103
