"""One table with values of every family, and the libraries it may come from."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

LIBRARIES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: frame.to_pandas(),
    "pandas with Arrow types": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "Arrow": lambda frame: frame.to_arrow(),
}


@pytest.fixture(params=LIBRARIES)
def convert(request: pytest.FixtureRequest) -> Callable[[pl.DataFrame], Any]:
    """A function that makes a table of one of the libraries from a polars one."""
    return LIBRARIES[request.param]


@pytest.fixture
def every_family() -> pl.DataFrame:
    """120 rows with gaps in values of every family."""
    rng = np.random.default_rng(3)
    n = 120
    gap = rng.random((n, 8)) < 0.1
    start = dt.datetime(2021, 1, 1, tzinfo=dt.UTC)
    moments = [start + dt.timedelta(hours=int(h)) for h in rng.integers(0, 40_000, n)]

    def with_gaps(place: int, values: list[Any]) -> list[Any]:
        return [None if gap[row, place] else value for row, value in enumerate(values)]

    return pl.DataFrame(
        {
            "float": with_gaps(0, rng.normal(size=n).tolist()),
            "int": with_gaps(1, rng.integers(-9, 9, n).tolist()),
            "bool": with_gaps(2, (rng.random(n) < 0.5).tolist()),
            "decimal": with_gaps(3, [Decimal(int(i)) / 4 for i in rng.integers(0, 99, n)]),
            "city": with_gaps(4, rng.choice(["Oslo", "Rome", "Łódź"], n).tolist()),
            "date": with_gaps(5, [moment.date() for moment in moments]),
            "time": with_gaps(6, [moment.time() for moment in moments]),
            "took": with_gaps(7, [dt.timedelta(minutes=int(m)) for m in rng.integers(0, 999, n)]),
            "moment": moments,
            "whole": rng.integers(0, 50, n),
        }
    ).with_columns(
        pl.col("moment").dt.convert_time_zone("Europe/Berlin"),
        color=pl.Series(rng.choice(["red", "blue"], n), dtype=pl.Categorical),
    )
