"""Section 0: the datasets, and digits reduced to their best pixels."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from featuremask.experiments._packing import unpack_integers
from featuremask.experiments._report._drawing import image_grid
from featuremask.experiments._report._material import OURS, Material, top
from featuremask.experiments._report._page import Block, Figure, Heading, Table, Text

__all__ = ["data_section", "examples_of"]


def data_section(material: Material) -> Iterator[Block]:
    """Yield Table I and Fig. 1."""
    yield Heading("0. Data")
    yield _table_one(material)
    yield from _figure_one(material)


def _table_one(material: Material) -> Table:
    head = ["", "features", "train", "test", "classes", "kind", "constant", "rare", "as printed"]
    rows = []
    for spec in material.grid("data").experiment.datasets:
        found = material.overview(spec.name)
        if found is None:
            rows.append([spec.title, *["not run"] * 8])
            continue
        keys = ("n_features", "n_train", "n_test", "n_classes")
        sizes = [int(found[key]) for key in keys]
        printed = material.published.sizes(spec.name)
        agrees = "–" if printed is None else "yes" if printed == sizes else f"no: {printed}"
        rest = [found["domain"], str(found["constant"]), str(found["rare"]), agrees]
        rows.append([spec.title, *map(str, sizes), *rest])
    return Table(
        head,
        rows,
        "Table I, computed from the loaded data. Constant: columns that hold one value in the "
        "training rows. Rare: columns that differ from zero in fewer than one row of a thousand.",
    )


def _figure_one(material: Material) -> Iterator[Block]:
    experiment = material.grid("table2").experiment
    data, k = experiment.datasets[0], experiment.ks[0]
    images = examples_of(material, data.name)
    if images is None:
        yield Text("Fig. 1, example digits: not run.")
        return
    rows = [("as they are", [("", image) for image in images])]
    for method in experiment.methods:
        found = material.first_selection("table2", data.name, method.name)
        if method.name in OURS and found is not None:
            shown = material.as_image(data.name, top(found[1], k))
            assert shown is not None  # these data have examples
            masked = [("", np.where(shown, image, np.nan)) for image in images]
            rows.append((f"{method.title}, top {k}", masked))
    n_pixels = images[0].size
    yield Text(
        f"{k} of {n_pixels} pixels are {k / n_pixels:.1%}. (The paper's caption of Fig. 1 says "
        "3.2 %, which is 25 of 784; 50 of 784 are 6.4 %.)"
    )
    yield Figure(
        "digits",
        f"Fig. 1. One test row of each class of {data.title}, and its {k} selected pixels; the "
        "other pixels are blue.",
        partial(image_grid, rows=rows),
    )


def examples_of(material: Material, dataset: str) -> NDArray[np.float64] | None:
    """Return one image of each class; None if they are not recorded."""
    found = material.overview(dataset)
    if found is None or "examples" not in found:
        return None
    pixels = unpack_integers(found["examples"], "u1").astype(float)
    return pixels.reshape(-1, *found["image_shape"])
