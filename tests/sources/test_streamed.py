"""Rows out of files: the same rows as in memory, a window of them at a time."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.sources.stores import LABELS, STORES, VALUES, one_file

from featuremask.sources import ArraySource, Batch, Gaps, Source, Stored, StreamedSource

CPU = torch.device("cpu")
WEIGHT = np.random.default_rng(2).random(len(VALUES))
TARGET = torch.from_numpy(LABELS)


def copied(batches: Iterator[Batch]) -> list[Batch]:
    return [Batch(*(None if part is None else part.clone() for part in b)) for b in batches]


def batches(source: Source, size: int = 20, epoch: int = 0) -> list[Batch]:
    return copied(source.batches(size, seed=3, epoch=epoch, device=CPU, dtype=torch.float32))


def chunks(source: Source, size: int = 20) -> list[Batch]:
    return copied(source.chunks(size, device=CPU, dtype=torch.float64))


def are_equal(some: list[Batch], others: list[Batch]) -> bool:
    return len(some) == len(others) and all(
        (one is None and other is None) or torch.equal(one, other)
        for pair in zip(some, others, strict=True)
        for one, other in zip(*pair, strict=True)
    )


@pytest.fixture(params=STORES)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Stored:
    return STORES[request.param](tmp_path)


SELECTIONS: dict[str, dict[str, Any]] = {
    "everything": {},
    "some rows": {"rows": np.array([0, 3, 4, 50, 51, 52, 99, 102])},
    "some columns": {"columns": np.array([4, 0])},
    "gaps": {"gaps": Gaps(np.array([1]), np.array([0.5])), "columns": np.array([6, 1, 5])},
}


@pytest.mark.parametrize("selection", SELECTIONS)
def test_data_that_fits_into_a_window_comes_in_the_batches_of_an_array(
    stored: Stored, selection: str
) -> None:
    words = SELECTIONS[selection]
    streamed = StreamedSource(stored, TARGET, WEIGHT, **words)
    array = ArraySource(VALUES, TARGET, WEIGHT, **words)
    assert (streamed.n_rows, streamed.n_features) == (array.n_rows, array.n_features)
    assert streamed.weight_sum == array.weight_sum
    for epoch in (0, 1):
        assert are_equal(batches(streamed, epoch=epoch), batches(array, epoch=epoch))
    assert are_equal(batches(streamed, 200), batches(array, 200))
    assert are_equal(chunks(streamed), chunks(array))


def windowed(stored: Stored, rows: int = 30) -> StreamedSource:
    stored.window_bytes = rows * 4 * VALUES.shape[1]
    return StreamedSource(stored, torch.arange(len(VALUES)), WEIGHT)


def test_an_epoch_of_many_windows_gives_each_row_once_with_what_belongs_to_it(
    stored: Stored,
) -> None:
    found = batches(windowed(stored), 10)
    numbers = torch.cat([batch.target for batch in found if batch.target is not None]).numpy()
    assert sorted(numbers) == list(range(len(VALUES)))
    assert np.array_equal(np.concatenate([batch.x for batch in found]), VALUES[numbers])
    weight = np.concatenate([batch.sample_weight for batch in found])
    assert np.array_equal(weight, WEIGHT[numbers].astype(np.float32))


def test_the_batches_of_many_windows_are_of_the_sizes_of_an_array(stored: Stored) -> None:
    sizes = [len(batch.x) for batch in batches(windowed(stored), 10)]
    assert sizes == [len(batch.x) for batch in batches(ArraySource(VALUES), 10)]


def order(source: Source, epoch: int) -> list[int]:
    return [int(i) for batch in batches(source, 10, epoch) for i in batch.target]  # type: ignore[union-attr]  # it has one


def test_the_order_is_a_function_of_seed_and_epoch(stored: Stored) -> None:
    source = windowed(stored)
    assert order(source, 0) == order(source, 0) == order(windowed(stored), 0)
    assert order(source, 0) != order(source, 1)


def test_blocks_come_in_another_order_each_epoch(tmp_path: Path) -> None:
    source = windowed(one_file(tmp_path), rows=10)
    first_blocks = {order(source, epoch)[0] // 10 for epoch in range(8)}
    assert len(first_blocks) > 3


def test_a_window_mixes_the_rows_of_several_blocks(tmp_path: Path) -> None:
    first = order(windowed(one_file(tmp_path), rows=50), 0)[:10]
    assert len({i // 10 for i in first}) > 2


def test_no_more_than_two_windows_and_what_is_decoded_are_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, seen = one_file(tmp_path), list[int]()
    read = stored.read
    monkeypatch.setattr(stored, "read", lambda block, columns: (seen.append(block), read(block))[1])
    source = windowed(stored, rows=20)
    epoch = source.batches(10, seed=0, epoch=0, device=CPU, dtype=torch.float32)
    next(epoch)
    assert len(seen) <= 6  # of 11


def test_an_epoch_that_is_left_early_leaves_no_thread(stored: Stored) -> None:
    before = threading.active_count()
    epoch = windowed(stored).batches(10, seed=0, epoch=0, device=CPU, dtype=torch.float32)
    next(epoch)
    epoch.close()  # type: ignore[attr-defined]  # it is a generator
    assert threading.active_count() == before


def test_an_error_while_reading_ahead_comes_out_where_the_rows_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = one_file(tmp_path)
    source = windowed(stored)

    def broken(block: int, columns: Any = None) -> Iterator[Any]:
        raise OSError("the disk is gone")

    monkeypatch.setattr(stored, "read", broken)
    with pytest.raises(OSError, match="the disk is gone"):
        batches(source, 10)


def test_data_of_one_window_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored, seen = one_file(tmp_path), list[int]()
    read = stored.read
    monkeypatch.setattr(stored, "read", lambda block, columns: (seen.append(block), read(block))[1])
    source = StreamedSource(stored)
    batches(source), batches(source, epoch=1)
    list(source.chunks(5, device=CPU, dtype=torch.float32))
    assert len(seen) == 11


@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_shards_share_the_rows_without_overlap(stored: Stored, n: int) -> None:
    for source in (windowed(stored), windowed(stored).subset(np.arange(5, 60, 3))):
        everyone = [int(i) for batch in chunks(source) for i in batch.target]  # type: ignore[union-attr]  # it has one
        shards = [source.shard(i, n) for i in range(n)]
        found = [int(i) for shard in shards for batch in chunks(shard) for i in batch.target]  # type: ignore[union-attr]  # it has one
        assert sorted(found) == everyone
        assert sum(shard.n_rows for shard in shards) == source.n_rows
        assert sum(shard.weight_sum for shard in shards) == pytest.approx(source.weight_sum)


def test_a_shard_reads_its_own_blocks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored, seen = one_file(tmp_path), list[int]()
    read = stored.read
    monkeypatch.setattr(stored, "read", lambda block, columns: (seen.append(block), read(block))[1])
    chunks(StreamedSource(stored).shard(1, 3))
    assert seen == [1, 4, 7, 10]
