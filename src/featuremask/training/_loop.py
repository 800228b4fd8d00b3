"""The one training loop: batch, gate, network, objective and penalty, step, projection."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from featuremask._gradients import keep_gradients
from featuremask.exceptions import TrainingDivergedError, TrainingInterruptedError
from featuremask.gates import Importance, MaskGate
from featuremask.networks import Compaction, GatedNetwork, Standardize, draw_from
from featuremask.objectives import Objective
from featuremask.sources import Batch, Source, batch_edges
from featuremask.training._callbacks import Callback, TrainingState
from featuremask.training._checkpoint import Checkpoint
from featuremask.training._isolation import own_global_noise, run_isolated
from featuremask.training._memory import out_of_memory_told
from featuremask.training._options import TrainingOptions
from featuremask.training._ranks import ALONE, Lent, Ranks, Share, current_ranks
from featuremask.training._shared import dealt

__all__ = ["TrainingResult", "fit_network", "read_out", "statistic_of"]

_ROWS_OF_A_GLANCE = 2**16
"""Rows that the read-out of an interrupted training takes, at most: its end is waited for."""

_CHUNK_ROWS = 4096
_CHUNK_NUMBERS = 2**24
"""Rows and numbers that a read-out holds at a time, at most."""


@dataclass(frozen=True)
class TrainingResult:
    """What training leaves beside the trained model.

    Attributes
    ----------
    importance : Importance
        Of the gate, over all training rows.
    statistic : Tensor or None
        What it was read from.
    history : list of dict
        One record an epoch: epoch, step, loss, validation_loss (if there is a validation part),
        seconds.
    """

    importance: Importance
    statistic: Tensor | None
    history: list[dict[str, Any]]


@dataclass(frozen=True)
class _Task:
    """What stays the same while training."""

    model: GatedNetwork
    objective: Objective
    source: Source
    validation: Source | None
    standardize: Standardize | None
    options: TrainingOptions
    interrupted: threading.Event
    parameters: list[nn.Parameter]
    ranks: Ranks


def fit_network(
    model: GatedNetwork,
    objective: Objective,
    source: Source,
    options: TrainingOptions,
    *,
    standardize: Standardize | None = None,
    validation: Source | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: Checkpoint | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> TrainingResult:
    """Train a gate and a learning network on an objective, and read the gate out.

    The caller's random state, thread settings and handling of subnormal floats stay as they are.
    The same arguments give the same bits on the same machine and number of threads.

    Parameters
    ----------
    model : GatedNetwork
        Trained in place; left in evaluation mode with its gate frozen.
    objective : Objective
    source : Source
        The training rows.
    options : TrainingOptions
    standardize : Standardize, optional
        Applied to each batch.
    validation : Source, optional
        Rows whose loss is recorded after each epoch.
    callbacks : sequence of Callback
    checkpoint : Checkpoint, optional
        Where to keep the state; called after all other callbacks.
    optimizer : torch.optim.Optimizer, optional
        Goes on with its state; a new one follows from the options if None.

    Returns
    -------
    TrainingResult
    """
    everyone = (*callbacks, *([] if checkpoint is None else [checkpoint]))
    ranks = current_ranks()
    model.to(options.device)
    if standardize is not None:
        standardize.to(options.device)

    def work(interrupted: threading.Event) -> TrainingResult:
        # The rows themselves are the target where they are to be reconstructed.
        sparse = objective.kind != "reconstruction" and model.takes_sparse()
        task = _Task(
            model,
            objective,
            _as_taken(dealt(source, ranks), sparse, options, standardize),
            None
            if validation is None
            else _as_taken(dealt(validation, ranks), sparse, options, standardize),
            standardize,
            options,
            interrupted,
            list(model.parameters()),
            ranks,
        )
        ranks.check_same(model, (options.seed, source.n_rows), options.device)
        return _train(task, everyone, optimizer)

    n_weights = sum(parameter.numel() for parameter in model.parameters())
    with out_of_memory_told(source, options.batch_size, n_weights):
        return run_isolated(
            work, flush_subnormals=options.flush_subnormals, threads=options.threads
        )


def read_out(
    model: GatedNetwork,
    source: Source,
    options: TrainingOptions,
    standardize: Standardize | None = None,
    ranks: Ranks = ALONE,
    most_rows: float = math.inf,
) -> TrainingResult:
    """Freeze the gate at the statistic of all rows of a source and return its importance."""
    model.eval()
    statistic = statistic_of(model, source, options, standardize, ranks, most_rows)
    model.gate.freeze(statistic)
    return TrainingResult(model.gate.importance(statistic), statistic, [])


@torch.no_grad()
def statistic_of(
    model: GatedNetwork,
    source: Source,
    options: TrainingOptions,
    standardize: Standardize | None = None,
    ranks: Ranks = ALONE,
    most_rows: float = math.inf,
) -> Tensor | None:
    """Return the gate's statistic over all rows of a source (of all ranks), streamed in chunks.

    With `most_rows` it is that of the first rows, in whole chunks.
    """
    total: Tensor | None = None
    seen, whole = 0.0, source.n_rows <= most_rows
    dtype = _work_dtype(options, standardize)
    takes_sparse = isinstance(model.gate, MaskGate) and model.gate.takes_sparse()
    taken = _as_taken(source, takes_sparse, options, standardize)
    for chunk in taken.chunks(_chunk_rows(taken), device=options.device, dtype=dtype):
        rows, _, weight = _standardized(chunk, standardize)
        part = model.gate.statistic(rows, weight, network=model.network)
        if part is None:
            break
        part_weight = len(rows) if weight is None else weight.double().sum()
        part = part * part_weight
        total = part if total is None else total + part
        seen += float(part_weight)
        most_rows -= len(rows)
        if most_rows <= 0:
            break
    total = ranks.sum_of_parts(total, options.device)
    return None if total is None else total / (source.weight_sum if whole else seen)


def _train(
    task: _Task, callbacks: Sequence[Callback], optimizer: torch.optim.Optimizer | None
) -> TrainingResult:
    options, model = task.options, task.model
    steps_per_epoch = len(batch_edges(task.source.n_rows, options.batch_size)) - 1
    state = TrainingState(
        model=model,
        optimizer=optimizer or options.make_optimizer(model.gate, model.network),
        generator=torch.Generator(options.device).manual_seed(options.seed),
        callbacks=callbacks,
        total_steps=options.total_steps(steps_per_epoch),
        read_out=lambda: _read_out(task).importance,
    )
    try:
        with (
            draw_from(model, state.generator),
            own_global_noise(options.device, options.seed + task.ranks.rank),
            task.ranks.lend(model) as lent,
            keep_gradients(),
        ):
            for callback in callbacks:
                callback.on_fit_begin(state)
            sparse = task.source.sparsely() is task.source
            compaction = Compaction(model, state.optimizer, by_column=sparse)
            try:
                _run_epochs(task, state, compaction, lent)
            finally:
                compaction.restore()
        for callback in callbacks:
            callback.on_fit_end(state)
    except BaseException as error:
        for callback in callbacks:
            callback.on_fit_failed(state)
        if isinstance(error, TrainingInterruptedError):
            _tell_so_far(error, task, state)
        raise
    _check_weights(model, state, options)
    result = _read_out(task)
    return TrainingResult(result.importance, result.statistic, state.history)


def _tell_so_far(error: TrainingInterruptedError, task: _Task, state: TrainingState) -> None:
    """Add to an interruption how far training was, and what the gate says by then."""
    error.epoch, error.progress = state.epoch + 1, state.step / state.total_steps
    if state.step and task.ranks.size == 1:  # other ranks would wait for this one
        error.importance = read_out(
            task.model, task.source, task.options, task.standardize, most_rows=_ROWS_OF_A_GLANCE
        ).importance


def _read_out(task: _Task) -> TrainingResult:
    return read_out(task.model, task.source, task.options, task.standardize, task.ranks)


def _run_epochs(task: _Task, state: TrainingState, compaction: Compaction, lent: Lent) -> None:
    batches = _Batches(task)
    looked_at = bool(state.callbacks) or task.validation is not None
    start = time.monotonic() - (state.history[-1]["seconds"] if state.history else 0.0)
    while not state.stopped:
        compaction.cut()
        loss = _run_epoch(task, state, batches, start, lent)
        if looked_at:
            compaction.restore()
        state.epoch += 1
        seconds = time.monotonic() - start
        record = {"epoch": state.epoch, "step": state.step, "loss": loss, "seconds": seconds}
        if task.validation is not None:
            record["validation_loss"] = _validation_loss(task)
        state.history.append(record)
        state.stopped = _progress(task, state, start) >= 1.0
        if state.stopped:
            compaction.restore()
            task.model.gate.anneal(1.0)
        for callback in state.callbacks:
            if callback.on_epoch_end(state):
                state.stopped = True
        state.stopped = bool(task.ranks.largest(state.stopped, task.options.device))


def _progress(task: _Task, state: TrainingState, start: float) -> float:
    """Return how far training is, by steps or by the clock, whichever is ahead."""
    progress = state.step / state.total_steps
    if task.options.max_seconds is not None:
        by_clock = (time.monotonic() - start) / task.options.max_seconds
        progress = max(progress, task.ranks.largest(by_clock, task.options.device))
    return progress


def _run_epoch(
    task: _Task, state: TrainingState, batches: "_Batches", start: float, lent: Lent
) -> float:
    """Make the steps of one epoch and return its mean loss."""
    task.model.train()
    gate, total, rows = task.model.gate, 0.0, 0
    for batch in batches.epoch(state.epoch):
        progress = _progress(task, state, start)
        if progress >= 1.0:
            if rows:
                break
            # An epoch makes one step, whatever the clock says.
            progress = math.nextafter(1.0, 0.0) if state.step else 0.0
        if task.interrupted.is_set():
            raise TrainingInterruptedError("Training was interrupted.")
        gate.anneal(progress)
        share = task.ranks.share(batch)
        lent.tell(share)
        loss = _step(task, state, batch, share, progress)
        gate.project()
        state.step += 1
        total += loss * share.rows
        rows += share.rows
    return total / max(rows, 1)


def _step(task: _Task, state: TrainingState, batch: Batch, share: Share, progress: float) -> float:
    model, options, optimizer = task.model, task.options, state.optimizer
    loss = _loss(task, batch, share)
    penalty = model.gate.penalty(model.network)
    if penalty is not None:
        loss = loss + penalty / task.ranks.size
    value = task.ranks.sum(loss.detach()).item()
    if not math.isfinite(value):
        raise _diverged(value, state, batch, options)
    for parameter in task.parameters:
        parameter.grad = None
    loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    task.ranks.add_gradients(task.parameters)
    if options.clip_gradient is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip_gradient)
    if options.schedule != "constant":
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * options.rate_factor(progress)
    optimizer.step()
    return value


def _loss(task: _Task, batch: Batch, share: Share | None = None) -> Tensor:
    """Return the mean loss of a batch; of several ranks, what this one adds to that of all."""
    options = task.options
    with torch.autocast(options.device.type, torch.bfloat16, enabled=options.autocast):
        output = task.model(batch.x, batch.sample_weight)
    if options.autocast:
        output = output.to(options.dtype)
    target, weight = batch.x if batch.target is None else batch.target, batch.sample_weight
    if share is None or task.ranks.group is None:
        return task.objective.loss(output, target, weight)
    losses = task.objective.row_losses(output, target)
    return (losses.sum() if weight is None else weight @ losses) / share.weight


@torch.no_grad()
def _validation_loss(task: _Task) -> float:
    """Return the loss of the validation part, with the gate frozen as it stands."""
    assert task.validation is not None
    _read_out(task)
    total = torch.zeros((), dtype=torch.float64, device=task.options.device)
    chunks = task.validation.chunks(
        _chunk_rows(task.validation),
        device=task.options.device,
        dtype=_work_dtype(task.options, task.standardize),
    )
    for batch in chunks:
        batch = _standardized(batch, task.standardize)
        weight = batch.x.shape[0] if batch.sample_weight is None else batch.sample_weight.sum()
        total += _loss(task, batch) * weight
    return float(task.ranks.sum(total)) / task.validation.weight_sum


def _chunk_rows(source: Source) -> int:
    return max(1, min(_CHUNK_ROWS, _CHUNK_NUMBERS // max(1, source.numbers_a_row)))


def _as_taken(
    source: Source, takes_sparse: bool, options: TrainingOptions, standardize: Standardize | None
) -> Source:
    """Return the source, in sparse batches if it has them and they are taken.

    Columns that lie far from zero need float64 before they are centered, and so dense rows.
    """
    if not takes_sparse or _work_dtype(options, standardize) != options.dtype:
        return source
    return source.sparsely() or source


def _work_dtype(options: TrainingOptions, standardize: Standardize | None) -> torch.dtype:
    return options.dtype if standardize is None else standardize.work_dtype


def _standardized(batch: Batch, standardize: Standardize | None) -> Batch:
    if standardize is None:
        return batch
    weight = batch.sample_weight
    x = standardize.apply_(batch.x)
    return Batch(x, batch.target, None if weight is None else weight.to(x.dtype))


class _Batches:
    """The standardized batches of each epoch; kept where one batch is the whole data."""

    def __init__(self, task: _Task) -> None:
        self._task = task
        self._whole: Batch | None = None
        options = task.options
        self._single = len(batch_edges(task.source.n_rows, options.batch_size)) == 2

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch."""
        if self._whole is not None:
            yield self._whole
            return
        options = self._task.options
        for batch in self._task.source.batches(
            options.batch_size,
            seed=options.seed,
            epoch=epoch,
            device=options.device,
            dtype=_work_dtype(options, self._task.standardize),
        ):
            batch = _standardized(batch, self._task.standardize)
            if self._single:
                self._whole = batch
            yield batch


