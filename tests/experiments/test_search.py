import tomllib
from pathlib import Path

from tests.experiments.fakes import DATA, METHOD, experiment

from featuremask.experiments import HoldOut, Record, Records, Search, plan
from featuremask.experiments._search import (
    best_settings,
    draw_trials,
    read_tuned,
    trials_of,
    tuned_toml,
    write_tuned,
)

SPACE = {"rate": (0.1, 0.2, 0.4), "kind": ("a", "b"), "width": (1, 2, 3)}
TRIAL = experiment(
    methods=(METHOD,),
    datasets=(DATA,),
    seeds=(0,),
    search=Search(trials=4, seed=0, hold_out=HoldOut(100, 0.1)),
)


def _space(selector: str) -> dict[str, tuple[object, ...]]:
    return SPACE


def _records(accuracies: list[float | None]) -> Records:
    """Records of the trials; None is a fit that failed."""
    records = Records()
    for job, accuracy in zip(plan(TRIAL, trials=trials_of(_space)), accuracies, strict=False):
        status = "error" if accuracy is None else "ok"
        records.add(Record(job.fit.key, "fit", status))
        if accuracy is not None:
            key = job.measures[0].key
            records.add(Record(key, "measure", "ok", result={"accuracy": accuracy}))
    return records


def test_trials_are_different_repeatable_and_begin_with_the_methods_own() -> None:
    trials = draw_trials(SPACE, {}, 6, seed=1)
    assert trials == draw_trials(SPACE, {}, 6, seed=1)
    assert trials[0] == {}
    assert len({tuple(sorted(trial.items())) for trial in trials}) == 6


def test_fixed_words_are_not_drawn() -> None:
    assert all("width" not in trial for trial in draw_trials(SPACE, {"width": 9}, 5, seed=0))


def test_a_small_space_is_tried_whole_and_no_more() -> None:
    trials = draw_trials({"kind": ("a", "b")}, {}, 12, seed=0)
    assert sorted(map(str, trials)) == sorted(map(str, [{}, {"kind": "a"}, {"kind": "b"}]))


def test_the_best_trial_wins() -> None:
    found = best_settings(TRIAL, _space, _records([0.5, 0.6, 0.9, 0.7]))
    assert found == {"plain": {"toy": draw_trials(SPACE, {"width": 3}, 4, 0)[2]}}


def test_of_equal_trials_the_first_wins_and_failures_never() -> None:
    found = best_settings(TRIAL, _space, _records([0.5, 0.5, None, 0.5]))
    assert found == {"plain": {"toy": {}}}


def test_nothing_is_chosen_before_all_trials_have_ended() -> None:
    assert best_settings(TRIAL, _space, _records([0.5, 0.6, 0.9])) == {}


def test_chosen_settings_are_written_and_read(tmp_path: Path) -> None:
    best = {"plain": {"toy": {"rate": 0.1, "kind": "a", "on": True, "units": (1, 2)}, "other": {}}}
    write_tuned(tmp_path / "tuned.toml", best)
    tuned = read_tuned(tmp_path / "tuned.toml")
    assert tuned("plain", "toy") == {"rate": 0.1, "kind": "a", "on": True, "units": [1, 2]}
    assert tuned("plain", "other") == {}
    assert tuned("plain", "third") is None
    assert tomllib.loads(tuned_toml(best))


def test_without_a_file_nothing_is_tuned(tmp_path: Path) -> None:
    assert read_tuned(tmp_path / "none.toml")("plain", "toy") is None
