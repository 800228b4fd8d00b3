"""What is said about a column: its kind, and why it was kept or left out."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["ColumnRecord", "Family", "Kind"]

Kind = Literal[
    "number",
    "boolean",
    "category",
    "text",
    "date",
    "duration",
    "constant",
    "identifier",
]
"""What a column is for the selection."""

Family = Literal[
    "number",
    "boolean",
    "category",
    "date",
    "time",
    "duration",
    "empty",
    "unusable",
]
"""What the values of a column are, before anything is known about their distribution."""


@dataclass(frozen=True)
class ColumnRecord:
    """One column of a table and what became of it.

    Parameters
    ----------
    column : str
        The name of the column.
    position : int
        Its place in the table, from 0.
    kind : {"number", "boolean", "category", "text", "date", "duration", "constant", "identifier"}
        What the column is.
    reason : str
        Why it was kept or left out, in words.
    """

    column: str
    position: int
    kind: Kind
    reason: str
