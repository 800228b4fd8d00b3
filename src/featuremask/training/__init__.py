"""Training: the one loop that joins rows, gate, learning network and objective."""

from featuremask.training._callbacks import (
    Callback,
    EarlyStopping,
    ImportanceRecorder,
    ProgressBar,
    TrainingState,
)
from featuremask.training._checkpoint import Checkpoint
from featuremask.training._loop import TrainingResult, fit_network, read_out, statistic_of
from featuremask.training._memory import out_of_memory_told
from featuremask.training._options import TrainingOptions
from featuremask.training._ranks import (
    ALONE,
    Ranks,
    across_ranks,
    current_ranks,
    joined_ranks,
    launched_rank,
)

__all__ = [
    "ALONE",
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "ImportanceRecorder",
    "ProgressBar",
    "Ranks",
    "TrainingOptions",
    "TrainingResult",
    "TrainingState",
    "across_ranks",
    "current_ranks",
    "fit_network",
    "joined_ranks",
    "launched_rank",
    "out_of_memory_told",
    "read_out",
    "statistic_of",
]
