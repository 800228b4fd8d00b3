"""The batches of an epoch: every row once, in an order of its own, none of them small."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch
from hypothesis import given
from hypothesis import strategies as st

from featuremask.sources import ArraySource, Batch, batch_edges

CPU = torch.device("cpu")


def numbered(n: int) -> ArraySource:
    """Rows that carry their number three times: in a column, the target, and the weight."""
    number = np.arange(n, dtype=np.float64)
    return ArraySource(number[:, None], torch.arange(n), number + 0.5)


def batches(source: ArraySource, size: int, seed: int = 0, epoch: int = 0) -> list[Batch]:
    """The batches, copied: their memory is used again."""
    found = source.batches(size, seed=seed, epoch=epoch, device=CPU, dtype=torch.float64)
    return [Batch(*(None if part is None else part.clone() for part in batch)) for batch in found]


def chunks(source: ArraySource, size: int, dtype: torch.dtype = torch.float64) -> list[Batch]:
    found = source.chunks(size, device=CPU, dtype=dtype)
    return [Batch(*(None if part is None else part.clone() for part in batch)) for batch in found]


def numbers(found: list[Batch]) -> list[int]:
    return [int(row) for batch in found for row in batch.x[:, 0]]


SIZES = {"n": st.integers(1, 300), "size": st.integers(1, 400)}


@given(**SIZES, seed=st.integers(0, 2**64 - 1), epoch=st.integers(0, 10**6))
def test_an_epoch_visits_every_row_once(n: int, size: int, seed: int, epoch: int) -> None:
    found = batches(numbered(n), size, seed, epoch)
    assert sorted(numbers(found)) == list(range(n))


@given(**SIZES)
def test_target_and_weight_stay_with_their_row(n: int, size: int) -> None:
    for found in (batches(numbered(n), size), chunks(numbered(n), size)):
        for x, target, weight in found:
            assert torch.equal(x[:, 0], target.double())
            assert torch.equal(x[:, 0] + 0.5, weight)


@given(**SIZES)
def test_chunks_give_every_row_in_order(n: int, size: int) -> None:
    found = chunks(numbered(n), size)
    assert numbers(found) == list(range(n))
    assert all(len(chunk.x) == size for chunk in found[:-1])
    assert 1 <= len(found[-1].x) <= size


@given(n=st.integers(1, 10**7), size=st.integers(1, 10**6))
def test_no_batch_is_much_smaller_or_larger_than_another(n: int, size: int) -> None:
    if n > 2000 * size:
        n = 2000 * size
    lengths = np.diff(batch_edges(n, size))
    assert lengths.sum() == n
    assert lengths.max() - lengths.min() <= 1
    assert lengths.min() >= min(n, np.ceil(0.65 * size) - 1)
    assert lengths.max() <= 1.5 * size + 1


def test_the_sizes_of_the_paper_come_out_whole() -> None:
    assert np.unique(np.diff(batch_edges(60_000, 256))).tolist() == [256, 257]
    assert len(batch_edges(60_000, 256)) - 1 == 234


def test_the_order_is_a_function_of_seed_and_epoch_alone() -> None:
    def order(seed: int, epoch: int, size: int = 10) -> list[int]:
        return numbers(batches(numbered(50), size, seed, epoch))

    expected = order(3, 5)
    np.random.default_rng(9).random()
    torch.rand(3)
    assert order(3, 5) == expected
    assert order(3, 5, size=7) == expected
    assert order(4, 5) != expected
    assert order(3, 6) != expected
    assert order(5, 3) != expected


def test_the_order_does_not_depend_on_where_the_rows_lie() -> None:
    dense = np.arange(50.0)[:, None]
    for x in (dense.astype(np.uint8), np.asfortranarray(dense), scipy.sparse.csr_array(dense)):
        assert numbers(batches(ArraySource(x), 10, 3, 5)) == numbers(
            batches(numbered(50), 10, 3, 5)
        )


def test_the_order_is_shuffled_beyond_batches() -> None:
    lags = np.diff(numbers(batches(numbered(1000), 100)))
    assert np.mean(lags == 1) < 0.01
    first = numbers(batches(numbered(1000), 100)[:1])
    assert max(first) - min(first) > 800


def test_a_single_batch_is_not_shuffled() -> None:
    assert numbers(batches(numbered(9), 9)) == list(range(9))
    assert numbers(batches(numbered(9), 100, seed=5)) == list(range(9))


@pytest.mark.usefixtures("untouched_generators")
def test_shuffling_uses_no_global_generator() -> None:
    batches(numbered(50), 10)


def test_without_target_and_weights_there_are_none() -> None:
    batch = batches(ArraySource(np.eye(4)), 2)[0]
    assert batch.target is None
    assert batch.sample_weight is None


def test_the_sum_of_weights_is_that_of_the_rows_given() -> None:
    assert numbered(4).weight_sum == 8.0
    assert numbered(4).subset(np.array([0, 3])).weight_sum == 4.0
    assert ArraySource(np.eye(4)).weight_sum == 4.0
    assert ArraySource(np.eye(4), rows=np.array([1, 2])).weight_sum == 2.0


@pytest.mark.parametrize("dtype", [np.int64, np.float32, ">f8", np.bool_])
def test_weights_of_any_dtype_come_in_that_of_the_batch(dtype: Any) -> None:
    weight = np.ones(4, dtype=dtype)
    weight.flags.writeable = False
    batch = chunks(ArraySource(np.eye(4), None, weight), 4, torch.float32)[0]
    assert batch.sample_weight.dtype == torch.float32
    assert batch.sample_weight.tolist() == [1.0] * 4


def test_rows_of_rows_are_rows_of_the_data() -> None:
    source = numbered(20).subset(np.array([3, 5, 7, 11, 13]))
    inner = source.subset(np.array([4, 0, 2]))
    assert inner.n_rows == 3
    assert numbers(chunks(inner, 2)) == [13, 3, 7]
    assert [int(t) for batch in chunks(inner, 2) for t in batch.target] == [13, 3, 7]
    assert inner.weight_sum == 13 + 3 + 7 + 1.5
    assert sorted(numbers(batches(inner, 2))) == [3, 7, 13]


@given(rows=st.lists(st.integers(0, 19), min_size=1, max_size=30), size=st.integers(1, 9))
def test_rows_may_come_in_any_order_and_more_than_once(rows: list[int], size: int) -> None:
    source = numbered(20).subset(np.array(rows))
    assert numbers(chunks(source, size)) == rows
    assert sorted(numbers(batches(source, size))) == sorted(rows)


def test_the_memory_of_a_batch_is_used_again() -> None:
    found = numbered(20).batches(5, seed=0, epoch=0, device=CPU, dtype=torch.float64)
    addresses = {batch.x.data_ptr() for batch in found}
    assert len(addresses) == 1
