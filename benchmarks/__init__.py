"""Measurements: run as modules, `python -m benchmarks.subnormals`."""
