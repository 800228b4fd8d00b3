from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from featuremask.exceptions import InputError
from featuremask.tables import (
    TableEncoder,
    duplicate_hints,
    fit_table,
    leakage_hints,
    row_number_hints,
    shift_hints,
)
from featuremask.tables._leakage import _Trial


def noise(n_rows: int, n_columns: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(n_rows, n_columns))


def found(hints: tuple[Any, ...]) -> list[tuple[str, ...]]:
    return [hint.columns for hint in hints]


def names(codes: np.ndarray) -> list[str]:
    return [f"c{i}" for i in range(codes.shape[1])]


# Duplicates


def test_equal_columns_are_one_hint_naming_all_of_them() -> None:
    codes = noise(50, 5)
    codes[:, 3] = codes[:, 4] = codes[:, 1]
    hints = duplicate_hints(codes, names(codes))
    assert found(hints) == [("c1", "c3", "c4")]
    assert hints[0].kind == "duplicates"
    assert "'c1', 'c3', 'c4' hold the same values" in hints[0].message


def test_one_other_value_is_no_duplicate() -> None:
    codes = np.ones((50, 2))
    codes[49, 1] = np.nextafter(1, 2)
    assert duplicate_hints(codes, names(codes)) == ()


def test_zeros_of_both_signs_and_gaps_are_equal() -> None:
    codes = np.array([[0.0, -0.0], [np.nan, -np.nan], [1, 1]])
    assert found(duplicate_hints(codes, names(codes))) == [("c0", "c1")]


def test_a_category_with_renamed_levels_is_a_duplicate_and_one_shared_level_is_not() -> None:
    words = np.random.default_rng(0).choice(["a", "b", "c"], 90)
    renamed = np.char.translate(words, str.maketrans("abc", "zyx"))
    merged = np.where(words == "c", "b", words)
    frame = pl.DataFrame({"one": words, "two": renamed, "three": merged})
    encoding = fit_table(frame, TableEncoder(categorical="auto"))
    hints = duplicate_hints(encoding.encode(frame), encoding.column_names, encoding.code_groups)
    assert found(hints) == [("one", "two")]


# Row numbers


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (lambda rows: rows, "is the number of the row"),
        (lambda rows: rows + 17.5, "is the number of the row"),
        (lambda rows: rows**2, "only rises or only falls"),
        (lambda rows: -np.sqrt(rows), "only rises or only falls"),
        (lambda rows: rows - rows % 2 / 2, "only rises or only falls"),
    ],
)
def test_columns_that_follow_the_rows_are_hints(
    column: Callable[[np.ndarray], np.ndarray], message: str
) -> None:
    codes = np.c_[noise(100, 1), column(np.arange(100.0))]
    hints = row_number_hints(codes, ["noise", "line"])
    assert found(hints) == [("line",)]
    assert message in hints[0].message


@pytest.mark.parametrize(
    "column",
    [
        lambda rows: rows // 10,
        lambda rows: rows > 50,
        lambda rows: np.zeros(100),
        lambda rows: np.where(rows == 60, 0, rows),
        lambda rows: np.where(rows == 60, np.nan, rows),
    ],
)
def test_columns_that_jump_back_or_mostly_stay_are_none(
    column: Callable[[np.ndarray], np.ndarray],
) -> None:
    assert row_number_hints(column(np.arange(100.0))[:, None], ["a"]) == ()


def test_few_rows_rise_by_chance() -> None:
    assert row_number_hints(np.arange(19)[:, None], ["a"]) == ()


def test_steps_are_counted_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("featuremask.tables._blocks.row_blocks.__defaults__", (64,))
    back = np.arange(100.0)
    back[5:] -= 50  # from the last row of one block of steps, rows 1 to 4, to the next
    codes = np.c_[np.arange(100.0), back]
    hints = row_number_hints(codes, ["up", "back"])
    assert found(hints) == [("up",)]
    assert "is the number of the row" in hints[0].message


# Leakage


def test_a_copy_of_the_classes_with_noise_is_a_leak_and_noise_is_none() -> None:
    y = np.random.default_rng(1).integers(0, 3, 600)
    codes = noise(600, 40)
    codes[:, 7] = np.array([5, -2, 1])[y] + 0.01 * codes[:, 7]
    hints = leakage_hints(codes, names(codes), y.astype(str), task="classification")
    assert found(hints) == [("c7",)]
    assert "area under the ROC curve 0.999" in hints[0].message


def test_a_leak_is_found_among_very_few_of_one_class() -> None:
    y = np.zeros(20_000, dtype=int)
    y[::400] = 1
    codes = noise(20_000, 5)
    codes[:, 2] = np.abs(codes[:, 2]) + 10 * y
    assert found(leakage_hints(codes, names(codes), y, task="classification")) == [("c2",)]


def test_strong_but_honest_columns_are_no_leak() -> None:
    y = np.random.default_rng(1).integers(0, 2, 2000)
    codes = noise(2000, 3)
    codes[:, 0] += 2.5 * y
    assert leakage_hints(codes, names(codes), y, task="classification") == ()
    target = codes[:, 1] + 0.3 * noise(2000, 4)[:, 3]
    assert leakage_hints(codes, names(codes), target, task="regression") == ()


