"""Processes that train one network together, each on its own rows."""

import hashlib
import math
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from featuremask._tensorfile import digest_of
from featuremask.exceptions import InputError
from featuremask.gates import Gate
from featuremask.networks import Seeded
from featuremask.sources import Batch

__all__ = [
    "ALONE",
    "Ranks",
    "Share",
    "across_ranks",
    "current_ranks",
    "joined_ranks",
    "launched_rank",
]

_MOST_AXES = 8


class Share(NamedTuple):
    """What part of the batch of all ranks is here.

    Attributes
    ----------
    first : int
        Place of the first row that is here, the rows of all ranks put one behind the other.
    here, rows : int
        Rows that are here, and rows of all ranks.
    weight : float
        Sum of the weights of all rows.
    """

    first: int
    here: int
    rows: int
    weight: float


@dataclass(frozen=True)
class Ranks:
    """A group of processes; without one, a process that is alone.

    The result of a training over ranks is that of one process on the rows of all of them. The
    penalty of a gate counts once, the loss of a row by its share of the weight of all rows;
    gradients are summed.

    Attributes
    ----------
    group : ProcessGroup or None
    rank, size : int
    """

    group: dist.ProcessGroup | None = None
    rank: int = 0
    size: int = 1

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum over ranks."""
        if self.group is not None:
            values = values.clone()
            dist.all_reduce(values, group=self.group)
        return values

    def largest(self, value: float, device: torch.device) -> float:
        """Return the largest value of any rank."""
        if self.group is None:
            return value
        found = torch.tensor(value, dtype=torch.float64, device=device)
        dist.all_reduce(found, op=dist.ReduceOp.MAX, group=self.group)
        return float(found)

    def sum_of_parts(self, part: Tensor | None, device: torch.device) -> Tensor | None:
        """Return the sum over the ranks that have a part; None if none has one."""
        if self.group is None:
            return part
        shape = [-1] * _MOST_AXES
        if part is not None:
            shape[: part.ndim + 1] = [part.ndim, *part.shape]
        agreed = torch.tensor(shape, device=device)
        dist.all_reduce(agreed, op=dist.ReduceOp.MAX, group=self.group)
        axes = int(agreed[0])
        if axes < 0:
            return None
        if part is None:
            part = torch.zeros(agreed[1 : axes + 1].tolist(), dtype=torch.float64, device=device)
        return self.sum(part)

    def share(self, batch: Batch) -> Share:
        """Return what part of the batch of all ranks a batch is."""
        n, weight = batch.x.shape[-2], batch.sample_weight
        if self.group is None:
            return Share(0, n, n, math.nan)
        told = torch.zeros(self.size + 1, dtype=torch.float64, device=batch.x.device)
        told[self.rank] = n
        told[-1] = n if weight is None else weight.double().sum()
        rows = self.sum(told).tolist()
        first, total = sum(rows[: self.rank]), sum(rows[:-1])
        return Share(int(first), n, int(total), rows[-1])

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace the gradients by their sums over ranks."""
        if self.group is None:
            return
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = self.sum(torch.cat([gradient.flatten() for gradient in gradients]))
        parts = torch.split(flat, [gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))

    def barrier(self) -> None:
        """Wait for all ranks."""
        if self.group is not None:
            dist.barrier(group=self.group)

    @contextmanager
    def lend(self, model: nn.Module) -> Iterator["Lent"]:
        """Let the gates and the noise of a model work across the ranks, for the block."""
        if self.group is None:
            yield Lent([])
            return
        gates = [module for module in model.modules() if isinstance(module, Gate)]
        noisy = [module for module in model.modules() if isinstance(module, Seeded)]
        before = [gate.process_group for gate in gates]
        try:
            for gate in gates:
                gate.process_group = self.group
            yield Lent(noisy)
        finally:
            for gate, group in zip(gates, before, strict=True):
                gate.process_group = group
            for module in noisy:
                module.share = None

    def check_same(self, model: nn.Module, values: Any, device: torch.device) -> None:
        """Raise on all ranks unless all start from the same weights and options."""
        if self.group is None:
            return
        digest = hashlib.sha256(repr(values).encode())
        for tensor in model.state_dict().values():
            digest.update(digest_of(tensor).encode())
        number = int.from_bytes(digest.digest()[:6], "big")
        if self.largest(number, device) != -self.largest(-number, device):
            raise InputError(
                "All ranks must start from the same weights, options and number of rows; they "
                "differ. Give each the same data and words, and the same integer as random_state."
            )


