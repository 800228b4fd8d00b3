"""A few of the committed records are made again."""

from pathlib import Path

import pytest

from featuremask.experiments import (
    Choice,
    Records,
    Reproduction,
    RunOptions,
    Store,
    find_suite,
    load_suite,
)

FOLDER = find_suite("paper")

CHEAP = [("rsf", "isolet"), ("rsf", "coil20"), ("rawf", "pcmac"), ("fm", "isolet")]

_SLACK = 0.03
"""Other libraries and processors change last digits, and with them single trees and pixels."""


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize(("method", "dataset"), CHEAP)
def test_a_record_is_found_again(
    method: str, dataset: str, tmp_path: Path, paper_data: Path
) -> None:
    committed = Store(FOLDER / "results").read()
    whole = Reproduction(load_suite(FOLDER), tmp_path)
    table2 = whole.chosen(("table2",))[0]
    options = RunOptions(choice=Choice([method], [dataset], [0]))
    key = next(job.measures[0].key for job in whole.jobs(table2) if options.choice.takes(job.fit))
    before = committed.result(key)
    assert before is not None, "this run is not recorded"
    whole.run(table2, options)
    after = Store(tmp_path).read().result(key)
    assert after is not None
    assert after["accuracy"] == pytest.approx(before["accuracy"], abs=_SLACK)


def test_the_committed_records_can_be_read() -> None:
    records = Store(FOLDER / "results").read()
    assert isinstance(records, Records)
    known = Store(FOLDER / "results").environments()
    assert all(record.environment in known for record in records)
