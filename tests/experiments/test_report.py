import csv
import io
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.experiments.fake_paper import made_up

from featuremask.exceptions import InputError
from featuremask.experiments import Record, Records, build_report, find_suite
from featuremask.experiments._plan import FitRun, MeasureRun
from featuremask.experiments._report._build import compose, material_of
from featuremask.experiments._report._cells import Grid
from featuremask.experiments._report._claims import claims_of
from featuremask.experiments._report._csv import COLUMNS, csv_of
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import (
    Figure,
    Heading,
    Items,
    Table,
    Text,
    to_html,
    to_markdown,
)
from featuremask.experiments._report._tables import beside_paper

FM_FIRST: Mapping[str, float] = {"rawf": 0.97, "fm": 0.96, "fm-paper": 0.95, "rsf": 0.5}


def _fm_first(fit: FitRun, run: MeasureRun) -> float:
    return FM_FIRST.get(fit.method.family, 0.9) + 0.001 * (fit.seed % 2)


@pytest.fixture(scope="module")
def material() -> Material:
    return made_up(_fm_first, ("data", "table2", "table3", "k-curve"))


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_summary_has_exactly_the_columns_that_were_agreed(material: Material) -> None:
    text = compose(material).summary
    assert text.splitlines()[0] == (
        "experiment,dataset,method,classifier,k,objective,n_seeds,mean,std,paper_mean,paper_std"
    )
    assert tuple(_rows(text)[0]) == COLUMNS


def test_a_line_of_the_summary_says_what_was_found_and_printed(material: Material) -> None:
    rows = {
        (r["experiment"], r["dataset"], r["method"], r["k"]): r
        for r in _rows(compose(material).summary)
    }
    row = rows["table2", "mnist", "fm-paper", "50"]
    values = np.array([0.95, 0.951, 0.95, 0.951, 0.95])
    assert float(row["mean"]) == pytest.approx(values.mean(), abs=1e-6)
    assert float(row["std"]) == pytest.approx(values.std(ddof=1), abs=1e-6)
    assert (row["n_seeds"], row["paper_mean"], row["paper_std"]) == ("5", "0.954", "0.003")
    assert (row["classifier"], row["objective"]) == ("rf", "classification")
    assert rows["table3", "pcmac", "fm", "50"]["objective"] == "reconstruction"


def test_all_features_count_as_their_number_and_do_not_vary(material: Material) -> None:
    row = next(r for r in _rows(compose(material).summary) if r["method"] == "rawf")
    assert (row["k"], row["std"], row["paper_mean"]) == ("784", "0.000000", "0.969")


def test_what_has_not_run_is_in_no_summary_and_marked_on_the_page(material: Material) -> None:
    report = compose(material)
    assert "classifiers,mnist,fm,svm" not in report.summary
    assert "mask_depth=2" not in report.studies
    assert "not run" in to_markdown(report.blocks, "figures")


def test_a_table_shows_ours_the_papers_and_the_difference(material: Material) -> None:
    table = beside_paper(material, "table2")
    row = next(row for row in table.rows if row[0] == "FM (paper)")
    assert row[1] == "0.950 ± 0.001 / 0.954 / -0.004"
    assert next(row for row in table.rows if row[0] == "CancelOut")[1].endswith("+0.157 †")
    strong = {table.rows[i][0] for i, _ in table.strong}
    assert strong == {"FM"}


def test_a_cell_with_some_seeds_says_how_many() -> None:
    whole = made_up(_fm_first, ("table2",))
    grid = whole.grid("table2")
    some = Records(
        record
        for job in grid.jobs
        if job.fit.seed < 2
        for key in (job.fit.key, job.measures[0].key)
        if (record := whole.records.get(key)) is not None
    )
    cell = Grid(grid.experiment, grid.jobs, some).cell("mnist", "fm")
    assert cell is not None
    assert cell.text.endswith("(2 of 5)")
    assert not cell.complete


def test_a_failed_cell_says_so() -> None:
    whole = made_up(_fm_first, ("table2",))
    grid = whole.grid("table2")
    failed = Records(
        Record(job.fit.key, "fit", "diverged", "The loss became nan.") for job in grid.jobs
    )
    cell = Grid(grid.experiment, grid.jobs, failed).cell("mnist", "fm")
    assert cell is not None
    assert (cell.mean, cell.text) == (None, "diverged")
    lines = list(Grid(grid.experiment, grid.jobs, failed).failures())
    assert "fm on mnist, seed 0: diverged: The loss became nan." in lines


def _verdicts(material: Material) -> dict[str, tuple[str, str]]:
    return {claim.text: (claim.verdict, claim.found) for claim in claims_of(material)}


def test_claims_are_confirmed_by_the_records(material: Material) -> None:
    verdicts = _verdicts(material)
    assert verdicts["FM is above random features on all five datasets (RF)"][0] == "yes"
    assert verdicts["FM reaches more than 90 % with 25 pixels of MNIST"][0] == "yes"
    won = "Unsupervised, FM is above all references on all five datasets (RF)"
    assert verdicts[won] == ("yes", "FM (paper): 5 of 5; FM: 5 of 5")


def test_a_claim_that_holds_for_one_of_both_names_it(material: Material) -> None:
    text = "100 pixels of MNIST do about as well as all (within 0.010)"
    assert _verdicts(material)[text][0] == "only FM"


def test_claims_without_records_are_not_judged(material: Material) -> None:
    verdicts = _verdicts(material)
    assert verdicts["FM is insensitive to depth (1 to 6 layers within 0.010)"] == (
        "not run",
        "not run",
    )


