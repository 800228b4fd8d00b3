"""The small data that most faults are tried on."""

import multiprocessing
import resource
import signal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from featuremask import FeatureMaskSelector

N_ROWS, N_COLUMNS = 60, 4
NAMES = ["age", "b", "c d", "ö"]


def rows() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Rows whose first column tells the class."""
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    return X, (X[:, 0] > 0).astype(np.int64)


def short(n_features_to_select: Any = 2, **words: Any) -> FeatureMaskSelector:
    """A selector that trains for a moment."""
    words = {"max_epochs": 2, "random_state": 0} | words
    return FeatureMaskSelector(n_features_to_select, **words)


def in_child(job: Any, *arguments: Any) -> str:
    """Do a job in a process of its own and return what it says; a limit of it is its own."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(job(*arguments)))
    child.start()
    sender.close()
    said = receiver.recv() if receiver.poll(120) else "nothing"
    child.join()
    return str(said)


def limit_files(size: int) -> None:
    """Let this process write no file beyond a size, as if the disk were full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
