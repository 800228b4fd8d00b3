import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from featuremask.exceptions import FileFormatError
from featuremask.experiments import Record, Records, Store
from featuremask.experiments._bench import Selected
from featuremask.experiments._packing import pack_integers, unpack_integers

PLACE = "runs/toy/plain.jsonl"


def _append_many(folder: Path, writer: int) -> None:
    for number in range(50):
        Store(folder).append(
            PLACE, Record(f"{writer}-{number}", "fit", "ok", result={"x": "y" * 500})
        )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    record = Record("k", "measure", "ok", run={"k": None}, result={"accuracy": 0.5}, seconds=1.5)
    Store(tmp_path).append(PLACE, record)
    assert list(Store(tmp_path).read()) == [record]


def test_a_folder_without_records_is_empty(tmp_path: Path) -> None:
    assert len(Store(tmp_path / "new").read()) == 0


def test_a_torn_line_is_left_out_and_the_next_record_is_whole(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.append(PLACE, Record("a", "fit", "ok"))
    with (tmp_path / PLACE).open("ab") as file:
        file.write(b'{"key":"torn","kind":"fi')
    store.append(PLACE, Record("b", "fit", "ok"))
    assert [record.key for record in store.read()] == ["a", "b"]


def test_two_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(tmp_path, n)) for n in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(Store(tmp_path).read()) == 100
    lines = (tmp_path / PLACE).read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["result"] == {"x": "y" * 500} for line in lines)


def test_a_success_is_not_replaced_by_a_failure() -> None:
    ok, failed = Record("k", "fit", "ok"), Record("k", "fit", "error", "why")
    for order in ((ok, failed), (failed, ok)):
        assert Records(order).get("k") == ok


def test_of_two_failures_the_last_is_known() -> None:
    records = Records([Record("k", "fit", "error", "first"), Record("k", "fit", "timeout", "last")])
    assert records.get("k") == Record("k", "fit", "timeout", "last")
    assert records.result("k") is None


def test_a_line_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / PLACE
    path.parent.mkdir(parents=True)
    path.write_text('{"name": "not a record"}\n', encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"plain.jsonl holds a line that is no record"):
        Store(tmp_path).read()


def test_an_environment_is_written_down_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.remember({"torch": "2"})
    assert store.remember({"torch": "2"}) == name
    assert store.remember({"torch": "3"}) != name
    assert store.environments()[name] == {"id": name, "torch": "2"}


def test_a_ranking_and_its_scores_come_back(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    scores = draw.normal(size=3000)
    ranks = np.argsort(np.argsort(-scores)) + 1
    packed = json.loads(json.dumps(Selected(ranks, scores, n_distinct=40).packed()))
    found = Selected.unpacked(packed)
    np.testing.assert_array_equal(found.ranks, ranks)
    assert found.scores is not None
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)
    assert found.n_distinct == 40
    assert len(json.dumps(packed)) < 16_000


def test_a_brief_record_keeps_the_best_features() -> None:
    ranks = np.random.default_rng(0).permutation(1000) + 1
    found = Selected.unpacked(Selected(ranks, ranks * 1.0).packed(brief=True))
    best = ranks <= 256
    np.testing.assert_array_equal(found.ranks[best], ranks[best])
    assert sorted(found.ranks) == list(range(1, 1001))
    assert found.scores is None


def test_magnitude_ranks_large_negative_scores_first() -> None:
    selected = Selected(np.array([1, 2, 3]), np.array([2.0, 1.0, -3.0]))
    assert selected.ranks_by("magnitude").tolist() == [2, 3, 1]


def test_a_damaged_array_is_told() -> None:
    with pytest.raises(FileFormatError, match="cannot be read"):
        unpack_integers("no base64!")


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        pack_integers(np.array([70_000]))
