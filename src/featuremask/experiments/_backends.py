"""Where jobs are worked on: processes of this machine, or the workers of a cluster.

A worker may be killed at any time. What it had recorded stays; its job is given to another worker,
which makes what is missing of it. A job whose workers keep being killed is told as "killed", has no
record, and the others go on.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from featuremask._extras import needed
from featuremask.exceptions import InputError

__all__ = ["BACKENDS", "Killed", "Task", "results"]

Task = Callable[[], Any]


class Killed:
    """What a task is answered with whose workers were killed again and again."""


def results(
    tasks: Mapping[str, Task], backend: str, jobs: int, cluster: str | None = None
) -> Iterator[tuple[str, Any]]:
    """Call tasks on several workers and yield their names and results as they end.

    Parameters
    ----------
    tasks : mapping of str to callable
        What can be pickled, and called again after it was cut off.
    backend : str
        A key of `BACKENDS`.
    jobs : int
        Workers of this machine, where no cluster is named.
    cluster : str, optional
        The address of a scheduler of Dask, or of a cluster of Ray.

    Yields
    ------
    name : str
    result : Any
        `Killed` for a task that no worker survived.
    """
    if backend not in BACKENDS:
        raise InputError(f"The backend must be one of {', '.join(BACKENDS)}; got {backend!r}.")
    if cluster is not None and backend == "loky":
        raise InputError(
            f"The backend loky has no cluster, for it starts processes of this machine; got "
            f"{cluster!r}. Name the backend of the cluster, dask or ray."
        )
    yield from BACKENDS[backend](tasks, jobs, cluster)


def _named(name: str, task: Task) -> tuple[str, Any]:
    return name, task()


def _by_loky(
    tasks: Mapping[str, Task], jobs: int, cluster: str | None
) -> Iterator[tuple[str, Any]]:
    """Use processes of this machine; when one is killed, all start anew with what is left.

    A start that ends no task is followed by one with a single task at a time: if that is cut off
    too, this task is the one that kills.
    """
    from joblib import Parallel, delayed

    left, at_once = dict(tasks), jobs
    while left:
        before = len(left)
        # Two processes even for one task at a time: a single one would be this process.
        parallel = Parallel(
            n_jobs=max(2, jobs),
            backend="loky",
            batch_size=1,
            pre_dispatch=at_once,
            return_as="generator_unordered",
        )
        try:
            for name, result in parallel(delayed(_named)(*item) for item in tuple(left.items())):
                del left[name]
                yield name, result
        except BrokenProcessPool:
            if len(left) == before and at_once == 1:
                name = next(iter(left))
                del left[name]
                yield name, Killed()
            at_once = 1 if len(left) == before else jobs


def _by_dask(
    tasks: Mapping[str, Task], jobs: int, cluster: str | None
) -> Iterator[tuple[str, Any]]:
    """Use the workers of a scheduler of Dask; of one that is started here if none is named."""
    dask = needed("distributed", "dask")
    words = (
        {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
        if cluster is None
        else {"address": cluster}
    )
    with dask.Client(**words) as client:
        threads = sorted(set(client.nthreads().values()))
        if threads not in ([], [1]):
            raise InputError(
                "Workers of Dask must have one thread each, for the number of threads of a run is "
                f"that of its process; got {threads[-1]}. Start them with: "
                "dask worker ADDRESS --nthreads 1 --nworkers N"
            )
        names = list(tasks)
        futures = client.map(_named, names, [tasks[name] for name in names], pure=False)
        by_key = {future.key: name for future, name in zip(futures, names, strict=True)}
        for future in dask.as_completed(futures):
            if isinstance(future.exception(), dask.KilledWorker):
                yield by_key[future.key], Killed()
            else:
                yield future.result()


def _by_ray(tasks: Mapping[str, Task], jobs: int, cluster: str | None) -> Iterator[tuple[str, Any]]:
    """Use a cluster of Ray; one of this machine if none is named."""
    ray = needed("ray", "ray")
    words = {"num_cpus": jobs, "include_dashboard": False} if cluster is None else {}
    ray.init(address=cluster or "local", log_to_driver=False, **words)
    try:
        call = ray.remote(num_cpus=1, max_retries=3)(_named)
        waiting = {call.remote(name, task): name for name, task in tasks.items()}
        while waiting:
            (ended,), _ = ray.wait(list(waiting), num_returns=1)
            name = waiting.pop(ended)
            try:
                yield ray.get(ended)
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
                yield name, Killed()
    finally:
        ray.shutdown()


BACKENDS: dict[str, Callable[..., Iterator[tuple[str, Any]]]] = {
    "loky": _by_loky,
    "dask": _by_dask,
    "ray": _by_ray,
}
"""From the name of a backend to what calls tasks on it."""
