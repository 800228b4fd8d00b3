"""A saved selector comes back equal; a file that is not whole does not come back at all."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import featuremask
from featuremask import FeatureMaskSelector
from featuremask._tensorfile import read_tensors, write_tensors
from featuremask.exceptions import FileFormatError, InputError

FIXTURES = Path(__file__).parents[1] / "fixtures"
N, D = 60, 6
TOLD = ("scores_", "feature_importances_", "ranking_", "group_ranking_", "groups_", "support_")
SMALL: dict[str, Any] = {"hidden_units": (4,), "mask_units": 4, "max_epochs": 3, "random_state": 0}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(N, D))
    return X, (X[:, 0] > 0).astype(int)


def assert_equal(again: Any, selector: Any, X: Any) -> None:
    assert type(again) is type(selector)
    for name in TOLD:
        assert np.array_equal(getattr(again, name), getattr(selector, name))
        assert getattr(again, name).dtype == getattr(selector, name).dtype
    assert np.array_equal(again.classes_, selector.classes_)
    assert again.history_ == selector.history_
    assert again.objective_ == selector.objective_
    assert again.n_features_in_ == selector.n_features_in_
    assert again.selected_names_.tolist() == selector.selected_names_.tolist()
    assert np.array_equal(again.transform(X), selector.transform(X))
    rows = torch.from_numpy(np.array(X, dtype=np.float64))
    with torch.no_grad():
        assert torch.equal(again.network_(rows), selector.network_(rows))


def said(value: Any) -> Any:
    """Return a parameter with lists, sets and arrays as tuples, as they come back."""
    if isinstance(value, dict):
        return {key: said(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        return tuple(said(item) for item in value)
    return str(value) if isinstance(value, os.PathLike) else value


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"strategy": "joint"},
        {"dtype": "float64", "mask_depth": 2, "mask_scale": "mean"},
        {"feature_groups": [0, 0, 1, 2, None, 1], "must_keep": [3]},
        {"feature_groups": {"a": [0, 1], 7: {2, 3}}, "n_features_to_select": 0.5},
        {"class_weight": {0: 1.0, 1: 3.0}, "hidden_units": [5, 3]},
        {
            "must_keep": np.array([1]),
            "learning_rate": np.float64(0.01),
            "random_state": np.int64(1),
        },
        {"attenuation": False, "strategy": "joint"},
    ],
    ids=str,
)
@pytest.mark.parametrize("constant", [False, True])
def test_all_that_a_selector_tells_comes_back(
    data: Any, tmp_path: Path, words: Any, constant: bool
) -> None:
    X = data[0].copy()
    if constant:
        X[:, [2, 4]] = 1.0
    selector = FeatureMaskSelector(**SMALL | words).fit(X, data[1])
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file")
    assert_equal(again, selector, X)
    assert said(again.get_params()) == said(selector.get_params())


@pytest.mark.parametrize(
    "y",
    [None, np.arange(N) % 3, np.array(["no", "yes"] * 30), np.arange(N) / 7.0, np.eye(N)[:, :2]],
)
def test_every_kind_of_target_comes_back(data: Any, tmp_path: Path, y: Any) -> None:
    selector = FeatureMaskSelector(**SMALL).fit(data[0], y)
    selector.save(str(tmp_path / "file"))
    assert_equal(featuremask.load(str(tmp_path / "file")), selector, data[0])


def test_names_of_columns_come_back(data: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(data[0], columns=["a", "ö", "c d", '"', "e\n", "日"])
    selector = FeatureMaskSelector(2, **SMALL).fit(frame, data[1])
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file")
    assert again.feature_names_in_.tolist() == selector.feature_names_in_.tolist()
    assert again.feature_names_in_.dtype == object
    assert_equal(again, selector, frame)


def test_a_table_of_text_and_gaps_comes_back(tmp_path: Path) -> None:
    age = np.arange(60.0)
    age[3] = np.nan
    frame = pd.DataFrame({"age": age, "city": ["Rome", "Oslo", None] * 20, "z": np.arange(60) % 7})
    words = {"missing": "auto", "categorical": "auto"}
    selector = FeatureMaskSelector(1, **SMALL, **words).fit(frame, [0, 1] * 30)
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file")
    assert again.ranking_.tolist() == selector.ranking_.tolist()
    assert again.transform(frame).equals(selector.transform(frame))


def test_a_saved_selector_may_be_saved_again(data: Any, tmp_path: Path) -> None:
    FeatureMaskSelector(**SMALL).fit(*data).save(tmp_path / "first")
    featuremask.load(tmp_path / "first").save(tmp_path / "second")
    again = featuremask.load(tmp_path / "second")
    assert_equal(again, featuremask.load(tmp_path / "first"), data[0])


def test_a_loaded_selector_can_be_fitted_again(data: Any, tmp_path: Path) -> None:
    selector = FeatureMaskSelector(**SMALL).fit(*data)
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file").fit(*data)
    assert np.array_equal(again.scores_, selector.scores_)


def test_the_number_may_change_after_loading(data: Any, tmp_path: Path) -> None:
    FeatureMaskSelector(2, **SMALL).fit(*data).save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file").set_params(n_features_to_select=5)
    assert again.support_.sum() == 5


def test_what_was_changed_after_the_fit_does_not_harm_the_network(
    data: Any, tmp_path: Path
) -> None:
    selector = FeatureMaskSelector(**SMALL).fit(*data)
    rows = torch.from_numpy(data[0])
    selector.set_params(mask_units=9, mask_depth=2, strategy="joint", hidden_units=(7,))
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file")
    assert torch.equal(again.network_(rows), selector.network_(rows))


def test_a_network_of_the_users_is_not_in_the_file(data: Any, tmp_path: Path) -> None:
    words = {"network": nn.Linear(D, 2), "loss": lambda o, t: (o[:, 0] - t).square()}
    selector = FeatureMaskSelector(2, **words, **SMALL).fit(*data)
    selector.save(tmp_path / "file")
    again = featuremask.load(tmp_path / "file")
    assert np.array_equal(again.ranking_, selector.ranking_)
    assert not hasattr(again, "network_")
    assert again.network is None
    assert np.array_equal(again.transform(data[0]), selector.transform(data[0]))


def test_a_parameter_that_is_no_plain_value_is_named(data: Any, tmp_path: Path) -> None:
    groups = [object() for _ in range(D)]
    selector = FeatureMaskSelector(feature_groups=groups, **SMALL).fit(*data)
    with pytest.raises(InputError, match=r"can be saved if its parameters are plain values; got"):
        selector.save(tmp_path / "file")
    assert not (tmp_path / "file").exists()


# ---- files that are not whole, or not ours --------------------------------------------------


@pytest.fixture(scope="module")
def saved(data: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("saved") / "file"
    FeatureMaskSelector(2, **SMALL).fit(*data).save(path)
    return path, path.read_bytes()


def test_no_flipped_byte_gives_another_selector(saved: Any) -> None:
    path, content = saved
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"damaged|not a readable|not written by|holds a"):
            featuremask.load(path)


def test_no_cut_gives_a_selector(saved: Any) -> None:
    path, content = saved
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match=r"not a readable featuremask file.*cut off"):
            featuremask.load(path)


class Evil:
    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.canary}",)


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    (tmp_path / "file").write_bytes(pickle.dumps(Evil(canary)))
    torch.save(Evil(canary), tmp_path / "file.pt")
    for name in ("file", "file.pt"):
        with pytest.raises(FileFormatError, match="is not a readable featuremask file"):
            featuremask.load(tmp_path / name)
    assert not canary.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 99}, r"has format version 99, written by featuremask.*reads up to 1.*Upgrade"),
        ({"class": "OtherSelector"}, "holds the unknown selector 'OtherSelector'"),
    ],
)
def test_a_file_of_the_future_is_refused(
    saved: Any, tmp_path: Path, change: Any, message: str
) -> None:
    path, content = saved
    path.write_bytes(content)
    tensors, values = read_tensors(path, "selector")
    write_tensors(tmp_path / "file", "selector", tensors, values | change)
    with pytest.raises(FileFormatError, match=message):
        featuremask.load(tmp_path / "file")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_tensors(tmp_path / "file", "checkpoint", {}, {})
    with pytest.raises(FileFormatError, match="holds a 'checkpoint'; a 'selector' was asked for"):
        featuremask.load(tmp_path / "file")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*nowhere'"):
        featuremask.load(tmp_path / "nowhere")


# ---- files of the past ----------------------------------------------------------------------


def test_a_file_of_format_version_1_still_loads() -> None:
    selector = featuremask.load(FIXTURES / "selector-format-1.safetensors")
    assert selector.ranking_.tolist() == [1, 2, 3, 6, 4, 5]
    assert selector.scores_.tolist() == [62.0, 61.0, 44.0, 21.0, 22.0, 22.0]
    assert selector.selected_names_.tolist() == ["a", "b"]
    assert selector.feature_names_in_.tolist() == ["a", "b", "c", "d", "e", "f"]
    assert selector.classes_.tolist() == ["no", "yes"]
    assert selector.class_weight == {"yes": 2.0}
    assert selector.feature_groups == {"pair": ("e", "f")}
    assert [record["epoch"] for record in selector.history_] == [1, 2]
    with torch.no_grad():
        output = selector.network_(torch.arange(12.0).reshape(2, 6))
    expected = torch.tensor([[-2.351227, 1.773748], [-10.533949, 5.776841]])
    torch.testing.assert_close(output, expected, rtol=1e-4, atol=1e-5)
