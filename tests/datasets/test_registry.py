import hashlib

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csc_array
from sklearn.model_selection import train_test_split

from featuremask.datasets import (
    DatasetError,
    _memory,
    available,
    describe_all,
    fetch,
    load,
    register,
    unregister,
    where,
)
from featuremask.exceptions import FileFormatError, InputError

ROWS = np.random.default_rng(0).normal(size=(20, 3))


@pytest.fixture
def own(tmp_path):
    """Write an NPZ and its TOML file; gives the TOML file's path."""

    def write(y, more="", name="own"):
        np.savez(tmp_path / f"{name}.npz", X=ROWS, y=y)
        toml = tmp_path / f"{name}.toml"
        toml.write_text(f'name = "{name}"\npath = "{name}.npz"\n{more}')
        return toml

    return write


@pytest.fixture
def two_classes(own):
    return own(np.arange(20) % 2)


def forget_process(monkeypatch):
    """As in a new process."""
    monkeypatch.setattr(_memory, "_IN_PROCESS", {})


def test_a_registered_dataset_can_be_loaded_by_its_name(two_classes):
    assert register(two_classes) == "own"
    assert np.array_equal(load("own").X, ROWS)


def test_its_split_is_the_common_recipe(two_classes):
    register(two_classes)
    dataset = load("own")
    expected = train_test_split(ROWS, test_size=4, random_state=0, stratify=dataset.y)
    assert np.array_equal(dataset.X_test, expected[1])


def test_its_split_can_be_another(own):
    toml = own(np.arange(20) % 2, "[split]\ntest_size = 0.5\nrandom_state = 9\nstratify = false")
    register(toml)
    expected = train_test_split(ROWS, test_size=10, random_state=9)
    assert np.array_equal(load("own").X_train, expected[0])


def test_it_is_listed_described_and_found(two_classes, tmp_path):
    register(two_classes)
    assert available()[-1] == "own"
    assert describe_all()[-1]["kind"] == "registered"
    assert describe_all()[-1]["is_here"]
    assert where("own") == {"own.npz": tmp_path / "own.npz"}
    assert fetch("own") == [tmp_path / "own.npz"]


def test_the_same_name_twice_is_refused(two_classes):
    register(two_classes)
    with pytest.raises(InputError, match=r"'own' is registered already, by .*own\.toml; choose"):
        register(two_classes)


@pytest.mark.parametrize("name", ["mnist", "iris"])
def test_names_of_our_own_datasets_are_refused(own, name):
    with pytest.raises(InputError, match=f"'{name}' is the name of a dataset of featuremask"):
        register(own(np.arange(20) % 2, name=name))


def test_an_unregistered_name_is_free_again(two_classes):
    register(two_classes)
    unregister("own")
    assert "own" not in available()
    register(two_classes)


def test_what_is_not_registered_cannot_be_unregistered():
    with pytest.raises(InputError, match=r"no dataset 'own' is registered; there are \[\]"):
        unregister("own")


def test_a_registration_ends_with_the_process(two_classes, monkeypatch):
    register(two_classes)
    forget_process(monkeypatch)
    assert "own" not in available()


def test_a_remembered_registration_outlives_the_process(two_classes, monkeypatch):
    register(two_classes, remember=True)
    forget_process(monkeypatch)
    assert load("own").n_samples == 20
    with pytest.raises(InputError, match="is registered already"):
        register(two_classes)
    unregister("own")
    assert "own" not in available()


def test_the_first_process_to_remember_a_name_wins(two_classes, tmp_path):
    _memory.remember_set("own", tmp_path / "first.toml", on_disk=True)
    with pytest.raises(InputError, match="'own' is registered already in"):
        _memory.remember_set("own", two_classes, on_disk=True)
    assert _memory.known_sets() == {"own": tmp_path / "first.toml"}
    assert [entry.name for entry in (tmp_path / "config/featuremask/datasets").iterdir()] == ["own"]


def test_a_folder_that_cannot_be_written_is_an_error_with_a_way_out(two_classes, tmp_path):
    (tmp_path / "config").touch()
    with pytest.raises(DatasetError, match=r"register without remember=True"):
        register(two_classes, remember=True)


