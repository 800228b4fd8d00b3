"""What the numbers of a summary say, in plain words."""

import math

from featuremask.reporting._summary import Curve, Point, Summary

__all__ = [
    "Comparison",
    "at_least",
    "cautions",
    "comparison",
    "curve_rows",
    "headline",
    "number",
    "percent",
    "readouts",
    "things",
]

Comparison = tuple[str, str]
"""What was scored, and its score."""


def number(value: float) -> str:
    """Return a number to read: three decimals, or four digits where these say too little.

    Examples
    --------
    >>> number(0.98765), number(1234.5), number(0.0000123)
    ('0.988', '1,234', '1.23e-05')
    """
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if size >= 0.01 or size == 0.0 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share to read.

    Examples
    --------
    >>> percent(0.5), percent(0.0123), percent(0.00004)
    ('50 %', '1.2 %', '0.004 %')
    """
    digits = ".0f" if share >= 0.1 else ".1f" if share >= 0.001 else ".2g"
    return f"{100 * share:{digits}} %"


def at_least(value: float) -> str:
    """Return a number to read that is not above the value.

    Examples
    --------
    >>> at_least(0.99996), at_least(1.0)
    ('0.999', '1.000')
    """
    return f"{math.floor(1000 * value + 1e-9) / 1000:.3f}"


def score(point: Point) -> str:
    """Return mean and deviation.

    Examples
    --------
    >>> score(Point(5, 0.9, 0.01)), score(Point(5, 0.9))
    ('0.900 ± 0.010', '0.900')
    """
    return number(point.mean) + ("" if point.std is None else f" ± {number(point.std)}")


def things(summary: Summary) -> str:
    """Return what is counted: columns, or groups of them."""
    grouped = summary.data.n_places < summary.data.n_columns
    return "features (groups of columns count as one)" if grouped else "columns"


def headline(summary: Summary) -> str:
    """Return the result in one sentence."""
    n, k = summary.data.n_places, summary.k
    counted = f"{k:,} of {n:,} {things(summary)}"
    if k == n:
        return f"All {n:,} {things(summary)} are kept"
    point = None if summary.curve is None else summary.curve.at(k)
    if summary.curve is None or point is None:
        return f"{counted} are chosen"
    share = _kept(summary.curve, point)
    if share is None:
        return f"{counted} reach {_article(summary.curve.score)} of {number(point.mean)}"
    return f"{counted} keep {share} of the {summary.curve.score}"


def _article(word: str) -> str:
    return f"an {word}" if word[:1].lower() in "aeiou" else f"a {word}"


def _kept(curve: Curve, point: Point) -> str | None:
    """Return how much of the score of all columns is left, rounded down; None if that says nothing.

    A share means something where more is better and zero is nothing.
    """
    everything = curve.all_columns
    if everything is None or not curve.higher_is_better or min(everything.mean, point.mean) <= 0.0:
        return None
    share = point.mean / everything.mean
    return "all" if share >= 1.0 else f"{math.floor(1000 * share) / 10:.1f} %"


def comparison(summary: Summary) -> list[Comparison]:
    """Return the scores of chosen, of all and of random columns."""
    curve = summary.curve
    if curve is None:
        return []
    k, rows = summary.k, []
    point = curve.at(k)
    if point is not None:
        rows.append((f"the {k:,} chosen", score(point)))
    if curve.all_columns is not None:
        rows.append((f"all {curve.all_columns.k:,}", score(curve.all_columns)))
    rows += [(f"{p.k:,} drawn at random", score(p)) for p in curve.random if p.k == k]
    best = (max if curve.higher_is_better else min)(curve.chosen, key=lambda p: p.mean)
    if best.k not in (k, summary.data.n_places):
        end = "highest" if curve.higher_is_better else "lowest"
        rows.append((f"the best {best.k:,}, the {end} score of the curve", score(best)))
    return rows


def curve_rows(summary: Summary) -> list[tuple[int, str, str]]:
    """Return k, the score of the best columns and that of random ones, for all measured k."""
    if summary.curve is None:
        return []
    best = {point.k: score(point) for point in summary.curve.chosen}
    drawn = {point.k: score(point) for point in summary.curve.random}
    return [(k, best.get(k, "–"), drawn.get(k, "–")) for k in sorted({*best, *drawn})]


def cautions(summary: Summary) -> list[str]:
    """Return what a reader of the headline should know before trusting it."""
    curve = summary.curve
    if curve is None:
        return ["The choice was not judged by another model: whether it is good is not known."]
    point = curve.at(summary.k)
    if point is None:
        return [f"The {curve.score} of exactly {summary.k:,} columns was not measured."]
    sign = 1.0 if curve.higher_is_better else -1.0
    found = []
    at_random = next((p for p in curve.random if p.k == summary.k), None)
    if at_random is None:
        found.append("No comparison with random columns was made.")
    elif sign * (point.mean - at_random.mean) <= _deviation(point, at_random):
        found.append(
            f"Random columns do about as well: {curve.score} {score(at_random)} against "
            f"{score(point)}. The choice tells little; fewer columns may do."
        )
    everything = curve.all_columns
    if everything is None:
        found.append("No comparison with all columns was made.")
    elif sign * (everything.mean - point.mean) > 2.0 * _deviation(point, everything) > 0.0:
        found.append(
            f"Something is lost: all columns reach {score(everything)}, the chosen {score(point)}. "
            "More columns may be worth it."
        )
    return found


def _deviation(first: Point, second: Point) -> float:
    return math.hypot(first.std or 0.0, second.std or 0.0)


def readouts(summary: Summary) -> list[tuple[int, str]]:
    """Return what is known at each k: a text from this k on, until that of the next."""
    curve = summary.curve
    if curve is None:
        return [(1, "")]
    points = curve.chosen
    found: list[tuple[int, str]] = []
    if points[0].k > 1:
        found.append((1, f"{curve.score} not measured below k = {points[0].k:,}"))
    for point, after in zip(points, [*points[1:], None], strict=True):
        found.append((point.k, _at(curve, point)))
        if after is None:
            found.append((point.k + 1, f"{curve.score} not measured above k = {point.k:,}"))
        elif after.k > point.k + 1:
            text = (
                f"{curve.score} not measured here; {score(point)} at k = {point.k:,}, "
                f"{score(after)} at k = {after.k:,}"
            )
            found.append((point.k + 1, text))
    return found


def _at(curve: Curve, point: Point) -> str:
    parts = [f"{curve.score} {score(point)}"]
    share = _kept(curve, point)
    if share == "all":
        parts.append("no less than all columns reach")
    elif share is not None:
        parts.append(f"{share} of what all columns reach")
    parts += [f"random columns {score(p)}" for p in curve.random if p.k == point.k]
    return "; ".join(parts)
