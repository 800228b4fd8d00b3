"""Tables and figures from records: a pure function of the files in the folder of results."""

from featuremask.experiments._report._build import build_report

__all__ = ["build_report"]
