import importlib.util

import numpy as np
import pytest

from featuremask import datasets
from featuremask.datasets import _fetchers
from featuremask.exceptions import MissingExtraError

FUNCTIONS = {
    "mnist": datasets.fetch_mnist,
    "fashion-mnist": datasets.fetch_fashion_mnist,
    "coil20": datasets.fetch_coil20,
    "isolet": datasets.fetch_isolet,
    "pcmac": datasets.fetch_pcmac,
}


@pytest.fixture
def iris_instead(monkeypatch):
    """Whatever is asked for, iris comes; gives what was asked."""
    asked = []

    def load(name, *, download_if_missing):
        asked.append((name, download_if_missing))
        return datasets.load("iris")

    monkeypatch.setattr(_fetchers, "load", load)
    return asked


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_loads_its_dataset(iris_instead, name):
    FUNCTIONS[name](download_if_missing=False)
    assert iris_instead == [(name, False)]


@pytest.mark.usefixtures("iris_instead")
def test_the_bunch_has_what_scikit_learn_gives_and_the_split():
    bunch = datasets.fetch_mnist()
    iris = datasets.load("iris")
    assert np.array_equal(bunch.data[bunch.test_index], iris.X_test)
    assert np.array_equal(bunch.target[bunch.train_index], iris.y_train)
    assert bunch.target_names == ["setosa", "versicolor", "virginica"]
    assert bunch.frame is None
    assert "License:" in bunch.DESCR


@pytest.mark.usefixtures("iris_instead")
def test_return_x_y_gives_the_whole_data():
    X, y = datasets.fetch_isolet(return_X_y=True)
    assert (X.shape, y.shape) == ((150, 4), (150,))


@pytest.mark.usefixtures("iris_instead")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_of_the_first_library_that_is_installed(monkeypatch, library):
    libraries = ("not_installed", library)
    monkeypatch.setattr(_fetchers, "_FRAME_LIBRARIES", libraries)
    bunch = datasets.fetch_pcmac(as_frame=True)
    assert type(bunch.data).__module__.startswith(library)
    assert bunch.data.shape == (150, 4)
    assert bunch.frame.shape == (150, 5)
    assert np.array_equal(np.asarray(bunch.target), datasets.load("iris").y)


@pytest.mark.usefixtures("iris_instead")
def test_frames_can_be_returned_alone():
    X, y = datasets.fetch_coil20(return_X_y=True, as_frame=True)
    assert next(iter(X.columns)) == "sepal length (cm)"
    assert y.name == "target"


@pytest.mark.usefixtures("iris_instead")
def test_without_a_frame_library_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        datasets.fetch_mnist(as_frame=True)


@pytest.mark.usefixtures("iris_instead")
def test_arrays_need_no_frame_library(monkeypatch):
    monkeypatch.setattr(_fetchers, "_FRAME_LIBRARIES", ())
    assert datasets.fetch_mnist().data.shape == (150, 4)
