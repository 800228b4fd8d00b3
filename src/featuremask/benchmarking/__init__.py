"""How fast the product is on this machine, as ratios that are measured side by side in one run."""

from featuremask.benchmarking._clock import Timer
from featuremask.benchmarking._results import SECTIONS, Results, run_benchmarks
from featuremask.benchmarking._table import table
from featuremask.benchmarking._write import write_results

__all__ = ["SECTIONS", "Results", "Timer", "run_benchmarks", "table", "write_results"]
