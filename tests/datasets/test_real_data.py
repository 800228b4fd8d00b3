"""The five public datasets as they are: Table I of the paper and what else is promised of them."""

import hashlib

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from featuremask.datasets import describe_all, fetch, fetch_mnist, load, where
from featuremask.datasets._catalog import PUBLIC_SETS

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("use_real_data")]

TABLE_1 = {
    "mnist": (784, 60_000, 10_000, 10, "image"),
    "fashion-mnist": (784, 60_000, 10_000, 10, "image"),
    "coil20": (1024, 1152, 288, 20, "image"),
    "isolet": (617, 1248, 312, 26, "speech"),
    "pcmac": (3289, 1555, 388, 2, "text"),
}
SPLIT_BY_RECIPE = ["coil20", "isolet", "pcmac"]
VALUES = {
    "mnist": (np.uint8, 0, 255),
    "fashion-mnist": (np.uint8, 0, 255),
    "coil20": (np.float64, 0, 1),
    "isolet": (np.float64, -1, 1),
    "pcmac": (np.float32, 0, 149),
}


@pytest.fixture(scope="module")
def loaded():
    """Datasets that were loaded once; do not change them."""
    return {}


@pytest.fixture(params=TABLE_1)
def dataset(request, loaded):
    name = request.param
    if name not in loaded:
        loaded[name] = load(name, download_if_missing=False)
    return loaded[name]


def test_table_1_of_the_paper_comes_from_the_loaders(dataset):
    assert tuple(dataset.summary().values()) == (dataset.name, *TABLE_1[dataset.name])


def test_the_arrays_have_the_sizes_of_the_split(dataset):
    n_features, n_train, n_test, *_ = TABLE_1[dataset.name]
    assert dataset.X_train.shape == (n_train, n_features)
    assert dataset.X_test.shape == (n_test, n_features)
    assert (len(dataset.y_train), len(dataset.y_test)) == (n_train, n_test)


def test_what_is_described_without_loading_is_true(dataset):
    described = {entry["name"]: entry for entry in describe_all()}[dataset.name]
    assert described["is_here"]
    assert {key: described[key] for key in dataset.summary()} == dataset.summary()


def test_values_are_those_of_the_file(dataset):
    dtype, low, high = VALUES[dataset.name]
    assert dataset.X.dtype == dtype
    assert (dataset.X.min(), dataset.X.max()) == (low, high)


def test_each_class_is_on_both_sides_of_the_split(dataset):
    classes = list(range(dataset.n_classes))
    assert np.unique(dataset.y_train).tolist() == classes
    assert np.unique(dataset.y_test).tolist() == classes


def test_every_feature_has_its_own_name(dataset):
    assert len(set(dataset.feature_names)) == dataset.n_features


@pytest.mark.parametrize("name", SPLIT_BY_RECIPE)
def test_the_split_is_that_of_the_recipe(name):
    dataset = load(name)
    expected = train_test_split(
        dataset.X,
        dataset.y,
        test_size=int(0.2 * dataset.n_samples),
        random_state=0,
        stratify=dataset.y,
    )
    found = [dataset.X_train, dataset.X_test, dataset.y_train, dataset.y_test]
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    assert np.array_equal(dataset.split(0).test, dataset.test)


@pytest.mark.parametrize("name", SPLIT_BY_RECIPE)
def test_every_row_is_on_one_side_of_the_split(name):
    dataset = load(name)
    rows = np.sort(np.concatenate([dataset.train, dataset.test]))
    assert np.array_equal(rows, np.arange(dataset.n_samples))


def test_the_official_split_is_a_view_without_a_copy():
    mnist = load("mnist")
    assert np.shares_memory(mnist.X_train, mnist.X)


def test_the_digits_of_mnist_are_upright():
    """A seven has its bar at the top, a one is higher than wide."""
    mnist = load("mnist")
    seven = mnist.as_images(mnist.X_train[mnist.y_train == 7]).mean(axis=0)
    assert seven[:12].sum() > 1.2 * seven[16:].sum()
    one = mnist.as_images(mnist.X_train[mnist.y_train == 1]).mean(axis=0)
    assert one.max(axis=1).sum() > one.max(axis=0).sum()


def test_the_objects_of_coil20_are_upright():
    """The duck, object 1, is wider at the bottom than at its head."""
    coil20 = load("coil20")
    duck = coil20.as_images(coil20.X[coil20.y == 0]) > 0.1
    assert duck[:, 20:28].sum() > 1.5 * duck[:, 4:12].sum()


def test_a_pixel_is_named_by_its_place_in_the_upright_image():
    coil20 = load("coil20")
    image = coil20.as_images(np.arange(1024))
    assert coil20.feature_names[image[3, 5]] == "pixel_3_5"


def test_pcmac_is_sparse_counts():
    pcmac = load("pcmac")
    assert (pcmac.X == 0).mean() == pytest.approx(0.985, abs=0.001)
    assert not (pcmac.X % 1).any()
    assert np.bincount(pcmac.y).tolist() == [982, 961]


def test_neighbors_of_isolet_and_coil20_share_labels():
    """Rows and labels belong together."""
    for name in ("isolet", "coil20"):
        dataset = load(name)
        model = KNeighborsClassifier(1).fit(dataset.X_train, dataset.y_train)
        assert model.score(dataset.X_test, dataset.y_test) > 0.8


def test_fetch_checks_the_files(real_data):
    assert all(str(path).startswith(real_data) for path in fetch("coil20"))
    assert all(where("fashion-mnist").values())


def test_as_frame_gives_named_columns():
    frame = fetch_mnist(as_frame=True).frame
    assert frame.shape == (70_000, 785)
    assert list(frame.columns[-2:]) == ["pixel_27_27", "target"]


def test_the_declared_sums_are_those_of_the_files(real_data):
    """Computed here anew, by another way than the loaders'."""
    import gzip
    from pathlib import Path

    for file in PUBLIC_SETS["mnist"].files[1::2] + PUBLIC_SETS["isolet"].files:
        raw = Path(real_data, file.path).read_bytes()
        content = gzip.decompress(raw) if file.path.endswith(".gz") else raw
        assert hashlib.sha256(content).hexdigest() == file.sha256
        assert len(content) == file.size
