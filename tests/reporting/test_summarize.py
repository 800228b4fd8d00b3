"""A summary says of a fitted selector what the selector says itself."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from featuremask import RandomSelector
from featuremask.exceptions import InputError
from featuremask.reporting import Curve, _summarize, render, summarize
from featuremask.tables import Hint

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
X[:, 3] = X[:, 0] + 0.01 * X[:, 1]
X[:, 4] = -X[:, 0]
Y = RNG.integers(0, 2, 200)
NAMES = list("abcdef")


def fitted(data: Any = X, y: Any = Y, k: int = 2, **words: Any) -> RandomSelector:
    return RandomSelector(k, random_state=0, **words).fit(data, y)


def ranked(selector: RandomSelector, ranks: list[int]) -> RandomSelector:
    selector.ranking_ = selector.group_ranking_ = np.array(ranks)
    return selector


def test_the_columns_are_those_of_the_selector() -> None:
    selector = fitted(pd.DataFrame(X, columns=NAMES), k=3)
    summary = summarize(selector)
    assert [column.name for column in summary.chosen] == selector.selected_names_.tolist()
    assert [selector.ranking_[column.position] for column in summary.columns] == [1, 2, 3, 4, 5, 6]
    assert [c.share for c in summary.columns] == selector.selection_table()["share"].tolist()
    assert summary.k == 3
    assert summary.named


def test_arrays_have_no_names() -> None:
    summary = summarize(fitted())
    assert not summary.named
    assert summary.columns[0].name == f"x{summary.columns[0].position}"


def test_a_group_has_one_place() -> None:
    summary = summarize(fitted(k=1, feature_groups=[0, 0, 0, 1, 1, 1]))
    assert [column.place for column in summary.columns] == [1, 1, 1, 2, 2, 2]
    assert (summary.k, len(summary.chosen), summary.data.n_places) == (1, 3, 2)
    assert "1 of 2 features (groups of columns count as one) are chosen" in render(summary)


def test_stability_follows_its_columns() -> None:
    selector = fitted()
    shares = np.arange(6) / 10
    found = summarize(selector, stability=shares)
    assert [c.stability for c in found.columns] == [shares[c.position] for c in found.columns]
    assert "stability" in render(found)
    with pytest.raises(InputError, match="one share from 0 to 1 for each of the 6 columns"):
        summarize(selector, stability=[0.5])


# ---- the data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [X, X.tolist(), scipy.sparse.csr_array(X), scipy.sparse.coo_array(X)],
    ids=["array", "list", "csr", "coo"],
)
def test_rows_and_like_columns_are_found_in_all_kinds_of_data(data: Any) -> None:
    summary = summarize(ranked(fitted(), [1, 2, 6, 3, 4, 5]), data, Y)
    assert (summary.data.n_rows, summary.data.n_columns, summary.data.gaps) == (200, 6, 0.0)
    (group,) = summary.redundancy or ()
    assert (group.columns, group.others) == (("x0",), ("x4", "x3"))
    assert 0.99 < group.correlation < 1.0


def test_chosen_columns_that_say_the_same_are_one_group() -> None:
    summary = summarize(ranked(fitted(k=3), [2, 1, 6, 3, 4, 5]), X, Y)
    (group,) = summary.redundancy or ()
    assert (group.columns, group.others) == (("x0", "x3"), ("x4",))


def test_columns_that_say_different_things_are_in_no_group() -> None:
    assert summarize(ranked(fitted(k=2), [6, 1, 2, 3, 4, 5]), X, Y).redundancy == ()
    assert summarize(fitted()).redundancy is None


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_is_summarized_as_it_was_read(frame: Any) -> None:
    data = frame(
        {
            "size": [1.0, None, 3.0, 4.0] * 50,
            "color": ["red", "blue", "red", "green"] * 50,
            "code": [f"id-{i}" for i in range(200)],
            "weight": [2.0, 4.0, 6.0, 8.0] * 50,
        }
    )
    with pytest.warns(UserWarning, match="code"):
        selector = fitted(data, k=1, missing="auto", categorical="auto")
    summary = summarize(ranked(selector, [1, 2, 4, 3]), data, Y)
    assert summary.data.kinds == {"number": 2, "category": 1, "identifier": 1}
    assert summary.data.gaps == pytest.approx(50 / 800)
    ((name, reason),) = summary.data.left_out
    assert name == "code"
    assert reason
    (group,) = summary.redundancy or ()  # not "color", though it is blue where "size" has its gap
    assert (group.columns, group.others) == (("size",), ("weight",))
    assert group.correlation == pytest.approx(0.966, abs=0.001)
    assert "Took no part" in render(summary)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["no", "yes"] * 100, "2 classes: no (100 rows), yes (100 rows)"),
        (np.arange(200) % 20, "and 12 more"),
        (np.linspace(0, 1, 200), "numbers from 0 to 1, mean 0.5"),
        (np.column_stack([np.linspace(0, 1, 200)] * 2), "numbers"),
        (None, "none; the columns reconstruct each other"),
    ],
)
def test_the_target_is_put_into_words(y: Any, words: str) -> None:
    assert summarize(fitted(y=y), X, y).data.target.endswith(words)


# ---- what else is said ----------------------------------------------------------------------


def test_settings_other_than_the_default_are_marked_and_do_it_again() -> None:
    summary = summarize(fitted(must_keep=(1,)))
    assert {s.name for s in summary.settings if s.changed} == {
        "n_features_to_select",
        "must_keep",
        "random_state",
    }
    found: dict[str, Any] = {"X": X, "y": Y}
    exec("\n".join(summary.repeat), found)
    assert found["selector"].ranking_.tolist() == fitted(must_keep=(1,)).ranking_.tolist()


def test_a_command_that_does_it_again_takes_the_place_of_python() -> None:
    assert summarize(fitted(), repeat=["featuremask select a.csv"]).repeat == (
        "featuremask select a.csv",
    )


def test_warnings_and_hints_become_notes() -> None:
    hint = Hint("duplicates", ("a", "b"), "a and b are equal. Drop one.")
    summary = summarize(fitted(), warnings=["careful"], hints=[hint])
    assert [(note.kind, note.columns) for note in summary.notes] == [
        ("warning", ()),
        ("duplicates", ("a", "b")),
    ]


def test_a_fit_that_cannot_be_repeated_is_noted() -> None:
    (note,) = summarize(RandomSelector(2).fit(X, Y)).notes
    assert note.message.startswith("random_state is None")


def test_it_is_said_that_not_all_chosen_columns_were_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_summarize, "_MOST_PAIRS", 12)
    summary = summarize(ranked(fitted(k=4), [1, 2, 3, 5, 4, 6]), X, Y)
    (note,) = summary.notes
    assert "among the best 2 of the 4 chosen columns" in note.message
    (group,) = summary.redundancy or ()
    assert (group.columns, group.others) == (("x0",), ("x3",))


def test_versions_and_curve_are_in_the_summary() -> None:
    curve = Curve("accuracy", "forest", [(2, 0.9)])
    summary = summarize(fitted(), curve=curve)
    assert summary.curve == curve
    assert {"featuremask", "python", "torch", "numpy"} <= set(summary.versions)
