"""Grids on several workers: of this machine, of Dask and of Ray."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.experiments.cluster_killing import DEADLY, JOBS
from tests.experiments.fakes import Counting

from featuremask import experiments
from featuremask.cli import main
from featuremask.exceptions import InputError, MissingExtraError
from featuremask.experiments import RunOptions, Store, _backends, run

ROOT = Path(__file__).parents[2]

# Ray is no dependency of the tests; where it is installed it is tested as well.
INSTALLED = ["loky", "dask", *(["ray"] if find_spec("ray") else [])]


@pytest.mark.slow
@pytest.mark.parametrize("backend", INSTALLED)
def test_a_grid_whose_workers_are_killed_loses_nothing_and_repeats_nothing(
    backend: str, tmp_path: Path
) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.experiments.cluster_killing", str(tmp_path), backend],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said["one_was_killed"]
    assert said["processes"] > 2  # others have taken over
    peace = {r.key: r.result for r in _in_peace(tmp_path / "peace")}
    (deadly,) = (job for job in JOBS if job.fit.key == DEADLY)
    of_deadly = {DEADLY, *(measure.key for measure in deadly.measures)}
    assert said["results"] == {k: v for k, v in peace.items() if k not in of_deadly}
    assert len(said["keys"]) == len(set(said["keys"]))
    assert said["killed"] == [deadly.label]
    assert 2 <= said["deaths"] <= 5


def _in_peace(folder: Path) -> Any:
    run(JOBS, folder, bench=Counting().bench)
    return Store(folder).read()


def test_an_unknown_backend_and_a_cluster_without_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be one of loky, dask, ray; got 'spark'"):
        run(JOBS, tmp_path, RunOptions(backend="spark"))
    with pytest.raises(InputError, match="loky has no cluster"):
        run(JOBS, tmp_path, RunOptions(cluster="tcp://head:8786"))


def test_workers_of_dask_with_several_threads_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Client:
        def __init__(self, **words: Any) -> None:
            assert words == {"address": "tcp://head:8786"}

        def __enter__(self) -> "Client":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def nthreads(self) -> dict[str, int]:
            return {"a": 1, "b": 4}

    monkeypatch.setattr(_backends, "needed", lambda *_: SimpleNamespace(Client=Client))
    with pytest.raises(InputError, match=r"one thread each.*got 4.*--nthreads 1"):
        run(JOBS, tmp_path, RunOptions(backend="dask", cluster="tcp://head:8786"))
    assert len(Store(tmp_path).read()) == 0


@pytest.mark.parametrize(("backend", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_backend_that_is_not_installed_is_said(
    backend: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"featuremask\[{backend}\]"):
        run(JOBS, tmp_path, RunOptions(backend=backend))


def test_the_command_passes_the_backend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[RunOptions] = []

    def reproduce(suite: str, options: RunOptions, **words: Any) -> list[str]:
        seen.append(options)
        return []

    monkeypatch.setattr(experiments, "reproduce", reproduce)
    words = ["--backend", "dask", "--cluster", "tcp://head:8786", "--shard", "2/8"]
    assert CliRunner().invoke(main, ["reproduce", "paper", *words]).exit_code == 0
    assert (seen[0].backend, seen[0].cluster, seen[0].shard.index) == ("dask", "tcp://head:8786", 2)
    assert CliRunner().invoke(main, ["reproduce", "paper", "--backend", "spark"]).exit_code == 2
