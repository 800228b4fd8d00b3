"""Fitting across processes: from a job file, through mishaps, and never for ever."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.selectors import workers
from tests.training.ranks import finished, start

import featuremask
from featuremask import FeatureMaskSelector
from featuremask.exceptions import InputError
from featuremask.selectors import worker
from featuremask.selectors.worker import fit_job, fit_worker
from featuremask.training import Ranks

N, D = 600, 6
X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
Y = (X[:, 1] + X[:, 4] > 0).astype(np.int64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lots").mkdir()
    for i in range(3):
        rows = slice(i, None, 3)
        columns = {f"c{j}": X[rows, j] for j in range(D)}
        table = pa.table({**columns, "bin": Y[rows]})
        pq.write_table(table, tmp_path / "lots" / f"{i}.parquet", row_group_size=50)
    return tmp_path


def job(folder: Path, **more: Any) -> Path:
    path = folder / "job.json"
    said = {
        "data": str(folder / "lots" / "*.parquet"),
        "target": "bin",
        "words": {"n_features_to_select": 2, "random_state": 0, "max_epochs": 20},
        "out": str(folder / "out.safetensors"),
    }
    path.write_text(json.dumps(said | more))
    return path


def test_a_job_without_a_launcher_is_a_plain_fit(folder: Path) -> None:
    found = fit_job(job(folder))
    plain = FeatureMaskSelector(2, random_state=0, max_epochs=20)
    plain.fit(folder / "lots", "bin")
    assert np.array_equal(found.scores_, plain.scores_)
    saved = featuremask.load(folder / "out.safetensors")
    assert np.array_equal(saved.scores_, plain.scores_)


def test_arrays_are_fitted_as_well() -> None:
    selector = fit_worker(FeatureMaskSelector(2, random_state=0, max_epochs=5), X, Y)
    plain = FeatureMaskSelector(2, random_state=0, max_epochs=5).fit(X, Y)
    assert np.array_equal(selector.scores_, plain.scores_)


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"selector": "Path"}, "must be one of"),
        ({"seed": 3}, "no keys but"),
    ],
)
def test_a_job_that_says_something_else_is_refused(
    folder: Path, more: dict[str, Any], match: str
) -> None:
    with pytest.raises(InputError, match=match):
        fit_job(job(folder, **more))


def torchrun(*arguments: str) -> "subprocess.CompletedProcess[str]":
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.run(
        [*launcher, "--nproc-per-node", "2", *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.mark.slow
def test_torchrun_fits_a_job_and_the_first_rank_writes(folder: Path) -> None:
    ended = torchrun("-m", "featuremask.selectors.worker", str(job(folder)))
    assert ended.returncode == 0, ended.stderr
    found = featuremask.load(folder / "out.safetensors")
    assert set(np.flatnonzero(found.support_)) == {1, 4}


@pytest.mark.slow
def test_a_rank_that_is_killed_starts_again_and_the_choice_is_that_of_an_undisturbed_fit(
    folder: Path,
) -> None:
    results = {}
    for mishap in ("killed", "nothing"):
        ended = torchrun("--max-restarts", "1", workers.__file__, str(folder), mishap)
        assert ended.returncode == 0, ended.stderr
        was_killed = re.search(r"exitcode\s*: -9|Signal 9", ended.stderr) is not None
        assert was_killed == (mishap == "killed")
        results[mishap] = [
            json.loads((folder / f"{mishap}-{rank}.json").read_text()) for rank in range(2)
        ]
    assert results["killed"] == results["nothing"]
    assert results["killed"][0] == results["killed"][1]


def free_port() -> str:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return str(server.getsockname()[1])


MISHAPS = {
    "killed": ("killed", "onnection"),
    "stalled": ("stalled", "imed out"),
    "another seed": ("nothing", "All ranks must start from the same"),
}


@pytest.mark.slow
@pytest.mark.parametrize("mishap", MISHAPS)
def test_a_mishap_of_one_rank_ends_the_others_with_an_error(mishap: str, folder: Path) -> None:
    happens, said = MISHAPS[mishap]
    processes = start(
        [workers.__file__, str(folder), happens, mishap],
        2,
        WORLD_SIZE="2",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT=free_port(),
    )
    code, text = finished(processes[:1])[0]
    processes[1].kill()  # the one that has stalled
    finished(processes[1:])
    assert code not in (0, -9)
    assert said in text
    assert not (folder / f"{happens}.safetensors").exists()


@pytest.mark.slow
def test_nodes_that_count_restarts_differently_meet_all_the_same(folder: Path) -> None:
    ends = [
        finished([process])[0]
        for process in start_nodes(
            [workers.__file__, str(folder), "nothing"], ["0", "2"], MASTER_PORT=free_port()
        )
    ]
    assert [code for code, _ in ends] == [0, 0], ends


def start_nodes(
    arguments: list[str], restarts: list[str], **environment: str
) -> list["subprocess.Popen[str]"]:
    """Start a rank on each of some nodes, whose launchers have restarted so often."""
    return [
        start(
            arguments,
            1,
            RANK=str(rank),
            WORLD_SIZE=str(len(restarts)),
            MASTER_ADDR="127.0.0.1",
            TORCHELASTIC_RESTART_COUNT=count,
            **environment,
        )[0]
        for rank, count in enumerate(restarts)
    ]


def test_ranks_without_a_common_seed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "joined_ranks", lambda *_: nullcontext(Ranks(None, 0, 2)))
    with pytest.raises(InputError, match="needs the same seed on all"):
        fit_worker(FeatureMaskSelector(2), X, Y)
