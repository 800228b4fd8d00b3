"""What a selector takes again and again."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import featuremask
from featuremask import FeatureMaskSelector, RandomSelector, StabilitySelection
from featuremask.evaluation import expected_errors, nogueira
from featuremask.exceptions import InputError
from featuremask.selectors import _stability as module
from featuremask.tables import Table

N, D, K = 80, 12, 3


def planted(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of which the first three columns tell the class."""
    draw = np.random.default_rng(seed)
    y = draw.integers(2, size=N)
    X = draw.normal(size=(N, D))
    X[:, :K] += 2.0 * y[:, None]
    return X, y


def stability(base: Any = None, **words: Any) -> StabilitySelection:
    base = SelectKBest(f_classif, k=K) if base is None else base
    return StabilitySelection(base, **{"n_resamples": 10, "random_state": 0, **words})


@parametrize_with_checks(
    [
        StabilitySelection(RandomSelector(0.8), n_resamples=2, threshold=0.5),
        StabilitySelection(FeatureMaskSelector(0.8, max_epochs=1), n_resamples=2, threshold=0.5),
    ]
)
def test_scikit_learns_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_features_that_matter_are_taken_every_time_and_come_first() -> None:
    X, y = planted()
    found = stability().fit(X, y)
    assert found.get_support(indices=True).tolist() == [0, 1, 2]
    assert set(np.argsort(found.ranking_)[:K]) == {0, 1, 2}
    assert (found.selection_frequencies_ == found.supports_.mean(0)).all()
    assert found.stability_ == nogueira(found.supports_) > 0.9
    low, high = found.stability_interval_
    assert low <= found.stability_ <= high


def test_halves_come_in_pairs_that_share_no_row_and_halve_each_class() -> None:
    X, y = planted()
    X = np.hstack([np.arange(N)[:, None], X])

    seen: list[tuple[set[int], int]] = []

    class Recording(SelectKBest):
        def fit(self, X: Any, y: Any) -> Any:
            seen.append((set(X[:, 0].astype(int)), int(y.sum())))
            return super().fit(X, y)

    stability(Recording(k=2), n_resamples=4).fit(X, y)
    for (one, ones), (other, others) in (seen[:2], seen[2:]):
        assert len(one) == len(other) == N // 2
        assert not one & other
        assert abs(ones - others) <= 1
    assert seen[0][0] != seen[2][0]


def test_the_threshold_may_be_changed_after_the_fit() -> None:
    found = stability(RandomSelector(4)).fit(*planted())
    frequencies = found.selection_frequencies_
    for threshold in (0.2, 0.5, 0.7):
        found.set_params(threshold=threshold)
        assert (found.support_ == (frequencies >= threshold - 1e-12)).all()
    assert found.error_bound_ == expected_errors(4, D, 0.7)
    assert np.isnan(found.set_params(threshold=0.5).error_bound_)


def test_chance_has_no_stability_and_what_takes_all_has_none_that_is_defined() -> None:
    X, y = planted()
    assert abs(stability(RandomSelector(3), n_resamples=40).fit(X, y).stability_) < 0.15
    everything = stability(SelectKBest(k="all")).fit(X, y)
    assert np.isnan(everything.stability_)
    assert np.isnan(everything.stability_interval_).all()


