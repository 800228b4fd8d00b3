"""Faults while training: rows 14, 17 to 19, 29 and 30. Kills are in `tests/training`."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.faults.scenarios import in_child, limit_files, rows, short
from torch import nn

from featuremask import load
from featuremask._tensorfile import read_tensors
from featuremask.exceptions import CheckpointError, OutOfMemoryError, TrainingDivergedError
from featuremask.training import Callback, Checkpoint


class Bad(torch.autograd.Function):
    """The identity; its gradient is not a number."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return gradients[0] * float("nan")


class Failing:
    """The usual loss for some calls; then NaN, or a gradient that is NaN."""

    def __init__(self, kind: str, after: int) -> None:
        self.kind, self.left = kind, after

    def __call__(self, output: Any, target: Any) -> Any:
        self.left -= 1
        loss = nn.functional.cross_entropy(output, target, reduction="none")
        if self.left >= 0:
            return loss
        return Bad.apply(loss) if self.kind == "gradient" else loss * float("nan")


@pytest.mark.parametrize("kind", ["loss", "gradient"])
def test_14_a_loss_that_is_not_finite_ends_the_fit_and_keeps_the_last_good_state(
    kind: str, tmp_path: Path
) -> None:
    selector = short(loss=Failing(kind, 3), max_epochs=9, checkpoint=tmp_path)
    with pytest.raises(
        TrainingDivergedError, match=r"became nan in epoch \d, step \d of 9.*rate is 0.001.*input"
    ):
        selector.fit(*rows())
    assert not hasattr(selector, "ranking_")
    tensors, values = read_tensors(tmp_path / "checkpoint.safetensors", "checkpoint")
    assert values["epoch"] == 3
    assert all(
        torch.isfinite(value).all() for value in tensors.values() if value.is_floating_point()
    )


def test_14_a_learning_rate_that_bursts_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrainingDivergedError, match=r"learning rate 1e\+30"):
        short(learning_rate=1e30, max_epochs=50).fit(*rows())


# ---- no room, no rights, no memory ----------------------------------------------------------


def _save_on_a_full_disk(path: Path) -> str:
    selector = short().fit(*rows())
    selector.save(path)
    before = path.read_bytes()
    limit_files(1000)
    try:
        selector.save(path)
    except OSError as error:
        whole = path.read_bytes() == before and os.listdir(path.parent) == [path.name]
        return f"{error} | {whole} | {selector.ranking_.max()}"
    return "saved"


def test_17_on_a_full_disk_the_fit_stays_in_memory_and_the_old_file_stays(tmp_path: Path) -> None:
    said = in_child(_save_on_a_full_disk, tmp_path / "selector.fm")
    assert "the selector stays fitted; save it elsewhere" in said
    assert said.endswith("| True | 4")
    assert load(tmp_path / "selector.fm").ranking_.max() == 4


def _checkpoint_on_a_full_disk(folder: Path) -> str:
    short(checkpoint=folder, max_epochs=1).fit(*rows())
    limit_files(1000)
    try:
        short(checkpoint=folder / "next", max_epochs=1).fit(*rows())
    except CheckpointError as error:
        return f"{error} | {os.listdir(folder / 'next')}"
    return "written"


def test_17_a_checkpoint_that_cannot_be_written_is_told_and_leaves_no_part(tmp_path: Path) -> None:
    said = in_child(_checkpoint_on_a_full_disk, tmp_path)
    assert "cannot be written" in said
    assert "make room and fit again" in said
    assert said.endswith("| []")


def test_17_a_folder_that_cannot_be_one_is_refused_before_training(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    steps: list[int] = []

    class Noting(Callback):
        def on_epoch_end(self, state: Any) -> None:
            steps.append(state.step)

    with pytest.raises(CheckpointError, match=r"No checkpoint can be kept.*checkpoint=None"):
        short(checkpoint=tmp_path / "file", callbacks=[Noting()]).fit(*rows())
    assert steps == []


def test_17_a_folder_without_rights_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # tests may run as root
    with pytest.raises(CheckpointError, match="is read-only"):
        short(checkpoint=tmp_path).fit(*rows())


def test_17_what_is_no_file_is_not_replaced_by_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # stands for a device, such as /dev/full, which root could replace
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"Only a file can be replaced.*stays fitted"):
        short().fit(*rows()).save(pipe)
    assert pipe.is_fifo()


