"""Sections 3 and 6: the data in the plane, masks and selected pixels."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from featuremask.evaluation import nogueira
from featuremask.experiments._packing import unpack_integers
from featuremask.experiments._report._drawing import image_grid, scatters
from featuremask.experiments._report._material import Material, top
from featuremask.experiments._report._page import Block, Figure, Heading, Table, Text
from featuremask.experiments._spec import MethodSpec

__all__ = ["masks_section", "plane_section"]


def plane_section(material: Material) -> Iterator[Block]:
    """Yield the pictures in the plane and their quality as numbers."""
    grid = material.grid("umap")
    data = grid.experiment.datasets[0]
    yield Heading("3. In the plane")
    rows, by = [], set()
    for objective in grid.experiment.objectives:
        panels = []
        for method in grid.experiment.methods:
            goal = objective if method.trained else None
            found = grid.measured("embedding", data.name, method.name, goal)
            if not found:
                rows.append([method.title, objective, "not run", "not run"])
                continue
            result = found[0][1]
            by.add(str(result["by"]))
            panels.append((method.title, *_points(result)))
            rows.append(
                [
                    method.title,
                    objective if method.trained else "–",
                    f"{result['neighbors']:.3f}",
                    f"{result['trustworthiness']:.3f}",
                ]
            )
        if panels:
            yield Figure(
                f"plane-{objective}",
                f"Test rows of {data.title} in the plane by the selected features, {objective}; "
                "a color is a class.",
                partial(scatters, panels=panels),
            )
    kind = " and ".join(sorted(by)) or "not run"
    yield Text(
        f"Method of projection: {kind}. Accuracy is that of the five nearest training rows in the "
        "plane; trustworthiness says how far neighbors in the plane are neighbors by all features."
    )
    yield Table(["", "objective", "accuracy in the plane", "trustworthiness"], _unique(rows))


def _points(result: dict[str, Any]) -> tuple[Any, Any, Any]:
    return tuple(unpack_integers(result[key]) for key in ("x", "y", "classes"))  # type: ignore[return-value]  # three keys


def _unique(rows: list[list[str]]) -> list[list[str]]:
    return [row for i, row in enumerate(rows) if row not in rows[:i]]


def masks_section(material: Material) -> Iterator[Block]:
    """Yield mask images, the best pixels, and what those pixels have in common."""
    grid = material.grid("masks")
    data, k = grid.experiment.datasets[0], grid.experiment.ks[0]
    yield Heading("6. Masks")
    yield from _images(material, data.name, k)
    rows = [
        [method.title, *_pixel_facts(material, data.name, method), _agreement(material, method, k)]
        for method in grid.experiment.methods
    ]
    yield Table(
        ["", "different pixels", "constant", "rare", "mean correlation", "stability"],
        rows,
        f"The top {k} pixels of {data.title}, mean over the seeds. Constant and rare: share of "
        "pixels that hold one value, or differ from zero in fewer than one training row of a "
        "thousand. Correlation: mean magnitude over all pairs. Stability: how far the seeds agree, "
        "by the index of Nogueira et al.; 1 if their selections are equal, 0 by chance.",
    )


def _images(material: Material, dataset: str, k: int) -> Iterator[Block]:
    masks, pixels = [], []
    for method in material.grid("masks").experiment.methods:
        found = material.first_selection("masks", dataset, method.name)
        chosen = None if found is None else material.as_image(dataset, top(found[1], k))
        if found is None or chosen is None:
            continue
        pixels.append((f"{method.title} ({int(chosen.sum())})", chosen.astype(float)))
        if found[1].scores is not None:
            image = material.as_image(dataset, _scaled(found[1].scores))
            assert image is not None  # it was one above
            masks.append((method.title, image))
    if not pixels:
        yield Text("Mask images: not run.")
        return
    yield Figure(
        "masks",
        f"Importance of the pixels at the first seed, scaled from 0 (white) to 1, and the top {k} "
        "with the number of different pixels.",
        partial(image_grid, rows=[("importance", masks), (f"top {k}", pixels)]),
    )


def _scaled(scores: Any) -> Any:
    low, high = float(np.min(scores)), float(np.max(scores))
    return (scores - low) / max(high - low, 1e-12)


def _agreement(material: Material, method: MethodSpec, k: int) -> str:
    data = material.grid("masks").experiment.datasets[0]
    supports = [top(found, k) for _, found in material.selections("masks", data.name, method.name)]
    return f"{nogueira(supports):.2f}" if len(supports) > 1 else "not run"


def _pixel_facts(material: Material, dataset: str, method: MethodSpec) -> list[str]:
    found = [r for _, r in material.grid("masks").measured("redundancy", dataset, method.name)]
    if not found:
        return ["not run"] * 4

    def mean(key: str) -> float:
        return float(np.mean([result[key] for result in found]))

    shares = [f"{mean(key):.1%}" for key in ("constant", "rare")]
    return [f"{mean('n_columns'):.1f}", *shares, f"{mean('correlation'):.3f}"]
