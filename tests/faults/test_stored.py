"""Rows of files that are written or read while something happens to the disk or the files."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.faults.scenarios import in_child, limit_files

from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError
from featuremask.experiments import Record, Store
from featuremask.files import Picks, reduce_files
from featuremask.selectors import transform_file
from featuremask.sources import ParquetSource
from featuremask.training import Callback, TrainingState

N = 400
X = np.random.default_rng(0).normal(size=(N, 4)).astype(np.float32)
Y = (X[:, 1] > 0).astype(np.int64)
NAMES = [f"c{i}" for i in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = pa.table(dict(zip(NAMES, X.T, strict=True)) | {"bin": Y})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50)
    return tmp_path / "rows.parquet"


def selector(**words: Any) -> FeatureMaskSelector:
    return FeatureMaskSelector(2, random_state=0, max_epochs=4, **words)


def _said(job: Any) -> str:
    try:
        job()
    except OSError as error:
        return f"failed: {error.strerror}"
    return "written"


def _copy_on_a_full_disk(path: Path, out: Path) -> str:
    fitted = selector().fit(path, "bin")
    limit_files(1000)
    return " | ".join(
        [
            _said(lambda: transform_file(fitted, path, out)),
            _said(lambda: reduce_files([path], out, Picks((0, 1), 5))),
            ",".join(sorted(os.listdir(out.parent))),
        ]
    )


def test_17_columns_that_do_not_fit_on_the_disk_leave_the_old_file_and_no_part(
    path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "chosen.parquet"
    out.parent.mkdir()
    out.write_bytes(b"old")
    said = in_child(_copy_on_a_full_disk, path, out)
    assert said == "failed: File too large | failed: File too large | chosen.parquet"
    assert out.read_bytes() == b"old"


def _fit_on_a_full_disk(path: Path, cache: Path) -> str:
    os.environ["FEATUREMASK_CACHE"] = str(cache)
    limit_files(100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = selector().fit(path, "bin")
    told = any("could not be kept" in str(warning.message) for warning in caught)
    left = [p.name for p in (*path.parent.iterdir(), *cache.iterdir()) if p.name[0] == "."]
    return f"{told} | {fitted.ranking_[1]} | {left}"


def test_17_statistics_that_do_not_fit_on_the_disk_are_told_and_the_fit_goes_on(
    path: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    assert in_child(_fit_on_a_full_disk, path, cache) == "True | 1 | []"


def _record_on_a_full_disk(folder: Path) -> str:
    record = Record("b", "fit", "ok", result={"long": "x" * 900})
    limit_files(1000)
    return _said(lambda: Store(folder).append("a/b/c.jsonl", record))


def test_17_a_record_that_does_not_fit_on_the_disk_is_lost_alone(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append("a/b/c.jsonl", Record("a", "fit", "ok", result={"long": "x" * 300}))
    assert in_child(_record_on_a_full_disk, tmp_path).startswith("failed")
    assert [record.key for record in store.read()] == ["a"]
    store.append("a/b/c.jsonl", Record("b", "fit", "ok"))
    assert [record.key for record in store.read()] == ["a", "b"]


class Happens(Callback):
    """Does something to a file after the second epoch."""

    def __init__(self, job: Any) -> None:
        self.job = job

    def on_epoch_end(self, state: TrainingState) -> None:
        if state.epoch == 2:
            self.job()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def written_again(path: Path) -> None:
    pq.write_table(pq.read_table(path), path, row_group_size=30)


@pytest.mark.parametrize(
    ("happens", "error", "match"),
    [
        (cut, InputError, "has changed since it was opened"),
        (written_again, InputError, "has changed since it was opened"),
        (Path.unlink, FileNotFoundError, r"rows\.parquet"),
    ],
)
def test_a_file_that_changes_between_epochs_ends_the_fit(
    happens: Any, error: type[Exception], match: str, path: Path
) -> None:
    source = ParquetSource(path, "bin", window_bytes=100 * 4 * 4)
    words = {"batch_size": 50, "callbacks": [Happens(lambda: happens(path))]}
    with pytest.raises(error, match=match):
        selector(**words).fit(source)
