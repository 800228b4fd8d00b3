import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from featuremask.datasets import describe_all, load
from featuremask.datasets._builtin import BUILTIN_SETS


@pytest.mark.parametrize("name", BUILTIN_SETS)
def test_what_is_described_without_loading_is_true(name):
    described = {entry["name"]: entry for entry in describe_all()}[name]
    summary = load(name).summary()
    assert {key: described[key] for key in summary} == summary


@pytest.mark.parametrize("name", BUILTIN_SETS)
def test_the_split_is_that_of_the_recipe(name):
    dataset = load(name)
    labels = dataset.y if dataset.task == "classification" else None
    expected = train_test_split(
        dataset.X, test_size=int(0.2 * dataset.n_samples), random_state=0, stratify=labels
    )
    assert np.array_equal(dataset.X_train, expected[0])
    assert np.array_equal(dataset.X_test, expected[1])


def test_names_of_features_and_classes_come_along():
    iris = load("iris")
    assert iris.feature_names[0] == "sepal length (cm)"
    assert iris.target_names == ("setosa", "versicolor", "virginica")


def test_a_real_target_stays_real():
    diabetes = load("diabetes")
    assert diabetes.task == "regression"
    assert diabetes.y.dtype == np.float64
    assert not diabetes.stratified
