"""The selector works wherever a scikit-learn transformer does."""

import copy
import pickle
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from featuremask import FeatureMaskSelector

N, D = 90, 6


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, D))
    return X, (X[:, 4] > 0).astype(int)


def selector(k: Any = 2, **words: Any) -> FeatureMaskSelector:
    return FeatureMaskSelector(k, **{"max_epochs": 40, "random_state": 0, **words})


def test_in_a_pipeline(data: Any) -> None:
    pipeline = make_pipeline(StandardScaler(), selector(), LogisticRegression()).fit(*data)
    assert pipeline.score(*data) > 0.9
    assert pipeline[:-1].get_feature_names_out().shape == (2,)


def test_in_a_grid_search(data: Any) -> None:
    pipeline = Pipeline([("select", selector(strategy="joint")), ("model", LogisticRegression())])
    grid = {"select__n_features_to_select": [1, 3], "select__strategy": ["joint", "sequential"]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(*data)
    assert search.best_score_ > 0.8
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_in_a_cross_validation_of_data_frames(data: Any) -> None:
    frame = pd.DataFrame(data[0], columns=list("abcdef"))
    pipeline = make_pipeline(selector(strategy="joint"), LogisticRegression())
    assert cross_val_score(pipeline, frame, pd.Series(data[1]), cv=3).min() > 0.8


def test_in_a_union_of_features(data: Any) -> None:
    union = FeatureUnion([("two", selector(2)), ("three", selector(3))]).fit(*data)
    assert union.transform(data[0]).shape == (N, 5)


def test_in_a_transformer_of_columns(data: Any) -> None:
    frame = pd.DataFrame(data[0], columns=list("abcdef"))
    parts = ColumnTransformer([("some", selector(1), ["a", "e"])], remainder="passthrough")
    out = parts.fit(frame, data[1]).get_feature_names_out().tolist()
    assert out[0].startswith("some__")
    assert len(out) == 5


def test_by_a_threshold(data: Any) -> None:
    fitted = selector(None, strategy="joint").fit(*data)
    for threshold in ("mean", 0.2):
        bound = fitted.feature_importances_.mean() if threshold == "mean" else threshold
        chosen = SelectFromModel(fitted, threshold=threshold, prefit=True).get_support()
        assert np.array_equal(chosen, fitted.feature_importances_ >= bound)
    refitted = SelectFromModel(selector(None, strategy="joint"), max_features=1).fit(*data)
    assert refitted.get_support(indices=True).tolist() == [4]


def test_weights_are_routed(data: Any) -> None:
    weight = np.where(np.arange(N) < 45, 1.0, 0.0)
    with config_context(enable_metadata_routing=True):
        asking = selector().set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(asking, model).fit(*data, sample_weight=weight)
    expected = selector().fit(*data, sample_weight=weight)
    assert np.array_equal(pipeline[0].scores_, expected.scores_)
    assert not np.array_equal(pipeline[0].scores_, selector().fit(*data).scores_)


def test_a_clone_is_unfitted_and_equal(data: Any) -> None:
    fitted = selector(must_keep=[1], feature_groups=[0, 0, 1, 2, 3, 4]).fit(*data)
    again = clone(fitted)
    assert not hasattr(again, "ranking_")
    assert np.array_equal(again.fit(*data).scores_, fitted.scores_)


@pytest.mark.parametrize(
    "through",
    [
        pytest.param(lambda s, path: pickle.loads(pickle.dumps(s)), id="pickle"),
        pytest.param(lambda s, path: (joblib.dump(s, path), joblib.load(path))[1], id="joblib"),
        pytest.param(lambda s, path: copy.deepcopy(s), id="deepcopy"),
    ],
)
def test_a_copy_is_equal_in_all_it_tells(data: Any, through: Any, tmp_path: Any) -> None:
    fitted = selector(max_epochs=3).fit(*data)
    again = through(fitted, tmp_path / "selector.joblib")
    assert again.get_params() == fitted.get_params()
    for name in ("scores_", "ranking_", "feature_importances_", "support_", "classes_"):
        assert np.array_equal(getattr(again, name), getattr(fitted, name))
    assert again.history_ == fitted.history_
    rows = torch.from_numpy(data[0])
    assert torch.equal(again.network_(rows), fitted.network_(rows))
    assert np.array_equal(again.transform(data[0]), fitted.transform(data[0]))


# ---- scikit-learn's callbacks ---------------------------------------------------------------

has_callbacks = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 9),
    reason="scikit-learn has callbacks since 1.9",
)


class Told:
    """A callback that writes down what it is told, and may stop the fit."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.pages, self.records = stop_after, [], []

    def setup(self, estimator: Any, context: Any) -> None:
        self.pages.append("setup")

    def teardown(self, estimator: Any, context: Any) -> None:
        self.pages.append("teardown")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.pages.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> bool:
        self.pages.append(f"end {context.task_name}")
        if context.task_name == "epoch":
            self.records.append(metadata)
        return len(self.records) == self.stop_after


@has_callbacks
def test_a_callback_of_scikit_learn_is_told_of_each_epoch(data: Any) -> None:
    told = Told()
    fitted = selector(max_epochs=2).set_callbacks(told).fit(*data)
    epoch = ["begin epoch", "end epoch"]
    assert told.pages == ["setup", "begin fit", *epoch, *epoch, "end fit", "teardown"]
    assert told.records == fitted.history_


@has_callbacks
def test_a_callback_of_scikit_learn_may_end_the_fit(data: Any) -> None:
    told = Told(stop_after=3)
    assert len(selector().set_callbacks(told).fit(*data).history_) == 3
    assert told.pages[-1] == "teardown"


@has_callbacks
def test_a_callback_of_scikit_learn_is_taken_down_after_a_failure(data: Any) -> None:
    told = Told()
    failing = selector(loss=lambda output, target: 1 / 0).set_callbacks(told)
    with pytest.raises(ZeroDivisionError, match="division"):
        failing.fit(*data)
    assert told.pages == ["setup", "begin fit", "teardown"]


@has_callbacks
@pytest.mark.parametrize("words", [{"max_epochs": 3}, {"max_epochs": "auto"}])
def test_the_progress_bar_of_scikit_learn_runs(
    data: Any, words: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from sklearn.callback import ProgressBar

    bar = ProgressBar()
    fitted = selector(**words).set_callbacks(bar).fit(*data)
    assert "FeatureMaskSelector" in capsys.readouterr().out
    assert sorted(fitted.ranking_) == [1, 2, 3, 4, 5, 6]
