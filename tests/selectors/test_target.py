"""The kind of a target is read from its type, and said where it is doubtful."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.selectors._target import Target, named_classes, read_target


def read(y: Any, objective: str = "auto", loss: Any = None, weight: Any = None) -> Target:
    return read_target(y, objective, loss, 4, torch.float32, weight)


@pytest.mark.parametrize(
    ("y", "kind", "n_outputs"),
    [
        pytest.param(None, "reconstruction", 4, id="no target"),
        pytest.param(np.array([0, 1, 1]), "classification", 2, id="two classes"),
        pytest.param(np.array([5, 1, 9]), "classification", 3, id="whole numbers"),
        pytest.param(np.array([True, False, True]), "classification", 2, id="true and false"),
        pytest.param(np.array(["b", "a", "c"]), "classification", 3, id="strings"),
        pytest.param(np.array(["b", "a"], dtype=object), "classification", 2, id="objects"),
        pytest.param(np.array([1.0, 2.0, 1.0]), "classification", 2, id="floats that are whole"),
        pytest.param(np.array([0.5, 2.0, 1.0]), "regression", 1, id="numbers"),
        pytest.param(np.array([[0, 1], [1, 1], [1, 0]]), "classification", 2, id="labels"),
        pytest.param(np.array([[0.5, 1], [2, 1], [1, 0]]), "regression", 2, id="several numbers"),
    ],
)
def test_the_type_of_a_target_says_what_is_learned(y: Any, kind: str, n_outputs: int) -> None:
    target = read(y)
    assert target.objective.kind == kind
    assert target.objective.n_outputs == n_outputs


def test_classes_become_numbers_in_their_order() -> None:
    target = read(np.array(["b", "a", "c", "b"]))
    assert target.classes is not None
    assert target.classes.tolist() == ["a", "b", "c"]
    assert target.values is not None
    assert target.values.tolist() == [1, 0, 2, 1]


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of scikit-learn below 1.8
def test_whole_numbers_of_many_values_are_read_as_numbers_with_a_warning() -> None:
    y = np.arange(100)
    with pytest.warns(FeatureMaskWarning, match=r"100 distinct whole numbers.*regression") as seen:
        assert read(y).objective.kind == "regression"
    own = [str(one.message) for one in seen if one.category is FeatureMaskWarning]
    assert len(own) == 1
    assert 'objective="classification"' in own[0]


def test_many_classes_with_enough_rows_each_are_classes() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(np.repeat(np.arange(50), 10)).objective.n_outputs == 50


@pytest.mark.parametrize("objective", ["classification", "regression"])
def test_a_word_overrides_the_reading_without_a_warning(objective: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(np.arange(100), objective).objective.kind == objective


def test_reconstruction_leaves_a_target_aside() -> None:
    target = read(np.array([0, 1]), "reconstruction")
    assert target.objective.kind == "reconstruction"
    assert target.values is None


def test_numbers_are_centered_and_scaled_by_weight() -> None:
    y, weight = np.array([0.5, 10.0, 20.0, 99.0]), np.array([1.0, 2.0, 1.0, 0.0])
    target = read(y, weight=weight)
    assert target.values is not None
    values = target.values.numpy()[:, 0]
    assert np.average(values, weights=weight) == pytest.approx(0.0, abs=1e-6)
    assert np.average(values**2, weights=weight) == pytest.approx(1.0, rel=1e-6)


def test_a_constant_number_is_taken() -> None:
    target = read(np.full(5, 2.5))
    assert target.values is not None
    assert target.values.abs().sum() == 0.0


@pytest.mark.parametrize(
    ("y", "objective", "loss", "message"),
    [
        (None, "classification", None, "objective='classification' needs a target; got y=None"),
        (None, "regression", None, "objective='regression' needs a target; got y=None"),
        (np.array([0, 1]), "sorting", None, "objective must be one of .*; got 'sorting'"),
        (np.array([3, 3]), "auto", None, "at least two classes; got only 3.*Leave y out"),
        (np.array(["a", "a"]), "auto", None, "at least two classes; got only 'a'"),
        (np.array(["a", "b"]), "regression", None, "Regression needs a numeric y; got dtype"),
        (np.array([None, "a"]), "auto", None, "y must hold classes, labels of 0 and 1, or num"),
        (np.array([[0.0, 2.0]]), "classification", None, "read as labels of 0 and 1"),
        (np.array([0.5, 1.5]), "auto", "x", "loss must be one of .*squared_error.*; got 'x'"),
        (np.array([0, 1]), "auto", "huber", "loss must be None or a callable .*; got 'huber'"),
        (np.array([[0, 1], [1, 1]]), "auto", 3, "loss must be None or a callable .*; got 3"),
        (None, "auto", "x", "loss must be one of .*; got 'x'"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(
    y: Any, objective: str, loss: Any, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(y, objective, loss)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "absolute_error"])
def test_losses_of_numbers_go_by_name(loss: str) -> None:
    assert read(np.array([0.5, 1.5]), loss=loss).objective.kind == "regression"


def test_rows_among_others_keep_their_entries() -> None:
    target = read(np.array(["b", "a"])).among(4, np.array([1, 3]))
    assert target.values is not None
    assert target.stratify is not None
    assert target.values[[1, 3]].tolist() == target.stratify[[1, 3]].tolist() == [1, 0]
    assert len(target.values) == len(target.stratify) == 4
    assert read(None).among(4, np.array([0])).values is None


# ---- later rows, read like the first --------------------------------------------------------


def like(y: Any, first: Target) -> Target:
    return read_target(y, "auto", None, 4, torch.float32, None, first)


def test_later_classes_mean_the_same_numbers() -> None:
    later = like(np.array(["c", "a"]), read(np.array(["a", "b", "c"])))
    assert later.values is not None
    assert later.values.tolist() == [2, 0]


@pytest.mark.parametrize("unseen", ["0", "bb", "z"])
def test_a_later_class_that_is_new_is_refused(unseen: str) -> None:
    with pytest.raises(InputError, match=f"class '{unseen}', which was not among the classes"):
        like(np.array(["a", unseen]), read(np.array(["a", "b", "c"])))


def test_later_numbers_keep_their_scale() -> None:
    later = like(np.array([20.5, 0.5]), read(np.array([0.5, 10.5])))
    assert later.values is not None
    assert later.values[:, 0].tolist() == pytest.approx([3.0, -1.0])


def test_later_rows_need_a_target_if_the_first_had_one() -> None:
    with pytest.raises(InputError, match=r"The earlier rows had a target.*got y=None"):
        like(None, read(np.array([0, 1])))


def test_classes_may_be_named_in_advance() -> None:
    target = named_classes([3, 1, 2], None)
    assert target is not None
    assert target.classes is not None
    assert target.classes.tolist() == [1, 2, 3]
    assert named_classes(None, None) is None


def test_one_class_named_in_advance_is_refused() -> None:
    with pytest.raises(InputError, match="at least two classes; got only 'a'"):
        named_classes(["a", "a"], None)


def test_a_loss_holds_for_classes_named_in_advance() -> None:
    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return output.sum(1) * 0.0 + 7.0

    target = named_classes([0, 1], loss)
    assert target is not None
    output = torch.zeros(3, 2)
    assert float(target.objective.loss(output, torch.zeros(3).long(), None)) == 7.0
