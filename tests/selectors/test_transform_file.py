"""The chosen columns of files go to a file, and nothing else is read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError
from featuremask.selectors import transform_file
from featuremask.sources import ParquetSource

N = 60
X = np.random.default_rng(0).normal(size=(N, 5)).astype(np.float32)
Y = (X[:, 1] > 0).astype(np.int64)


def table(**more: Any) -> pa.Table:
    return pa.table({**{f"c{i}": column for i, column in enumerate(X.T)}, "bin": Y, **more})


@pytest.fixture
def lots(tmp_path: Path) -> Path:
    folder = tmp_path / "lots"
    for site in (1, 2):
        (folder / f"site={site}").mkdir(parents=True)
        part = table(lot=[f"L{i}" for i in range(N)]).slice((site - 1) * 40, 40)
        pq.write_table(part, folder / f"site={site}" / "rows.parquet", row_group_size=7)
    return folder


@pytest.fixture(scope="module")
def selector() -> FeatureMaskSelector:
    frame = table().select([f"c{i}" for i in range(5)])
    return FeatureMaskSelector(2, max_epochs=2, random_state=0).fit(frame, Y)


def chosen(selector: FeatureMaskSelector) -> list[str]:
    return [str(name) for name in selector.get_feature_names_out()]


def test_parquet_to_parquet_is_what_transform_gives(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path
) -> None:
    out = tmp_path / "chosen.parquet"
    assert transform_file(selector, lots, out) == N
    assert pq.read_table(out).equals(table().select(chosen(selector)))


def test_parquet_to_an_array_is_what_transform_gives(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path
) -> None:
    transform_file(selector, lots, tmp_path / "chosen.npy")
    found = np.load(tmp_path / "chosen.npy")
    assert found.dtype == np.float32
    assert np.array_equal(found, X[:, selector.support_])


def test_further_columns_are_passed_on_before_the_chosen_ones(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path
) -> None:
    transform_file(selector, lots, tmp_path / "out.parquet", keep=["lot", "site", "bin"])
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.column_names == ["lot", "site", "bin", *chosen(selector)]
    assert found["site"].to_pylist() == [1] * 40 + [2] * 20
    assert found["lot"].to_pylist() == [f"L{i}" for i in range(N)]


def test_only_the_columns_that_are_written_are_read(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: set[str] = set()
    batches = ParquetSource._batches

    def watched(self: Any, file: Any, group: int, names: list[str]) -> Iterator[Any]:
        seen.update(names)
        return batches(self, file, group, names)

    monkeypatch.setattr(ParquetSource, "_batches", watched)
    transform_file(selector, lots, tmp_path / "out.parquet")
    transform_file(selector, lots, tmp_path / "out.npy")
    assert seen == set(chosen(selector))


def test_types_stay_and_shards_of_other_widths_agree_on_one(tmp_path: Path) -> None:
    types = ([pa.int8(), pa.float32()], [pa.int32(), pa.float64()])
    for i, (a, b) in enumerate(types):
        columns = {"a": pa.array([1, None], a), "b": pa.array([0.5, 2.0], b)}
        pq.write_table(pa.table(columns), tmp_path / f"{i}.parquet")
    frame = pa.table({"a": X[:, 0], "b": X[:, 1]})
    selector = FeatureMaskSelector(2, max_epochs=1, random_state=0).fit(frame, Y)
    source = ParquetSource([tmp_path / "0.parquet", tmp_path / "1.parquet"])
    transform_file(selector, source, tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.schema.types == [pa.int32(), pa.float64()]
    assert found["a"].to_pylist() == [1, None, 1, None]


def test_arrays_go_to_both_kinds_of_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    selector = FeatureMaskSelector(2, max_epochs=2, random_state=0).fit(X, Y)
    for name in ("out.npy", "out.parquet"):
        assert transform_file(selector, tmp_path / "x.npy", tmp_path / name) == N
    expected = X[:, selector.support_]
    assert np.array_equal(np.load(tmp_path / "out.npy"), expected)
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.column_names == list(selector.get_feature_names_out())
    assert np.array_equal(np.column_stack([c.to_numpy() for c in found.columns]), expected)


def test_a_file_may_be_replaced_by_its_own_columns(
    selector: FeatureMaskSelector, tmp_path: Path
) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet")
    transform_file(selector, tmp_path / "rows.parquet", tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").column_names == chosen(selector)


def test_after_an_error_the_old_file_stays_and_nothing_else(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    for name in ("out.parquet", "out.npy"):
        path = tmp_path / "out" / name
        path.write_bytes(b"old")
        with monkeypatch.context() as patch:
            batches = ParquetSource._batches

            def failing(self: Any, file: Any, group: int, names: list[str]) -> Iterator[Any]:
                if group == 2:
                    raise OSError(28, "No space left on device")
                return batches(self, file, group, names)  # noqa: B023 # called in this turn alone

            patch.setattr(ParquetSource, "_batches", failing)
            with pytest.raises(OSError, match="No space left"):
                transform_file(selector, lots, path)
        assert path.read_bytes() == b"old"
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_no_rows_are_written_as_no_rows(selector: FeatureMaskSelector, tmp_path: Path) -> None:
    pq.write_table(table()[:0], tmp_path / "rows.parquet")
    for name in ("out.parquet", "out.npy"):
        assert transform_file(selector, tmp_path / "rows.parquet", tmp_path / name) == 0
    assert pq.read_table(tmp_path / "out.parquet").column_names == chosen(selector)
    assert np.load(tmp_path / "out.npy").shape == (0, 2)


def test_what_cannot_be_done_is_said(
    selector: FeatureMaskSelector, lots: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "x.npy", X[:, :4])
    pq.write_table(table().drop_columns(chosen(selector)[:1]), tmp_path / "less.parquet")
    first = chosen(selector)[0]
    cases: list[tuple[Any, str, dict[str, Any], str]] = [
        (lots, "out.csv", {}, r"end in \.parquet or \.npy"),
        (X, "out.npy", {}, "Use transform for rows in memory"),
        (tmp_path / "x.npy", "out.npy", {}, "fitted on 5 columns; the data has 4"),
        (tmp_path / "less.parquet", "out.npy", {}, f"no column '{first}'"),
        (ParquetSource(tmp_path / "less.parquet"), "out.npy", {}, f"no column '{first}'"),
        (lots, "out.npy", {"keep": ["lot"]}, "An array has no names"),
        (lots, "out.parquet", {"keep": ["wafer"]}, "no column 'wafer'"),
        (lots, "out.parquet", {"keep": [first]}, "twice"),
    ]
    for data, name, words, match in cases:
        with pytest.raises(InputError, match=match):
            transform_file(selector, data, tmp_path / name, **words)
        assert not (tmp_path / name).exists()
