"""Training: the one loop that joins rows, gate, learning network and objective."""

from featuremask.training._callbacks import (
    Callback,
    EarlyStopping,
    ImportanceRecorder,
    ProgressBar,
    TrainingState,
)
from featuremask.training._checkpoint import Checkpoint
from featuremask.training._loop import fit_network
from featuremask.training._members import Member, fit_members
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
from featuremask.training._read_out import TrainingResult, read_out, statistic_of

__all__ = [
    "ALONE",
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "ImportanceRecorder",
    "Member",
    "ProgressBar",
    "Ranks",
    "TrainingOptions",
    "TrainingResult",
    "TrainingState",
    "across_ranks",
    "current_ranks",
    "fit_members",
    "fit_network",
    "joined_ranks",
    "launched_rank",
    "out_of_memory_told",
    "read_out",
    "statistic_of",
]
