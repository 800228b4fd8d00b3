"""The paper's claims, each with what was found here."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featuremask.experiments._report._cells import mean_of
from featuremask.experiments._report._material import OURS, Material
from featuremask.experiments._report._section_studies import times_of, variant_of

__all__ = ["Claim", "claims_of"]

_FIVE = ("mnist", "fashion-mnist", "coil20", "isolet", "pcmac")
_IMAGES = ("mnist", "fashion-mnist", "coil20")
_DIGITS = "mnist"

Verdict = tuple[bool | None, str]
"""Whether a claim holds, None if it cannot be said yet, and the figure."""

_UNKNOWN: Verdict = (None, "not run")


@dataclass(frozen=True)
class Claim:
    """A claim of the paper and what was found.

    Attributes
    ----------
    text : str
        What the paper says, with the rule by which it is judged here.
    found : str
        The figure.
    verdict : str
        "yes", "no", "only" and the FM row for which it holds, or "not run"; "so far" where seeds
        are missing.
    """

    text: str
    found: str
    verdict: str


def claims_of(material: Material) -> list[Claim]:
    """Return all claims: those on FM beside others, then those on studies and references."""
    claims = [
        _so_far(_of_both(material, text, judge), material, names)
        for text, judge, *names in _ABOUT_FM
    ]
    return claims + [
        _so_far(_of_one(text, judge(material)), material, names)
        for text, judge, *names in _ABOUT_OTHERS
    ]


def _so_far(claim: Claim, material: Material, names: Sequence[str]) -> Claim:
    """Mark a claim that rests on experiments of which runs are missing."""
    if claim.verdict == "not run" or all(material.grid(name).complete for name in names):
        return claim
    return replace(claim, verdict=f"{claim.verdict}, so far")


def _of_one(text: str, verdict: Verdict) -> Claim:
    holds, found = verdict
    return Claim(text, found, "not run" if holds is None else "yes" if holds else "no")


def _of_both(material: Material, text: str, judge: Callable[[Material, str], Verdict]) -> Claim:
    """Judge a claim for both ways to run the FM-module."""
    titles = {m.name: m.title for m in material.grid("table2").experiment.methods}
    verdicts = {titles[name]: judge(material, name) for name in OURS if name in titles}
    found = "; ".join(f"{title}: {figure}" for title, (_, figure) in verdicts.items())
    known = {title: holds for title, (holds, _) in verdicts.items() if holds is not None}
    if len(known) < len(verdicts):
        return Claim(text, found, "not run")
    true = [title for title, holds in known.items() if holds]
    every = "yes" if len(true) == len(known) else "only " + ", ".join(true)
    return Claim(text, found, every if true else "no")


# ---- about FM ----------------------------------------------------------------------------------


def _wins(material: Material, name: str, method: str, least: int, cells: int) -> Verdict:
    """Count the cells of an experiment in which FM is above all references."""
    grid = material.grid(name)
    won, judged = 0, 0
    addresses = {(c.dataset.name, c.classifier, c.k) for c in grid.cells() if c.k is not None}
    for dataset, classifier, k in sorted(addresses):
        mine = mean_of(grid.cell(dataset, method, classifier=classifier, k=k))
        others = [
            mean_of(grid.cell(dataset, m.name, classifier=classifier, k=k))
            for m in material.references(name)
        ]
        if mine is not None and None not in others:
            judged += 1
            won += mine > max(o for o in others if o is not None)
    if not judged:
        return _UNKNOWN
    return (won >= least if judged == cells else None), f"{won} of {judged}"


def _above_random(material: Material, method: str) -> Verdict:
    gaps = _gaps(material, "table2", method, "rsf")
    if gaps is None:
        return _UNKNOWN
    return min(gaps) > 0, f"by {min(gaps):+.3f} to {max(gaps):+.3f}"


def _gaps(material: Material, name: str, method: str, other: str) -> list[float] | None:
    grid, gaps = material.grid(name), []
    for data in _FIVE:
        first, second = (mean_of(grid.cell(data, m)) for m in (method, other))
        if first is None or second is None:
            return None
        gaps.append(first - second)
    return gaps


def _at_25(material: Material, method: str) -> Verdict:
    mean = mean_of(material.cell("k-curve", _DIGITS, method, k=25))
    return _UNKNOWN if mean is None else (mean > 0.9, f"{mean:.3f}")


def _at_100(material: Material, method: str) -> Verdict:
    mean = mean_of(material.cell("k-curve", _DIGITS, method, k=100))
    all_of_them = mean_of(material.cell("k-curve", _DIGITS, "rawf"))
    if mean is None or all_of_them is None:
        return _UNKNOWN
    return abs(mean - all_of_them) <= 0.01, f"{mean:.3f} against {all_of_them:.3f}"


def _steady(material: Material, method: str) -> Verdict:
    cells = [material.cell("table2", data, method) for data in _FIVE]
    spreads = [c.std for c in cells if c is not None and c.complete and c.std is not None]
    if len(spreads) < len(_FIVE):
        return _UNKNOWN
    return max(spreads) <= 0.02, f"{min(spreads):.3f} to {max(spreads):.3f}"


def _keeps_on_images(material: Material, method: str) -> Verdict:
    falls = []
    for dataset in _IMAGES:
        with_target = mean_of(material.cell("table2", dataset, method))
        without = mean_of(material.cell("table3", dataset, method))
        if with_target is None or without is None:
            return _UNKNOWN
        falls.append(with_target - without)
    return max(falls) <= 0.02, f"falls by {min(falls):+.3f} to {max(falls):+.3f}"


_ABOUT_FM: tuple[tuple[Any, ...], ...] = (
    (
        "FM is above all six references in 22 of 25 cells of classifier and dataset",
        lambda material, method: _wins(material, "classifiers", method, 22, 25),
        "classifiers",
    ),
    ("FM is above random features on all five datasets (RF)", _above_random, "table2"),
    (
        "Unsupervised, FM is above all references on all five datasets (RF)",
        lambda material, method: _wins(material, "table3", method, 5, 5),
        "table3",
    ),
    (
        "FM is above all references at each of the six numbers of features (MNIST, RF)",
        lambda material, method: _wins(material, "k-curve", method, 6, 6),
        "k-curve",
    ),
    ("FM reaches more than 90 % with 25 pixels of MNIST", _at_25, "k-curve"),
    ("100 pixels of MNIST do about as well as all (within 0.010)", _at_100, "k-curve"),
    ("FM is stable over seeds (standard deviations of Table II up to 0.020)", _steady, "table2"),
    (
        "On the image sets little is lost without the target (up to 0.020)",
        _keeps_on_images,
        "table2",
        "table3",
    ),
)
"""Text, judge of material and method, experiments it rests on."""


# ---- about the studies and the references ------------------------------------------------------


def _means_of(material: Material, name: str) -> dict[str, float] | None:
    """Return the means of all variants on the digits; None if one is missing."""
    grid = material.grid(name)
    means = {
        variant_of(m.name): mean_of(grid.cell(_DIGITS, m.name)) for m in grid.experiment.methods
    }
    found = {variant: mean for variant, mean in means.items() if mean is not None}
    return found if len(found) == len(means) else None


def _depth(material: Material) -> Verdict:
    means = _means_of(material, "depth")
    return _UNKNOWN if means is None else _range(list(means.values()), 0.01)


def _range(values: Sequence[float], most: float) -> Verdict:
    return max(values) - min(values) <= most, f"{min(values):.3f} to {max(values):.3f}"


def _initial_weights(material: Material) -> Verdict:
    means = _means_of(material, "init")
    if means is None:
        return _UNKNOWN
    spread = statistics.stdev(means.values())
    return spread <= 0.004, f"standard deviation {spread:.4f}"


def _batches(material: Material) -> dict[int, float] | None:
    means = _means_of(material, "batch-size")
    if means is None:
        return None
    return {int(name.partition("=")[2]): mean for name, mean in means.items()}


def _many_rows(material: Material) -> Verdict:
    means = _batches(material)
    if means is None:
        return _UNKNOWN
    return _range([mean for size, mean in means.items() if size >= 16], 0.01)


def _few_rows(material: Material) -> Verdict:
    means = _batches(material)
    if means is None:
        return _UNKNOWN
    rest = min(mean for size, mean in means.items() if size >= 16)
    return max(
        means[4], means[8]
    ) < rest, f"{means[4]:.3f}, {means[8]:.3f}, then at least {rest:.3f}"


def _larger_is_better(material: Material) -> Verdict:
    means = _batches(material)
    if means is None:
        return _UNKNOWN
    sizes = sorted(size for size in means if size >= 16)
    order = np.argsort(np.argsort([means[size] for size in sizes]))
    rank_correlation = float(np.corrcoef(np.arange(len(sizes)), order)[0, 1])
    return rank_correlation > 0.3, f"rank correlation {rank_correlation:+.2f} from 16 rows on"


def _both_needed(material: Material) -> Verdict:
    means = _means_of(material, "ablation")
    if means is None:
        return _UNKNOWN
    whole = means["BA, FMN"]
    rest = {name: mean for name, mean in means.items() if name != "BA, FMN"}
    best = max(rest, key=lambda name: rest[name])
    return whole > rest[best], f"{whole:.3f}; the best without one is {rest[best]:.3f} ({best})"


def _attenuation_adds_little(material: Material) -> Verdict:
    means = _means_of(material, "ablation")
    if means is None:
        return _UNKNOWN
    gain = means["BA, FMN"] - means["no BA, FMN"]
    return abs(gain) <= 0.03, f"{gain:+.3f}"


def _reading(material: Material) -> Verdict:
    """Say which reading of "w/o FMN" is nearer to the paper's two numbers."""
    grid = material.grid("ablation")
    distance = {"": 0.0, ", by magnitude": 0.0}
    for method in grid.experiment.methods:
        cell = grid.cell(_DIGITS, method.name)
        if "no FMN" not in method.name:
            continue
        printed = None if cell is None else material.published.of(cell)
        if cell is None or cell.mean is None or printed is None:
            return _UNKNOWN
        ending = ", by magnitude" if method.name.endswith("magnitude") else ""
        distance[ending] += abs(cell.mean - printed.mean) / 2
    words = {"": "by the logits", ", by magnitude": "by their magnitude"}
    nearer = min(distance, key=lambda ending: distance[ending])
    figures = ", ".join(f"{words[e]}: {d:.3f} from the paper's" for e, d in distance.items())
    return distance[nearer] <= 0.02, f"nearer {words[nearer]} ({figures})"


