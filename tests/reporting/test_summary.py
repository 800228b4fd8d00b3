"""A summary is plain values that a file can hold."""

import json

import pytest
from tests.reporting.example import make_summary

from featuremask.exceptions import FileFormatError, InputError
from featuremask.reporting import Curve, Point, Summary


def test_a_summary_comes_back_from_its_text() -> None:
    assert Summary.from_json(make_summary().to_json()) == make_summary()


def test_a_summary_of_little_comes_back_too() -> None:
    summary = make_summary(
        curve=None, redundancy=None, notes=(), settings=(), versions={}, repeat=()
    )
    assert Summary.from_json(summary.to_json()) == summary


def test_the_chosen_are_those_whose_group_is_among_the_k_best() -> None:
    assert [column.rank for column in make_summary(k=2).chosen] == [1, 2]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "version": 1}', "null"])
def test_another_file_is_no_summary(text: str) -> None:
    with pytest.raises(FileFormatError, match="summary"):
        Summary.from_json(text)


def test_a_newer_version_says_what_to_do() -> None:
    text = make_summary().to_json().replace('"version": 1,', '"version": 2,')
    with pytest.raises(FileFormatError, match=r"got version 2\. Upgrade"):
        Summary.from_json(text)


@pytest.mark.parametrize("lost", ["columns", "data", "k", "notes"])
def test_a_damaged_summary_is_an_error(lost: str) -> None:
    values = json.loads(make_summary().to_json())
    del values[lost]
    with pytest.raises(FileFormatError, match="damaged"):
        Summary.from_json(json.dumps(values))


# ---- curves ---------------------------------------------------------------------------------


def test_a_curve_is_in_the_order_of_k() -> None:
    curve = Curve("accuracy", "", [(5, 0.9), (1, 0.5, 0.1)], all_columns=(9, 0.95, None))
    assert curve.chosen == (Point(1, 0.5, 0.1), Point(5, 0.9))
    assert curve.all_columns == Point(9, 0.95)
    assert curve.at(5) == Point(5, 0.9)
    assert curve.at(2) is None


@pytest.mark.parametrize(
    "points", [[], [(0, 0.5)], [(1, float("nan"))], [(1, 0.5, float("inf"))], [(1, 0.5), (1, 0.6)]]
)
def test_a_curve_without_sense_is_an_error(points: list[tuple[float, ...]]) -> None:
    with pytest.raises(InputError, match="chosen"):
        Curve("accuracy", "", points)