def _check_weights(model: GatedNetwork, state: TrainingState, options: TrainingOptions) -> None:
    """Raise if the last step, whose loss was finite, has left weights that are not."""
    if not all(bool(torch.isfinite(parameter).all()) for parameter in model.parameters()):
        raise TrainingDivergedError(
            f"Weights are not finite after the last step, {state.step} of {state.total_steps}. The "
            f"likely cause: the loss has no finite gradient everywhere, or the learning rate "
            f"{options.learning_rate:g} is too high."
        )


def _diverged(
    value: float, state: TrainingState, batch: Batch, options: TrainingOptions
) -> TrainingDivergedError:
    largest = float(batch.x.abs().max()) if batch.x.shape[0] else 0.0
    if not math.isfinite(largest):
        cause = "the input of the batch is not finite"
    elif largest > 1e4:
        cause = f"the input is large (up to {largest:.3g}); standardize it"
    else:
        cause = f"the learning rate {options.learning_rate:g} is too high; try a tenth of it"
    return TrainingDivergedError(
        f"The loss became {value} in epoch {state.epoch + 1}, step {state.step + 1} of "
        f"{state.total_steps}. The likely cause: {cause}. The learning rate is "
        f"{options.learning_rate:g}, the largest input {largest:.3g}."
    )
