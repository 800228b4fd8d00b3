"""Keeping a fit on disk while it runs, and going on from there."""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from featuremask._tensorfile import digest_of, read_tensors, write_tensors
from featuremask.exceptions import CheckpointError, FileFormatError, InputError
from featuremask.training._callbacks import Callback, TrainingState
from featuremask.training._ranks import current_ranks

__all__ = ["Checkpoint"]

_KIND = "checkpoint"


class Checkpoint(Callback):
    """Write the state of training to a folder, and go on from it where there is one.

    Of several ranks the first writes, and all go on from what it wrote.

    A fit that was killed at any moment and is started again with the same arguments gives, bit
    for bit, the result of one that was not.

    Parameters
    ----------
    folder : path
        Made if it is not there. It holds one file, which is replaced as a whole. While a fit lasts
        no other may use the folder.
    every_epochs : int, default=1
        Epochs between two writes.
    every_seconds : float, optional
        Seconds between two writes, instead of epochs.
    identity : dict, optional
        Plain values that tell this fit from others, beside its first weights.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every_epochs: int = 1,
        every_seconds: float | None = None,
        identity: dict[str, Any] | None = None,
    ) -> None:
        if every_epochs < 1:
            raise InputError(f"every_epochs must be at least 1; got {every_epochs!r}.")
        self.folder = Path(folder)
        self.every_epochs = every_epochs
        self.every_seconds = every_seconds
        self.identity = identity or {}
        self._fingerprint = ""
        self._written = 0.0
        self._lock: int | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self.folder / "checkpoint.safetensors"

    def on_fit_begin(self, state: TrainingState) -> None:
        """Go on from the file, if there is one."""
        self._fingerprint = _fingerprint(state, self.identity)
        self._written = time.monotonic()
        ranks = current_ranks()
        if ranks.rank == 0:
            self._take_folder()
        if self.path.exists():
            self._load(state)
        ranks.barrier()  # none may write while another one still reads

    def on_epoch_end(self, state: TrainingState) -> None:
        """Write the file if it is time."""
        if current_ranks().rank != 0:
            return
        if self.every_seconds is None:
            due = state.epoch % self.every_epochs == 0
        else:
            due = time.monotonic() - self._written >= self.every_seconds
        if due or state.stopped:
            self._save(state)
            self._written = time.monotonic()

    def on_fit_end(self, state: TrainingState) -> None:
        """Leave the folder to others."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def on_fit_failed(self, state: TrainingState) -> None:
        """Leave the folder to others; the fit that goes on from it may be one of them."""
        self.on_fit_end(state)

    def _take_folder(self) -> None:
        """Make the folder and lock it; the lock ends with the process, however that ends."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder, os.O_RDONLY)
            if not os.access(self.folder, os.W_OK):
                raise PermissionError(f"{str(self.folder)!r} is read-only")
        except OSError as error:
            raise CheckpointError(
                f"No checkpoint can be kept in {str(self.folder)!r}: {error}. Choose a folder that "
                "can be written, or set checkpoint=None."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(
                f"Another fit is using the checkpoint in {str(self.folder)!r}. Wait for its end, "
                "or choose another folder."
            ) from error

    def _save(self, state: TrainingState) -> None:
        if not all(bool(torch.isfinite(value).all()) for value in state.model.parameters()):
            return  # the next step, or the end, raises; what was written before stays
        tensors = {f"model.{name}": value for name, value in state.model.state_dict().items()}
        tensors |= _optimizer_tensors(state.optimizer)
        tensors["generator"] = state.generator.get_state()
        tensors["global_generator"] = torch.get_rng_state()
        values: dict[str, Any] = {
            "fingerprint": self._fingerprint,
            "epoch": state.epoch,
            "step": state.step,
            "history": state.history,
            "stopped": state.stopped,
            "callbacks": [],
        }
        for i, callback in enumerate(_remembering(state.callbacks)):
            values["callbacks"].append(callback.values())
            tensors |= {f"callback.{i}.{name}": t for name, t in callback.tensors().items()}
        try:
            write_tensors(self.path, _KIND, tensors, values)
        except OSError as error:
            raise CheckpointError(
                f"The checkpoint in {str(self.folder)!r} cannot be written: {error}. The one "
                "before is intact: make room and fit again, and it goes on from there."
            ) from error

    def _load(self, state: TrainingState) -> None:
        try:
            tensors, values = read_tensors(self.path, _KIND)
        except FileFormatError as error:
            raise CheckpointError(
                f"The checkpoint cannot be read: {error} Remove the file to start anew."
            ) from error
        if values["fingerprint"] != self._fingerprint:
            raise CheckpointError(
                f"The checkpoint in {str(self.folder)!r} belongs to another fit (other data, "
                "parameters or seed). Choose another folder, or remove the file to start anew."
            )
        state.model.load_state_dict(_part(tensors, "model."))
        _restore_optimizer(state.optimizer, tensors)
        state.generator.set_state(tensors["generator"])
        torch.set_rng_state(tensors["global_generator"])
        state.epoch, state.step = values["epoch"], values["step"]
        state.history[:] = values["history"]
        state.stopped = values["stopped"]
        for i, (callback, kept) in enumerate(
            zip(_remembering(state.callbacks), values["callbacks"], strict=True)
        ):
            callback.restore(_part(tensors, f"callback.{i}."), kept)


def _remembering(callbacks: Sequence[Callback]) -> list[Callback]:
    """Return the callbacks that take back what was kept; the others may come and go."""
    return [callback for callback in callbacks if type(callback).restore is not Callback.restore]


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _fingerprint(state: TrainingState, identity: dict[str, Any]) -> str:
    """Return a hash of what the fit starts from."""
    start = {name: digest_of(value) for name, value in state.model.state_dict().items()}
    said = json.dumps(
        {
            "start": start,
            "identity": identity,
            "total_steps": state.total_steps,
            "callbacks": [type(callback).__name__ for callback in _remembering(state.callbacks)],
        },
        sort_keys=True,
    )
    return hashlib.sha256(said.encode()).hexdigest()


def _optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimizer.state_dict()["state"]
    return {
        f"optimizer.{index}.{name}": torch.as_tensor(value)
        for index, entry in state.items()
        for name, value in entry.items()
        if value is not None
    }


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    whole = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in _part(tensors, "optimizer.").items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": whole["param_groups"]})