def test_any_shape_of_dependence_on_a_number_is_a_leak() -> None:
    y = np.random.default_rng(1).lognormal(sigma=3, size=1000)
    codes = noise(1000, 30)
    codes[:, 4] = -np.log(y)
    codes[:, 9] = np.where(y > 1, y, 1e6 - y)
    hints = leakage_hints(codes, names(codes), y, task="regression")
    assert found(hints) == [("c4",), ("c9",)]
    assert "R^2 on ranks" in hints[0].message


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_values_that_are_all_different_predict_nothing(task: Any) -> None:
    rng = np.random.default_rng(2)
    codes = np.array([rng.permutation(300) for _ in range(50)]).T
    y = rng.integers(0, 2, 300) if task == "classification" else rng.normal(size=300)
    assert leakage_hints(codes, names(codes), y, task=task) == ()


def test_the_codes_of_a_category_are_judged_together() -> None:
    y = np.random.default_rng(1).integers(0, 4, 400)
    frame = pl.DataFrame({"x": noise(400, 1)[:, 0], "c": [f"level {i}" for i in y]})
    encoding = fit_table(frame, TableEncoder(categorical="auto"))
    codes = encoding.encode(frame)
    hints = leakage_hints(
        codes, encoding.column_names, y, task="classification", groups=encoding.code_groups
    )
    assert found(hints) == [("c",)]
    alone = leakage_hints(codes, encoding.code_names, y, task="classification")
    assert alone == ()


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.arange(59), "regression"),
        (np.ones(200), "regression"),
        (np.arange(300) // 19, "classification"),
        (np.zeros(300), "classification"),
    ],
)
def test_too_few_rows_or_classes_give_no_hint(y: np.ndarray, task: Any) -> None:
    assert leakage_hints(y[:, None], ["copy"], y, task=task) == ()


def test_the_worse_of_the_two_halves_counts() -> None:
    halves = (np.array([0, 1]), np.array([2, 3]))
    trial = _Trial(np.arange(4), halves, lambda cells, *_: float(cells[0]), 0.5, "measure")
    assert trial.power(lambda learned: learned + 1) == 1
    assert trial.power(lambda learned: 3 - learned) == 1


def test_the_same_table_gives_the_same_hints() -> None:
    y = noise(500, 1)[:, 0]
    codes = np.c_[y, noise(500, 3)]
    runs = [leakage_hints(codes, list("abcd"), y, task="regression") for _ in range(2)]
    assert runs[0] == runs[1] != ()


def test_target_and_task_are_checked() -> None:
    codes = noise(100, 2)
    with pytest.raises(InputError, match=r"task must be .* got 'ranking'"):
        leakage_hints(codes, ["a", "b"], codes[:, 0], task="ranking")
    with pytest.raises(InputError, match=r"100 rows, got y\.shape=\(100, 2\)"):
        leakage_hints(codes, ["a", "b"], codes, task="regression")


# Shift


def test_a_moved_column_is_a_hint_and_the_others_are_none() -> None:
    codes, other = noise(800, 6), np.random.default_rng(9).normal(size=(600, 6))
    other[:, 2] += 0.5
    hints = shift_hints(codes, other, names(codes))
    assert found(hints) == [("c2",)]
    assert hints[0].kind == "shift"


def test_tables_of_one_distribution_give_no_hint() -> None:
    rng = np.random.default_rng(0)
    alarms = [
        shift_hints(
            rng.normal(size=(150, 40)), rng.normal(size=(90, 40)), [str(i) for i in range(40)]
        )
        for _ in range(20)
    ]
    assert alarms == [()] * 20


def test_a_small_shift_is_no_hint_however_many_rows_prove_it() -> None:
    codes = noise(20_000, 1)
    assert shift_hints(codes, codes + 0.1, ["a"]) == ()


def test_more_gaps_in_the_second_table_are_a_shift() -> None:
    codes = noise(500, 2)
    other = codes.copy()
    other[:150, 1] = np.nan
    assert found(shift_hints(codes, other, ["a", "b"])) == [("b",)]


def test_new_levels_are_a_shift_of_their_column() -> None:
    old = pl.DataFrame({"c": ["a", "b"] * 100, "d": ["x", "y"] * 100})
    new = pl.DataFrame({"c": ["a", "new"] * 100, "d": ["y", "x"] * 100})
    encoding = fit_table(old, TableEncoder(categorical="auto"))
    hints = shift_hints(
        encoding.encode(old), encoding.encode(new), encoding.column_names, encoding.code_groups
    )
    assert found(hints) == [("c",)]


def test_tables_must_have_rows_and_one_width() -> None:
    codes = noise(10, 2)
    with pytest.raises(InputError, match="must have rows, got 10 and 0"):
        shift_hints(codes, codes[:0], ["a", "b"])
    with pytest.raises(InputError, match="3 codes, 3 groups and 2 names"):
        shift_hints(codes, noise(10, 3), ["a", "b"])


# All hints


@pytest.mark.parametrize("groups", [[0, 2], [0, -1], [0], [0, 1, 1]])
def test_groups_must_name_a_column_for_each_code(groups: list[int]) -> None:
    with pytest.raises(InputError, match="each code must belong to one of the named columns"):
        duplicate_hints(noise(5, 2), ["a", "b"], groups)


def test_only_real_numbers_in_rows_and_columns_are_judged() -> None:
    with pytest.raises(InputError, match="rows and columns of real numbers"):
        duplicate_hints(np.array([["a"]]), ["a"])
