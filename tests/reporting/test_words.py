"""What a report says is true, and no more than was measured."""

import pytest
from tests.reporting.example import make_summary

from featuremask.reporting import Curve, Summary
from featuremask.reporting._words import cautions, comparison, headline, readouts

NAMES = tuple(f"c{i}" for i in range(412))


def summary(k: int = 30, **curve: object) -> Summary:
    words: dict[str, object] = {
        "chosen": [(10, 0.90, 0.01), (30, 0.94, 0.01)],
        "random": [(30, 0.70, 0.02)],
        "all_columns": (412, 0.9524, 0.01),
        **curve,
    }
    return make_summary(NAMES, k=k, curve=Curve("accuracy", "forest", **words))  # type: ignore[arg-type]  # a dict of words


# ---- the headline ---------------------------------------------------------------------------


def test_the_headline_says_what_is_kept() -> None:
    assert headline(summary()) == "30 of 412 columns keep 98.6 % of the accuracy"


def test_what_is_kept_is_never_rounded_up_to_all() -> None:
    almost = summary(chosen=[(30, 0.95239)])
    assert headline(almost) == "30 of 412 columns keep 99.9 % of the accuracy"


def test_more_than_all_columns_reach_is_called_all() -> None:
    assert headline(summary(chosen=[(30, 0.96)])) == "30 of 412 columns keep all of the accuracy"


def test_a_score_that_knows_no_share_is_given_as_it_is() -> None:
    assert headline(summary(higher_is_better=False)).endswith("columns reach an accuracy of 0.940")
    assert headline(summary(all_columns=None)).endswith("columns reach an accuracy of 0.940")
    assert headline(summary(all_columns=(412, -0.1))).endswith("columns reach an accuracy of 0.940")


def test_a_k_that_was_not_measured_gets_no_score() -> None:
    assert headline(summary(k=20)) == "20 of 412 columns are chosen"
    assert cautions(summary(k=20)) == ["The accuracy of exactly 20 columns was not measured."]


# ---- the comparison -------------------------------------------------------------------------


def test_the_comparison_holds_chosen_all_and_random() -> None:
    assert comparison(summary()) == [
        ("the 30 chosen", "0.940 ± 0.010"),
        ("all 412", "0.952 ± 0.010"),
        ("30 drawn at random", "0.700 ± 0.020"),
    ]


def test_the_best_of_the_curve_is_named_where_it_is_elsewhere() -> None:
    rows = comparison(summary(k=10))
    assert rows[-1] == ("the best 30, the highest score of the curve", "0.940 ± 0.010")
    lower = comparison(summary(k=30, higher_is_better=False))
    assert lower[-1] == ("the best 10, the lowest score of the curve", "0.900 ± 0.010")


# ---- cautions -------------------------------------------------------------------------------


def test_a_good_choice_needs_no_caution() -> None:
    assert cautions(summary()) == []


def test_random_columns_that_do_as_well_are_named() -> None:
    (caution,) = cautions(summary(random=[(30, 0.935, 0.02)]))
    assert caution.startswith("Random columns do about as well: accuracy 0.935 ± 0.020")


def test_a_loss_that_is_more_than_noise_is_named() -> None:
    (caution,) = cautions(summary(all_columns=(412, 0.99, 0.01)))
    assert caution.startswith("Something is lost: all columns reach 0.990 ± 0.010")


def test_where_less_is_better_cautions_look_the_other_way() -> None:
    good = summary(higher_is_better=False, random=[(30, 1.2, 0.02)], all_columns=(412, 0.95, 0.01))
    assert cautions(good) == []
    bad = summary(higher_is_better=False, random=[(30, 0.9, 0.02)], all_columns=(412, 0.5, 0.01))
    assert [caution.partition(":")[0] for caution in cautions(bad)] == [
        "Random columns do about as well",
        "Something is lost",
    ]


def test_comparisons_that_were_not_made_are_named() -> None:
    assert cautions(summary(random=[], all_columns=None)) == [
        "No comparison with random columns was made.",
        "No comparison with all columns was made.",
    ]


# ---- at each k ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "text"),
    [
        (1, "accuracy not measured below k = 10"),
        (10, "accuracy 0.900 ± 0.010; 94.4 % of what all columns reach"),
        (20, "accuracy not measured here; 0.900 ± 0.010 at k = 10, 0.940 ± 0.010 at k = 30"),
        (
            30,
            "accuracy 0.940 ± 0.010; 98.6 % of what all columns reach; "
            "random columns 0.700 ± 0.020",
        ),
        (400, "accuracy not measured above k = 30"),
    ],
)
def test_each_k_has_its_words(k: int, text: str) -> None:
    assert [said for start, said in readouts(summary()) if start <= k][-1] == text


def test_a_k_that_reaches_what_all_reach_says_so() -> None:
    assert "; no less than all columns reach" in readouts(summary(chosen=[(30, 0.96)]))[1][1]


def test_neighboring_ks_leave_nothing_between() -> None:
    starts = [start for start, _ in readouts(summary(chosen=[(1, 0.5), (2, 0.6)]))]
    assert starts == [1, 2, 3]
