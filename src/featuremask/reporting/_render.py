"""From a summary to one page of HTML that needs nothing else."""

import base64
import functools
import hashlib
import os
from typing import Any

from featuremask._files import write_atomically
from featuremask.reporting._chart import chart_of
from featuremask.reporting._summary import Column, Summary
from featuremask.reporting._words import (
    at_least,
    cautions,
    comparison,
    curve_rows,
    headline,
    number,
    percent,
    readouts,
    things,
)

__all__ = ["render", "style_sheet", "write_report"]

_LISTED = 2000
"""Columns that a page lists, if not more are chosen."""


def render(summary: Summary) -> str:
    """Return the page of a summary.

    It is one file that opens without a network. Names are text wherever they stand: the page is
    escaped, and its policy lets only its own script and style run.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    str

    Examples
    --------
    >>> from featuremask.reporting import Column, DataSummary
    >>> column = Column(1, "<b>", 0, 1, 0.5, 1.0)
    >>> page = render(Summary("", "", "", 1, True, (column,), DataSummary(1, None, 1, "")))
    >>> "<b>" in page, "&lt;b&gt;" in page
    (False, True)
    """
    listed = _listed(summary)
    style, script = style_sheet(), _part("report.js")
    chart = None if summary.curve is None else chart_of(summary.curve, summary.k)
    data = {
        "k": summary.k,
        "stops": _stops(summary.k, listed[-1].place),
        "named": summary.named,
        "places": () if chart is None else chart.places,
        "readouts": readouts(summary),
    }
    page: str = (
        _environment()
        .get_template("report.html")
        .render(
            summary=summary,
            listed=listed,
            highest_share=max(column.share for column in listed) or 1.0,
            headline=headline(summary),
            things=things(summary),
            cautions=cautions(summary),
            comparison=comparison(summary),
            chart=chart,
            curve_rows=curve_rows(summary),
            steady=any(column.stability is not None for column in summary.columns),
            data=data,
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
        )
    )
    return page


def write_report(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write the page of a summary to a file, whole or not at all."""
    write_atomically(path, render(summary).encode())


def style_sheet() -> str:
    """Return the style of a page, light and dark, for other pages that should look the same."""
    return _part("report.css")


def _part(name: str) -> str:
    text: str = _environment().loader.get_source(_environment(), name)[0]
    return text


def _listed(summary: Summary) -> tuple[Column, ...]:
    """Return the best columns, as many as a page can hold, and all chosen ones."""
    last = summary.columns[min(_LISTED, len(summary.columns)) - 1].place
    return tuple(column for column in summary.columns if column.place <= max(last, summary.k))


def _stops(k: int, most: int) -> list[int]:
    """Return where the slider stops: at each number up to 100, then at steps of 2 %, and at k."""
    stops = [1]
    while stops[-1] < most:
        stops.append(stops[-1] + max(1, stops[-1] // 50))
    return sorted({*(stop for stop in stops if stop < most), k, most})


def _hash(text: str) -> str:
    """Return what a content security policy calls an inline script or style by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@functools.cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("featuremask.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["percent"] = percent
    environment.filters["at_least"] = at_least
    environment.filters["name"] = _name
    return environment


def _name(text: str) -> Any:
    """Return a name, escaped, that a browser reads back as it is."""
    from markupsafe import Markup, escape

    return Markup(str(escape(text)).replace("\r", "&#13;"))
