"""From checked rows to a trained and read-out gate."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import check_cv, train_test_split

from featuremask.exceptions import (
    FeatureMaskWarning,
    FitInterrupted,
    InputError,
    TrainingInterruptedError,
)
from featuremask.gates import Importance
from featuremask.selectors._attempt import Attempt
from featuremask.selectors._callbacks import SklearnCallbacks
from featuremask.selectors._data import Rows
from featuremask.selectors._identity import identity_of
from featuremask.selectors._ranking import Ranking, rank_columns
from featuremask.selectors._rules import Budget
from featuremask.selectors._setup import Setup, set_up, training_options
from featuremask.selectors._specs import GateSpec, Seeds
from featuremask.sources import Source
from featuremask.training import (
    Callback,
    Checkpoint,
    EarlyStopping,
    ProgressBar,
    TrainingOptions,
    current_ranks,
    fit_network,
    read_out,
)

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["Fitted", "fit_rows", "rank_untrained", "ranking_of"]


@dataclass(frozen=True)
class Fitted:
    """What a fit leaves."""

    ranking: Ranking
    setup: Setup
    history: list[dict[str, Any]]


def fit_rows(
    selector: BaseSelector, rows: Rows, groups: Any = None, attempt: Attempt | None = None
) -> Fitted:
    """Train the selector's gate on checked rows and rank the columns."""
    attempt = attempt or Attempt()
    seeds = attempt.seeds(Seeds.draw(selector.random_state))
    setup = set_up(selector, rows, seeds)
    train, validation = _split(selector, rows, setup.budget, groups, seeds)
    options = attempt.options(training_options(selector, rows, setup.budget, seeds))
    checkpoint = _checkpoint(selector, rows, setup, options)
    with _interruption_told(rows, setup.gate_spec):
        result = fit_network(
            setup.model,
            rows.target.objective,
            train,
            options,
            standardize=setup.standardize,
            validation=validation,
            callbacks=_callbacks(selector, validation, options),
            checkpoint=None if checkpoint is None else attempt.checkpoint(checkpoint),
        )
    return Fitted(ranking_of(result.importance, rows, setup.gate_spec), setup, result.history)


@contextmanager
def _interruption_told(rows: Rows, spec: GateSpec) -> Iterator[None]:
    """Add to an interruption of training the ranking so far, if there is one."""
    try:
        yield
    except KeyboardInterrupt as stop:
        so_far = stop.__cause__
        if not isinstance(so_far, TrainingInterruptedError) or so_far.importance is None:
            raise
        ranking = ranking_of(so_far.importance, rows, spec)
        raise FitInterrupted(so_far.epoch, so_far.progress, ranking) from stop


def rank_untrained(selector: BaseSelector, rows: Rows) -> Fitted:
    """Rank the columns by the selector's gate as it is made, without training."""
    seeds = Seeds.draw(selector.random_state)
    setup = set_up(selector, rows, seeds)
    options = training_options(selector, rows, setup.budget, seeds)
    model, standardize = setup.model.to(options.device), setup.standardize.to(options.device)
    result = read_out(model, rows.source, options, standardize)
    return Fitted(ranking_of(result.importance, rows, setup.gate_spec), setup, [])


def _split(
    selector: BaseSelector, rows: Rows, budget: Budget, groups: Any, seeds: Seeds
) -> tuple[Source, Source | None]:
    """Hold back some rows if early stopping asks for it and there are enough."""
    if not selector.early_stopping or budget.full_batch:
        return rows.source, None
    n_rows = rows.source.n_rows
    labels = None if rows.target.stratify is None else rows.target.stratify[rows.index]
    everyone = np.arange(n_rows)
    if selector.cv is not None:
        held = None if groups is None else np.asarray(groups)[rows.index]
        splits = list(check_cv(selector.cv).split(everyone[:, None], labels, held))
        train, test = splits[-1]
    else:
        if labels is not None and not _can_stratify(labels, selector.validation_fraction):
            warnings.warn(
                "A class has too few rows, or there are too many classes, for a share of each in "
                "the validation part; it is drawn without regard to classes. Pass cv to split "
                "otherwise.",
                FeatureMaskWarning,
                stacklevel=6,
            )
            labels = None
        train, test = train_test_split(
            everyone,
            test_size=selector.validation_fraction,
            random_state=seeds.training,
            stratify=labels,
        )
    return rows.source.subset(np.sort(train)), rows.source.subset(np.sort(test))


def _can_stratify(labels: NDArray[np.int64], fraction: float) -> bool:
    """Whether each class that is there has a row for both parts."""
    counts = np.bincount(labels)
    counts = counts[counts > 0]
    held = math.ceil(fraction * len(labels))
    return bool(counts.min() >= 2 and len(counts) <= min(held, len(labels) - held))


def _callbacks(
    selector: BaseSelector, validation: Source | None, options: TrainingOptions
) -> list[Callback]:
    callbacks = [*(selector.callbacks or ()), *SklearnCallbacks.of(selector, options.epochs)]
    if validation is None and selector.early_stopping:  # too few rows to hold some back
        callbacks = [c for c in callbacks if not isinstance(c, EarlyStopping)]
    given = any(isinstance(c, EarlyStopping) for c in callbacks)
    if validation is not None and selector._ends_early() and not given:
        callbacks.append(EarlyStopping())
    if selector.verbose and current_ranks().rank == 0:
        callbacks.append(ProgressBar())
    return callbacks


def _checkpoint(
    selector: BaseSelector, rows: Rows, setup: Setup, options: TrainingOptions
) -> Checkpoint | None:
    given = selector.checkpoint
    if given is None:
        return None
    if selector.random_state is None:
        raise InputError(
            "checkpoint needs a random_state, so that a fit that is started again is the same fit; "
            "got None. Pass an integer."
        )
    given = given if isinstance(given, Checkpoint) else Checkpoint(given)
    identity = given.identity | identity_of(selector, rows, setup, options)
    return Checkpoint(given.folder, given.every_epochs, given.every_seconds, identity)


def ranking_of(importance: Importance, rows: Rows, spec: GateSpec) -> Ranking:
    """Return the order of all columns from the importance of the numbers that took part."""
    numbers = np.arange(spec.n_features)
    entries = numbers if spec.groups is None else np.asarray(spec.groups)
    scores = importance.scores.double().cpu().numpy()
    member = entries if len(scores) == entries.max() + 1 else numbers
    shares = importance.scores.clamp(min=0.0) if importance.shares is None else importance.shares

    def of_numbers(values: torch.Tensor) -> NDArray[np.float64]:
        return np.asarray(values.double().cpu().numpy()[member])

    def best_of_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
        whole = np.full(rows.n_columns, values.min())
        np.maximum.at(whole, rows.column_of, values)
        return whole

    took_part = np.zeros(rows.n_columns, dtype=bool)
    took_part[rows.column_of] = True
    first = np.zeros(rows.n_columns, dtype=bool)
    first[rows.kept] = True
    total = np.zeros(rows.n_columns)
    np.add.at(total, rows.column_of, of_numbers(shares) / np.bincount(member)[member])
    return rank_columns(
        best_of_columns(scores[member]),
        ties=None if importance.ties is None else best_of_columns(of_numbers(importance.ties)),
        shares=total,
        groups=rows.groups,
        first=first,
        last=~took_part,
    )
