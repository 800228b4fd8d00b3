"""How columns are named in messages."""

from collections.abc import Sequence

__all__ = ["listed", "plural"]


def plural(count: int, noun: str) -> str:
    """Return the count with its noun.

    Parameters
    ----------
    count : int
        How many.
    noun : str
        What, in the singular.

    Returns
    -------
    str
        The count and the noun.

    Examples
    --------
    >>> plural(1, "column"), plural(2, "column")
    ('1 column', '2 columns')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(items: Sequence[str], limit: int = 10) -> str:
    """Join the first items and say how many were not shown.

    Parameters
    ----------
    items : sequence of str
        What to list, already quoted.
    limit : int, default=10
        How many items are shown at most.

    Returns
    -------
    str
        The list in words.

    Examples
    --------
    >>> listed(["'a'", "'b'", "'c'"], limit=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(items[:limit])
    return shown if len(items) <= limit else f"{shown} and {len(items) - limit} more"
