"""Kill fits that keep a checkpoint, start them again, and compare with one left in peace.

A program of its own: it loads the library once, computes nothing itself, and forks for each fit,
so that a kill costs milliseconds instead of the seconds of an import.
"""

import argparse
import functools
import json
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo  # an optimizer loads it, which takes a second

from featuremask import FeatureMaskSelector, _files
from featuremask._tensorfile import digest_of
from featuremask.training import Checkpoint, ImportanceRecorder


def fit(checkpoint: Checkpoint | None, epochs: int) -> dict[str, Any]:
    """Fit with all that has a state: dropout, a held-out part, callbacks; return every bit."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    recorder = ImportanceRecorder(every=3)
    selector = FeatureMaskSelector(
        max_epochs=epochs,
        dropout=0.3,
        early_stopping=True,
        checkpoint=checkpoint,
        callbacks=[recorder],
        random_state=0,
    ).fit(X, X[:, 0] - X[:, 1] > 0)
    state = selector.network_.state_dict()
    return {
        "scores": selector.scores_.tobytes().hex(),
        "ranking": selector.ranking_.tolist(),
        "weights": {name: digest_of(value) for name, value in state.items()},
        "losses": [(r["loss"], r["validation_loss"]) for r in selector.history_],
        "recorded": [digest_of(scores) for scores in recorder.scores],
    }


class Child:
    """A fit in a process of its own, which leaves its result in a file."""

    def __init__(self, result: Path, job: Callable[[], dict[str, Any]]) -> None:
        self.pid = os.fork()
        if self.pid:
            return
        try:
            answer = job()
            result.with_suffix(".part").write_text(json.dumps(answer))
            os.replace(result.with_suffix(".part"), result)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def killed_after(self, seconds: float) -> bool:
        """Kill it after some time; return whether it was still at work."""
        time.sleep(seconds)
        os.kill(self.pid, signal.SIGKILL)
        return self.ended() == -signal.SIGKILL

    def ended(self) -> int:
        """Wait for its end and return its exit code, negative for a signal."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if code > 0:
            sys.exit("a fit failed; see above")
        return code


class DeadlyOS:
    """The module `os`; kills this process at one of the moments around what writes."""

    def __init__(self, at: int) -> None:
        self.left = at
        for name in ("fsync", "replace"):
            setattr(self, name, self._around(getattr(os, name)))

    def _moment(self) -> None:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def _around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> None:
            self._moment()
            function(*args)
            self._moment()

        return call

    def fdopen(self, handle: int, mode: str) -> Any:
        return _Halves(os.fdopen(handle, mode, buffering=0), self._moment)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


class _Halves:
    """A file that is written in two halves, with moments around them."""

    def __init__(self, file: Any, moment: Callable[[], None]) -> None:
        self._file, self._moment = file, moment

    def __enter__(self) -> "_Halves":
        return self

    def __exit__(self, *details: object) -> None:
        self._file.close()

    def write(self, data: bytes) -> None:
        middle = len(data) // 2
        self._moment()
        self._file.write(data[:middle])
        self._moment()
        self._file.write(data[middle:])
        self._moment()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


MOMENTS_OF_A_WRITE = 9


def at_random(folder: Path, kills: int, epochs: int) -> dict[str, Any]:
    """Kill at random moments, one fit after the other, each started again until it is done."""
    start = time.monotonic()
    Child(folder / "peace", lambda: fit(None, epochs)).ended()
    duration = time.monotonic() - start
    expected = json.loads((folder / "peace").read_text())
    done, fits = 0, 0
    while done < kills:
        fits += 1
        result = folder / f"result-{fits}"
        job = functools.partial(fit, Checkpoint(folder / f"fit-{fits}"), epochs)
        while not result.exists():
            child = Child(result, job)
            if done < kills:
                done += child.killed_after(random.uniform(0.0, duration))
            else:
                child.ended()
        if json.loads(result.read_text()) != expected:
            sys.exit(f"fit {fits} differs after {done} kills")
    return {"kills": done, "fits": fits, "epochs": len(expected["losses"])}


def deadly(job: Callable[[], dict[str, Any]], moment: int) -> dict[str, Any]:
    """Do a job that does not survive a moment of its second write."""
    _files.os = DeadlyOS(MOMENTS_OF_A_WRITE + moment)  # type: ignore[assignment]  # a fake
    return job()


def at_each_moment_of_a_write(folder: Path, epochs: int) -> dict[str, Any]:
    """Kill before, within and after each write, fsync and rename of the second checkpoint."""
    Child(folder / "peace", lambda: fit(None, epochs)).ended()
    expected = json.loads((folder / "peace").read_text())
    for moment in range(MOMENTS_OF_A_WRITE):
        result = folder / f"result-{moment}"
        job = functools.partial(fit, Checkpoint(folder / f"fit-{moment}"), epochs)
        if Child(result, functools.partial(deadly, job, moment)).ended() != -signal.SIGKILL:
            sys.exit(f"there is no moment {moment} to kill at")
        Child(result, job).ended()
        if json.loads(result.read_text()) != expected:
            sys.exit(f"the fit that was killed at moment {moment} differs")
    return {"kills": MOMENTS_OF_A_WRITE, "fits": MOMENTS_OF_A_WRITE, "epochs": epochs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, help="at random; else at each moment of a write")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    if arguments.kills is None:
        found = at_each_moment_of_a_write(arguments.folder, arguments.epochs)
    else:
        found = at_random(arguments.folder, arguments.kills, arguments.epochs)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
