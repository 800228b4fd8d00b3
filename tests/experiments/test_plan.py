from dataclasses import replace
from typing import Any

import pytest
from tests.experiments.fakes import DATA, METHOD, OTHER_METHOD, experiment

from featuremask.exceptions import InputError
from featuremask.experiments import Choice, HoldOut, Search, plan
from featuremask.experiments._keys import key_of


def test_the_first_seed_of_everything_comes_first() -> None:
    labels = [job.label for job in plan(experiment())]
    assert labels == [
        "plain on toy, seed 0",
        "fancy on toy, seed 0",
        "plain on other, seed 0",
        "fancy on other, seed 0",
        "plain on toy, seed 1",
        "fancy on toy, seed 1",
        "plain on other, seed 1",
        "fancy on other, seed 1",
    ]


def test_one_fit_serves_every_k_and_classifier() -> None:
    trial = experiment(methods=(METHOD,), datasets=(DATA,), seeds=(0,), ks=(2, 4))
    (job,) = plan(replace(trial, classifiers=("rf", "knn")))
    assert [(m.k, m.classifier) for m in job.measures] == [
        (2, "rf"),
        (2, "knn"),
        (4, "rf"),
        (4, "knn"),
    ]
    assert {m.fit for m in job.measures} == {job.fit.key}


def test_a_method_that_needs_k_is_fitted_for_each() -> None:
    method = replace(METHOD, each_k=True)
    jobs = plan(experiment(methods=(method,), datasets=(DATA,), seeds=(0,), ks=(2, 4)))
    assert [(job.fit.k, [m.k for m in job.measures]) for job in jobs] == [(2, [2]), (4, [4])]


def test_all_features_are_evaluated_once() -> None:
    method = replace(METHOD, all_features=True, seeds=(0,))
    (job,) = plan(experiment(methods=(method,), datasets=(DATA,), ks=(2, 4)))
    assert [m.k for m in job.measures] == [None]


def test_a_method_may_have_seeds_of_its_own() -> None:
    method = replace(METHOD, seeds=(7, 8, 9))
    jobs = plan(experiment(methods=(method, OTHER_METHOD), datasets=(DATA,)))
    assert [j.fit.seed for j in jobs] == [0, 1, 7, 8, 9]


def test_equal_runs_of_two_experiments_share_their_key() -> None:
    first = plan(experiment())
    second = plan(experiment(name="again", title="Other words", section=9, ks=(2, 3)))
    assert [job.fit.key for job in first] == [job.fit.key for job in second]
    assert first[0].measures[0].key == second[0].measures[0].key


def test_titles_do_not_decide_a_key_and_settings_do() -> None:
    key = plan(experiment())[0].fit.key
    renamed = replace(METHOD, title="New", name="new")
    assert plan(experiment(methods=(renamed,)))[0].fit.key == key
    for other in (
        replace(METHOD, settings={"width": 4}),
        replace(METHOD, revision=2),
        replace(METHOD, selector="OtherSelector"),
    ):
        assert plan(experiment(methods=(other,)))[0].fit.key != key


@pytest.mark.parametrize(
    "change",
    [{"threads": 2}, {"purpose": "timing"}, {"objectives": ("reconstruction",)}, {"seeds": (5,)}],
)
def test_whatever_decides_a_result_decides_its_key(change: dict[str, object]) -> None:
    assert plan(experiment(**change))[0].fit.key != plan(experiment())[0].fit.key


def test_other_data_or_other_scaling_are_other_runs() -> None:
    keys = {
        plan(experiment(datasets=(data,)))[0].fit.key
        for data in (DATA, replace(DATA, content="9"), replace(DATA, scaling="unit"))
    }
    assert len(keys) == 3


def test_an_untrained_method_has_no_objective() -> None:
    bound = replace(METHOD, trained=False)
    one = plan(experiment(methods=(bound,), objectives=("classification", "reconstruction")))
    two = plan(experiment(methods=(bound,), objectives=("reconstruction",)))
    assert [job.fit.key for job in one] == [job.fit.key for job in two]


def test_tuned_settings_are_laid_over_and_awaited() -> None:
    tuned = replace(METHOD, tuned=True)
    trial = experiment(methods=(tuned,), seeds=(0,))
    found = {("plain", "toy"): {"rate": 0.5}}
    toy, other = plan(trial, tuned=lambda method, data: found.get((method, data)))
    assert toy.fit.settings == {"width": 3, "rate": 0.5}
    assert not toy.blocked
    assert "not been searched for" in other.blocked


def test_a_search_tries_settings_on_held_out_rows() -> None:
    search = Search(trials=2, seed=0, hold_out=HoldOut(100, 0.1))
    trial = experiment(methods=(METHOD,), datasets=(DATA,), seeds=(0,), search=search)
    jobs = plan(trial, trials=lambda experiment, method, data: [{}, {"rate": 1}])
    assert [job.fit.settings for job in jobs] == [{"width": 3}, {"width": 3, "rate": 1}]
    assert jobs[0].fit.dataset.hold_out == HoldOut(100, 0.1)
    assert jobs[0].place == "search/toy/plain.jsonl"


def test_an_unknown_classifier_is_refused() -> None:
    with pytest.raises(InputError, match=r"trial.toml: classifiers are rf, svm.*\['xgb'\]"):
        plan(experiment(classifiers=("rf", "xgb")))


def test_settings_that_have_no_plain_form_are_refused() -> None:
    with pytest.raises(InputError, match="plain finite values"):
        key_of({"rate": float("nan")})


def test_a_choice_takes_a_part_of_a_plan() -> None:
    fits = [job.fit for job in plan(experiment())]
    chosen = [fit for fit in fits if Choice(methods=["fancy"], seeds=[1]).takes(fit)]
    assert [(f.method.name, f.dataset.name, f.seed) for f in chosen] == [
        ("fancy", "toy", 1),
        ("fancy", "other", 1),
    ]


def test_a_run_on_another_split_is_another_run_and_the_fixed_one_has_no_name() -> None:
    def key(**words: Any) -> str:
        jobs = plan(replace(experiment(), datasets=(replace(DATA, **words),)))
        return jobs[0].fit.key

    assert key() == key(split=0) != key(split=1)
