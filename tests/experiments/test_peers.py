"""The peers: each finds what it can find, and the page that ranks them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.experiments.fakes import fake_data, write_suite

from featuremask.exceptions import InputError
from featuremask.experiments import RunOptions, Store, find_suite, load_suite, plan
from featuremask.experiments._bench import Bench, select
from featuremask.experiments._peers._fit import PEERS, fit_peer
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._prepare import Prepared
from featuremask.experiments._report._build import compose, material_of
from featuremask.experiments._report._page import Figure, Table
from featuremask.experiments._report._peers import Field, critical_width, tied_groups
from featuremask.experiments._run import run
from featuremask.experiments._search import tuned_of
from featuremask.experiments._spec import DatasetSpec, MethodSpec

N, D = 240, 8
PACKAGES = {"boruta": "boruta", "lassonet": "lassonet", "lightgbm": "lightgbm"}
UNSUPERVISED = ("laplacian", "mcfs", "pca", "variance")
SLOW = ("boruta", "lassonet", "mutual-information", "permutation")


def fit_of(name: str, seed: int = 0, **settings: Any) -> FitRun:
    method = MethodSpec(name, name, f"peer:{name}", settings=settings, trained=False)
    data = DatasetSpec("toy", "toy", "Toy", "0123")
    return FitRun(data, method, settings, "classification", seed, None, 1, 60.0, "")


def clusters() -> Prepared:
    """Return three clusters that the first two columns tell, and noise; column 7 is constant."""
    draw = np.random.default_rng(0)
    y = np.arange(N) % 3
    X = 0.3 * draw.normal(size=(N, D)).astype(np.float32)
    X[:, :2] += np.array([[0, 0], [3, 0], [0, 3]], dtype=np.float32)[y]
    X[:, 7] = 1.0
    return Prepared("toy", X, y, X, y)


def test_every_method_of_the_suite_is_there() -> None:
    suite = load_suite(find_suite("peers"))
    named = {m.selector for e in suite.experiments for m in e.methods}
    assert {f"peer:{name}" for name in PEERS} <= named
    assert suite.page == "peers"
    assert suite.base is not None


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in PEERS],
)
def test_each_peer_puts_what_tells_the_clusters_first_and_what_is_constant_behind(
    name: str,
) -> None:
    if name in PACKAGES:
        pytest.importorskip(PACKAGES[name], reason="the package of this peer is not installed")
    quick = {"lassonet": {"step": 1.5}}.get(name, {})
    found = select(fit_of(name, rows=120, **quick), clusters())
    assert set(np.argsort(found.ranks)[:2]) == {0, 1}
    assert sorted(found.ranks) == list(range(1, D + 1))
    assert np.isfinite(found.scores).all()
    assert found.ranks[7] > 2
    assert found.more["rows"] == 120


@pytest.mark.parametrize("name", UNSUPERVISED)
def test_what_needs_no_target_does_not_look_at_it(name: str) -> None:
    data = clusters()
    other = Prepared("toy", data.X_train, data.y_train[::-1], data.X_test, data.y_test)
    assert (fit_peer(fit_of(name), data).ranks == fit_peer(fit_of(name), other).ranks).all()


def test_mrmr_takes_one_of_two_copies_before_the_weaker_other_column() -> None:
    data = clusters()
    data.X_train[:, 5] = data.X_train[:, 0] * 2.0
    data.X_train[:, 1] = data.X_train[:, 1] + 0.5 * data.X_train[:, 2]
    best = np.argsort(fit_peer(fit_of("mrmr"), data).ranks)[:2]
    assert len({0, 5} & set(best)) == 1
    assert 1 in best


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [("magic", {}, "peers are anova.*got 'magic'"), ("anova", {"power": 9}, "do not fit")],
)
def test_a_peer_or_setting_that_is_not_there_is_refused(
    name: str, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        fit_peer(fit_of(name, **settings), clusters())


# ---- a suite that goes on from another ---------------------------------------------------------


METHODS = """
[plain]
selector = "PlainSelector"
tuned = true
[bound]
selector = "BoundSelector"
trained = false
"""
TRIAL = """
title = "Trial"
section = 1
methods = ["plain", "bound", "peer"]
datasets = ["toy"]
seeds = [0, 1]
ks = [2, 3]
[smoke]
seeds = [0]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    base = write_suite(
        tmp_path / "base", datasets='[toy]\ncontent = "0123"\n', methods=METHODS, trial=TRIAL
    )
    (base / "results").mkdir()
    (base / "results/tuned.toml").write_text("[plain.toy]\nrate = 7\n")
    own = '[peer]\nselector = "peer:anova"\ntrained = false\nseeds = [0]\n'
    suite = write_suite(tmp_path / "suite", datasets="", methods=own, trial=TRIAL)
    (suite / "suite.toml").write_text('title = "Ours"\npage = "peers"\nextends = "base"\n')
    return suite


