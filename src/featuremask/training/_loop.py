"""The one training loop: batch, gate, network, objective and penalty, step, projection."""

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from featuremask._gradients import keep_gradients
from featuremask.exceptions import TrainingDivergedError, TrainingInterruptedError
from featuremask.networks import Compaction, GatedNetwork, Standardize, draw_from
from featuremask.objectives import Objective
from featuremask.sources import Batch, Source
from featuremask.training._batches import (
    Batches,
    SourceBatches,
    as_taken,
    standardized,
    work_dtype,
)
from featuremask.training._callbacks import Callback, TrainingState
from featuremask.training._checkpoint import Checkpoint
from featuremask.training._isolation import own_global_noise, run_isolated
from featuremask.training._memory import out_of_memory_told
from featuremask.training._options import TrainingOptions
from featuremask.training._ranks import Lent, Ranks, Share, current_ranks
from featuremask.training._read_out import TrainingResult, chunk_rows, read_out
from featuremask.training._shared import dealt

__all__ = ["Task", "fit_network", "trained"]

_ROWS_OF_A_GLANCE = 2**16
"""Rows that the read-out of an interrupted training takes, at most: its end is waited for."""


@dataclass(frozen=True)
class Task:
    """What stays the same while training.

    The model may be one, or several stacked as one (`networks.Members`): losses have an axis of
    members then, and so have batches.
    """

    model: GatedNetwork
    objective: Objective
    batches: Batches
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
        rows = as_taken(dealt(source, ranks), sparse, options, standardize)
        task = Task(
            model,
            objective,
            SourceBatches(rows, options, standardize),
            rows,
            None
            if validation is None
            else as_taken(dealt(validation, ranks), sparse, options, standardize),
            standardize,
            options,
            interrupted,
            list(model.parameters()),
            ranks,
        )
        ranks.check_same(model, (options.seed, source.n_rows), options.device)
        state = trained(task, everyone, optimizer)
        result = _read_out(task)
        return TrainingResult(result.importance, result.statistic, state.history)

    n_weights = sum(parameter.numel() for parameter in model.parameters())
    with out_of_memory_told(source, options.batch_size, n_weights):
        return run_isolated(
            work, flush_subnormals=options.flush_subnormals, threads=options.threads
        )


def trained(
    task: Task, callbacks: Sequence[Callback], optimizer: torch.optim.Optimizer | None
) -> TrainingState:
    """Train to the end, in a thread that is ready for it, and return where that is."""
    options, model = task.options, task.model
    state = TrainingState(
        model=model,
        optimizer=optimizer or options.make_optimizer(model.gate, model.network),
        generator=torch.Generator(options.device).manual_seed(options.seed),
        callbacks=callbacks,
        total_steps=options.total_steps(task.batches.n_batches),
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
    return state


def _tell_so_far(error: TrainingInterruptedError, task: Task, state: TrainingState) -> None:
    """Add to an interruption how far training was, and what the gate says by then."""
    error.epoch, error.progress = state.epoch + 1, state.step / state.total_steps
    if state.step and task.ranks.size == 1:  # other ranks would wait for this one
        error.importance = read_out(
            task.model, task.source, task.options, task.standardize, most_rows=_ROWS_OF_A_GLANCE
        ).importance


def _read_out(task: Task) -> TrainingResult:
    return read_out(task.model, task.source, task.options, task.standardize, task.ranks)


def _run_epochs(task: Task, state: TrainingState, compaction: Compaction, lent: Lent) -> None:
    looked_at = bool(state.callbacks) or task.validation is not None
    start = time.monotonic() - (state.history[-1]["seconds"] if state.history else 0.0)
    while not state.stopped:
        compaction.cut()
        losses = _run_epoch(task, state, start, lent)
        if looked_at:
            compaction.restore()
        state.epoch += 1
        seconds = time.monotonic() - start
        loss = losses[0] if len(losses) == 1 else losses
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


def _progress(task: Task, state: TrainingState, start: float) -> float:
    """Return how far training is, by steps or by the clock, whichever is ahead."""
    progress = state.step / state.total_steps
    if task.options.max_seconds is not None:
        by_clock = (time.monotonic() - start) / task.options.max_seconds
        progress = max(progress, task.ranks.largest(by_clock, task.options.device))
    return progress


def _run_epoch(task: Task, state: TrainingState, start: float, lent: Lent) -> list[float]:
    """Make the steps of one epoch and return its mean loss, of each member."""
    task.model.train()
    gate, rows = task.model.gate, 0
    totals: list[float] = []
    for batch in task.batches.epoch(state.epoch):
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
        losses = [share.rows * loss for loss in _step(task, state, batch, share, progress)]
        gate.project()
        state.step += 1
        totals = [a + b for a, b in zip(totals, losses, strict=True)] if rows else losses
        rows += share.rows
    return [total / max(rows, 1) for total in totals]


def _step(
    task: Task, state: TrainingState, batch: Batch, share: Share, progress: float
) -> list[float]:
    """Make one step and return the loss before it, of each member."""
    model, options, optimizer = task.model, task.options, state.optimizer
    loss = _loss(task, batch, share)
    penalty = model.gate.penalty(model.network)
    if penalty is not None:
        loss = loss + penalty / task.ranks.size
    values: list[float] = task.ranks.sum(loss.detach()).reshape(-1).tolist()
    for value in values:
        if not math.isfinite(value):
            raise _diverged(value, state, batch, options)
    for parameter in task.parameters:
        parameter.grad = None
    loss.sum().backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
    task.ranks.add_gradients(task.parameters)
    if options.clip_gradient is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip_gradient)
    if options.schedule != "constant":
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * options.rate_factor(progress)
    optimizer.step()
    return values


def _loss(task: Task, batch: Batch, share: Share | None = None) -> Tensor:
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
def _validation_loss(task: Task) -> float:
    """Return the loss of the validation part, with the gate frozen as it stands."""
    assert task.validation is not None
    _read_out(task)
    total = torch.zeros((), dtype=torch.float64, device=task.options.device)
    chunks = task.validation.chunks(
        chunk_rows(task.validation),
        device=task.options.device,
        dtype=work_dtype(task.options, task.standardize),
    )
    for batch in chunks:
        batch = standardized(batch, task.standardize)
        weight = batch.x.shape[0] if batch.sample_weight is None else batch.sample_weight.sum()
        total += _loss(task, batch) * weight
    return float(task.ranks.sum(total)) / task.validation.weight_sum


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
