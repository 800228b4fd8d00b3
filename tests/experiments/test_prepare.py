from dataclasses import replace

import numpy as np
import pytest

from featuremask.datasets import load
from featuremask.exceptions import InputError
from featuremask.experiments import DatasetSpec, HoldOut
from featuremask.experiments._prepare import fingerprint, prepare, prepared


@pytest.fixture
def digits() -> DatasetSpec:
    return DatasetSpec("digits", "digits", "digits", fingerprint(load("digits")))


def test_the_declared_data_are_given_as_they_are(digits: DatasetSpec) -> None:
    found, raw = prepare(digits), load("digits")
    np.testing.assert_array_equal(found.X_train, raw.X_train)
    np.testing.assert_array_equal(found.y_test, raw.y_test)
    assert found.X_train.dtype == np.float32
    assert prepare(digits) is found


def test_other_data_are_refused_with_their_fingerprint(digits: DatasetSpec) -> None:
    wrong = replace(digits, content="0000")
    with pytest.raises(InputError, match=f"must be '0000', but it is '{digits.content}'"):
        prepare(wrong)


def test_a_fingerprint_follows_values_targets_and_split() -> None:
    iris = load("iris")
    prints = {
        fingerprint(data)
        for data in (
            iris,
            replace(iris, X=iris.X + 1),
            replace(iris, y=iris.y[::-1]),
            iris.split(1),
        )
    }
    assert len(prints) == 4


def test_a_fingerprint_does_not_depend_on_how_values_are_stored() -> None:
    digits = load("digits")
    assert fingerprint(replace(digits, X=digits.X.astype(np.uint8))) == fingerprint(digits)


def test_unit_scaling_divides_by_the_declared_number(digits: DatasetSpec) -> None:
    found = prepare(replace(digits, scaling="unit", divisor=16.0))
    assert (found.X_train.min(), found.X_train.max()) == (0.0, 1.0)


def test_counts_can_be_taken_by_their_logarithm(digits: DatasetSpec) -> None:
    found = prepare(replace(digits, scaling="log1p"))
    np.testing.assert_allclose(found.X_test, np.log1p(load("digits").X_test), rtol=1e-6)


def test_columns_can_be_divided_by_their_largest_training_value(digits: DatasetSpec) -> None:
    found = prepare(replace(digits, scaling="maxabs"))
    assert set(np.unique(found.X_train.max(axis=0))) == {0.0, 1.0}


def test_a_hold_out_is_cut_from_the_training_rows_alone(digits: DatasetSpec) -> None:
    raw = load("digits")
    tagged = replace(raw, X=np.arange(float(len(raw.X)))[:, None] + 0.0 * raw.X)
    part = prepared(tagged, replace(digits, hold_out=HoldOut(rows=500, fraction=0.1)))
    kept, held = set(part.X_train[:, 0]), set(part.X_test[:, 0])
    assert (len(kept), len(held)) == (450, 50)
    assert not kept & held
    assert kept | held <= set(tagged.X_train[:, 0])


def test_a_hold_out_of_few_rows_takes_all_of_them(digits: DatasetSpec) -> None:
    part = prepare(replace(digits, hold_out=HoldOut(rows=10_000, fraction=0.1)))
    assert len(part.X_train) + len(part.X_test) == len(load("digits").train)


def test_another_split_shuffles_the_rows_anew(digits: DatasetSpec) -> None:
    found, raw = prepare(replace(digits, split=3)), load("digits").split(3)
    np.testing.assert_array_equal(found.X_test, raw.X_test)
    assert not np.array_equal(found.y_test, load("digits").y_test)
