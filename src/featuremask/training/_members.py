"""Several fits as one batched computation, in the one loop."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from featuremask.networks import (
    GatedNetwork,
    MemberDraws,
    Members,
    Standardize,
    draw_from_each,
)
from featuremask.objectives import Objective, OfMembers
from featuremask.sources import Source
from featuremask.training._batches import MemberBatches, as_taken, n_batches, work_dtype
from featuremask.training._isolation import run_isolated
from featuremask.training._loop import Task, trained
from featuremask.training._memory import out_of_memory_told
from featuremask.training._options import TrainingOptions
from featuremask.training._ranks import ALONE, current_ranks
from featuremask.training._read_out import TrainingResult, read_out

__all__ = ["Member", "fit_members"]


@dataclass(frozen=True)
class Member:
    """One of several fits; see `fit_network` for what each attribute is.

    Attributes
    ----------
    model : GatedNetwork
    source : Source
    options : TrainingOptions
    standardize : Standardize, optional
    """

    model: GatedNetwork
    source: Source
    options: TrainingOptions
    standardize: Standardize | None = None

    @property
    def n_batches(self) -> int:
        """Steps of an epoch."""
        return n_batches(self.source.n_rows, self.options)

    def common(self) -> tuple[Any, ...]:
        """Return what members that are trained together have in common, beside their models."""
        options = replace(self.options, seed=0, learning_rate=1.0, batch_size=1)
        return options, self.n_batches, work_dtype(self.options, self.standardize)


def fit_members(
    members: Sequence[Member], objective: Objective, threads: int | None = None
) -> list[TrainingResult] | None:
    """Train several models in one batched computation, and read each out.

    Each member sees its own rows in its own order, draws its own noise and keeps its own moments:
    the result is the one it has alone (`fit_network`), to rounding. Seeds, rows, weights and
    learning rates may differ.

    Parameters
    ----------
    members : sequence of Member
        Their models are trained in place.
    objective : Objective
        Of all members.
    threads : int, optional
        PyTorch's threads while training; None leaves the caller's setting.

    Returns
    -------
    list of TrainingResult
        None, and nothing is changed, if the members cannot be trained together.
    """
    if not _go_together(members, objective):
        return None
    first = members[0]
    options = replace(first.options, threads=threads)
    for member in members:
        member.model.to(options.device)
        if member.standardize is not None:
            member.standardize.to(options.device)

    def work(interrupted: threading.Event) -> list[TrainingResult]:
        models = [member.model for member in members]
        history = _train_stacked(members, objective, options, interrupted)
        found = [
            read_out(model, member.source, member.options, member.standardize)
            for model, member in zip(models, members, strict=True)
        ]
        return [
            TrainingResult(one.importance, one.statistic, _history_of(i, history))
            for i, one in enumerate(found)
        ]

    n_weights = len(members) * sum(parameter.numel() for parameter in first.model.parameters())
    with out_of_memory_told(first.source, options.batch_size, n_weights):
        return run_isolated(work, flush_subnormals=options.flush_subnormals, threads=threads)


def _train_stacked(
    members: Sequence[Member],
    objective: Objective,
    options: TrainingOptions,
    interrupted: threading.Event,
) -> list[dict[str, Any]]:
    """Train the members as one model, give each what it has learned, return the history."""
    models = [member.model for member in members]
    stack = Members(models)
    seeds = [member.options.seed for member in members]
    generators = [torch.Generator(options.device).manual_seed(seed) for seed in seeds]
    draws = MemberDraws(generators)
    batches = MemberBatches(
        [member.source for member in members],
        [member.options for member in members],
        [member.standardize for member in members],
        draws,
    )
    task = Task(
        stack,
        OfMembers(objective),
        batches,
        members[0].source,
        None,
        None,
        options,
        interrupted,
        list(stack.parameters()),
        ALONE,
    )
    rates = [member.options.learning_rate for member in members]
    with draw_from_each(stack, draws):
        optimizer = options.make_optimizer(stack.gate, stack.network, rates)
        state = trained(task, (), optimizer)
    stack.unstack(models)
    return state.history


def _go_together(members: Sequence[Member], objective: Objective) -> bool:
    """Whether members have a common form, and the loop knows no member of them by itself."""
    first, common = members[0], members[0].common()
    options = first.options
    plain = options.clip_gradient is None and options.max_seconds is None
    plain = plain and options.optimizer == "adam" and options.schedule == "constant"
    if not plain or current_ranks() is not ALONE or len(members) < 2:
        return False
    if any(member.common() != common for member in members[1:]):
        return False
    # Rows that are stored sparse are multiplied as they are: members of them train one by one.
    sparse = objective.kind != "reconstruction" and first.model.takes_sparse()
    for member in members:
        taken = as_taken(member.source, sparse, member.options, member.standardize)
        if taken.sparsely() is taken:
            return False
    return Members.fit_together([member.model for member in members])


def _history_of(i: int, history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record | {"loss": record["loss"][i]} for record in history]
