"""Displays show what a fitted selector and records hold, and whatever names there are."""

import itertools
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from featuremask import RandomSelector, StabilitySelection
from featuremask.exceptions import InputError, MissingExtraError
from featuremask.plot import (
    ComparisonDisplay,
    HistoryDisplay,
    ImportanceDisplay,
    MapDisplay,
    MaskDisplay,
    RedundancyDisplay,
    SelectionCurveDisplay,
    StabilityDisplay,
)
from featuremask.plot._history import effective_number

ODD = ["$\\frac{", "a_$_$ vs $^$", "</text><script>", "two\nlines\0", "", "a long name " * 15]
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(60, 6)), columns=ODD)
Y = RNG.integers(0, 2, 60)
RECORDS = [
    {"method": name, "k": k, "accuracy": 1 - 0.5 / k + seed / 100}
    for name in ODD
    for k in (1, 5, 100)
    for seed in range(2)
]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def selector(k: int = 4, **words: Any) -> RandomSelector:
    return RandomSelector(k, random_state=0, **words).fit(X, Y)


def texts(labels: Any) -> list[str]:
    return [text.get_text() for text in labels]


def shown(axis: Any) -> list[Any]:
    """Return where the labels of an axis are that can be seen."""
    low, high = sorted(axis.get_view_interval())
    places = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [
        text.get_window_extent() for at, text in places if low <= at <= high and text.get_text()
    ]


# ---- what all have in common ----------------------------------------------------------------

DRAW: dict[str, Callable[[Any], Any]] = {
    "importance": lambda ax: ImportanceDisplay.from_estimator(selector(), ax=ax),
    "curve": lambda ax: SelectionCurveDisplay.from_records(RECORDS, ax=ax),
    "history": lambda ax: HistoryDisplay([{"epoch": 1, "loss": 0.5}]).plot(ax=ax),
    "stability": lambda ax: StabilityDisplay.from_supports(np.eye(6), ODD, ax=ax),
    "comparison": lambda ax: ComparisonDisplay.from_records(RECORDS, ax=ax),
    "map": lambda ax: MapDisplay.from_estimator(selector(), X, np.array(ODD)[Y], ax=ax),
    "redundancy": lambda ax: RedundancyDisplay.from_estimator(selector(), X, ax=ax),
}


@pytest.mark.parametrize("name", DRAW)
def test_no_text_is_cut_or_over_another_whatever_the_names(name: str) -> None:
    figure = DRAW[name](None).figure_
    figure.canvas.draw()
    whole = figure.bbox
    for ax in figure.axes:
        for box in [*shown(ax.xaxis), *shown(ax.yaxis)]:
            assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1
            assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1
        upwards = sorted(shown(ax.yaxis), key=lambda box: box.y0)
        for lower, upper in itertools.pairwise(upwards):
            assert lower.y1 <= upper.y0 + 2


@pytest.mark.parametrize("name", DRAW)
def test_a_display_draws_into_the_axes_it_is_given(name: str) -> None:
    figure, ax = plt.subplots()
    before = plt.get_fignums()
    display = DRAW[name](ax)
    assert display.figure_ is figure
    assert ax.has_data()
    assert plt.get_fignums() == before


def test_without_matplotlib_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featuremask\[plot\]'"):
        ImportanceDisplay.from_estimator(selector())


# ---- importance -----------------------------------------------------------------------------


def test_bars_are_the_shares_of_the_best_features() -> None:
    fitted = selector()
    display = ImportanceDisplay.from_estimator(fitted, most=3)
    best = fitted.selection_table()["share"][:3]
    assert [bar.get_width() for bar in display.ax_.patches] == best.tolist()
    assert display.ax_.get_title() == "the best 3 of 6"


def test_columns_of_a_group_share_a_bar() -> None:
    display = ImportanceDisplay.from_estimator(selector(1, feature_groups=[0, 0, 0, 0, 1, 1]))
    assert len(display.ax_.patches) == 2
    assert sum(bar.get_width() for bar in display.ax_.patches) == pytest.approx(1.0)
    assert display.chosen.tolist() == [True, False]
    assert any("+ 1 more" in name for name in display.names)


# ---- curve and comparison -------------------------------------------------------------------


def test_runs_of_the_same_k_are_a_mean_with_a_deviation() -> None:
    display = SelectionCurveDisplay.from_records(RECORDS[:6], all_features=0.99, k=5)
    ((k, mean, std), *_) = display.curves[ODD[0]]
    assert (k, mean, std) == (1, pytest.approx(0.505), pytest.approx(0.01 / np.sqrt(2)))
    assert texts(display.ax_.get_legend().get_texts())[1:] == ["all features", "selected: 5"]
    assert texts(display.ax_.get_xticklabels()) == ["100", "5", "1"]


def test_a_selector_is_judged_beside_random_features() -> None:
    data = SimpleNamespace(
        X_train=X[:40].to_numpy(), y_train=Y[:40], X_test=X[40:].to_numpy(), y_test=Y[40:]
    )
    display = SelectionCurveDisplay.from_estimator(selector(), data, classifier="knn", seeds=(0, 1))
    assert list(display.curves) == ["best features", "random features"]
    assert [k for k, *_ in display.curves["best features"]] == [1, 2, 4, 6]
    assert display.curves["best features"][-1][1] == pytest.approx(display.all_features)