def _below_random(method: str, datasets: Sequence[str]) -> Callable[[Material], Verdict]:
    def judge(material: Material) -> Verdict:
        pairs = []
        for dataset in datasets:
            mean = mean_of(material.cell("table2", dataset, method))
            random = mean_of(material.cell("table2", dataset, "rsf"))
            if mean is None or random is None:
                return _UNKNOWN
            pairs.append((mean, random))
        found = ", ".join(f"{mean:.3f} against {random:.3f}" for mean, random in pairs)
        return all(mean < random for mean, random in pairs), found

    return judge


def _pixels(key: str, methods: Sequence[str]) -> Callable[[Material], Verdict]:
    """Judge whether all of some methods are above both FM rows in a fact about their pixels."""

    def judge(material: Material) -> Verdict:
        facts = {}
        grid = material.grid("masks")
        for method in (*methods, *OURS):
            found = [r[key] for _, r in grid.measured("redundancy", _DIGITS, method)]
            if not found:
                return _UNKNOWN
            facts[method] = statistics.fmean(found)
        limit = max(facts[name] for name in OURS)
        figures = ", ".join(f"{name} {value:.2f}" for name, value in facts.items())
        return all(facts[name] > limit for name in methods), figures

    return judge


def _times(size: str, most: float) -> Callable[[Material], Verdict]:
    def judge(material: Material) -> Verdict:
        ratio = _time_ratio(material, size)
        if ratio is None:
            return _UNKNOWN
        return ratio <= most, f"the slowest takes {ratio:.2f} times as long as the fastest"

    return judge


