import gzip
from dataclasses import replace

import numpy as np
import pytest

from featuremask.datasets import DatasetError, describe_all, fetch, load, where
from featuremask.datasets._catalog import PUBLIC_SETS
from featuremask.exceptions import FileFormatError


def in_cache(tiny, cache):
    tiny.put(cache)
    return cache / "tiny"


def test_training_rows_come_first_and_the_split_is_the_official_one(tiny, cache):
    tiny.put(cache)
    dataset = load("tiny")
    assert np.array_equal(dataset.X, tiny.images.reshape(10, 6))
    assert np.array_equal(dataset.X_train, tiny.images[:6].reshape(6, 6))
    assert dataset.y_test.tolist() == [0, 1, 0, 1]


def test_values_stay_bytes_and_labels_are_encoded(tiny, cache):
    tiny.put(cache)
    dataset = load("tiny")
    assert dataset.X.dtype == np.uint8
    assert dataset.y.dtype == np.int64


def test_pixels_are_named_by_row_and_column(tiny, cache):
    tiny.put(cache)
    assert load("tiny").feature_names[:4] == ("pixel_0_0", "pixel_0_1", "pixel_0_2", "pixel_1_0")


def test_the_data_folder_wins_over_the_cache(tiny, cache, tmp_path, monkeypatch):
    tiny.put(cache)
    tiny.put(tmp_path / "data")
    monkeypatch.setenv("FEATUREMASK_DATA", str(tmp_path / "data"))
    assert all(place.is_relative_to(tmp_path / "data") for place in where("tiny").values())


def test_a_file_missing_in_the_data_folder_is_taken_from_the_cache(
    tiny, cache, tmp_path, monkeypatch
):
    tiny.put(cache)
    tiny.put(tmp_path / "data")
    (tmp_path / "data" / "tiny" / "t10k-labels.gz").unlink()
    monkeypatch.setenv("FEATUREMASK_DATA", str(tmp_path / "data"))
    assert where("tiny")["t10k-labels.gz"] == cache / "tiny" / "t10k-labels.gz"
    assert load("tiny").n_samples == 10


def test_inflated_files_are_read_too(tiny, cache):
    folder = in_cache(tiny, cache)
    for path in list(folder.iterdir()):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()
    assert load("tiny").n_samples == 10


def test_a_damaged_file_in_the_cache_is_refused_and_named(tiny, cache):
    path = in_cache(tiny, cache) / "train-labels.gz"
    path.write_bytes(gzip.compress(b"other"))
    with pytest.raises(FileFormatError, match=f"checksum mismatch in {path}"):
        load("tiny")


def test_without_download_the_error_names_file_places_and_command(tiny, cache):
    message = "(?s)needs the file train-images.gz.*tiny/train-images.*datasets fetch tiny"
    with pytest.raises(DatasetError, match=message):
        load("tiny", download_if_missing=False)


def test_missing_files_are_downloaded_into_the_cache_once(tiny_on_mirror, cache):
    assert load("tiny").n_samples == 10
    assert load("tiny").n_samples == 10
    assert len(tiny_on_mirror.asked) == 4
    assert where("tiny")["t10k-images.gz"] == cache / "tiny" / "t10k-images.gz"


def test_fetch_gives_the_files_and_leaves_intact_ones(tiny_on_mirror, tiny, cache):
    tiny.put(cache)
    assert [path.name for path in fetch("tiny")] == list(tiny.files)
    assert tiny_on_mirror.asked == []


def test_fetch_by_force_downloads_again(tiny_on_mirror, tiny, cache):
    tiny.put(cache)
    (cache / "tiny" / "train-labels.gz").write_bytes(b"damaged")
    fetch("tiny", force=True)
    assert len(tiny_on_mirror.asked) == 4
    assert load("tiny").n_samples == 10


def test_fetch_finds_damage(tiny, cache):
    (in_cache(tiny, cache) / "t10k-labels.gz").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match="an HTML page"):
        fetch("tiny")


def test_sizes_that_are_not_the_declared_ones_are_refused(tiny, cache, monkeypatch):
    tiny.put(cache)
    monkeypatch.setitem(PUBLIC_SETS, "tiny", replace(tiny.entry, n_features=7))
    with pytest.raises(FileFormatError, match=r"= \(6, 4, 6, 2\), expected \(6, 4, 7, 2\)"):
        load("tiny")


def test_where_says_what_is_missing(tiny):
    assert set(where("tiny").values()) == {None}


def is_described_as_here(name):
    return {entry["name"]: entry["is_here"] for entry in describe_all()}[name]


def test_the_description_says_whether_all_files_are_here(tiny, cache):
    assert not is_described_as_here("tiny")
    folder = in_cache(tiny, cache)
    assert is_described_as_here("tiny")
    (folder / "train-labels.gz").unlink()
    assert not is_described_as_here("tiny")
