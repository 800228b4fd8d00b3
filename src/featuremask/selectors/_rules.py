"""The rules behind "auto": what follows from the size of the data.

They are continuous in the number of rows, so that a few rows more or less change nothing much.
Rows are counted by their weight, so that a row of weight two counts as two rows.
"""

from dataclasses import dataclass

__all__ = [
    "FULL_BATCH_ROWS",
    "N_ROUNDS",
    "Budget",
    "budget_for",
    "effective_rows",
    "threads_for",
]

FULL_BATCH_ROWS = 256
"""Up to this many rows a fit is full-batch, without dropout, and holds no rows back."""

N_ROUNDS = 60
"""Rounds of the sequential mask."""

_ONE_THREAD_ENTRIES = 65_536

_DROPOUT = 0.3
_DROPOUT_FULL_ROWS = 1024
_STEPS, _STEPS_ROWS, _STEPS_GROWTH = 300, 200, 0.6
_ROWS_MOST = 1e8
_REPEATS_MOST = 10.0
_BATCH, _BATCH_ROWS, _BATCH_GROWTH, _BATCH_MOST = 128, 4096, 0.25, 1024


@dataclass(frozen=True)
class Budget:
    """How long to train, in what portions.

    Attributes
    ----------
    batch_size : int
    steps : int
        Updates of the weights.
    dropout : float
        Rate before the output layer.
    full_batch : bool
        Whether each step sees all rows.
    """

    batch_size: int
    steps: int
    dropout: float
    full_batch: bool


def budget_for(rows: float) -> Budget:
    """Return the budget for a number of rows.

    Steps grow as rows ** 0.6 from 300 for up to 200 rows, the batch as rows ** 0.25 from 128 for
    up to 4,096 rows, both to 10 ** 8 rows at most; dropout rises from none at 256 rows to 0.3 at
    1,024.

    Examples
    --------
    >>> budget_for(200)
    Budget(batch_size=256, steps=300, dropout=0.0, full_batch=True)
    >>> budget_for(60_000)
    Budget(batch_size=250, steps=9192, dropout=0.3, full_batch=False)
    """
    rows = min(rows, _ROWS_MOST)
    steps = round(_STEPS * max(1.0, rows / _STEPS_ROWS) ** _STEPS_GROWTH)
    if rows <= FULL_BATCH_ROWS:
        return Budget(FULL_BATCH_ROWS, steps, 0.0, True)
    batch = min(_BATCH_MOST, round(_BATCH * max(1.0, rows / _BATCH_ROWS) ** _BATCH_GROWTH))
    ramp = min(1.0, (rows - FULL_BATCH_ROWS) / (_DROPOUT_FULL_ROWS - FULL_BATCH_ROWS))
    return Budget(batch, steps, _DROPOUT * ramp, False)


def effective_rows(n_rows: int, weight_sum: float) -> float:
    """Return how many rows there are, counted by weight.

    Weights that say how often a row is repeated count as that many rows. Weights of a mean below
    one only say how much rows matter against each other, and each row counts as one. So do those
    of surveys, where a row stands for thousands: a row counts as ten at most, on average.

    Examples
    --------
    >>> effective_rows(100, 250.0), effective_rows(100, 3.0), effective_rows(100, 1e6)
    (250.0, 100.0, 1000.0)
    """
    return min(max(float(n_rows), weight_sum), _REPEATS_MOST * n_rows)


def threads_for(batch_rows: int, n_features: int, n_jobs: int | None) -> int | None:
    """Return PyTorch's number of threads for training; None for its present setting.

    A batch of few entries is done sooner by one thread than several need to meet, the more so
    where cores are busy otherwise.

    Examples
    --------
    >>> threads_for(256, 50, None), threads_for(256, 784, None), threads_for(256, 50, 2)
    (1, None, 2)
    """
    if n_jobs is not None:
        return n_jobs
    return 1 if batch_rows * n_features < _ONE_THREAD_ENTRIES else None
