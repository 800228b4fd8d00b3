"""Pictures: of a fitted selector, of records, of images."""

from featuremask.plot._comparison import ComparisonDisplay
from featuremask.plot._curve import SelectionCurveDisplay
from featuremask.plot._history import HistoryDisplay
from featuremask.plot._importance import ImportanceDisplay
from featuremask.plot._mask import MaskDisplay
from featuremask.plot._pictures import Picture, write_pictures
from featuremask.plot._plane import MapDisplay
from featuremask.plot._redundancy import RedundancyDisplay
from featuremask.plot._stability import StabilityDisplay

__all__ = [
    "ComparisonDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
    "MapDisplay",
    "MaskDisplay",
    "Picture",
    "RedundancyDisplay",
    "SelectionCurveDisplay",
    "StabilityDisplay",
    "write_pictures",
]
