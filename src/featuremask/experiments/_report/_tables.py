"""Tables of cells beside the paper's numbers."""

from collections.abc import Iterable, Sequence

from featuremask.experiments._report._cells import Cell, combined_std, mean_of
from featuremask.experiments._report._material import BOUNDS, Material
from featuremask.experiments._report._page import Table
from featuremask.experiments._report._published import Published

__all__ = ["beside_paper", "difference", "far", "number", "plain_table"]


def number(value: float | None, digits: int = 3) -> str:
    """Return a number, or that there is none."""
    return "not run" if value is None else f"{value:.{digits}f}"


def difference(cell: Cell, published: Published) -> float | None:
    """Return our mean less the paper's; None if either is missing."""
    printed = published.of(cell)
    return None if printed is None or cell.mean is None else cell.mean - printed.mean


def far(cell: Cell, published: Published) -> bool:
    """Return whether our mean is more than two standard deviations from the paper's.

    The deviation is that of the difference: root of the sum of both variances. A cell of one seed,
    and one in which nothing is random, are not judged.
    """
    gap, printed = difference(cell, published), published.of(cell)
    if gap is None or printed is None or len(cell.results) < 2:
        return False
    return abs(gap) > 2.0 * combined_std(cell.std, printed.std)


def beside_paper(material: Material, name: str) -> Table:
    """Return methods by datasets: ours, the paper's, the difference.

    The best method of selection on each dataset stands out.
    """
    grid = material.grid(name)
    datasets, methods = grid.experiment.datasets, grid.experiment.methods
    rows, strong = [], set()
    for method in methods:
        cells = [grid.cell(data.name, method.name) for data in datasets]
        rows.append([method.title, *(_compared(cell, material.published) for cell in cells)])
    for j, data in enumerate(datasets):
        means = [mean_of(grid.cell(data.name, m.name)) for m in methods]
        rivals = [
            (mean, i)
            for i, (mean, m) in enumerate(zip(means, methods, strict=True))
            if mean is not None and m.family not in BOUNDS
        ]
        if rivals:
            strong.add((max(rivals)[1], j + 1))
    return Table(
        ["", *(data.title for data in datasets)],
        rows,
        "Ours ± standard deviation / the paper's / difference. † more than two standard deviations "
        "of the difference apart. Bold: the best method of selection here.",
        frozenset(strong),
    )


def _compared(cell: Cell | None, published: Published) -> str:
    if cell is None:
        return "–"
    printed, gap = published.of(cell), difference(cell, published)
    if printed is None:
        return cell.text
    if gap is None:
        return f"{cell.text} / {printed.text}"
    return f"{cell.text} / {printed.mean:.3f} / {gap:+.3f}{' †' if far(cell, published) else ''}"


def plain_table(
    rows: Iterable[tuple[str, Sequence[Cell | None]]], head: Sequence[str], caption: str = ""
) -> Table:
    """Return a table of cells, a label a row."""
    return Table(
        head,
        [[label, *("–" if cell is None else cell.text for cell in cells)] for label, cells in rows],
        caption,
    )
