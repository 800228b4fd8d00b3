"""The checks of scikit-learn that `check_estimator` leaves out, for every public estimator."""

import inspect

import numpy as np
import pytest
from sklearn.utils import estimator_checks as checks

import featuremask
from featuremask.selectors import BaseSelector

ESTIMATORS: dict[str, type[BaseSelector]] = {
    name: cls
    for name in featuremask.__all__
    if inspect.isclass(cls := getattr(featuremask, name)) and issubclass(cls, BaseSelector)
}
LEFT_OUT = [
    "check_dataframe_column_names_consistency",
    "check_estimators_partial_fit_n_features",
    "check_get_feature_names_out_error",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_inplace_ensure_writeable",
    "check_requires_y_none",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_supervised_y_no_nan",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]

every_estimator = pytest.mark.parametrize("cls", ESTIMATORS.values(), ids=list(ESTIMATORS))


def short(cls: type[BaseSelector]) -> BaseSelector:
    words = {"max_tries": 1} if "max_tries" in inspect.signature(cls).parameters else {}
    return cls(max_epochs=1, **words)


def test_every_public_estimator_is_here() -> None:
    selectors = [name for name in featuremask.__all__ if name.endswith("Selector")]
    assert sorted(ESTIMATORS) == sorted(selectors)
    assert len(selectors) >= 9


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")  # they mix them
@pytest.mark.parametrize("name", LEFT_OUT)
@every_estimator
def test_a_check_that_check_estimator_leaves_out(cls: type[BaseSelector], name: str) -> None:
    getattr(checks, name)(cls.__name__, short(cls))


@every_estimator
def test_a_word_that_cannot_be_is_refused_by_fit_alone(cls: type[BaseSelector]) -> None:
    # In place of check_param_validation, which asks for scikit-learn's private constraints.
    X = np.random.default_rng(0).normal(size=(20, 5))
    y = np.arange(20) % 2
    free = {"callbacks", "checkpoint", "class_weight", "cv", "loss", "network"}
    for word in sorted(set(short(cls).get_params(deep=False)) - free):
        selector = short(cls).set_params(**{word: object()})
        with pytest.raises((TypeError, ValueError)):
            selector.fit(X, y)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@every_estimator
def test_a_weight_is_a_number_of_repetitions(cls: type[BaseSelector], kind: str) -> None:
    check = getattr(checks, f"check_sample_weight_equivalence_on_{kind}_data")
    check(cls.__name__, short(cls).set_params(max_epochs=20))


@every_estimator
def test_a_weight_is_a_number_of_repetitions_where_the_number_of_features_is_chosen(
    cls: type[BaseSelector],
) -> None:
    estimator = short(cls).set_params(n_features_to_select="auto", max_epochs=2)
    checks.check_sample_weight_equivalence_on_dense_data(cls.__name__, estimator)
