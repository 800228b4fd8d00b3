"""Experiments: a declared grid, its runs, their records, and tables made of them."""

from featuremask.experiments._plan import Choice, FitRun, Job, MeasureRun, plan
from featuremask.experiments._records import Record, Records, Store
from featuremask.experiments._report import build_report
from featuremask.experiments._reproduce import Reproduction, reproduce
from featuremask.experiments._run import RunOptions, Shard, Summary, run
from featuremask.experiments._spec import (
    DatasetSpec,
    Experiment,
    HoldOut,
    MethodSpec,
    Search,
    Suite,
)
from featuremask.experiments._suite import find_suite, load_suite

__all__ = [
    "Choice",
    "DatasetSpec",
    "Experiment",
    "FitRun",
    "HoldOut",
    "Job",
    "MeasureRun",
    "MethodSpec",
    "Record",
    "Records",
    "Reproduction",
    "RunOptions",
    "Search",
    "Shard",
    "Store",
    "Suite",
    "Summary",
    "build_report",
    "find_suite",
    "load_suite",
    "plan",
    "reproduce",
    "run",
]