def _fit_with_little_memory() -> str:
    torch.set_num_threads(1)
    X = np.random.default_rng(0).normal(size=(400, 20_000)).astype(np.float32)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 150 * 2**20,) * 2)
    try:
        short(hidden_units=(3000,), max_epochs=1).fit(X, X[:, 0] > 0)
    except MemoryError as error:
        return f"{type(error).__name__}: {error}"
    return "fitted"


@pytest.mark.slow
def test_18_memory_that_cannot_be_had_is_one_error_with_an_estimate() -> None:
    said = in_child(_fit_with_little_memory)
    assert said.startswith("OutOfMemoryError: Memory ran out while fitting 400 rows of 20000")
    assert "MB for a batch of" in said
    assert "Try batch_size=" in said


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 7 TiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        torch.OutOfMemoryError("CUDA out of memory"),
    ],
)
def test_18_every_librarys_lack_of_memory_is_the_same_error(error: Exception) -> None:
    def loss(output: Any, target: Any) -> Any:
        raise error

    with pytest.raises(OutOfMemoryError, match="Try batch_size=30") as told:
        short(loss=loss).fit(*rows())
    assert told.value.__cause__ is error


# ---- several processes ----------------------------------------------------------------------

RANK = """
import os, sys
from datetime import timedelta
import torch, torch.distributed as dist
from featuremask import FeatureMask
rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}/meeting", rank=rank,
                        world_size=2, timeout=timedelta(seconds=20))
gate = FeatureMask(4, process_group=dist.group.WORLD)
gate(torch.ones(2, 4))
if rank == 1:
    os._exit(9)
for _ in range(1000):
    gate(torch.ones(2, 4))
"""


@pytest.mark.slow
def test_19_when_a_rank_dies_the_others_end_with_an_error(tmp_path: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(tmp_path), str(rank)],
            env=environment,
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    try:
        codes = [rank.wait(timeout=100) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.communicate()
    assert codes[1] == 9
    assert codes[0] not in (0, 9)


class FitsAgain(Callback):
    """Starts a second fit with the same checkpoint while the first one runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = ""

    def on_epoch_end(self, state: Any) -> None:
        try:
            short(checkpoint=Checkpoint(self.folder)).fit(*rows())
        except CheckpointError as error:
            self.told = str(error)


def test_29_of_two_fits_with_one_checkpoint_the_second_is_refused(tmp_path: Path) -> None:
    second = FitsAgain(tmp_path)
    first = short(checkpoint=tmp_path, callbacks=[second]).fit(*rows())
    assert second.told.startswith("Another fit is using the checkpoint in")
    again = short(checkpoint=tmp_path).fit(*rows())  # the folder is free now
    assert np.array_equal(again.scores_, first.scores_)


def test_29_a_fit_that_fails_leaves_its_checkpoint_free(tmp_path: Path) -> None:
    with pytest.raises(TrainingDivergedError):
        short(loss=Failing("loss", 1), checkpoint=tmp_path).fit(*rows())
    with pytest.raises(TrainingDivergedError):
        short(loss=Failing("loss", 0), checkpoint=tmp_path).fit(*rows())


@pytest.mark.slow
def _threads_of_a_fit() -> list[int]:
    """Fit with batches that are worth several threads; return how many there were."""
    seen: list[int] = []

    class Noting(Callback):
        def on_epoch_end(self, state: Any) -> None:
            seen.append(torch.get_num_threads())

    X = np.random.default_rng(0).normal(size=(40, 2000))
    short(max_epochs=2, callbacks=[Noting()]).fit(X, X[:, 0] > 0)
    return seen


@pytest.mark.slow
def test_30_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    from joblib import Parallel, delayed

    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)  # else it is one, whoever asks
    jobs = os.cpu_count() or 1
    with Parallel(n_jobs=jobs, backend="loky") as workers:
        threads = workers(delayed(_threads_of_a_fit)() for _ in range(2))
    assert threads == [[1, 1], [1, 1]]
