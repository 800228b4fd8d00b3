import numpy as np
import pytest

from featuremask.datasets import load
from featuremask.experiments._bench import Selected, SkippedError, accuracy
from featuremask.experiments._measures import embedding, overview, redundancy
from featuremask.experiments._packing import unpack_integers
from featuremask.experiments._plan import MeasureRun
from featuremask.experiments._prepare import Prepared


def _run(measure: str, k: int | None = 10) -> MeasureRun:
    return MeasureRun("fit", measure, k, None, 0, "ranking")


@pytest.fixture(scope="module")
def digits() -> Prepared:
    raw = load("digits")
    rows = [np.asarray(part, np.float32) for part in (raw.X_train, raw.X_test)]
    return Prepared("digits", rows[0], raw.y_train, rows[1], raw.y_test, raw)


def _first(order: list[int], n: int = 64) -> Selected:
    rest = [i for i in range(n) if i not in order]
    ranks = np.empty(n, dtype=np.int64)
    ranks[order + rest] = np.arange(1, n + 1)
    return Selected(ranks)


def test_dead_columns_are_counted(digits: Prepared) -> None:
    assert redundancy(digits, _first([0, 32, 20, 21]), _run("redundancy", 4))["constant"] == 0.5


def test_the_correlation_of_a_column_with_its_copy_is_one() -> None:
    column = np.random.default_rng(0).normal(size=(50, 1)).astype(np.float32)
    rows = np.hstack([column, -2 * column])
    data = Prepared("twice", rows, np.zeros(50), rows, np.zeros(50))
    found = redundancy(data, _first([], 2), _run("redundancy", 2))
    assert found["correlation"] == pytest.approx(1.0)


def test_columns_picked_twice_count_once(digits: Prepared) -> None:
    selected = Selected(np.arange(1, 65), n_distinct=3)
    assert redundancy(digits, selected, _run("redundancy"))["n_columns"] == 3


def test_the_data_are_described_with_an_example_of_each_class(digits: Prepared) -> None:
    found = overview(digits, _first([]), _run("overview", None))
    assert (found["n_features"], found["n_test"], found["constant"]) == (64, 359, 4)
    assert unpack_integers(found["examples"], "u1").size == 10 * 64
    assert found["image_shape"] == [8, 8]


def test_a_picture_in_the_plane_is_judged_by_numbers(digits: Prepared) -> None:
    found = embedding(digits, _first([20, 21, 28, 36, 42, 43, 51, 53]), _run("embedding", 8))
    assert len(unpack_integers(found["x"])) == len(unpack_integers(found["classes"])) == 359
    assert 0.2 < found["neighbors"] <= 1.0
    assert 0.5 < found["trustworthiness"] <= 1.0
    assert found["by"] in ("UMAP", "PCA")


@pytest.mark.parametrize("measure", [accuracy, redundancy, embedding])
def test_more_features_than_there_are_cannot_be_measured(measure: object, digits: Prepared) -> None:
    run = MeasureRun("fit", "accuracy", 65, "rf", 0, "ranking")
    with pytest.raises(SkippedError, match="k = 65 is more than the 64 features"):
        measure(digits, _first([]), run)  # type: ignore[operator]
