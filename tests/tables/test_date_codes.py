import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featuremask.exceptions import InputTypeError
from featuremask.tables import TableEncoder, fit_table

Convert = Callable[[pl.DataFrame], Any]
AUTO = TableEncoder(missing="auto", dates="auto")


def codes_by_name(train: Any, later: Any = None) -> dict[str, np.ndarray[Any, Any]]:
    encoding = fit_table(train, AUTO)
    codes = encoding.encode(train if later is None else later).T
    return dict(zip(encoding.code_names, codes, strict=True))


def test_dates_are_days_since_the_earliest_training_date(convert: Convert) -> None:
    train = convert(pl.DataFrame({"d": [dt.date(2024, 3, 1), dt.date(2024, 2, 28)]}))
    later = convert(pl.DataFrame({"d": [dt.date(2024, 2, 29), dt.date(2023, 2, 28)]}))
    assert codes_by_name(train, later)["d: days"].tolist() == [1, -365]


def test_the_year_the_week_and_the_day_are_circles(convert: Convert) -> None:
    moments = [
        dt.datetime(2023, 1, 1),  # a Sunday
        dt.datetime(2024, 1, 1, 6),  # a Monday
        dt.datetime(2024, 7, 1, 12),  # half of a leap year is 183 days
    ]
    codes = codes_by_name(convert(pl.DataFrame({"t": moments})))
    assert list(codes) == [
        "t: days",
        *(
            f"t: {cycle} ({wave})"
            for cycle in ("day of year", "day of week", "time of day")
            for wave in ("sin", "cos")
        ),
    ]
    np.testing.assert_allclose(codes["t: day of year (cos)"], [1, 1, np.cos(np.pi * 182 / 183)])
    monday = [np.cos(2 * np.pi * 6 / 7), 1, 1]
    np.testing.assert_allclose(codes["t: day of week (cos)"], monday, rtol=1e-6)
    np.testing.assert_allclose(codes["t: time of day (sin)"], [0, 1, 0], atol=1e-7)


def test_cycles_that_do_not_vary_have_no_code(convert: Convert) -> None:
    frame = convert(pl.DataFrame({"d": [dt.date(2024, 1, 1), dt.date(2024, 1, 8)]}))
    assert list(codes_by_name(frame)) == [
        "d: days",
        "d: day of year (sin)",
        "d: day of year (cos)",
    ]


def test_gaps_are_the_mean_day_no_place_on_a_circle_and_marked(convert: Convert) -> None:
    dates = [dt.date(2024, 1, 1), None, dt.date(2024, 1, 4)]
    codes = codes_by_name(convert(pl.DataFrame({"d": dates})))
    assert [codes[name][1] for name in codes] == [1.5, 0, 0, 0, 0, 1]
    assert codes["d: missing"].tolist() == [0, 1, 0]


def test_dates_without_gaps_need_no_option_for_missing_values(convert: Convert) -> None:
    frame = convert(pl.DataFrame({"d": [dt.date(2024, 1, 1), dt.date(2024, 1, 4)]}))
    strict = fit_table(frame, TableEncoder(dates="auto"))
    np.testing.assert_array_equal(strict.encode(frame), fit_table(frame, AUTO).encode(frame))


def test_times_of_day_are_a_part_of_the_day_on_a_circle(convert: Convert) -> None:
    codes = codes_by_name(convert(pl.DataFrame({"t": [dt.time(6), dt.time(12, 0, 0, 1)]})))
    np.testing.assert_allclose(codes["t: days"], [0.25, 0.5])
    np.testing.assert_allclose(codes["t: time of day (sin)"], [1, 0], atol=1e-6)


def test_durations_are_days(convert: Convert) -> None:
    took = [dt.timedelta(hours=36), None, dt.timedelta(hours=-12)]
    codes = codes_by_name(convert(pl.DataFrame({"took": took})))
    assert codes["took"].tolist() == [1.5, 0.5, -0.5]
    assert codes["took: missing"].tolist() == [0, 1, 0]


def test_with_a_zone_days_are_those_of_the_instant_and_hours_those_on_the_wall(
    convert: Convert,
) -> None:
    utc = pl.Series([dt.datetime(2024, 1, 1, 23), dt.datetime(2024, 7, 1, 22)])
    berlin = utc.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    codes = codes_by_name(convert(pl.DataFrame({"t": berlin})))
    assert codes["t: days"].tolist() == pytest.approx([0, 181 + 23 / 24])
    # midnight in Berlin, in winter and in summer: the time of the day does not vary
    assert not any("time of day" in name for name in codes)


def test_another_zone_is_converted_to_the_fitted_one(convert: Convert) -> None:
    moments = pl.Series("t", [dt.datetime(2024, 1, 1, 3), dt.datetime(2024, 7, 1, 9)])
    utc = moments.dt.replace_time_zone("UTC").to_frame()
    encoding = fit_table(convert(utc), AUTO)
    elsewhere = utc.with_columns(pl.col("t").dt.convert_time_zone("Asia/Tokyo"))
    np.testing.assert_array_equal(
        encoding.encode(convert(elsewhere)), encoding.encode(convert(utc))
    )


def test_a_date_without_zone_does_not_stand_for_one_with(convert: Convert) -> None:
    plain = pl.DataFrame({"t": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2)]})
    encoding = fit_table(convert(plain), AUTO)
    aware = plain.with_columns(pl.col("t").dt.replace_time_zone("UTC"))
    with pytest.raises(InputTypeError, match="'t' had no time zone in fit, got the time zone 'UTC"):
        encoding.encode(convert(aware))


def test_date_objects_are_read_as_dates() -> None:
    day = dt.timedelta(1)
    start = dt.datetime(2024, 1, 1, 5, tzinfo=dt.UTC)
    columns = {
        "dates": [start.date(), None, start.date() + 3 * day],
        "moments": [start, None, start + 3 * day],
        "naive": [start.replace(tzinfo=None), None, start.replace(tzinfo=None) + 3 * day],
        "times": [dt.time(5), None, dt.time(7)],
        "spans": [day, None, 3 * day],
    }
    objects = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    typed = pl.DataFrame(columns)
    encoding = fit_table(objects, AUTO)
    assert encoding == fit_table(typed, AUTO)
    np.testing.assert_array_equal(encoding.encode(objects), encoding.encode(typed))


def test_units_of_a_stamp_do_not_matter() -> None:
    moments = pl.Series("t", [dt.datetime(1960, 5, 5, 1, 2, 3), dt.datetime(2024, 1, 1)])
    encoded = [
        fit_table(frame, AUTO).encode(frame)
        for frame in (moments.dt.cast_time_unit(unit).to_frame() for unit in ("ms", "us", "ns"))
    ]
    np.testing.assert_array_equal(encoded[0], encoded[1])
    np.testing.assert_array_equal(encoded[0], encoded[2])
