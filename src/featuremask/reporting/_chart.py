"""The curve of scores as lines of an SVG; the page draws them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from featuremask.reporting._summary import Curve, Point

__all__ = ["Chart", "chart_of"]

_WIDTH, _HEIGHT = 560.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 18.0, 32.0, 52.0
_LOGARITHMIC_FROM = 30
_STEPS = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what stands there."""

    at: float
    text: str


@dataclass(frozen=True)
class Line:
    """A curve: its path, its band (empty if it has none), its points."""

    path: str
    band: str
    dots: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Chart:
    """Where everything is, in units of the picture.

    Attributes
    ----------
    width, height, left, right, top, bottom : float
        The picture and the frame of the axes in it.
    x_ticks, y_ticks : tuple of Tick
    chosen : Line
    random : Line or None
    level : float or None
        Of all columns.
    places : tuple of float
        Where k is, for each k from 1 on.
    """

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    chosen: Line
    random: Line | None
    level: float | None
    places: tuple[float, ...]


class _Scale:
    """From values to places, straight or by logarithms."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool) -> None:
        self._log, self._start = log, start
        self._low = self._bent(low)
        self._slope = (end - start) / max(self._bent(high) - self._low, 1e-12)

    def _bent(self, value: float) -> float:
        return math.log(value) if self._log else value

    def __call__(self, value: float) -> float:
        return round(self._start + self._slope * (self._bent(value) - self._low), 1)


def chart_of(curve: Curve, k: int) -> Chart:
    """Return the chart of a curve, in which k has a place."""
    most = max(k, 2, *(p.k for p in (*curve.chosen, *curve.random)))
    log = most > _LOGARITHMIC_FROM
    everyone = (*curve.chosen, *curve.random, *filter(None, [curve.all_columns]))
    low, high, y_values = _nice(
        min(p.mean - (p.std or 0.0) for p in everyone),
        max(p.mean + (p.std or 0.0) for p in everyone),
    )
    x = _Scale(1, most, _LEFT, _WIDTH - _RIGHT, log)
    y = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP, False)
    digits = max(0, -math.floor(math.log10(y_values[1] - y_values[0]) + 1e-9))
    return Chart(
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        top=_TOP,
        bottom=_HEIGHT - _BOTTOM,
        x_ticks=tuple(Tick(x(value), f"{value:,}") for value in _counts(most, log)),
        y_ticks=tuple(Tick(y(value), f"{value:.{digits}f}") for value in y_values),
        chosen=_line(curve.chosen, x, y),
        random=_line(curve.random, x, y) if curve.random else None,
        level=None if curve.all_columns is None else y(curve.all_columns.mean),
        places=tuple(x(value) for value in range(1, most + 1)),
    )


def _line(points: Sequence[Point], x: _Scale, y: _Scale) -> Line:
    dots = tuple((x(p.k), y(p.mean)) for p in points)
    upper = [(x(p.k), y(p.mean + p.std)) for p in points if p.std is not None]
    lower = [(x(p.k), y(p.mean - p.std)) for p in points if p.std is not None]
    band = _path([*upper, *reversed(lower)]) + "Z" if len(upper) > 1 else ""
    return Line(_path(dots), band, dots)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{a:g} {b:g}" for a, b in points)


def _nice(low: float, high: float) -> tuple[float, float, list[float]]:
    """Return bounds and some round values between them."""
    if high <= low:
        low, high = low - 0.05 * max(abs(low), 1.0), high + 0.05 * max(abs(high), 1.0)
    rough = (high - low) / 4.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in _STEPS if s * power >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step)
    return first * step, last * step, [i * step for i in range(first, last + 1)]


def _counts(most: int, log: bool) -> list[int]:
    """Return some numbers of columns to mark, the largest among them."""
    if not log:
        step = max(1, round(most / 8))
        return [value for value in range(1, most + 1) if value == 1 or value % step == 0]
    steps = [m * 10**e for e in range(len(str(most))) for m in (1, 2, 5)]
    return [value for value in steps if value <= 0.8 * most] + [most]
