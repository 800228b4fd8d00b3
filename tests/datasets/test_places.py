from pathlib import Path

import pytest

from featuremask.datasets import DatasetError
from featuremask.datasets._places import (
    cache_folder,
    candidates,
    config_folder,
    data_folder,
    find_file,
)


@pytest.mark.parametrize("value", [None, ""])
def test_without_the_variable_there_is_no_data_folder(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("FEATUREMASK_DATA", value)
    assert data_folder() is None


def test_a_data_folder_that_does_not_exist_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("FEATUREMASK_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match=r"FEATUREMASK_DATA must name a folder; '.*nowhere'"):
        data_folder()


def test_the_cache_is_below_its_own_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("FEATUREMASK_CACHE", str(tmp_path / "a"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert cache_folder() == tmp_path / "a" / "datasets"


def test_the_cache_follows_the_platform_without_its_own_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("FEATUREMASK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    assert cache_folder() == tmp_path / "b" / "featuremask" / "datasets"


def test_cache_and_configuration_are_below_home_by_default(monkeypatch):
    for variable in ("FEATUREMASK_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert cache_folder() == Path.home() / ".cache" / "featuremask" / "datasets"
    assert config_folder() == Path.home() / ".config" / "featuremask" / "datasets"


def test_the_data_folder_is_searched_before_the_cache(monkeypatch, tmp_path, cache):
    monkeypatch.setenv("FEATUREMASK_DATA", str(tmp_path))
    assert candidates("a.mat") == [tmp_path / "a.mat", cache / "a.mat"]


def test_a_gzip_file_may_lie_there_inflated(cache):
    (cache / "set").mkdir(parents=True)
    (cache / "set" / "images").touch()
    assert find_file("set/images.gz") == cache / "set" / "images"


def test_a_folder_of_the_name_is_no_file(cache):
    (cache / "a.mat").mkdir(parents=True)
    assert find_file("a.mat") is None
