"""Fitting a selector across processes: one function for every launcher, and a command of it.

::

    torchrun --nproc-per-node 2 -m featuremask.selectors.worker job.json

The job is a JSON object:

========== ==================================================================================
"selector" the name of the class, ``"FeatureMaskSelector"`` if left out
"words"    its constructor words; ``"random_state"`` is needed
"data"     a path, a pattern or a list of paths, as for `featuremask.sources.ParquetSource`
"target"   the column to predict; left out or null for none
"drop"     columns that are no features
"weight"   the column of the weights of rows
"out"      the file that the fitted selector is saved to
========== ==================================================================================
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

import featuremask
from featuremask.exceptions import InputError
from featuremask.selectors import BaseSelector
from featuremask.sources import (
    ParquetSource,
    Stored,
    is_surveyed,
    keep_survey,
    merged,
    open_source,
    survey_part,
)
from featuremask.training import Ranks, joined_ranks

__all__ = ["fit_job", "fit_worker"]

_KEYS = ("selector", "words", "data", "target", "drop", "weight", "out")


def fit_worker(
    selector: BaseSelector,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    out: str | os.PathLike[str] | None = None,
    backend: str = "gloo",
    timeout_s: float = 1800.0,
) -> BaseSelector:
    """Fit a selector together with the other processes of a launcher.

    Every process calls it with the same arguments. Rows are dealt out: each process reads its own
    row groups of files, and takes its own rows of arrays. The result is the same on all, and that
    of one process on the batches of all together. Without a launcher it is a plain fit.

    With a `checkpoint` the selector goes on where it stood when the launcher starts the processes
    again, as ``torchrun --max-restarts`` does.

    Parameters
    ----------
    selector : BaseSelector
        With an integer as `random_state`.
    X, y, sample_weight
        As in `fit`.
    out : path, optional
        Where the first process saves the fitted selector.
    backend : str, default="gloo"
        Of ``torch.distributed``.
    timeout_s : float, default=1800.0
        How long to wait for a process that does not answer, before all fail.

    Returns
    -------
    BaseSelector
        The selector, fitted.
    """
    with joined_ranks(backend, timeout_s) as ranks:
        if ranks.size > 1 and not isinstance(selector.random_state, int):
            raise InputError(
                "A fit across processes needs the same seed on all: an integer as random_state; "
                f"got {selector.random_state!r}."
            )
        if ranks.size > 1 and isinstance(X, Stored | str | os.PathLike):
            _survey_together(X, y, ranks)
        selector.fit(X, y, sample_weight)
        if out is not None and ranks.rank == 0:
            selector.save(out)
    return selector


def _survey_together(X: Any, y: Any, ranks: Ranks) -> None:
    """Compute the column statistics of files, each process of its own blocks; fits find them."""
    stored = open_source(X)
    assert stored is not None
    stored = stored if y is None else stored.with_target(y)
    device = torch.device("cpu")
    if min(stored.shape) == 0 or not ranks.largest(not is_surveyed(stored), device):
        return
    parts = torch.zeros(ranks.size, 8, stored.shape[1], dtype=torch.float64)
    parts[ranks.rank] = survey_part(stored, ranks.rank, ranks.size)
    sums = merged(ranks.sum(parts))
    if ranks.rank == 0:
        keep_survey(stored, sums)
    ranks.barrier()


def fit_job(path: str | os.PathLike[str]) -> BaseSelector:
    """Fit what a job file says; see the module."""
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    unknown = sorted(set(job) - set(_KEYS))
    if unknown or "data" not in job or "out" not in job:
        raise InputError(
            f'{str(path)!r} must hold "data", "out" and no keys but {list(_KEYS)}; got '
            f"{sorted(job)}."
        )
    name = job.get("selector", "FeatureMaskSelector")
    if not name.endswith("Selector") or name not in featuremask.__all__:
        known = [each for each in featuremask.__all__ if each.endswith("Selector")]
        raise InputError(f'"selector" must be one of {known}; got {name!r}.')
    source = ParquetSource(
        job["data"], job.get("target"), job.get("drop", ()), sample_weight=job.get("weight")
    )
    selector: BaseSelector = getattr(featuremask, name)(**job.get("words", {}))
    return fit_worker(selector, source, out=job["out"])


if __name__ == "__main__":
    fit_job(sys.argv[1])