def _time_ratio(material: Material, size: str) -> float | None:
    experiment = material.grid("timing").experiment
    times = [s for (_, of), s in times_of(material).items() if of == size]
    families = {m.family for m in experiment.methods}
    if [data.name for data in experiment.datasets] != [_DIGITS]:
        return None
    return max(times) / min(times) if len(times) == len(families) else None


def _smaller_when_deeper(material: Material) -> Verdict:
    shallow, deep = _time_ratio(material, "2 layers"), _time_ratio(material, "6 layers")
    if shallow is None or deep is None:
        return _UNKNOWN
    return deep < shallow, f"slowest to fastest {shallow:.2f}, with six layers {deep:.2f}"


_ABOUT_OTHERS: tuple[tuple[Any, ...], ...] = (
    ("FM is insensitive to depth (1 to 6 layers within 0.010)", _depth, "depth"),
    (
        "FM is insensitive to its initial weights (standard deviation within 0.004)",
        _initial_weights,
        "init",
    ),
    (
        "FM is insensitive to the batch size from 16 rows on (within 0.010)",
        _many_rows,
        "batch-size",
    ),
    ("Batches of 4 and 8 rows are worse", _few_rows, "batch-size"),
    ("Larger batches are slightly better", _larger_is_better, "batch-size"),
    ("Attenuation and normalization are both needed", _both_needed, "ablation"),
    (
        "Attenuation adds little where there is normalization (up to 0.030)",
        _attenuation_adds_little,
        "ablation",
    ),
    (
        "One reading of the ablation without normalization is that of the paper (within 0.020)",
        _reading,
        "ablation",
    ),
    (
        "CancelOut is below random features on the image sets",
        _below_random("cancelout", _IMAGES),
        "table2",
    ),
    (
        "FSDNN is below random features on fMNIST",
        _below_random("fsdnn", ("fashion-mnist",)),
        "table2",
    ),
    (
        "AFS and CancelOut pick pixels at the edges (share of rare pixels above FM's)",
        _pixels("rare", ("afs", "cancelout")),
        "masks",
    ),
    (
        "DFS and FSDNN pick neighboring pixels (mean correlation above FM's)",
        _pixels("correlation", ("dfs", "fsdnn")),
        "masks",
    ),
    ("Differences in time are small (within a factor of 1.5)", _times("2 layers", 1.5), "timing"),
    ("They are smaller with a deeper network", _smaller_when_deeper, "timing"),
)
"""Text, judge of material, experiments it rests on."""