@dataclass
class Lent:
    """The modules of a model that draw noise."""

    noisy: list[Seeded]

    def tell(self, share: Share) -> None:
        """Say which rows of the batch of all ranks the next ones are."""
        for module in self.noisy:
            module.share = (share.first, share.rows)


ALONE = Ranks()

_CURRENT: ContextVar[Ranks] = ContextVar("featuremask_ranks", default=ALONE)


def current_ranks() -> Ranks:
    """Return the ranks that train together here; `ALONE` if there are none."""
    return _CURRENT.get()


@contextmanager
def across_ranks(group: dist.ProcessGroup | None = None) -> Iterator[Ranks]:
    """Train across the processes of a group, for the block.

    Each rank calls the same fits with the same data; a fit deals the rows out. Without a group it
    is the default one of ``torch.distributed``.
    """
    group = dist.group.WORLD if group is None else group
    if group is None:
        raise InputError(
            "across_ranks needs a process group; call torch.distributed.init_process_group first, "
            "or use joined_ranks."
        )
    ranks = Ranks(group, dist.get_rank(group), dist.get_world_size(group))
    token = _CURRENT.set(ranks)
    try:
        yield ranks
    finally:
        _CURRENT.reset(token)


def launched_rank() -> int:
    """Return the place of this process among those that a launcher has started; 0 if it is alone.

    Only the first one, 0, writes files and prints.
    """
    alone = os.environ.get("WORLD_SIZE", "1") == "1"
    return 0 if alone else int(os.environ.get("RANK", "0"))


@contextmanager
def joined_ranks(backend: str = "gloo", timeout_s: float = 1800.0) -> Iterator[Ranks]:
    """Join the processes that a launcher has started, for the block.

    torchrun, Slurm, Ray Train and Spark's TorchDistributor say who is there in the environment
    variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. Without them, or in a world of one, the
    process is alone.

    Parameters
    ----------
    backend : str, default="gloo"
    timeout_s : float, default=1800.0
        How long to wait for a rank that does not answer, before all fail.

    Examples
    --------
    >>> with joined_ranks() as ranks:
    ...     ranks.size
    1
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield ALONE
        return
    timeout = timedelta(seconds=timeout_s)
    store, rank, size = next(rendezvous("env://", timeout=timeout))
    # torchrun keeps one store over restarts: without a name of their own, the processes of a new
    # start would now and then find the addresses of the last one there, and wait for the dead.
    name = agreed_name(store, rank, size, timeout_s)
    dist.init_process_group(
        backend,
        timeout=timeout,
        store=PrefixStore(f"featuremask/{name}", store),
        rank=rank,
        world_size=size,
    )
    with across_ranks() as ranks:
        yield ranks
        ranks.barrier()
    # Not after an error: the other ranks may be inside a collective, and this one would wait.
    dist.destroy_process_group()


def agreed_name(store: Store, rank: int, size: int, timeout_s: float) -> str:
    """Return a name that all ranks of this start have in common, and no other start had.

    The count of restarts would not do: that of another node may differ, and it does not change
    when a node comes or leaves. So each rank asks under a word of its own, and the first one
    answers until all have heard it, whatever earlier starts have left in the store.
    """
    if rank > 0:
        word = uuid.uuid4().hex
        store.set(f"featuremask/asked-by-{rank}", word)
        name: str = store.get(f"featuremask/answer-to-{word}").decode()
        store.set(f"featuremask/{name}-heard-by-{rank}", "")
        return name
    name, missing = uuid.uuid4().hex, set(range(1, size))
    until = time.monotonic() + timeout_s
    while missing:
        missing -= {r for r in missing if store.check([f"featuremask/{name}-heard-by-{r}"])}
        for other in missing:
            if store.check([f"featuremask/asked-by-{other}"]):
                word = store.get(f"featuremask/asked-by-{other}").decode()
                store.set(f"featuremask/answer-to-{word}", name)
        if time.monotonic() > until:
            raise TimeoutError(
                f"Ranks {sorted(missing)} of {size} did not join within {timeout_s:g} seconds."
            )
        time.sleep(0.01)
    return name
