"""Attenuation over processes: what ranks compute together equals what one process computes.

The tests start this file once for each rank; a rank saves what it found into a file.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from featuremask import FeatureMask
from featuremask.exceptions import InputError
from featuremask.gates._attenuation import attenuate

Gap = Callable[[Any, Any], float]

pytestmark = pytest.mark.slow

TIMEOUT_S = 120
N_ROWS, N_FEATURES = 12, 6
SHARDS = {
    2: {"even": [6, 6], "uneven": [9, 3], "empty": [12, 0]},
    3: {"even": [4, 4, 4], "uneven": [7, 1, 4], "empty": [0, 12, 0]},
}
KINDS: dict[str, dict[str, Any]] = {
    "paper": {},
    "deep": {"depth": 2, "scale": "mean"},
    "groups": {"feature_groups": "aabbcc", "must_keep": [5]},
    "without attenuation": {"attenuation": False},
}


def data() -> tuple[Tensor, Tensor, Tensor]:
    """Rows, their weights, and the gradient that arrives at the output."""
    generator = torch.Generator().manual_seed(1)
    x, upstream = torch.randn(2, N_ROWS, N_FEATURES, dtype=torch.float64, generator=generator)
    return x, torch.rand(N_ROWS, dtype=torch.float64, generator=generator), upstream


def found(
    kind: str, rows: slice, weighted: bool, group: dist.ProcessGroup | None
) -> dict[str, Tensor]:
    """What a process computes of its own rows."""
    gate = FeatureMask(
        N_FEATURES,
        mask_units=5,
        dtype=torch.float64,
        process_group=group,
        generator=torch.Generator().manual_seed(0),
        **KINDS[kind],
    )
    x, weight, upstream = (values[rows] for values in data())
    x.requires_grad_()
    output = gate(x, weight if weighted else None)
    output.backward(upstream)
    parameters = {name: parameter.grad for name, parameter in gate.named_parameters()}
    code = gate.running_code.clone()
    gate.freeze_from([x.detach()] if len(x) else [])
    return {
        "output": output.detach(),
        "input gradient": x.grad,
        "running code": code,
        "stored logits": gate.stored_logits,
        **{f"gradient of {name}": gradient for name, gradient in parameters.items()},
    }


def cases(world: int) -> list[tuple[str, str, bool]]:
    return [(kind, shards, w) for kind in KINDS for shards in SHARDS[world] for w in (False, True)]


def as_one_of_several(folder: Path, rank: int, world: int) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/meeting",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=TIMEOUT_S / 2),
    )
    group = dist.group.WORLD
    results: dict[Any, Any] = {}
    for kind, shards, weighted in cases(world):
        sizes = SHARDS[world][shards]
        rows = slice(sum(sizes[:rank]), sum(sizes[: rank + 1]))
        results[kind, shards, weighted] = found(kind, rows, weighted, group)
    many = torch.ones(257, 1) if rank == 0 else torch.zeros(1, 1)
    results["half precision"] = attenuate(many.bfloat16(), process_group=group)
    try:
        FeatureMask(2, process_group=group).freeze_from([])
    except InputError as error:
        results["no rows at all"] = str(error)
    torch.save(results, folder / f"rank{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module", params=SHARDS)
def ranks(request: pytest.FixtureRequest, tmp_path_factory: Any) -> list[dict[Any, Any]]:
    """The results of each rank of two, and of three."""
    world, folder = request.param, tmp_path_factory.mktemp("ranks")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, str(folder), str(rank), str(world)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(world)
    ]
    try:
        errors = [process.communicate(timeout=TIMEOUT_S)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * world, "\n".join(errors)
    return [torch.load(folder / f"rank{rank}.pt", weights_only=True) for rank in range(world)]


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("shards", ["even", "uneven", "empty"])
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_compute_together_what_one_process_computes(
    ranks: list[dict[Any, Any]], kind: str, shards: str, weighted: bool, gap: Gap
) -> None:
    expected = found(kind, slice(None), weighted, None)
    results = [rank[kind, shards, weighted] for rank in ranks]
    for rows in ("output", "input gradient"):
        assert gap(torch.cat([result[rows] for result in results]), expected[rows]) < 1e-12
    for shared in ("running code", "stored logits"):
        for result in results:
            assert gap(result[shared], expected[shared]) < 1e-12
    for name in (name for name in expected if name.startswith("gradient of")):
        assert gap(sum(result[name] for result in results), expected[name]) < 1e-12


def test_half_precision_counts_all_rows(ranks: list[dict[Any, Any]]) -> None:
    n_others = len(ranks) - 1
    for rank in ranks:
        assert rank["half precision"].dtype == torch.bfloat16
        assert float(rank["half precision"]) == float(
            torch.tensor(257 / (257 + n_others)).bfloat16()
        )


def test_freezing_at_no_rows_on_any_rank_is_refused(ranks: list[dict[Any, Any]]) -> None:
    assert all("the loader gave none" in rank["no rows at all"] for rank in ranks)


if __name__ == "__main__":
    as_one_of_several(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