def test_studies_are_judged() -> None:
    def by_variant(fit: FitRun, run: MeasureRun) -> float:
        variant = fit.method.name.partition("/")[2]
        printed = {"no BA, FMN": 0.932, "BA, no FMN": 0.898, "no BA, no FMN": 0.72}
        few_rows = {"batch_size=4": 0.93, "batch_size=8": 0.947}
        return (printed | few_rows).get(variant, 0.954)

    studies = made_up(by_variant, ("ablation", "depth", "init", "batch-size", "timing"))
    verdicts = _verdicts(studies)
    assert verdicts["Batches of 4 and 8 rows are worse"][0] == "yes"
    assert (
        verdicts["FM is insensitive to the batch size from 16 rows on (within 0.010)"][0] == "yes"
    )
    assert verdicts["Attenuation adds little where there is normalization (up to 0.030)"] == (
        "yes",
        "+0.022",
    )
    reading = verdicts[
        "One reading of the ablation without normalization is that of the paper (within 0.020)"
    ]
    assert reading[0] == "yes"
    assert reading[1].startswith("nearer by the logits (by the logits: 0.000")
    assert verdicts["Differences in time are small (within a factor of 1.5)"][0] == "yes"


def test_a_claim_that_rests_on_some_seeds_is_marked() -> None:
    whole = made_up(_fm_first, ("table2",))
    first = whole.grid("table2").jobs[0].measures[0].key
    some = Records(record for record in whole.records if record.key != first)
    verdicts = _verdicts(Material(whole.suite, some, whole.published, whole.tuned))
    assert verdicts["FM is above random features on all five datasets (RF)"][0] == "yes, so far"


def test_a_reference_far_below_the_paper_is_flagged(material: Material) -> None:
    page = to_markdown(compose(material).blocks, "figures")
    assert "- DFS on COIL20: -0.098" in page


def test_every_picture_can_be_drawn(tmp_path: Path) -> None:
    for block in compose(made_up(_fm_first, smoke=True)).blocks:
        if isinstance(block, Figure) and block.name not in ("digits", "masks"):
            block.draw(tmp_path / "picture.png")
            assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_of_which_nothing_has_run_are_empty_or_left_out(tmp_path: Path) -> None:
    nothing = made_up(_fm_first, ("none",))
    for block in compose(nothing).blocks:
        if isinstance(block, Figure):
            block.draw(tmp_path / "picture.png")


def test_images_of_digits_are_drawn(material: Material, tmp_path: Path) -> None:
    (digits,) = [
        b for b in compose(material).blocks if isinstance(b, Figure) and b.name == "digits"
    ]
    digits.draw(tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 1000


def test_pages_say_the_same_and_escape_what_is_foreign() -> None:
    blocks = (
        Heading("A & B", 1),
        Text("<script>alert(1)</script>"),
        Items(("one", "two")),
        Table(["", "x|y"], [["row", "<b>"]], "caption", frozenset({(0, 1)})),
        Figure("plot", "what it shows", lambda path: None),
    )
    markdown = to_markdown(blocks, "pictures")
    assert "# A & B" in markdown
    assert "| row | **<b>** |" in markdown
    assert "x\\|y" in markdown
    assert "![what it shows](pictures/plot.png)" in markdown
    page = to_html(blocks, "title", "pictures")
    assert "<script>" not in page
    assert "<td><strong>&lt;b&gt;</strong></td>" in page
    assert '<img src="pictures/plot.png"' in page


def test_a_report_without_any_record_can_be_built(tmp_path: Path) -> None:
    paths = build_report("paper", tmp_path, figures=False)
    assert {path.name for path in paths} == {
        "RESULTS.md",
        "report.html",
        "summary.csv",
        "studies.csv",
    }
    assert "not run" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")


def test_the_committed_tables_are_those_of_the_committed_records() -> None:
    folder = find_suite("paper")
    before = {
        path: path.read_text(encoding="utf-8")
        for path in (
            folder / "RESULTS.md",
            folder / "results" / "summary.csv",
            folder / "results" / "studies.csv",
        )
    }
    report = compose(material_of(folder, folder / "results"))
    texts = [to_markdown(report.blocks, "results/figures"), report.summary, report.studies]
    for (path, old), new in zip(before.items(), texts, strict=True):
        assert old == new, f"{path.name} is not that of the records; run: featuremask report paper"


def test_remarks_of_a_person_follow_their_section(material: Material) -> None:
    noted = replace(material, notes={"7": ["By hand."]})
    page = to_markdown(compose(noted).blocks, "figures")
    assert page.index("## 7. ") < page.index("### Remarks\n\n- By hand.") < page.index("## 8. ")


def test_remarks_on_no_section_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    shutil.copytree(find_suite("paper"), folder, ignore=shutil.ignore_patterns("*results"))
    (folder / "notes.toml").write_text('"12" = ["too far"]', encoding="utf-8")
    with pytest.raises(InputError, match=r"notes.toml: the key '12' is not known"):
        build_report(str(folder), tmp_path, figures=False)


def test_summaries_without_cells_have_a_head_only(material: Material) -> None:
    assert csv_of([], material.published).count("\n") == 1


def test_the_page_of_choices_has_a_table_for_each_experiment_and_goal(tmp_path: Path) -> None:
    report = compose(material_of(find_suite("default"), tmp_path))
    tables = [block for block in report.blocks if isinstance(block, Table)]
    assert len(tables) == 6
    assert tables[0].head == ["", "breast_cancer", "wine"]
    assert "with the target" in tables[0].caption
    assert {cell for row in tables[0].rows for cell in row[1:]} == {"not run"}
