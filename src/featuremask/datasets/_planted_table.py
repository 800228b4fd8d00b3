"""A table as people have them, of which the truth is known: categories, dates and gaps."""

import csv
import datetime
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from featuremask._files import write_atomically
from featuremask.exceptions import InputError

__all__ = ["PlantedTable", "make_planted_table"]

_RELEVANT = 10
_COPIES = 6
_LEFT_OUT = 3
_GAPS = 0.08
_START = datetime.date(2021, 1, 1)
_DAYS = 1_400
_LEVELS = ("north", "east", "south", "west", "center", "abroad")
_COPY_NOISE = 0.3
_NOISE_KINDS = ("number", "number", "category", "date", "yes")

Values = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class PlantedTable:
    """A table of mixed columns and its truth.

    Parameters
    ----------
    columns : dict of ndarray of object
        The values of each column, None in gaps; numbers, texts, booleans and dates.
    target : ndarray of object
        Two classes, "stays" and "leaves".
    relevant : tuple of str
        Columns the target is made of.
    redundant : dict of str to str
        Noisy copies, and the relevant column each is a copy of.
    left_out : tuple of str
        An identifier, a constant and a text without repetition: columns that are no features.
    """

    columns: dict[str, Values]
    target: Values
    relevant: tuple[str, ...]
    redundant: dict[str, str]
    left_out: tuple[str, ...]

    def write_csv(self, path: Path, target: str = "churned") -> None:
        """Write the table as CSV, the target last.

        Parameters
        ----------
        path : Path
            Where to write.
        target : str, default="churned"
            The name of the target.
        """
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.columns, target])
        writer.writerows(zip(*self.columns.values(), self.target, strict=True))
        write_atomically(path, text.getvalue().encode())


def make_planted_table(
    n_samples: int = 20_000,
    n_features: int = 60,
    *,
    noise: float = 0.3,
    random_state: int | np.random.Generator | None = None,
) -> PlantedTable:
    """Make a table of mixed columns with known truth.

    Ten columns make the target, each with about the same share of the signal: two numbers as they
    are, the square of one, two that act only together, a number whose gaps tell something, a
    category, a boolean, a date by its season and a date by its age. Six are noisy copies of
    these numbers, three are no features at all, and the others are noise of all kinds.
    A twelfth of the values of most columns is missing.

    Parameters
    ----------
    n_samples : int, default=20000
        How many rows.
    n_features : int, default=60
        How many columns, at least 20.
    noise : float, default=0.3
        Standard deviation of the noise, where that of the signal is 1.
    random_state : int, Generator or None, default=None
        Where the draws come from.

    Returns
    -------
    PlantedTable
        The table and its truth.

    Examples
    --------
    >>> from featuremask.datasets import make_planted_table
    >>> table = make_planted_table(100, 30, random_state=0)
    >>> len(table.columns), len(table.relevant), len(table.redundant), len(table.left_out)
    (30, 10, 6, 3)
    """
    n_noise = n_features - _RELEVANT - _COPIES - _LEFT_OUT
    if n_samples < 20 or n_noise < 1 or noise < 0:
        raise InputError(
            f"a planted table needs n_samples >= 20, n_features >= 20 and noise >= 0; got "
            f"{n_samples=}, {n_features=}, {noise=}"
        )
    rng = np.random.default_rng(random_state)
    relevant, signal = _relevant(rng, n_samples)
    target = signal + noise * rng.standard_normal(n_samples)
    sources = ["income", "balance", "tenure", "width", "height", "visits"]
    copies = {f"{name}_estimate": name for name in sources}
    columns = relevant | {copy: _copy(rng, relevant[name]) for copy, name in copies.items()}
    left_out = _no_features(n_samples)
    columns |= left_out
    for number in range(n_noise):
        kind = _NOISE_KINDS[number % len(_NOISE_KINDS)]
        columns[f"{kind}_{number}"] = _with_gaps(rng, _noise(rng, n_samples, kind))
    order = rng.permutation(n_features)
    names = list(columns)
    leaves = target > np.median(target)
    return PlantedTable(
        columns={names[place]: columns[names[place]] for place in order.tolist()},
        target=np.where(leaves, "leaves", "stays").astype(object),
        relevant=tuple(relevant),
        redundant=copies,
        left_out=tuple(left_out),
    )


