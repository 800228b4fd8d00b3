"""The codes of one column, whichever values it holds."""

from collections.abc import Mapping
from typing import Any

from featuremask.tables._category_codes import CategoryCodes
from featuremask.tables._column import Column
from featuremask.tables._date_codes import DateCodes
from featuremask.tables._number_codes import NumberCodes

__all__ = ["Codes", "codes_from_dict", "codes_to_dict", "fit_codes"]

Codes = NumberCodes | CategoryCodes | DateCodes

_TYPES: dict[str, type[NumberCodes] | type[CategoryCodes] | type[DateCodes]] = {
    kind.type: kind for kind in (NumberCodes, CategoryCodes, DateCodes)
}


def fit_codes(column: Column, *, fill_gaps: bool) -> Codes:
    """Learn the codes of a column.

    Parameters
    ----------
    column : Column
        The training values.
    fill_gaps : bool
        Whether gaps are filled and marked.

    Returns
    -------
    NumberCodes, CategoryCodes or DateCodes
        The codes.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.array(["a", "b"], dtype=object)
    >>> fit_codes(Column("category", labels, np.zeros(2, dtype=bool)), fill_gaps=True)
    CategoryCodes(levels=('a', 'b'), rare=False, flag_gaps=False)
    """
    if column.family == "category":
        return CategoryCodes.fit(column)
    if column.family in ("date", "time"):
        return DateCodes.fit(column, fill_gaps=fill_gaps)
    return NumberCodes.fit(column, fill_gaps=fill_gaps)


def codes_to_dict(codes: Codes) -> dict[str, Any]:
    """Return codes as plain values.

    Parameters
    ----------
    codes : NumberCodes, CategoryCodes or DateCodes
        The codes.

    Returns
    -------
    dict
        Plain values, with the type.

    Examples
    --------
    >>> codes_to_dict(NumberCodes())
    {'type': 'number', 'fill': None, 'flag_gaps': False}
    """
    return {"type": codes.type, **codes.to_dict()}


def codes_from_dict(values: Mapping[str, Any]) -> Codes:
    """Read what `codes_to_dict` returned.

    Parameters
    ----------
    values : mapping
        Plain values, with the type.

    Returns
    -------
    NumberCodes, CategoryCodes or DateCodes
        The codes.

    Raises
    ------
    ValueError
        If the type is unknown or a key is missing or too many.

    Examples
    --------
    >>> codes_from_dict({"type": "number", "fill": None, "flag_gaps": False})
    NumberCodes(fill=None, flag_gaps=False)
    """
    if values["type"] not in _TYPES:
        raise ValueError(f"unknown type of codes {values['type']!r}")
    codes = _TYPES[values["type"]].from_dict(values)
    if codes_to_dict(codes).keys() != values.keys():
        raise ValueError(f"unexpected keys {sorted(values)} of codes")
    return codes
