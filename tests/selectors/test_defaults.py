"""The words of a method are those of its publication, unless the user says otherwise."""

from typing import Any

import pytest

import featuremask

DEFAULTS: dict[str, dict[str, Any]] = {
    "AFSSelector": {"attention_units": 32, "head_depth": 0, "network_penalty": 1e-4},
    "BSFSelector": {"estimator": "v1", "draw": "batch", "init": 0.5},
    "CancelOutSelector": {"activation": "sigmoid", "penalty": "torch", "init": 4.0},
    "ConcreteSelector": {"start_temperature": 10.0, "end_temperature": 0.1, "max_tries": 5},
    "DFSSelector": {"weight_penalty": 0.001, "network_penalty": 0.001},
    "FSDNNSelector": {"include_bias": True},
    "AllFeaturesSelector": {"n_features_to_select": 1.0},
    "FeatureMaskSelector": {
        "mask_units": 128,
        "mask_depth": 1,
        "mask_init": "xavier",
        "attenuation": True,
        "normalization": True,
    },
}
SHARED = {
    "hidden_units": (128, 64),
    "learning_rate": 1e-3,
    "validation_fraction": 0.1,
    "early_stopping": False,
    "warm_start": False,
    "missing": "error",
    "categorical": "error",
    "dates": "error",
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_method_starts_with_the_settings_that_are_documented(name: str) -> None:
    words = getattr(featuremask, name)().get_params(deep=False)
    expected = SHARED | DEFAULTS[name]
    assert {word: words[word] for word in expected} == expected
