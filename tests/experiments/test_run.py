import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.experiments.fakes import (
    DATA,
    METHOD,
    Counting,
    experiment,
    fake_accuracy,
    fake_data,
    fake_select,
)

from featuremask.exceptions import InputError, TrainingDivergedError
from featuremask.experiments import Choice, Job, RunOptions, Shard, Store, plan, run
from featuremask.experiments._bench import Bench, Selected, SkippedError
from featuremask.experiments._claims import claimed
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._prepare import Prepared
from featuremask.experiments._work import Event

JOBS = plan(experiment())
RETRY = RunOptions(retry_failed=True)


def _one_job(**more: Any) -> list[Job]:
    return plan(experiment(methods=(METHOD,), datasets=(DATA,), seeds=(0,), **more))


def test_every_run_is_made_and_recorded(tmp_path: Path) -> None:
    counting = Counting()
    summary = run(JOBS, tmp_path, bench=counting.bench)
    assert (len(counting.fits), len(counting.measures)) == (8, 8)
    assert summary.counts == {"ok": 16}
    records = Store(tmp_path).read()
    assert {record.status for record in records} == {"ok"}
    assert len(records) == 16


def test_a_record_says_what_was_run_with_what_and_how_long(tmp_path: Path) -> None:
    run(_one_job(), tmp_path, bench=Counting().bench)
    fit, measure = Store(tmp_path).read()
    assert fit.run["settings"] == {"width": 3}
    assert (fit.run["method"], fit.run["dataset"], fit.run["seed"]) == ("plain", "toy", 0)
    assert measure.run["fit"] == fit.key
    assert (measure.run["k"], measure.run["classifier"]) == (2, "rf")
    assert fit.peak_mb > 10
    assert fit.when.endswith("+00:00")
    environment = Store(tmp_path).environments()[fit.environment]
    assert {"torch", "scikit-learn", "python", "revision", "cores"} <= set(environment)


def test_nothing_is_made_twice(tmp_path: Path) -> None:
    run(JOBS, tmp_path, bench=Counting().bench)
    counting = Counting()
    assert run(JOBS, tmp_path, bench=counting.bench).counts == {}
    assert not counting.fits


def test_a_new_measure_uses_the_old_fit(tmp_path: Path) -> None:
    run(_one_job(), tmp_path, bench=Counting().bench)
    counting = Counting()
    run(_one_job(classifiers=("rf", "knn")), tmp_path, bench=counting.bench)
    assert not counting.fits
    assert counting.measures == ["knn/2"]


def test_a_crash_is_recorded_and_does_not_stop_the_others(tmp_path: Path) -> None:
    counting = Counting({"fancy": RuntimeError("no luck")})
    summary = run(JOBS, tmp_path, bench=counting.bench)
    assert summary.counts == {"ok": 8, "error": 4}
    failed = [record for record in Store(tmp_path).read() if not record.ok]
    assert all(record.reason.startswith("RuntimeError: no luck (fakes.py") for record in failed)
    assert all(record.result == {} for record in failed)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TrainingDivergedError("The loss became nan."), "diverged"),
        (SkippedError("too few features"), "skipped"),
        (MemoryError("too much"), "error"),
    ],
)
def test_the_kind_of_failure_is_recorded(tmp_path: Path, error: Exception, status: str) -> None:
    run(_one_job(), tmp_path, bench=Counting({"plain": error}).bench)
    (record,) = Store(tmp_path).read()
    assert record.status == status
    assert str(error) in record.reason


def test_a_failure_is_made_again_only_when_asked_for(tmp_path: Path) -> None:
    run(_one_job(), tmp_path, bench=Counting({"plain": RuntimeError("once")}).bench)
    assert run(_one_job(), tmp_path, bench=Counting().bench).counts == {}
    assert run(_one_job(), tmp_path, RETRY, bench=Counting().bench).counts == {"ok": 2}
    assert run(_one_job(), tmp_path, RETRY, bench=Counting().bench).counts == {}


def test_a_run_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    def slow(run: FitRun, data: Prepared) -> Selected:
        time.sleep(30)
        return fake_select(run, data)

    run(_one_job(time_limit=0.1), tmp_path, bench=Bench(fake_data, slow, {}))
    (record,) = Store(tmp_path).read()
    assert record.status == "timeout"
    assert "0.1 seconds" in record.reason
    assert record.seconds < 5


