"""The one place where columns are ranked keeps its promises, whatever the scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.selectors._columns import column_groups
from featuremask.selectors._ranking import Ranking, count_to_select, rank_columns

finite = st.floats(-1e12, 1e12) | st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e300, -1e300])


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Scores with everything that may come with them."""
    n = draw(st.integers(1, 12))

    def of(values: st.SearchStrategy[Any], dtype: Any) -> NDArray[Any]:
        return np.array(draw(st.lists(values, min_size=n, max_size=n)), dtype=dtype)

    groups = column_groups(of(st.integers(0, n - 1), np.int64), None, n)
    return {
        "scores": of(finite, np.float64),
        "ties": of(st.sampled_from([0.0, 1.0, 2.0]), np.float64),
        "shares": of(st.floats(0.0, 10.0), np.float64),
        "groups": groups,
        "first": of(st.booleans(), np.bool_) & of(st.booleans(), np.bool_),
        "last": of(st.booleans(), np.bool_) & of(st.booleans(), np.bool_),
    }


def ranked(case: dict[str, Any]) -> Ranking:
    return rank_columns(case["scores"], **{k: v for k, v in case.items() if k != "scores"})


def tier_of_groups(case: dict[str, Any]) -> dict[int, int]:
    """Return 1 for groups put first, -1 for those put last as a whole, else 0."""
    tiers: dict[int, int] = {}
    for group, first, last in zip(case["groups"], case["first"], case["last"], strict=True):
        tier = 1 if first else -1 if last else 0
        tiers[int(group)] = max(tier, tiers.get(int(group), -1))
    return tiers


@given(cases())
def test_ranks_are_a_permutation(case: dict[str, Any]) -> None:
    assert sorted(ranked(case).ranks) == list(range(1, len(case["scores"]) + 1))


@given(cases())
def test_a_stable_sort_of_the_scores_gives_the_ranking(case: dict[str, Any]) -> None:
    ranking = ranked(case)
    order = np.argsort(-ranking.scores, kind="stable")
    assert np.array_equal(order, np.argsort(ranking.ranks))


@given(cases())
def test_members_of_a_group_have_one_score_and_follow_each_other(case: dict[str, Any]) -> None:
    ranking = ranked(case)
    for group in set(case["groups"].tolist()):
        members = case["groups"] == group
        assert len(set(ranking.scores[members].tolist())) == 1
        assert len(set(ranking.group_ranks[members].tolist())) == 1
        ranks = ranking.ranks[members]
        assert np.array_equal(ranks, np.arange(ranks.min(), ranks.min() + members.sum()))


@given(cases())
def test_group_ranks_count_groups_in_the_order_of_ranks(case: dict[str, Any]) -> None:
    ranking = ranked(case)
    in_order = ranking.group_ranks[np.argsort(ranking.ranks)]
    assert (np.diff(in_order) >= 0).all()
    assert set(in_order.tolist()) == set(range(1, len(set(case["groups"].tolist())) + 1))


@given(cases())
def test_those_put_first_come_first_and_those_put_last_come_last(case: dict[str, Any]) -> None:
    tiers, ranking = tier_of_groups(case), ranked(case)
    in_order = [tiers[int(group)] for group in case["groups"][np.argsort(ranking.ranks)]]
    assert in_order == sorted(in_order, reverse=True)


@given(cases())
def test_within_a_tier_the_better_score_wins_then_the_tie_then_the_position(
    case: dict[str, Any],
) -> None:
    tiers, ranking = tier_of_groups(case), ranked(case)

    def key(column: int) -> tuple[float, ...]:
        members = case["groups"] == case["groups"][column]
        return (
            tiers[int(case["groups"][column])],
            case["scores"][members].max(),
            case["ties"][members].max(),
            -float(np.flatnonzero(members)[0]),
        )

    keys = [key(column) for column in np.argsort(ranking.ranks)]
    assert keys == sorted(keys, reverse=True)


@given(cases())
def test_shares_are_not_negative_and_sum_to_one(case: dict[str, Any]) -> None:
    shares = ranked(case).shares
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0)


@given(cases(), st.randoms(use_true_random=False))
def test_permuted_columns_are_ranked_alike(case: dict[str, Any], random: Any) -> None:
    case["scores"] = np.argsort(np.argsort(case["scores"], kind="stable")).astype(float)
    case["groups"] = np.arange(len(case["scores"]))
    order = np.array(random.sample(range(len(case["scores"])), len(case["scores"])))
    permuted = {name: values[order] for name, values in case.items()}
    permuted["groups"] = case["groups"]
    assert np.array_equal(ranked(permuted).ranks, ranked(case).ranks[order])


