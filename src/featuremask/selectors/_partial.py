"""Fitting portion by portion: one pass over the rows of each call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch

from featuremask.selectors._data import Rows
from featuremask.selectors._fitting import Fitted, ranking_of
from featuremask.selectors._setup import Setup, set_up, training_options
from featuremask.selectors._specs import Seeds
from featuremask.selectors._target import Target
from featuremask.training import TrainingOptions, fit_network

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["PartialFit", "fit_portion"]


@dataclass
class PartialFit:
    """What goes on from call to call: networks, optimizer, and the reading of the target."""

    setup: Setup
    options: TrainingOptions
    optimizer: torch.optim.Optimizer
    target: Target
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def begin(cls, selector: BaseSelector, rows: Rows) -> PartialFit:
        """Set up by the first rows: standardization, classes, the scale of a numeric target."""
        seeds = Seeds.draw(selector.random_state)
        setup = set_up(selector, rows, seeds, streamed=True)
        options = training_options(selector, rows, setup.budget, seeds)
        optimizer = options.make_optimizer(setup.model.gate, setup.model.network)
        return cls(setup, options, optimizer, rows.target)


def fit_portion(selector: BaseSelector, rows: Rows, partial: PartialFit) -> Fitted:
    """Train for one pass over some rows, and rank the columns by the mask of these rows."""
    call = len(partial.history)
    options = replace(partial.options, epochs=1, steps=None, seed=partial.options.seed + call)
    result = fit_network(
        partial.setup.model,
        rows.target.objective,
        rows.source,
        options,
        standardize=partial.setup.standardize,
        optimizer=partial.optimizer,
    )
    partial.history.append(result.history[-1] | {"epoch": call + 1})
    ranking = ranking_of(result.importance, rows, partial.setup.gate_spec)
    return Fitted(ranking, partial.setup, list(partial.history))