def test_a_measure_that_cannot_be_made_is_skipped_for_good(tmp_path: Path) -> None:
    def refuse(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
        raise SkippedError("k is too large")

    bench = Bench(fake_data, fake_select, {"accuracy": refuse})
    assert run(_one_job(), tmp_path, bench=bench).counts == {"ok": 1, "skipped": 1}
    assert run(_one_job(), tmp_path, RETRY, bench=bench).counts == {}


def test_data_that_are_not_the_declared_ones_are_a_failure(tmp_path: Path) -> None:
    def wrong(spec: object) -> Prepared:
        raise InputError("The dataset 'toy' is not the one that was declared")

    run(_one_job(), tmp_path, bench=Bench(wrong, fake_select, {}))
    (record,) = Store(tmp_path).read()
    assert record.status == "error"
    assert "not the one" in record.reason


def test_an_interruption_is_passed_on_and_leaves_no_record(tmp_path: Path) -> None:
    def interrupted(run: FitRun, data: Prepared) -> Selected:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(_one_job(), tmp_path, bench=Bench(fake_data, interrupted, {}))
    assert len(Store(tmp_path).read()) == 0
    assert run(_one_job(), tmp_path, bench=Counting().bench).counts == {"ok": 2}


def test_shards_share_a_plan_without_overlap(tmp_path: Path) -> None:
    shards = [Shard(i, 3) for i in (1, 2, 3)]
    for job in JOBS:
        assert sum(shard.takes(job) for shard in shards) == 1
    for shard in shards:
        run(JOBS, tmp_path, RunOptions(shard=shard), bench=Counting().bench)
    assert len(Store(tmp_path).read()) == 16


@pytest.mark.parametrize("text", ["3/2", "0/2", "2", "a/b", "1/"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="such as"):
        Shard.parsed(text)


def test_a_part_of_a_plan_can_be_run(tmp_path: Path) -> None:
    counting = Counting()
    choice = Choice(datasets=["toy"], seeds=[1])
    run(JOBS, tmp_path, RunOptions(choice=choice), bench=counting.bench)
    assert counting.fits == ["plain/toy/1", "fancy/toy/1"]


def test_jobs_that_wait_for_a_search_are_counted(tmp_path: Path) -> None:
    jobs = plan(experiment(methods=(replace(METHOD, tuned=True),)), tuned=lambda m, d: None)
    summary = run(jobs, tmp_path, bench=Counting().bench)
    assert (summary.counts, summary.blocked) == ({}, 4)


def test_each_ended_run_is_told(tmp_path: Path) -> None:
    events: list[Event] = []
    run(_one_job(), tmp_path, bench=Counting().bench, report=events.append)
    assert [(event.label, event.status) for event in events] == [
        ("plain on toy, seed 0", "ok"),
        ("plain on toy, seed 0: rf, k=2", "ok"),
    ]


def test_several_processes_make_the_same_records(tmp_path: Path) -> None:
    bench = Bench(fake_data, fake_select, {"accuracy": fake_accuracy})
    run(JOBS, tmp_path / "one", bench=bench)
    run(JOBS, tmp_path / "two", RunOptions(jobs=2), bench=bench)
    one = {record.key: record.result for record in Store(tmp_path / "one").read()}
    two = {record.key: record.result for record in Store(tmp_path / "two").read()}
    assert one == two


def test_jobs_with_the_same_fit_are_one(tmp_path: Path) -> None:
    by_size = replace(METHOD, name="plain/by magnitude", rank_by="magnitude")
    jobs = plan(experiment(methods=(METHOD, by_size), datasets=(DATA,), seeds=(0,)))
    counting = Counting()
    summary = run(jobs, tmp_path, bench=counting.bench)
    assert (len(counting.fits), len(counting.measures)) == (1, 2)
    assert summary.counts == {"ok": 3}


def test_a_job_of_another_process_is_left_to_it(tmp_path: Path) -> None:
    (job,) = _one_job()
    with claimed(tmp_path / ".claims", job.fit.key):
        assert run([job], tmp_path, bench=Counting().bench).counts == {"busy": 1}
    assert run([job], tmp_path, bench=Counting().bench).counts == {"ok": 2}


def test_scores_are_ranked_as_the_selector_says(tmp_path: Path) -> None:
    run(_one_job(), tmp_path, bench=Counting().bench)
    fit = next(iter(Store(tmp_path).read()))
    expected = fake_select(JOBS[0].fit, fake_data(DATA))
    np.testing.assert_array_equal(Selected.unpacked(fit.result).ranks, expected.ranks)
