"""What the command does, as functions: select, plan, apply, compare and explain."""

from featuremask.workflow._apply import apply_selector
from featuremask.workflow._compare import Comparison, compare, comparison_lines, write_comparison
from featuremask.workflow._explain import Explanation, explain
from featuremask.workflow._interrupted import SelectionInterrupted
from featuremask.workflow._plan import Plan, plan
from featuremask.workflow._progress import Progress, Silent
from featuremask.workflow._request import Request
from featuremask.workflow._result import DataFacts, RankedColumn, Result
from featuremask.workflow._select import select
from featuremask.workflow._write import result_as_dict, select_to_folder, write_result

__all__ = [
    "Comparison",
    "DataFacts",
    "Explanation",
    "Plan",
    "Progress",
    "RankedColumn",
    "Request",
    "Result",
    "SelectionInterrupted",
    "Silent",
    "apply_selector",
    "compare",
    "comparison_lines",
    "explain",
    "plan",
    "result_as_dict",
    "select",
    "select_to_folder",
    "write_comparison",
    "write_result",
]
