"""In a notebook a selector shows what it found."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import featuremask
from featuremask import FeatureMaskSelector, RandomSelector

HOSTILE = "</script><script>alert(1)</script>"
X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 12)), columns=[HOSTILE, *"abcdefghijk"])
Y = np.arange(40) % 2


def fitted(k: int = 3, **words: object) -> RandomSelector:
    return RandomSelector(k, random_state=0, **words).fit(X, Y)


def test_before_the_fit_it_is_scikit_learns_diagram() -> None:
    assert "RandomSelector" in RandomSelector()._repr_html_()
    assert "columns</strong>" not in RandomSelector()._repr_html_()


def test_after_the_fit_shape_objective_k_and_the_best_are_shown() -> None:
    selector = fitted()
    text = selector._repr_html_()
    assert "<strong>3 of 12 columns</strong> (k = 3) · classification" in text
    assert "40 rows × 12 columns" in text
    assert "and 2 more" in text
    assert text.count("font-weight:bold") == 3
    best = selector.selected_names_[0]
    assert text.index("columns</strong>") < text.rindex(f">{best}</td>")


def test_names_are_text() -> None:
    assert "<script>alert" not in fitted(12)._repr_html_()
    assert "&lt;script&gt;alert(1)" in fitted(12, must_keep=[0])._repr_html_()


def test_groups_are_counted_as_one() -> None:
    assert "<strong>4 of 12 columns</strong> in 1 of 3 groups (k = 1)" in (
        fitted(1, feature_groups=[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])._repr_html_()
    )


def test_a_selector_that_was_read_from_a_file_shows_the_same(tmp_path: Path) -> None:
    selector = fitted()
    selector.save(tmp_path / "selector.fm")
    loaded = featuremask.load(tmp_path / "selector.fm")
    assert "40 rows × 12 columns" in loaded._repr_html_()


def test_the_widest_bar_is_that_of_the_largest_share() -> None:
    X, y = load_wine(return_X_y=True)
    shown = FeatureMaskSelector(3, max_epochs=2, random_state=0).fit(X, y)._repr_html_()
    widths = [float(width) for width in re.findall(r"width:([0-9.]+)em", shown)]
    assert max(widths) == 8.0
    assert all(0.0 <= width <= 8.0 for width in widths)


@pytest.mark.parametrize(("columns", "more"), [(10, ""), (11, "1 more"), (13, "3 more")])
def test_what_is_not_shown_is_counted_if_there_is_any(columns: int, more: str) -> None:
    X = np.random.default_rng(0).normal(size=(20, columns))
    shown = RandomSelector(2, random_state=0).fit(X, X[:, 0])._repr_html_()
    assert (more in shown) if more else (" more" not in shown)