def test_definitions_and_chosen_settings_of_the_base_hold(folder: Path) -> None:
    suite = load_suite(folder)
    jobs = plan(suite.experiments[0], tuned=tuned_of(suite, folder / "results"))
    assert {job.fit.method.name for job in jobs} == {"plain", "bound", "peer"}
    assert {job.fit.settings.get("rate") for job in jobs if job.fit.method.tuned} == {7}
    assert not any(job.blocked for job in jobs)


def test_a_reduced_suite_without_a_search_waits_for_none(folder: Path) -> None:
    suite = load_suite(folder, smoke=True)
    assert not any(m.tuned for e in suite.experiments for m in e.methods)


def test_an_unknown_word_about_a_suite_is_refused(folder: Path) -> None:
    (folder / "suite.toml").write_text('pages = "peers"\n')
    with pytest.raises(InputError, match=r"'pages' is not known. Did you mean 'page'"):
        load_suite(folder)


def _bench() -> Bench:
    from featuremask.experiments._bench import Selected

    def fitted(run: FitRun, data: Prepared) -> Selected:
        return Selected(np.arange(1, 9))

    def accuracy(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
        return {"accuracy": 0.5 + 0.1 * (run.k or 0), "n_columns": run.k}

    return Bench(fake_data, fitted, {"accuracy": accuracy})


def test_the_page_ranks_what_is_there(folder: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    before = compose(material_of(folder, results))
    assert not any(isinstance(block, Figure) for block in before.blocks)
    suite = load_suite(folder)
    jobs = plan(suite.experiments[0], tuned=tuned_of(suite, results))
    run(jobs, results, RunOptions(), bench=_bench())
    assert {record.status for record in Store(results).read()} == {"ok"}
    blocks = compose(material_of(folder, results)).blocks
    table = next(block for block in blocks if isinstance(block, Table))
    assert [row[1:] for row in table.rows] == [["2.00", "1", "1", "2"]] * 3
    figure = next(block for block in blocks if isinstance(block, Figure))
    pytest.importorskip("matplotlib", reason="the extra plot is not installed")
    figure.draw(tmp_path / "ranks.png")
    assert (tmp_path / "ranks.png").stat().st_size > 1000


def test_methods_that_have_not_begun_have_no_rank(folder: Path, tmp_path: Path) -> None:
    suite = load_suite(folder)
    jobs = plan(suite.experiments[0], tuned=tuned_of(suite, tmp_path / "results"))
    some = [job for job in jobs if job.fit.method.name != "bound"]
    run(some, tmp_path / "results", RunOptions(), bench=_bench())
    blocks = compose(material_of(folder, tmp_path / "results")).blocks
    assert any("without a rank: bound" in getattr(block, "text", "") for block in blocks)
    table = next(block for block in blocks if isinstance(block, Table))
    assert {row[0] for row in table.rows} == {"plain", "peer"}


def test_ranks_share_ties_and_failures_come_last() -> None:
    accuracies = np.array([[0.9, 0.9, 0.5], [0.7, 0.8, -np.inf]])
    data = DatasetSpec("toy", "toy", "Toy", "0123")
    field = Field(("a", "b", "c"), ((data, 5, "rf"), (data, 9, "rf")), accuracies, 2)
    assert field.ranks.tolist() == [[1.5, 1.5, 3.0], [2.0, 1.0, 3.0]]
    assert field.wins(5).tolist() == [1, 1, 0]
    assert field.wins(9).tolist() == [0, 1, 0]
    assert field.wins(7).tolist() == [0, 0, 0]


def test_the_critical_difference_is_that_of_the_tables() -> None:
    """Demsar (2006), table 5: q is 2.343 for 3 and 3.164 for 10 methods."""
    for count, q in ((3, 2.343), (10, 3.164)):
        expected = q * np.sqrt(count * (count + 1) / (6 * 14))
        assert critical_width(count, 14) == pytest.approx(expected, rel=1e-3)


def test_groups_are_the_longest_stretches_within_the_difference() -> None:
    assert tied_groups([1.0, 2.0, 3.0], 2.5) == [(1.0, 3.0)]
    assert tied_groups([1.0, 5.0], 2.0) == []