@pytest.mark.parametrize("display", [SelectionCurveDisplay, ComparisonDisplay])
def test_records_that_lack_something_are_an_error(display: Any) -> None:
    with pytest.raises(InputError, match="one has only"):
        display.from_records([{"method": "fm"}])
    with pytest.raises(InputError, match="At least one record"):
        display.from_records([])


@pytest.mark.parametrize(("higher", "first"), [(True, "good"), (False, "bad")])
def test_the_best_method_is_on_top(higher: bool, first: str) -> None:
    display = ComparisonDisplay({"bad": [0.1, 0.2], "good": [0.9]}, higher_is_better=higher).plot()
    assert texts(display.ax_.get_yticklabels())[0] == first
    assert display.ax_.yaxis_inverted()


def test_a_method_without_scores_is_an_error() -> None:
    with pytest.raises(InputError, match="at least one score"):
        ComparisonDisplay({"fm": []})


# ---- mask and history -----------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_mask_lies_as_the_images_do(order: Any) -> None:
    fitted = selector()
    display = MaskDisplay.from_estimator(fitted, (2, 3), order=order)
    assert display.chosen.ravel(order=order).tolist() == fitted.support_.tolist()
    assert texts(ax.title for ax in display.axes_) == ["importance", "the 4 selected"]


def test_a_mask_of_another_shape_is_an_error() -> None:
    with pytest.raises(InputError, match=r"as many pixels as the data has columns, 6; got 2 x 2"):
        MaskDisplay.from_estimator(selector(), (2, 2))


def test_a_mask_needs_two_axes() -> None:
    with pytest.raises(InputError, match="ax must be 2 matplotlib Axes; got 1"):
        MaskDisplay.from_estimator(selector(), (2, 3), ax=plt.subplots()[1])


def test_a_history_shows_both_losses_and_the_sharpness() -> None:
    history = [{"epoch": i, "loss": 1 / i, "validation_loss": 2 / i} for i in (1, 2, 3)]
    display = HistoryDisplay(history, [(1, 30.0), (3, 5.0)]).plot()
    assert len(display.axes_[0].lines) == 2
    assert display.axes_[1].lines[0].get_ydata().tolist() == [30.0, 5.0]


def test_a_selector_that_was_not_trained_has_no_history() -> None:
    with pytest.raises(InputError, match="RandomSelector was not trained"):
        HistoryDisplay.from_estimator(selector())


@pytest.mark.parametrize(
    ("shares", "n"), [([1, 1, 1], 3.0), ([0, 0, 9], 1.0), ([0, 0], 2.0), ([-1, 2, 2], 2.0)]
)
def test_a_mask_spans_as_many_features_as_share_it(shares: list[float], n: float) -> None:
    assert effective_number(shares) == pytest.approx(n)


# ---- stability, map, redundancy -------------------------------------------------------------


def test_the_most_chosen_features_are_on_top_and_those_never_chosen_left_out() -> None:
    display = StabilityDisplay.from_supports([[0, 1, 0], [1, 1, 0]], ["a", "b", "c"])
    assert texts(display.ax_.get_yticklabels()) == ["b", "a"]
    assert display.stability == pytest.approx(1 / 3)


def test_selections_of_several_selectors_are_shown_with_their_names() -> None:
    display = StabilityDisplay.from_estimators([selector(), selector(5)])
    assert list(display.names) == ODD
    assert display.supports.sum(axis=1).tolist() == [4, 5]


def test_a_stability_selection_is_shown() -> None:
    selection = StabilitySelection(RandomSelector(2), n_resamples=4, random_state=0).fit(X, Y)
    display = StabilityDisplay.from_estimator(selection)
    assert list(display.names) == ODD
    assert display.stability == pytest.approx(selection.stability_)


def test_everything_chosen_has_no_stability() -> None:
    assert StabilityDisplay.from_supports(np.ones((2, 3))).stability is None


@pytest.mark.parametrize(
    ("supports", "names", "said"),
    [([1, 0], None, "two or more rows"), (np.eye(2), ["a"], "one name for each of the 2")],
)
def test_selections_that_make_no_sense_are_an_error(supports: Any, names: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        StabilityDisplay.from_supports(supports, names)


@pytest.mark.parametrize("target", [None, Y, np.arange(60.0), [f"c{i}" for i in range(60)]])
def test_a_map_has_one_point_a_row(target: Any) -> None:
    display = MapDisplay.from_estimator(selector(), X, target)
    assert display.points.shape == (60, 2)
    assert sum(len(cloud.get_offsets()) for cloud in display.ax_.collections) == 60


def test_a_map_needs_two_numbers() -> None:
    with pytest.raises(InputError, match="at least two numbers in the selected columns; got 1"):
        MapDisplay.from_estimator(selector(1), X, Y)


def test_columns_that_are_alike_stand_together() -> None:
    data = X.rename(columns=dict(zip(ODD, "abcdef", strict=True)))
    data["e"] = data["a"] + 0.01 * data["b"]
    fitted = RandomSelector(6, random_state=0).fit(data, Y)
    display = RedundancyDisplay.from_estimator(fitted, data)
    assert abs(display.names.index("a") - display.names.index("e")) == 1
    assert np.diag(display.similarity).tolist() == pytest.approx([1.0] * 6)
