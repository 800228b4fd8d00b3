"""The report: one page, pictures, two files of summaries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from featuremask._files import write_atomically
from featuremask.experiments._parse import check_keys, read_toml
from featuremask.experiments._records import Store
from featuremask.experiments._report._choices import choices_page
from featuremask.experiments._report._claims import claims_of
from featuremask.experiments._report._csv import csv_of
from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import (
    Block,
    Figure,
    Heading,
    Items,
    Table,
    Text,
    to_html,
    to_markdown,
)
from featuremask.experiments._report._peers import peers_page
from featuremask.experiments._report._published import Published
from featuremask.experiments._report._section_accuracy import (
    classifiers_section,
    curve_section,
    supervised_section,
    unsupervised_section,
)
from featuremask.experiments._report._section_data import data_section
from featuremask.experiments._report._section_pictures import masks_section, plane_section
from featuremask.experiments._report._section_studies import (
    ablation_section,
    sensitivity_section,
    timing_section,
)
from featuremask.experiments._search import tuned_of
from featuremask.experiments._suite import find_suite, load_suite

__all__ = ["Report", "build_report", "compose", "material_of"]

_SECTIONS: tuple[Callable[[Material], Iterator[Block]], ...] = (
    data_section,
    supervised_section,
    classifiers_section,
    plane_section,
    curve_section,
    unsupervised_section,
    masks_section,
    ablation_section,
    timing_section,
    sensitivity_section,
)


@dataclass(frozen=True)
class Report:
    """What a report consists of, before it is written.

    Attributes
    ----------
    blocks : tuple of Block
    summary, studies : str
        Comma-separated values.
    """

    blocks: tuple[Block, ...]
    summary: str
    studies: str


def compose(material: Material) -> Report:
    """Return the report of a suite's records."""
    tables = {
        table: csv_of(
            (cell for g in material.grids if g.experiment.table == table for cell in g.cells()),
            material.published,
        )
        for table in ("summary", "studies")
    }
    return Report(tuple(_page(material)), tables["summary"], tables["studies"])


def _page(material: Material) -> Iterator[Block]:
    yield Heading(material.suite.title, 1)
    yield from _PAGES[material.suite.page](material)
    yield from _totals(material)


def _paper(material: Material) -> Iterator[Block]:
    yield Text(
        "Every number and picture here is computed from the records of single runs in the folder "
        "of results. Numbers are mean ± standard deviation over seeds of the accuracy on the test "
        "rows. FM (paper) is the paper's recipe; FM is the default of FeatureMaskSelector. "
        '"not run" marks what has no record.'
    )
    yield Heading("The paper's claims")
    claims = claims_of(material)
    yield Table(
        ["claim", "found", "confirmed"],
        [[claim.text, claim.found, claim.verdict] for claim in claims],
    )
    for number, section in enumerate(_SECTIONS):
        yield from section(material)
        remarks = material.notes.get(str(number), ())
        if remarks:
            yield Heading("Remarks", 3)
            yield Items(tuple(remarks))


_PAGES: Mapping[str, Callable[[Material], Iterator[Block]]] = {
    "paper": _paper,
    "peers": peers_page,
    "choices": choices_page,
}


def _totals(material: Material) -> Iterator[Block]:
    yield Heading("Runs")
    records = list(material.records)
    hours = sum(record.seconds for record in records) / 3600
    cpu_hours = sum(record.cpu_seconds for record in records) / 3600
    fits = sum(record.kind == "fit" for record in records)
    yield Text(
        f"{fits:,} fits and {len(records) - fits:,} measures are recorded; they took {hours:.1f} "
        f"hours one after the other, {cpu_hours:.1f} hours of processor time."
    )
    failures = sorted({line for grid in material.grids for line in grid.failures()})
    if failures:
        yield Text("Runs that ended without a result:")
        yield Items(tuple(failures))


def build_report(
    suite: str, results: Path | None = None, *, smoke: bool = False, figures: bool = True
) -> list[Path]:
    """Write page, pictures and summaries of a suite, whatever part of it has run.

    Parameters
    ----------
    suite : str
        A folder, or its name below `experiments`.
    results : Path, optional
        Folder of the records; as in `reproduce` if None. The summaries go there, the pictures into
        its folder `figures`, the page beside the experiments if the folder is theirs, else there.
    smoke : bool
        Whether the records are those of a smoke run.
    figures : bool
        Whether pictures are drawn.

    Returns
    -------
    list of Path
        The files that were written.
    """
    folder = find_suite(suite)
    own = folder / ("smoke-results" if smoke else "results")
    results = own if results is None else results
    material = material_of(folder, results, smoke=smoke)
    report = compose(material)
    at_home = results.resolve() == own.resolve() and not smoke
    page = folder if at_home else results
    shown = f"{results.name}/figures" if at_home else "figures"
    results.mkdir(parents=True, exist_ok=True)
    texts = {
        page / "RESULTS.md": to_markdown(report.blocks, shown),
        results / "report.html": to_html(report.blocks, material.suite.title, "figures"),
        results / "summary.csv": report.summary,
        results / "studies.csv": report.studies,
    }
    for path, text in texts.items():
        write_atomically(path, text.encode())
    drawn = _draw(report.blocks, results / "figures") if figures else []
    return [*texts, *drawn]


def material_of(folder: Path, results: Path, *, smoke: bool = False) -> Material:
    """Return what the report of a suite's folder and a folder of records is made of."""
    suite = load_suite(folder, smoke=smoke)
    return Material(
        suite=suite,
        records=Store(results).read(),
        published=Published(folder / "published.toml"),
        tuned=tuned_of(suite, results),
        notes=_read_notes(folder / "notes.toml"),
    )


def _read_notes(path: Path) -> dict[str, list[str]]:
    """Return remarks by section, from a file with one array of texts a section."""
    if not path.exists():
        return {}
    notes = read_toml(path)
    check_keys(notes, [str(number) for number in range(len(_SECTIONS))], str(path))
    return notes


def _draw(blocks: Iterable[Block], folder: Path) -> list[Path]:
    folder.mkdir(exist_ok=True)
    drawn = []
    for block in blocks:
        if isinstance(block, Figure):
            drawn.append(folder / f"{block.name}.png")
            block.draw(drawn[-1])
    return drawn