def test_a_toml_file_that_is_gone_spoils_its_own_dataset_only(two_classes):
    register(two_classes)
    two_classes.unlink()
    assert describe_all()[-1]["description"].startswith("cannot be read: there is no file")
    assert load("iris").n_samples == 150
    with pytest.raises(DatasetError, match="there is no file"):
        load("own")


def test_a_toml_file_that_changed_its_name_is_refused(two_classes):
    register(two_classes)
    two_classes.write_text(two_classes.read_text().replace('name = "own"', 'name = "other"'))
    with pytest.raises(InputError, match="registered as 'own' and now says name = 'other'"):
        load("own")


def test_data_that_are_gone_are_named(two_classes, tmp_path):
    register(two_classes)
    (tmp_path / "own.npz").unlink()
    assert where("own") == {"own.npz": None}
    with pytest.raises(DatasetError, match=r"needs the file .*own\.npz.*own\.toml"):
        load("own")


def test_a_sum_is_compared(own, tmp_path):
    toml = own(np.arange(20) % 2)
    sha256 = hashlib.sha256((tmp_path / "own.npz").read_bytes()).hexdigest()
    toml.write_text(toml.read_text() + f'sha256 = "{sha256}"')
    register(toml)
    assert load("own").n_samples == 20
    (tmp_path / "own.npz").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match=f"expected {sha256} .*an HTML page"):
        fetch("own")


@pytest.mark.parametrize(
    ("y", "names"),
    [
        (np.array(["no", "yes"] * 10), ("no", "yes")),
        (np.array([False, True] * 10), ("False", "True")),
        (np.array([1, -1] * 10), ("-1", "1")),
        (np.array([1.0, 2.0] * 10), ("1", "2")),
    ],
)
def test_classes_are_encoded_and_keep_their_names(own, y, names):
    register(own(y))
    dataset = load("own")
    assert dataset.target_names == names
    assert [dataset.target_names[code] for code in dataset.y[:2]] == [
        str(value).removesuffix(".0") for value in y[:2]
    ]


def test_numbers_with_fractions_are_a_regression(own):
    register(own(ROWS[:, 0]))
    dataset = load("own")
    assert dataset.task == "regression"
    assert dataset.target_names == ()
    assert np.array_equal(dataset.y, ROWS[:, 0])


def test_whole_numbers_are_a_regression_if_the_file_says_so(own):
    register(own(np.arange(20), 'task = "regression"'))
    assert load("own").y.dtype == np.float64


def test_too_many_classes_get_a_hint(own):
    register(own(np.arange(20)))
    with pytest.raises(InputError, match="or the task regression"):
        load("own")


def test_one_class_is_refused(own):
    register(own(np.zeros(20, dtype=int)))
    with pytest.raises(InputError, match=r"has one value only, \[0\]; two classes are needed"):
        load("own")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_target_that_is_not_finite_is_refused(own, bad):
    register(own(np.r_[bad, ROWS[1:, 0]]))
    with pytest.raises(InputError, match="must be finite; it has 1 values"):
        load("own")


def test_text_is_no_target_of_a_regression(own):
    register(own(np.array(["no", "yes"] * 10), 'task = "regression"'))
    with pytest.raises(InputError, match=r"holds text such as 'no'; say task = .classification"):
        load("own")


def test_images_have_their_shape(own):
    register(own(np.arange(20) % 2, "image_shape = [1, 3]"))
    dataset = load("own")
    assert dataset.domain == "image"
    assert dataset.as_images(dataset.X).shape == (20, 1, 3)


def test_a_shape_that_does_not_fit_the_features_is_refused(own):
    register(own(np.arange(20) % 2, "image_shape = [2, 3]"))
    with pytest.raises(InputError, match=r"multiply to the 3 features .* got \[2, 3\]"):
        load("own")


def test_a_sparse_matlab_file_can_be_registered(tmp_path):
    savemat(tmp_path / "own.mat", {"X": csc_array(ROWS), "Y": np.arange(20.0)[:, None] % 2 + 1})
    (tmp_path / "own.toml").write_text('name = "own"\npath = "own.mat"')
    register(tmp_path / "own.toml")
    dataset = load("own")
    assert dataset.X_train.shape == (16, 3)
    assert dataset.target_names == ("1", "2")
