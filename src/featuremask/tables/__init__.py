"""Data frames to numbers, remembering which numbers belong to which column."""

from featuremask.tables._bad_values import BadValues, count_bad_values
from featuremask.tables._column import Column, date_column
from featuremask.tables._encoder import Mode, TableEncoder
from featuremask.tables._encoding import FittedColumn, TableEncoding
from featuremask.tables._fit import fit_table
from featuremask.tables._frame import check_same_names
from featuremask.tables._hints import Hint
from featuremask.tables._leakage import leakage_hints
from featuremask.tables._records import ColumnRecord, Kind
from featuremask.tables._shift import shift_hints
from featuremask.tables._structure import duplicate_hints, row_number_hints
from featuremask.tables._table import Table

__all__ = [
    "BadValues",
    "Column",
    "ColumnRecord",
    "FittedColumn",
    "Hint",
    "Kind",
    "Mode",
    "Table",
    "TableEncoder",
    "TableEncoding",
    "check_same_names",
    "count_bad_values",
    "date_column",
    "duplicate_hints",
    "fit_table",
    "leakage_hints",
    "row_number_hints",
    "shift_hints",
]
