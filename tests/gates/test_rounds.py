"""Rounds against a list that is kept by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from featuremask.exceptions import InputError
from featuremask.gates._rounds import Rounds, geometric_takes

N = 6
LOGITS = st.lists(st.integers(-400, 400), min_size=N, max_size=N, unique=True).map(
    lambda eighths: torch.tensor(eighths) / 8.0
)
ROUNDS = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, N + 2), min_size=n, max_size=n).map(sorted),
        st.lists(LOGITS, min_size=n + 1, max_size=n + 1),
        st.sets(st.integers(0, N - 1)),
    )
)


def by_hand(takes: list[int], logits: list[Tensor], kept: set[int]) -> list[list[int]]:
    """The entries kept, those taken in each round, and the rest, each best first."""
    free = [entry for entry in range(N) if entry not in kept]
    order: list[list[int]] = [sorted(kept)]
    for take, values in zip(takes, logits[:-1], strict=True):
        free.sort(key=lambda entry: -float(values[entry]))
        n_new = take - sum(map(len, order[1:]))
        order.append(free[:n_new])
        free = free[n_new:]
    return [*order, sorted(free, key=lambda entry: -float(logits[-1][entry]))]


def played(takes: list[int], logits: list[Tensor], kept: set[int]) -> Rounds:
    rounds = Rounds(N, takes, sorted(kept), scale=2.0)
    for r, values in enumerate(logits[:-1], start=1):
        rounds.advance(r / len(takes), values)
    return rounds


@given(case=ROUNDS)
def test_scores_order_strictly_by_round_and_then_by_logit(
    case: tuple[list[int], list[Tensor], set[int]],
) -> None:
    _, logits, kept = case
    scores = played(*case).scores(logits[-1])
    kept_first, *others = by_hand(*case)
    expected = [entry for entries in others for entry in entries]
    assert scores.argsort(descending=True, stable=True).tolist() == kept_first + expected
    assert scores[expected].diff().lt(0).all()
    if kept and expected:
        assert scores[kept_first].min() > scores[expected].max()


@given(case=ROUNDS)
def test_open_entries_are_those_kept_or_taken(
    case: tuple[list[int], list[Tensor], set[int]],
) -> None:
    rounds = played(*case)
    *opened, free = by_hand(*case)
    since = {entry: r for r, entries in enumerate(opened) for entry in entries}
    assert {i: s for i, s in enumerate(rounds.open_since.tolist()) if s >= 0} == since
    gate = rounds.gate(case[1][-1])
    assert (gate[list(since)] == 1.0).all()
    if free:
        assert gate[free].sum() == pytest.approx(2.0, rel=1e-6)
        assert torch.allclose(gate[free], 2.0 * case[1][-1][free].softmax(0))


@given(case=ROUNDS)
def test_lifted_scores_put_open_entries_first(
    case: tuple[list[int], list[Tensor], set[int]],
) -> None:
    rounds, logits = played(*case), case[1][-1].double()
    lifted, is_open = rounds.lift(logits), rounds.is_open
    assert torch.equal(lifted[~is_open], logits[~is_open])
    if is_open.any() and not is_open.all():
        assert lifted[is_open].min() > lifted[~is_open].max()


def test_rounds_that_were_missed_are_all_made_up_for() -> None:
    rounds, logits = Rounds(5, (1, 2, 4), []), torch.tensor([0.0, 4.0, 2.0, 3.0, 1.0])
    rounds.advance(0.7, logits)
    assert rounds.open_since.tolist() == [-1, 1, -1, 2, -1]
    assert not rounds.is_due(0.9)
    assert rounds.is_due(1.0)


@pytest.mark.parametrize("n_rounds", [1, 3, 7, 10, 49, 60])
def test_a_round_is_due_at_its_share_of_the_steps_and_not_a_step_before(n_rounds: int) -> None:
    n_steps = 3 * n_rounds
    rounds, ends = Rounds(2, (0,) * n_rounds, []), []
    for step in range(n_steps + 1):
        if rounds.is_due(step / n_steps):
            rounds.advance(step / n_steps, torch.zeros(2))
            ends.append(step)
    assert ends == list(range(3, n_steps + 1, 3))


def test_scores_stay_in_order_where_logits_are_infinite() -> None:
    rounds, low = Rounds(4, (1, 3), []), float("-inf")
    rounds.advance(0.5, torch.tensor([low, low, low, low]))
    rounds.advance(1.0, torch.tensor([low, 3.0, low, 2.0]))
    scores = rounds.scores(torch.tensor([low, low, low, low]))
    assert scores.isfinite().all()
    assert rounds.open_since.tolist() in (
        [1, 2, -1, 2],
        [-1, 2, 1, 2],
        [-1, 1, 2, 2],
        [2, 2, -1, 1],
    )
    since = torch.where(rounds.is_open, rounds.open_since, 3)
    for entry in range(4):
        assert (scores[since > since[entry]] < scores[entry]).all()


def test_scores_stay_above_the_next_round_whatever_the_gap() -> None:
    rounds = Rounds(3, (2,), [])
    rounds.advance(1.0, torch.tensor([1e30, -1e30, -3e30]))
    scores = rounds.scores(torch.zeros(3))
    assert scores.argsort(descending=True).tolist() == [0, 1, 2]
    assert scores[1] > scores[2]


@pytest.mark.parametrize("n_rounds", [1, 2, 5, 20])
@pytest.mark.parametrize("n_entries", [1, 2, 7, 100, 20_000])
def test_geometric_takes_grow_by_a_constant_share_and_take_all(
    n_entries: int, n_rounds: int
) -> None:
    takes = geometric_takes(n_entries, n_rounds)
    assert len(takes) == n_rounds
    assert takes[-1] == n_entries
    assert takes == tuple(round(n_entries ** (r / n_rounds)) for r in range(1, n_rounds + 1))
    assert takes[0] >= 1


@pytest.mark.parametrize("takes", [(), (2, 1), (-1,)])
def test_takes_must_grow(takes: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="takes must be the growing number of entries"):
        Rounds(5, takes, [])