def _relevant(rng: np.random.Generator, n: int) -> tuple[dict[str, Values], NDArray[np.float64]]:
    z = rng.standard_normal((n, 6))
    region = rng.integers(len(_LEVELS), size=n)
    member = rng.random(n) < 0.5
    joined, renewed = rng.integers(_DAYS, size=(2, n))
    gone = rng.random(n) < 0.3
    parts = [
        z[:, 0],
        -z[:, 1],
        z[:, 2] ** 2,
        np.sqrt(2) * z[:, 3] * z[:, 4],
        np.where(gone, 1.0, 0.0),
        rng.permutation(np.linspace(-1, 1, len(_LEVELS)))[region],
        member.astype(float),
        np.sin(2 * np.pi * _day_of_year(joined) / 365.25),
        -renewed.astype(float),
    ]
    signal = np.sum([(part - part.mean()) / part.std() for part in parts], axis=0)
    visits = _objects(np.round(10 + 3 * z[:, 5], 2))
    visits[gone] = None
    columns = {
        "income": _with_gaps(rng, _objects(np.round(3000 + 800 * z[:, 0], 2))),
        "balance": _with_gaps(rng, _objects(np.round(50_000 * z[:, 1], 2))),
        "tenure": _with_gaps(rng, _objects(np.round(z[:, 2], 4))),
        "width": _objects(np.round(z[:, 3], 4)),
        "height": _objects(np.round(z[:, 4], 4)),
        "visits": visits,
        "region": _with_gaps(rng, np.array(_LEVELS, dtype=object)[region]),
        "member": _objects(member),
        "joined": _dates(joined),
        "renewed": _with_gaps(rng, _dates(renewed)),
    }
    return columns, signal / signal.std()


def _day_of_year(days: NDArray[np.int64]) -> NDArray[np.float64]:
    dates = (_START + datetime.timedelta(days=day) for day in days.tolist())
    return np.array([float(date.timetuple().tm_yday) for date in dates])


def _dates(days: NDArray[np.int64]) -> Values:
    return np.array([_START + datetime.timedelta(days=day) for day in days.tolist()], dtype=object)


def _objects(values: NDArray[np.generic]) -> Values:
    return np.array(values.tolist(), dtype=object)


def _with_gaps(rng: np.random.Generator, values: Values) -> Values:
    holed = values.copy()
    holed[rng.random(len(values)) < _GAPS] = None
    return holed


def _copy(rng: np.random.Generator, values: Values) -> Values:
    numbers = values.astype(float)
    spread = float(np.nanstd(numbers))
    noisy = numbers + _COPY_NOISE * spread * rng.standard_normal(len(values))
    copy = _objects(np.round(noisy, 4))
    copy[np.isnan(noisy)] = None
    return copy


def _no_features(n: int) -> dict[str, Values]:
    return {
        "customer_id": _objects(np.arange(100_000, 100_000 + n)),
        "currency": np.full(n, "EUR", dtype=object),
        "comment": np.array([f"call {number} of the day" for number in range(n)], dtype=object),
    }


def _noise(rng: np.random.Generator, n: int, kind: str) -> Values:
    if kind == "number":
        return _objects(np.round(rng.standard_normal(n) * rng.uniform(0.1, 1000), 3))
    if kind == "category":
        return np.array(_LEVELS, dtype=object)[rng.integers(len(_LEVELS), size=n)]
    if kind == "date":
        return _dates(rng.integers(_DAYS, size=n))
    return _objects(rng.random(n) < 0.5)
