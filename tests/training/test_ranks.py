"""Training across processes: the result is that of one process on the rows of all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
import torch
import torch.distributed as dist
from tests.training import ranks
from tests.training.ranks import BATCHED, CASES, SHARES, Together, dealt_by, found

from featuremask.exceptions import InputError
from featuremask.training import (
    _loop,
    across_ranks,
    current_ranks,
    joined_ranks,
    launched_rank,
)
from featuremask.training._ranks import agreed_name

TOLERANCE = 1e-12


@pytest.fixture(scope="module", params=SHARES)
def results(request: pytest.FixtureRequest, tmp_path_factory: Any) -> list[dict[str, Any]]:
    """What each rank of two, and of three, has found."""
    size, folder = request.param, tmp_path_factory.mktemp("ranks")
    ends = ranks.finished(ranks.start([ranks.__file__, str(folder), str(size)], size))
    assert [code for code, _ in ends] == [0] * size, "\n".join(said for _, said in ends)
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(size)]


def alone(case: str, kind: str, shares: list[float]) -> dict[str, Any]:
    """What one process finds: of a single batch as usual, of many on the batches of all ranks."""
    if CASES[case][1] == ranks.FULL:
        return found(case, kind)
    with (
        dealt_by(shares),
        mock.patch.object(_loop, "dealt", lambda source, _: Together(source, len(shares))),
    ):
        return found(case, kind)


def largest_gap(one: dict[str, Any], other: dict[str, Any]) -> float:
    pairs = list(zip(one["scores"], other["scores"], strict=True))
    for mine, theirs in zip(one["history"], other["history"], strict=True):
        assert mine.keys() == theirs.keys()
        pairs += [(mine[key], theirs[key]) for key in mine]
    return max(abs(a - b) for a, b in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHARES[2])
@pytest.mark.parametrize("case", CASES)
def test_ranks_find_what_one_process_finds(
    results: list[dict[str, Any]], case: str, kind: str
) -> None:
    expected = alone(case, kind, SHARES[len(results)][kind])
    for result in results:
        mine = result[f"{kind}, {case}"]
        assert largest_gap(mine, expected) < TOLERANCE
        assert mine["ranking"] == expected["ranking"]


def test_a_process_without_others_is_alone() -> None:
    assert current_ranks().size == 1
    with pytest.raises(InputError, match="init_process_group"), across_ranks():
        pass


def test_ranks_agree_on_a_name_of_their_start_whatever_earlier_starts_have_left() -> None:
    store, names = dist.HashStore(), []
    store.set_timeout(timedelta(seconds=60))
    with ThreadPoolExecutor(3) as pool:
        for size in (3, 3, 2):  # the second one restarts, then a node is gone
            store.set("featuremask/asked-by-1", "a word of one that was killed")
            start = [pool.submit(agreed_name, store, rank, size, 60.0) for rank in range(size)]
            names.append({rank.result() for rank in start})
    assert [len(found) for found in names] == [1, 1, 1]
    assert len(set.union(*names)) == 3


def test_a_rank_that_does_not_come_is_named() -> None:
    with pytest.raises(TimeoutError, match=r"Ranks \[1, 2\] of 3 did not join within 0\.1 seconds"):
        agreed_name(dist.HashStore(), 0, 3, 0.1)


def test_the_batched_cases_make_several_steps() -> None:
    assert ranks.MANY // BATCHED["batch_size"] > 3


def test_a_world_of_one_needs_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "1")
    with joined_ranks() as ranks_here:
        assert (ranks_here.size, launched_rank()) == (1, 0)
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "3")
    assert launched_rank() == 3
