"""How fast the product is on this machine, as ratios that are measured side by side in one run."""

from featuremask.benchmarking._clock import Timer
from featuremask.benchmarking._results import Results, run_benchmarks, table
from featuremask.benchmarking._write import write_results

__all__ = ["Results", "Timer", "run_benchmarks", "table", "write_results"]
