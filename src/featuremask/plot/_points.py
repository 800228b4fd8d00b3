"""Scores by name, from records of single runs."""

from collections.abc import Iterable, Mapping
from typing import Any

from featuremask.exceptions import InputError

__all__ = ["gathered"]


def gathered(
    records: Iterable[Mapping[str, Any]], keys: tuple[str, ...], score: str
) -> dict[tuple[Any, ...], list[float]]:
    """Return the scores of records that agree in some keys, in the order they came.

    Examples
    --------
    >>> runs = [{"method": "fm", "accuracy": 0.9}, {"method": "fm", "accuracy": 0.8}]
    >>> gathered(runs, ("method",), "accuracy")
    {('fm',): [0.9, 0.8]}
    """
    found: dict[tuple[Any, ...], list[float]] = {}
    for record in records:
        lacking = [key for key in (*keys, score) if key not in record]
        if lacking:
            raise InputError(
                f"Each record needs {', '.join((*keys, score))}; one has only {sorted(record)}."
            )
        found.setdefault(tuple(record[key] for key in keys), []).append(float(record[score]))
    if not found:
        raise InputError("At least one record is needed; got none.")
    return found
