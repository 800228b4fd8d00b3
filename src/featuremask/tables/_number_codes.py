"""The codes of a column of numbers, booleans or durations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from featuremask.tables._column import Column

__all__ = ["NumberCodes"]


@dataclass(frozen=True)
class NumberCodes:
    """The number itself, and if asked a code that marks gaps.

    Parameters
    ----------
    fill : float or None, default=None
        What stands in a gap; None leaves NaN there.
    flag_gaps : bool, default=False
        Whether a second code is 1 in gaps and 0 elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([1.0, np.nan, 4.0])
    >>> column = Column("number", values, np.isnan(values))
    >>> codes = NumberCodes.fit(column, fill_gaps=True)
    >>> out = np.zeros((3, codes.width))
    >>> codes.write(column, out)
    >>> out
    array([[1. , 0. ],
           [2.5, 1. ],
           [4. , 0. ]])
    """

    type: ClassVar[str] = "number"

    fill: float | None = None
    flag_gaps: bool = False

    @classmethod
    def fit(cls, column: Column, *, fill_gaps: bool) -> "NumberCodes":
        """Learn what to put into gaps.

        Parameters
        ----------
        column : Column
            The training values.
        fill_gaps : bool
            Whether gaps are filled by the mean, and flagged if the training values have any.

        Returns
        -------
        NumberCodes
            The codes.
        """
        if not fill_gaps:
            return cls()
        return cls(mean_of(column.values), bool(column.gaps.any()))

    @property
    def width(self) -> int:
        """How many codes the column has."""
        return 1 + self.flag_gaps

    def labels(self, name: str) -> list[str]:
        """Name the codes.

        Parameters
        ----------
        name : str
            The name of the column.

        Returns
        -------
        list of str
            One name for each code.
        """
        return [name, f"{name}: missing"] if self.flag_gaps else [name]

    def write(self, column: Column, out: NDArray[Any]) -> None:
        """Write the codes of some rows.

        Parameters
        ----------
        column : Column
            The rows' values.
        out : ndarray of shape (n_rows, width)
            Where to write; zeros at first.
        """
        out[:, 0] = column.values
        if self.fill is not None and column.gaps.any():
            out[column.gaps, 0] = self.fill
        if self.flag_gaps:
            out[:, 1] = column.gaps

    def numbers(self, column: Column) -> NDArray[Any]:
        """Return the code that is a number of any size.

        Parameters
        ----------
        column : Column
            The values.

        Returns
        -------
        ndarray of shape (n_rows,)
            The numbers, NaN in gaps.
        """
        return column.values

    def to_dict(self) -> dict[str, Any]:
        """Return the codes as plain values.

        Returns
        -------
        dict
            Without the type.
        """
        return {"fill": self.fill, "flag_gaps": self.flag_gaps}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "NumberCodes":
        """Read what `to_dict` returned.

        Parameters
        ----------
        values : mapping
            The plain values.

        Returns
        -------
        NumberCodes
            The codes.
        """
        fill = values["fill"]
        return cls(None if fill is None else float(fill), bool(values["flag_gaps"]))


def mean_of(values: NDArray[Any]) -> float:
    """Return the mean of the finite values, 0 if there are none.

    Parameters
    ----------
    values : ndarray
        Numbers, NaN in gaps.

    Returns
    -------
    float
        The mean, taken in float64.

    Examples
    --------
    >>> import numpy as np
    >>> mean_of(np.array([1.0, np.nan, 2.0]))
    1.5
    """
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return 0.0
    with np.errstate(over="ignore"):
        mean = float(np.mean(finite, dtype=np.float64))
    return mean if np.isfinite(mean) else float(np.sum(finite / len(finite)))
