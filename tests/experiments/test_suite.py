from pathlib import Path

import pytest
from tests.experiments.fakes import write_suite

from featuremask.exceptions import InputError
from featuremask.experiments import find_suite, load_suite

DATASETS = """
[toy]
content = "0123"
[big]
title = "Big"
content = "4567"
scaling = "unit"
"""

METHODS = """
[base]
shared = true
[base.settings]
width = 3
epochs = 10
[base.by_dataset.toy]
epochs = 99
[plain]
selector = "PlainSelector"
extends = "base"
settings = { width = 5 }
[bound]
selector = "BoundSelector"
trained = false
"""

TRIAL = """
title = "A trial"
section = 1
methods = ["plain", "bound"]
datasets = ["toy", "big"]
seeds = [0, 1]
ks = [2]
[smoke]
datasets = ["toy"]
settings = { epochs = 1 }
"""


def _suite(tmp_path: Path, trial: str = TRIAL, methods: str = METHODS) -> Path:
    return write_suite(tmp_path / "suite", datasets=DATASETS, methods=methods, trial=trial)


def test_an_experiment_is_read_into_its_parts(tmp_path: Path) -> None:
    suite = load_suite(_suite(tmp_path))
    trial = suite.experiment("trial")
    assert suite.name == "suite"
    assert [method.name for method in trial.methods] == ["plain", "bound"]
    assert [dataset.title for dataset in trial.datasets] == ["toy", "Big"]
    assert (trial.seeds, trial.ks, trial.classifiers) == ((0, 1), (2,), ("rf",))


def test_a_method_adds_to_the_shared_settings(tmp_path: Path) -> None:
    plain = load_suite(_suite(tmp_path)).experiment("trial").methods[0]
    toy, big = load_suite(_suite(tmp_path)).experiment("trial").datasets
    assert plain.settings_on(big) == {"width": 5, "epochs": 10}
    assert plain.settings_on(toy) == {"width": 5, "epochs": 99}


def test_the_smoke_form_is_reduced(tmp_path: Path) -> None:
    trial = load_suite(_suite(tmp_path), smoke=True).experiment("trial")
    assert [dataset.name for dataset in trial.datasets] == ["toy"]
    assert trial.methods[0].settings_on(trial.datasets[0])["epochs"] == 1
    assert "epochs" not in trial.methods[1].settings


def test_varied_settings_make_methods_of_their_own(tmp_path: Path) -> None:
    text = TRIAL + "[vary]\nwidth = [1, 2]\n[[variants]]\nname = 'as it is'\nrank_by='magnitude'\n"
    methods = load_suite(_suite(tmp_path, text)).experiment("trial").methods
    names = [method.name for method in methods if method.trained]
    assert names == ["plain/as it is", "plain/width=1", "plain/width=2"]
    assert methods[0].rank_by == "magnitude"
    assert methods[1].family == "plain"


def test_experiments_come_in_their_order(tmp_path: Path) -> None:
    folder = _suite(tmp_path, TRIAL.replace("section = 1", "section = 1\norder = 9"))
    write_suite(folder, later=TRIAL)
    assert [e.name for e in load_suite(folder).experiments] == ["later", "trial"]


@pytest.mark.parametrize(
    ("trial", "message"),
    [
        (TRIAL.replace("seeds =", "sedes ="), r"'sedes' is not known. Did you mean 'seeds'\?"),
        (TRIAL.replace("ks = [2]", ""), "ks must be given"),
        (TRIAL.replace("[2]", "['2']"), "ks must be an integer; got '2'"),
        (TRIAL.replace("[2]", "2"), "ks must be an array, each item an integer; got 2"),
        (TRIAL.replace('"bound"]', '"bond"]'), "no method 'bond'; methods.toml defines plain"),
        (TRIAL.replace('"big"]', '"bgi"]'), "no dataset 'bgi'"),
        (TRIAL + "typo = 1\n", "the key 'typo' is not known"),
        (TRIAL.replace("ks =", "table = 'other'\nks ="), "table must be one of"),
        (TRIAL + "[search]\ntrials = 2\nrow = 3\n", r"\[search\]: the key 'row' is not known"),
        ("title = ", "not valid TOML"),
    ],
)
def test_a_mistake_is_told_with_its_place(tmp_path: Path, trial: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        load_suite(_suite(tmp_path, trial))
    assert "trial.toml" in str(caught.value)


def test_a_mistake_in_a_method_is_told(tmp_path: Path) -> None:
    methods = METHODS.replace("trained = false", "traind = false")
    with pytest.raises(InputError, match=r"methods.toml: \[bound\].*mean 'trained'"):
        load_suite(_suite(tmp_path, methods=methods))


def test_a_folder_without_experiments_is_refused(tmp_path: Path) -> None:
    folder = write_suite(tmp_path / "empty", datasets=DATASETS, methods=METHODS)
    with pytest.raises(InputError, match="holds no experiment"):
        load_suite(folder)


def test_a_suite_is_found_above_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiments" / "mine").mkdir(parents=True)
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    assert find_suite("mine") == tmp_path / "experiments" / "mine"
    with pytest.raises(InputError, match="no folder 'yours'"):
        find_suite("yours")


def test_the_paper_is_declared_without_mistakes() -> None:
    folder = find_suite("paper")
    for smoke in (False, True):
        suite = load_suite(folder, smoke=smoke)
        assert {e.section for e in suite.experiments} == set(range(10))
        assert suite.experiments[0].search is not None


def test_other_splits_and_parts_of_the_training_rows_are_datasets_of_their_own(
    tmp_path: Path,
) -> None:
    text = TRIAL.replace(
        "[smoke]", "splits = [0, 3]\nhold_out = { rows = 50, seeds = [7] }\n[smoke]"
    )
    datasets = load_suite(_suite(tmp_path, text)).experiment("trial").datasets
    assert [data.name for data in datasets] == [
        "toy-part7",
        "toy-split3-part7",
        "big-part7",
        "big-split3-part7",
    ]
    assert [(data.source, data.split) for data in datasets[:2]] == [("toy", 0), ("toy", 3)]
    held = datasets[0].hold_out
    assert held is not None
    assert (held.rows, held.fraction, held.seed) == (50, 0.2, 7)


@pytest.mark.parametrize("line", ["splits = ['a']", "hold_out = { row = 5 }"])
def test_a_part_that_is_not_one_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"integers|Did you mean 'rows'"):
        load_suite(_suite(tmp_path, TRIAL.replace("[smoke]", f"{line}\n[smoke]")))
