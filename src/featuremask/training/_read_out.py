"""Reading a gate out: its statistic over all rows, streamed in chunks."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from featuremask.gates import Importance, MaskGate
from featuremask.networks import GatedNetwork, Standardize
from featuremask.sources import Source
from featuremask.training._batches import as_taken, standardized, work_dtype
from featuremask.training._options import TrainingOptions
from featuremask.training._ranks import ALONE, Ranks

__all__ = ["TrainingResult", "chunk_rows", "read_out", "statistic_of"]

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
    dtype = work_dtype(options, standardize)
    takes_sparse = isinstance(model.gate, MaskGate) and model.gate.takes_sparse()
    taken = as_taken(source, takes_sparse, options, standardize)
    for chunk in taken.chunks(chunk_rows(taken), device=options.device, dtype=dtype):
        rows, _, weight = standardized(chunk, standardize)
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


def chunk_rows(source: Source) -> int:
    """Return how many rows of a source are held at a time."""
    return max(1, min(_CHUNK_ROWS, _CHUNK_NUMBERS // max(1, source.numbers_a_row)))
