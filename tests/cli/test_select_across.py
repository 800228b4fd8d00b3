"""The command under a launcher: processes train together, and one of them speaks and writes."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import featuremask

N, D = 260, 4  # 208 rows to train on are one batch, whichever way they are dealt out


def write_folder(folder: Path) -> Path:
    x = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
    whole = pa.table({f"c{i}": c for i, c in enumerate(x.T)} | {"bin": x[:, 1] + x[:, 3] > 0})
    (folder / "big").mkdir()
    for i, start in enumerate((0, 200)):
        pq.write_table(whole.slice(start, 200), folder / "big" / f"{i}.parquet", row_group_size=50)
    return folder / "big"


def ended(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", *command],
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def ranking(folder: Path) -> list[list[str]]:
    with (folder / "ranking.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


@pytest.mark.slow
def test_two_processes_select_as_one_does_and_the_first_alone_speaks_and_writes(
    tmp_path: Path,
) -> None:
    big, one, two = write_folder(tmp_path), tmp_path / "one", tmp_path / "two"
    words = ["featuremask", "select", str(big), "--target", "bin", "-k", "2"]
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    alone = ended(*words, "-o", str(one))
    both = ended(*launcher, *words, "-o", str(two))
    assert (alone.returncode, both.returncode) == (0, 0), both.stderr
    assert both.stdout == alone.stdout.replace(str(one), str(two))
    assert both.stderr.count("judging") == alone.stderr.count("judging") > 0
    assert both.stderr.count("training FeatureMaskSelector") == 1
    assert sorted(p.name for p in two.iterdir()) == sorted(p.name for p in one.iterdir())
    for row, other in zip(ranking(one), ranking(two), strict=True):
        assert row[:2] == other[:2]
        assert [float(v) for v in row[2:4]] == pytest.approx([float(v) for v in other[2:4]], 1e-3)
    assert set(np.flatnonzero(featuremask.load(two / "selector.fm").support_)) == {1, 3}
    said = [json.loads((folder / "run.json").read_text()) for folder in (one, two)]
    assert said[0]["curve"] == said[1]["curve"]


@pytest.mark.slow
def test_a_process_that_cannot_read_the_files_ends_all_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
    words = ["featuremask", "select", str(write_folder(tmp_path)), "--target", "wafer"]
    found = ended(*launcher, *words, "-o", str(tmp_path / "out"))
    assert found.returncode == 1
    assert "'wafer'" in found.stderr
    assert not list((tmp_path / "out").iterdir())
