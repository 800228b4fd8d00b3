"""A selection from files, judged on rows that it has not seen."""

import time
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from featuremask._words import METHODS
from featuremask.reporting import software
from featuremask.training import joined_ranks
from featuremask.workflow._fit import Fit, fit, frequencies
from featuremask.workflow._interrupted import judging, training
from featuremask.workflow._judge import Judge, counts_to_try, measure_curve
from featuremask.workflow._prepare import Prepared, file_facts, leaks, prepare
from featuremask.workflow._progress import Progress, Silent
from featuremask.workflow._request import Request
from featuremask.workflow._result import DataFacts, RankedColumn, Result

__all__ = ["facts_of", "select"]


def select(request: Request, progress: Progress | None = None) -> Result:
    """Select columns of the user's files and judge them.

    A fifth of the rows is held out. The selector sees the others alone; a fixed model (a random
    forest; without a target, a linear model that rebuilds all columns) then says on the rows held
    out what the best columns are worth, against all columns and against random ones.

    Processes that a launcher such as torchrun has started train together, each on its part of the
    rows. The first one judges; the others judge the chosen number of columns alone.

    Parameters
    ----------
    request : Request
        What is asked for.
    progress : Progress, optional
        Told how far it is.

    Returns
    -------
    Result
        The selection; `write_result` writes it to a folder.

    Raises
    ------
    SelectionInterrupted
        If it is interrupted once training has begun; it holds the ranking by then.
    """
    progress = progress or Silent()
    start = time.perf_counter()
    prepared = prepare(request, progress)
    read = time.perf_counter()
    progress.say(f"training {METHODS[request.method]} on {len(prepared.train.index):,} rows")
    with joined_ranks() as ranks:
        with training(prepared):
            fitted = fit(prepared, verbose=progress.shows)
        with judging(prepared, fitted.selector):
            if request.resamples:
                progress.say(f"selecting {request.resamples} times from halves of the rows")
            steady = frequencies(prepared, fitted, verbose=progress.shows)
    with judging(prepared, fitted.selector):
        hints = prepared.hints + leaks(prepared, fitted.selector.objective_)
        trained = time.perf_counter()
        places = np.asarray(fitted.selector.group_ranking_)
        judge = Judge(prepared, fitted.selector.objective_)
        counts = counts_to_try(int(places.max()), fitted.k) if ranks.rank == 0 else [fitted.k]
        curve = measure_curve(judge, places, counts, request.seed, progress)
    seconds = {
        "read": read - start,
        "train": fitted.seconds,
        "repeat": trained - read - fitted.seconds,
        "judge": time.perf_counter() - trained,
    }
    return Result(
        request=request,
        objective=fitted.selector.objective_,
        k=fitted.k,
        columns=_ranked(prepared, fitted, steady),
        curve=curve,
        hints=hints,
        warnings=tuple(dict.fromkeys(prepared.warnings + fitted.warnings)),
        data=facts_of(prepared),
        versions=software(),
        seconds={stage: round(value, 3) for stage, value in seconds.items()},
        selector=fitted.selector,
        X=prepared.train.X,
        y=prepared.train.y,
    )


def _ranked(
    prepared: Prepared, fitted: Fit, steady: NDArray[np.float64] | None
) -> tuple[RankedColumn, ...]:
    selector = fitted.selector
    order = np.argsort(selector.ranking_)
    took_part = [
        RankedColumn(
            rank=rank,
            name=prepared.names[place],
            score=float(selector.scores_[place]),
            share=float(selector.feature_importances_[place]),
            stability=None if steady is None else float(steady[place]),
            place=int(selector.group_ranking_[place]),
            selected=bool(selector.support_[place]),
        )
        for rank, place in enumerate(order.tolist(), 1)
    ]
    left_out = [
        RankedColumn(rank, r.column, None, None, None, None, False, f"{r.kind}: {r.reason}")
        for rank, r in enumerate(prepared.left_out, len(took_part) + 1)
    ]
    return (*took_part, *left_out)


def facts_of(prepared: Prepared) -> DataFacts:
    """Return what a report says of the data."""
    return DataFacts(
        n_rows=prepared.n_rows,
        n_train=len(prepared.train.index),
        n_test=len(prepared.test.index),
        n_columns=len(prepared.names),
        kinds=dict(Counter(prepared.kinds)),
        n_gaps=prepared.n_gaps,
        left_out=prepared.left_out,
        files=tuple(file_facts(path) for path in prepared.files),
    )