def test_scores_without_ties_are_left_as_they_are() -> None:
    scores = np.array([0.25, -3.0, 7.5])
    assert np.array_equal(rank_columns(scores).scores, scores)


def test_without_shares_the_scores_that_are_not_negative_serve() -> None:
    assert rank_columns(np.array([3.0, -5.0, 1.0])).shares.tolist() == [0.75, 0.0, 0.25]


def test_without_any_importance_all_shares_are_equal() -> None:
    assert rank_columns(np.array([-1.0, -2.0])).shares.tolist() == [0.5, 0.5]


def test_equal_scores_go_by_position() -> None:
    assert rank_columns(np.zeros(4)).ranks.tolist() == [1, 2, 3, 4]


def test_a_secondary_score_decides_between_equal_scores() -> None:
    ranking = rank_columns(np.array([1.0, 1.0, 2.0]), ties=np.array([0.0, 5.0, 0.0]))
    assert ranking.ranks.tolist() == [3, 2, 1]


def test_groups_that_lie_between_each_other_do_not_mix() -> None:
    ranking = rank_columns(np.ones(4), groups=np.array([0, 1, 0, 1]))
    assert ranking.ranks.tolist() == [1, 3, 2, 4]
    assert ranking.scores[0] > ranking.scores[1]


# ---- how many -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "n", "count"),
    [
        (None, 10, 5),
        (None, 7, 3),
        (None, 1, 1),
        (1, 10, 1),
        (10, 10, 10),
        (np.int64(3), 10, 3),
        (0.25, 10, 2),
        (0.001, 10, 1),
        (1.0, 10, 10),
        (np.float32(0.5), 10, 5),
        (0.75, 2, 2),
    ],
)
def test_a_count_a_fraction_or_half(wanted: Any, n: int, count: int) -> None:
    assert count_to_select(wanted, n) == count


@pytest.mark.parametrize("wanted", [0, -1, 0.0, -0.5, 1.5, 2.0, float("nan"), True, "10", [3]])
def test_other_counts_are_refused(wanted: Any) -> None:
    message = r"a fraction in \(0, 1\], None for half of the features, or \"auto\"; got"
    with pytest.raises(InputError, match=message):
        count_to_select(wanted, 10)


def test_more_than_there_are_is_all_of_them_with_a_warning() -> None:
    with pytest.warns(FeatureMaskWarning, match=r"n_features_to_select=11 is more than the 10"):
        assert count_to_select(11, 10) == 10


@given(st.floats(0.0, 1.0, exclude_min=True), st.integers(1, 10_000))
def test_a_fraction_selects_at_least_one_and_at_most_all(fraction: float, n: int) -> None:
    count = count_to_select(fraction, n)
    assert 1 <= count <= n
    assert abs(count - fraction * n) <= 0.5 or count == 1


ON, OFF = True, False


@pytest.mark.parametrize(
    ("scores", "first", "last", "expected"),
    [
        ([5, 1, 3], [OFF, ON, OFF], [OFF, OFF, OFF], [5, 6, 3]),
        ([5, 9, 3], [OFF, ON, OFF], [OFF, OFF, OFF], [5, 9, 3]),
        ([5, 9, 3, 8], [OFF, ON, ON, OFF], [OFF, OFF, OFF, OFF], [5, 15, 9, 8]),
        ([5, 1, 3], [OFF, OFF, OFF], [ON, OFF, OFF], [0, 1, 3]),
        ([-9, 1, 3], [OFF, OFF, OFF], [ON, OFF, OFF], [-9, 1, 3]),
        ([-9, 0, 3], [OFF, OFF, OFF], [ON, OFF, OFF], [-1, 0, 3]),
        ([-5, -3], [ON, ON], [OFF, OFF], [1, 3]),
        ([7, 3], [OFF, OFF], [ON, ON], [-1, -1]),
    ],
)
def test_scores_of_columns_put_first_or_last_are_moved_no_further_than_needed(
    scores: Any, first: Any, last: Any, expected: Any
) -> None:
    found = rank_columns(np.array(scores, float), first=np.array(first), last=np.array(last))
    assert found.scores.tolist() == expected


def test_shares_keep_their_proportions_however_small() -> None:
    found = rank_columns(np.zeros(3), shares=np.array([0.1, 0.3, -0.2])).shares
    assert found == pytest.approx([0.25, 0.75, 0.0])
