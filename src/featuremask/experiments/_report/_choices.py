"""The page of choices: settings beside each other, judged on held-out training rows."""

from collections.abc import Iterator

from featuremask.experiments._report._material import Material
from featuremask.experiments._report._page import Block, Heading, Table, Text
from featuremask.experiments._report._tables import plain_table

__all__ = ["choices_page"]


def choices_page(material: Material) -> Iterator[Block]:
    """Yield one table an experiment: settings by datasets."""
    yield Text(
        "Accuracy on rows that were held out from the training rows; the test rows of the datasets "
        "take no part. Mean ± standard deviation over held-out parts and seeds."
    )
    for grid in material.grids:
        yield Heading(grid.experiment.title)
        sources = dict.fromkeys(data.source for data in grid.experiment.datasets)
        for goal in grid.experiment.objectives:
            yield _table(material, grid.experiment.name, list(sources), goal)


def _table(material: Material, name: str, sources: list[str], goal: str) -> Table:
    grid = material.grid(name)
    rows = [
        (m.title, [grid.pooled(source, m.name, objective=goal) for source in sources])
        for m in grid.experiment.methods
    ]
    k = grid.experiment.ks[0]
    classifier = grid.experiment.classifiers[0]
    target = "with the target" if goal == "classification" else "without the target"
    return plain_table(rows, ["", *sources], f"The best {k} features, {target}; {classifier}.")
