from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import train_test_split

from featuremask.datasets import load
from featuremask.datasets._dataset import Dataset, split_rows
from featuremask.exceptions import InputError


def make(**changes):
    rng = np.random.default_rng(0)
    fields = {
        "name": "made",
        "X": rng.normal(size=(20, 6)),
        "y": np.arange(20) % 2,
        "train": np.arange(15),
        "test": np.arange(15, 20),
        "feature_names": tuple("abcdef"),
        "target_names": ("no", "yes"),
    }
    return Dataset(**(fields | changes))


def test_its_fields_cannot_be_changed():
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'X'"):
        make().X = None


def test_it_prints_as_one_line():
    assert repr(make()) == "Dataset('made', 20 x 6, 15 train, 5 test, 2 classes)"


def test_a_regression_prints_as_one_line():
    dataset = make(target_names=(), task="regression")
    assert repr(dataset).endswith("5 test, a real target)")


@pytest.mark.parametrize("rows", [[3, 1, 2], [4, 5, 6]])
def test_the_sides_are_the_rows_of_the_split(rows):
    dataset = make(train=np.array(rows))
    assert np.array_equal(dataset.X_train, dataset.X[rows])
    assert np.array_equal(dataset.y_train, dataset.y[rows])


def test_neighboring_rows_are_a_view_and_others_a_copy():
    dataset = make(test=np.array([17, 19]))
    assert np.shares_memory(dataset.X_train, dataset.X)
    assert not np.shares_memory(dataset.X_test, dataset.X)


def test_a_sparse_matrix_can_be_split():
    dataset = make(X=csr_array(np.eye(20, 6)))
    assert dataset.X_test.shape == (5, 6)
    assert dataset.X_train.toarray()[0, 0] == 1


def test_an_empty_side_is_empty():
    assert make(test=np.array([], dtype=np.intp)).X_test.shape == (0, 6)


def test_another_split_has_the_same_sizes_and_class_shares():
    dataset = make(y=np.arange(20) % 4 // 3)
    other = dataset.split(7)
    assert len(other.test) == 5
    assert np.bincount(other.y_train).tolist() == [11, 4]
    assert other.X is dataset.X


def test_seeds_give_different_splits_and_one_seed_the_same():
    dataset = make()
    assert np.array_equal(dataset.split(1).test, dataset.split(1).test)
    assert not np.array_equal(dataset.split(1).test, dataset.split(2).test)


def test_a_new_split_forgets_the_rows_of_the_old_one():
    dataset = make()
    assert dataset.X_test.shape == (5, 6)
    other = dataset.split(3)
    assert np.array_equal(other.X_test, dataset.X[other.test])


def test_a_split_that_is_not_stratified_ignores_the_classes():
    lonely = np.array([1] + [0] * 19)
    assert len(make(y=lonely, stratified=False).split(0).test) == 5
    with pytest.raises(InputError, match="20 rows cannot be split into 15 for training and 5"):
        make(y=lonely).split(0)


def test_split_rows_is_the_recipe_of_scikit_learn():
    labels = np.arange(50) % 3
    rows = np.arange(50)
    expected = train_test_split(rows, labels, test_size=10, random_state=4, stratify=labels)
    train, test = split_rows(50, 10, 4, labels)
    assert np.array_equal(train, expected[0])
    assert np.array_equal(test, expected[1])


def test_images_that_lie_row_by_row():
    dataset = make(image_shape=(2, 3))
    assert dataset.as_images([0, 1, 2, 3, 4, 5]).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_images_that_lie_column_by_column():
    dataset = make(image_shape=(2, 3), image_order="F")
    assert dataset.as_images([0, 1, 2, 3, 4, 5]).tolist() == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_images_at_once(order):
    dataset = make(image_shape=(2, 3), image_order=order)
    many = dataset.as_images(dataset.X)
    assert many.shape == (20, 2, 3)
    assert np.array_equal(many[4], dataset.as_images(dataset.X[4]))


def test_only_images_are_laid_out():
    with pytest.raises(InputError, match="needs a dataset of images; 'made' is not one"):
        make().as_images(np.zeros(6))


@pytest.mark.parametrize("values", [np.zeros(5), np.float64(1)])
def test_images_need_one_value_a_feature(values):
    with pytest.raises(InputError, match=r"needs 6 values in the last axis.*array.shape="):
        make(image_shape=(2, 3)).as_images(values)


def test_other_splits_keep_everything_else():
    digits = load("digits")
    other = digits.split(1)
    assert replace(other, train=digits.train, test=digits.test).summary() == digits.summary()
    assert other.image_shape == (8, 8)
