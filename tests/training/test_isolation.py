"""Training leaves the caller's process as it was: whether it ends, fails, or is interrupted."""

import contextvars
import json
import logging
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from featuremask import FeatureMaskSelector
from featuremask.exceptions import TrainingDivergedError
from featuremask.networks import GatedNetwork
from featuremask.objectives import Classes
from featuremask.training import Callback, TrainingState
from featuremask.training._isolation import run_isolated

SUBNORMAL = 1e-41


def surroundings() -> dict[str, Any]:
    """Return everything of the caller's that training must leave alone."""
    root = logging.getLogger()
    return {
        "torch's generator": torch.get_rng_state().tolist(),
        "numpy's generator": repr(np.random.get_state()),  # noqa: NPY002  # it is what is tested
        "python's generator": random.getstate(),
        "threads": torch.get_num_threads(),
        "threads of each library": torch.__config__.parallel_info(),
        "dtype": torch.get_default_dtype(),
        "subnormals": float(torch.tensor(SUBNORMAL) * 1.0) > 0.0,
        "subnormals of numpy": float(np.float32(SUBNORMAL) * np.float32(1.0)) > 0.0,
        "logging": (root.level, list(root.handlers), logging.getLogger("featuremask").level),
        "warning filters": list(warnings.filters),
        "gradients": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "python threads": threading.active_count(),
    }


@pytest.fixture
def untouched() -> Iterator[None]:
    """Compare the surroundings before and after a test."""
    before = surroundings()
    assert before["subnormals"], "this machine flushes subnormals anyway"
    yield
    assert surroundings() == before


@pytest.mark.usefixtures("untouched")
class TestTheCallerIsUntouched:
    @pytest.mark.parametrize("threads", [None, 1, 2])
    def test_by_a_fit(self, problem: Any, threads: int | None) -> None:
        problem.fit(problem.model(dropout=0.3), threads=threads)

    def test_by_a_network_that_draws_from_the_global_generator(self, problem: Any) -> None:
        state = torch.get_rng_state()
        network = nn.Sequential(nn.Linear(8, 4), nn.Dropout(0.5), nn.Linear(4, 2))
        torch.set_rng_state(state)
        problem.fit(GatedNetwork(problem.model().gate, network))

    def test_by_a_loss_that_fails(self, problem: Any) -> None:
        def loss(output: Tensor, target: Tensor) -> Tensor:
            torch.rand(3)
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            problem.fit(problem.model(), Classes(2, loss), threads=2)

    def test_by_a_divergence(self, problem: Any) -> None:
        with pytest.raises(TrainingDivergedError, match="learning rate"):
            problem.fit(epochs=99, optimizer="sgd", learning_rate=1e20, threads=2)

    def test_by_a_callback_that_fails(self, problem: Any) -> None:
        class Broken(Callback):
            def on_epoch_end(self, state: TrainingState) -> None:
                raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            problem.fit(callbacks=[Broken()], threads=2)

    @pytest.mark.parametrize("y", [None, "classes"])
    def test_by_a_selector(self, problem: Any, y: Any) -> None:
        X = np.tile(problem.X, (3, 1))
        selector = FeatureMaskSelector(max_epochs=2, early_stopping=True)
        selector.fit(X, None if y is None else X[:, 0] > 0).transform(X)

    def test_by_a_selector_that_fails(self, problem: Any) -> None:
        with pytest.raises(ZeroDivisionError, match="division"):
            FeatureMaskSelector(loss=lambda o, t: 1 / 0).fit(problem.X, problem.y)


# ---- subnormal floats -----------------------------------------------------------------------


def survivors(n: int = 400_000) -> int:
    """Return how many of n subnormals survive a multiplication; n is enough for all threads."""
    return int((torch.full((n,), SUBNORMAL) * 1.0).count_nonzero())


class Probe(Callback):
    """Counts the subnormals that survive while training."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.threads: list[int] = []

    def on_epoch_end(self, state: TrainingState) -> None:
        self.threads.append(torch.get_num_threads())
        self.counts.append(survivors())


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Two threads in the caller, both of them awake."""
    torch.set_num_threads(2)
    survivors()
    yield
    torch.set_num_threads(1)


@pytest.mark.usefixtures("two_threads")
def test_subnormals_are_flushed_in_all_threads_while_training_and_kept_in_all_after(
    problem: Any,
) -> None:
    probe = Probe()
    problem.fit(callbacks=[probe], threads=None)
    assert probe.threads == [2] * 3
    assert probe.counts == [0] * 3
    assert survivors() == 400_000


def test_subnormals_may_be_kept(problem: Any) -> None:
    probe = Probe()
    problem.fit(callbacks=[probe], flush_subnormals=False)
    assert probe.counts == [400_000] * 3


def test_subnormals_are_kept_after_a_failure() -> None:
    def work(interrupted: threading.Event) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        run_isolated(work, flush_subnormals=True, threads=2)
    assert survivors() == 400_000


# ---- threads --------------------------------------------------------------------------------


@pytest.mark.parametrize(("asked", "given"), [(None, 1), (1, 1), (2, 2)])
def test_training_runs_on_the_threads_asked_for(
    problem: Any, asked: int | None, given: int
) -> None:
    probe = Probe()
    problem.fit(callbacks=[probe], threads=asked)
    assert probe.threads == [given] * 3


def test_the_result_comes_back_from_the_thread() -> None:
    def work(interrupted: threading.Event) -> str:
        assert not interrupted.is_set()
        return threading.current_thread().name

    assert run_isolated(work, flush_subnormals=True) == "featuremask-fit"
    assert threading.current_thread().name != "featuremask-fit"


def test_a_warning_that_is_an_error_comes_through() -> None:
    def work(interrupted: threading.Event) -> None:
        warnings.warn("mine", stacklevel=1)

    with pytest.raises(UserWarning, match="mine"):
        run_isolated(work, flush_subnormals=True)


def test_context_variables_of_the_caller_hold_in_the_thread() -> None:
    word = contextvars.ContextVar("word", default="unset")
    word.set("mine")
    assert run_isolated(lambda _: word.get(), flush_subnormals=True) == "mine"


# ---- interruption ---------------------------------------------------------------------------

_INTERRUPTED = """
import json, os, random, signal, sys, threading, time
import numpy as np, torch
from featuremask import FeatureMaskSelector
from featuremask.training import Callback

class Tell(Callback):
    def on_epoch_end(self, state):
        if state.epoch == 3:
            print("ready", flush=True)

def surroundings():
    return [
        torch.get_rng_state().tolist(), repr(np.random.get_state()), torch.get_num_threads(),
        int((torch.full((400_000,), 1e-41) * 1.0).count_nonzero()), threading.active_count(),
        signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    ]

torch.set_num_threads(2)
X = np.random.default_rng(0).normal(size=(3000, 400))
selector = FeatureMaskSelector(max_epochs=10**6, callbacks=[Tell()], verbose=len(sys.argv) > 1)
before = surroundings()
try:
    selector.fit(X, X[:, 0] > 0)
except KeyboardInterrupt:
    print(json.dumps({"same": surroundings() == before, "fitted": hasattr(selector, "ranking_")}))
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_fit_soon_and_leaves_everything_as_it_was() -> None:
    command = [sys.executable, "-c", _INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline() == b"ready\n"
        start = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer, errors = child.communicate(timeout=60)
        seconds = time.monotonic() - start
    assert errors == b""
    assert json.loads(answer) == {"same": True, "fitted": False}
    assert seconds < 10
