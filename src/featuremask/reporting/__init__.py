"""Reports: a summary of plain values first, one page of HTML from it second."""

from featuremask.reporting._render import render, style_sheet, write_report
from featuremask.reporting._summarize import software, summarize
from featuremask.reporting._summary import (
    Column,
    Curve,
    DataSummary,
    Note,
    Point,
    RedundancyGroup,
    Setting,
    Summary,
)

__all__ = [
    "Column",
    "Curve",
    "DataSummary",
    "Note",
    "Point",
    "RedundancyGroup",
    "Setting",
    "Summary",
    "render",
    "software",
    "style_sheet",
    "summarize",
    "write_report",
]
