"""A thread of its own for a computation, so that its settings are nobody else's.

Flushing subnormal floats is a setting of a thread, and the worker threads that a library starts
inherit it from the thread that starts them. Set in the caller's thread it would miss the workers
that run already, and would stay behind in those that start meanwhile. In a thread of its own it
holds for the computation and all its workers, and for nothing else.
"""

import contextvars
import ctypes
import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

__all__ = ["own_global_noise", "run_isolated"]

T = TypeVar("T")


def run_isolated(
    function: Callable[[threading.Event], T],
    *,
    flush_subnormals: bool,
    threads: int | None = None,
) -> T:
    """Run a function in a thread of its own and return its result or raise its error.

    An interruption of the caller has the error of the function, which tells how far it was, as its
    cause.

    Parameters
    ----------
    function : callable
        Receives an event that is set when the caller is interrupted; it should then return soon.
    flush_subnormals : bool
        Treat subnormal floats as zero in that thread.
    threads : int, optional
        Number of PyTorch's threads there.
    """
    usual = torch.get_num_threads()
    interrupted, finished = threading.Event(), threading.Event()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        if flush_subnormals:
            torch.set_flush_denormal(True)
        torch.set_num_threads(usual if threads is None else threads)
        try:
            results.append(function(interrupted))
        except BaseException as error:  # handed over to the caller's thread
            errors.append(error)
        finally:
            torch.set_num_threads(usual)
            finished.set()

    context = contextvars.copy_context()
    _release_idle_workers()
    thread = threading.Thread(target=context.run, args=(work,), name="featuremask-fit")
    thread.start()
    try:
        # Not thread.join(): until Python 3.13 one that is interrupted takes a thread that runs on
        # for one that has ended.
        finished.wait()
    except BaseException as stop:
        interrupted.set()
        finished.wait()
        raise stop from (errors[0] if errors else None)
    finally:
        thread.join()
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def own_global_noise(device: torch.device, seed: int) -> Iterator[None]:
    """Seed PyTorch's global generators for the block, and give them back as they were.

    A user's network may draw from them, as ``nn.Dropout`` does.
    """
    cuda = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.default_generator.manual_seed(seed)
        for each in cuda:
            with torch.cuda.device(each):
                torch.cuda.manual_seed(seed)
        yield


def _release_idle_workers() -> None:
    """Let the caller's idle OpenMP workers go; they are started again when next needed.

    GNU's OpenMP makes all threads of a process sleep instead of spin at their barriers as soon as
    there are more of them than cores, and small operations then take several times as long.
    """
    runtime = _openmp()
    if runtime is not None:
        runtime.omp_pause_resource_all(1)  # 1: soft, settings are kept


@functools.cache
def _openmp() -> ctypes.CDLL | None:
    """Return PyTorch's OpenMP runtime if it is loaded and can release its workers."""
    noload = getattr(os, "RTLD_NOLOAD", None)
    if noload is None:
        return None
    try:
        runtime = ctypes.CDLL("libgomp.so.1", mode=os.RTLD_NOW | noload)
    except OSError:
        return None
    return runtime if hasattr(runtime, "omp_pause_resource_all") else None