def test_each_fit_has_a_seed_of_its_own_and_one_seed_gives_one_result(
    untouched_generators: None,
) -> None:
    X, y = planted()
    one, same, other = (
        stability(RandomSelector(3), random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    assert (one.supports_ == same.supports_).all()
    assert (one.supports_ != other.supports_).any()
    assert len(np.unique(one.supports_, axis=0)) > 2
    stability(RandomSelector(3), random_state=None).fit(X, y)


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing() -> None:
    X, y = planted()
    base = FeatureMaskSelector(K, max_epochs=3)
    one, two = (stability(base, n_resamples=4, n_jobs=n).fit(X, y) for n in (1, 2))
    assert (one.supports_ == two.supports_).all()
    assert (one.ranking_ == two.ranking_).all()


def test_the_selector_that_was_given_is_not_changed() -> None:
    base = RandomSelector(3)
    before = base.get_params()
    found = stability(base).fit(*planted())
    assert base.get_params() == before
    assert not hasattr(base, "ranking_")
    assert clone(found).get_params()["selector__n_features_to_select"] == 3


@pytest.mark.parametrize("kind", ["frame", "sparse", "list"])
def test_rows_may_come_in_any_form(kind: str) -> None:
    X, y = planted()
    forms = {
        "frame": pd.DataFrame(X, columns=[f"c{i}" for i in range(D)]),
        "sparse": sparse.csr_matrix(X),
        "list": X.tolist(),
    }
    found = stability(RandomSelector(3)).fit(forms[kind], y)
    assert (found.supports_ == stability(RandomSelector(3)).fit(X, y).supports_).all()
    assert found.set_params(threshold=0.1).transform(forms[kind]).shape[0] == N


def test_columns_of_text_are_selected_as_they_are() -> None:
    X, y = planted()
    frame = pd.DataFrame({"noise": X[:, -1], "word": np.where(y, "yes", "no")})
    base = FeatureMaskSelector(1, categorical="auto", max_epochs=60)
    found = stability(base, n_resamples=2, threshold=1.0).fit(frame, y)
    assert found.selected_names_.tolist() == ["word"]
    assert found.transform(frame).columns.tolist() == ["word"]
    table = Table.of(frame)
    assert stability(base, n_resamples=2).fit(table, y).transform(table).names == ("word",)


def test_saving_and_loading_changes_nothing(tmp_path: Path) -> None:
    X, y = planted()
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(D)])
    found = stability(RandomSelector(4), threshold=0.3).fit(frame, y)
    found.save(tmp_path / "stability")
    again = featuremask.load(tmp_path / "stability")
    assert isinstance(again, StabilitySelection)
    assert isinstance(again.selector, RandomSelector)
    assert again.selector.n_features_to_select == 4
    for name in ("supports_", "selection_frequencies_", "ranking_", "support_"):
        assert (getattr(again, name) == getattr(found, name)).all()
    assert again.stability_ == found.stability_
    assert again.selected_names_.tolist() == found.selected_names_.tolist()
    assert (again.transform(frame) == found.transform(frame)).all()


def test_only_our_own_selectors_can_be_saved(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="if its selector is one of featuremask; got SelectKBest"):
        stability().fit(*planted()).save(tmp_path / "stability")


def test_the_table_is_ordered_by_frequency() -> None:
    table = stability().fit(*planted()).selection_table()
    assert list(table) == ["rank", "column", "frequency", "selected"]
    assert (np.diff(table["frequency"]) <= 0).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_resamples": 5}, "even number, at least 2; got 5"),
        ({"threshold": 0.0}, r"share in \(0, 1\]; got 0.0"),
        ({"base": "FM"}, "with fit and get_support; got 'FM'"),
    ],
)
def test_words_that_cannot_be_are_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stability(**words).fit(*planted())


def test_two_halves_need_four_rows() -> None:
    with pytest.raises(InputError, match="at least 4 rows"):
        stability().fit(np.eye(3), [0, 1, 0])


def test_features_taken_equally_often_go_by_their_mean_rank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    support = np.array([True, False, True, False])
    found = module._Taken(support, np.array([2, 4, 1, 3]), None)
    monkeypatch.setattr(module, "_taken", lambda fits, *_: [found] * len(fits))
    fitted = stability(n_resamples=4).fit(*planted())
    assert fitted.ranking_.tolist() == [2, 4, 1, 3]


def test_halves_of_an_odd_number_of_rows_are_of_one_size() -> None:
    draw = np.random.default_rng(0)
    for labels in (None, np.arange(21) % 3):
        one, other = module._halves(labels, 21, draw)
        assert len(one) == len(other) == 10
        assert not set(one.tolist()) & set(other.tolist())


@pytest.mark.parametrize("base", [LinearRegression(), object()])
def test_what_selects_nothing_is_no_base(base: Any) -> None:
    with pytest.raises((InputError, TypeError)):
        stability(base).fit(*planted())


# ---- progress -------------------------------------------------------------------------------


def test_how_far_it_is_and_how_long_it_takes_is_told_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = stability(verbose=True).fit(*planted())
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" after")[0] for line in lines] == [
        f"selecting: {done} of 10" for done in (3, 5, 8, 10)
    ]
    assert all(line.endswith(" s left") for line in lines)
    silent = stability().fit(*planted())
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(told.selection_frequencies_, silent.selection_frequencies_)
