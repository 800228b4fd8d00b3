"""What a notebook shows of a fitted selector, below scikit-learn's diagram."""

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from featuremask.selectors._base import BaseSelector

__all__ = ["fitted_html"]

_MOST = 10
_BAR = "display:inline-block;height:.65em;background:#3b82c4;vertical-align:middle"
_CELL = "text-align:left;padding:.1em .8em .1em 0;border:0"


def fitted_html(selector: "BaseSelector") -> str:
    """Return shape of the data, objective, k and the best features with small bars, as HTML."""
    n_chosen, k = (
        int(selector.support_.sum()),
        int(selector.group_ranking_[selector.support_].max()),
    )
    table, n_columns = selector.selection_table(), selector.n_features_in_
    n_groups = int(selector.group_ranking_.max())
    grouped = f" in {k:,} of {n_groups:,} groups" if n_groups < n_columns else ""
    best = slice(0, _MOST)
    largest = float(np.max(table["share"][best])) or 1.0
    rows = "".join(
        f'<tr><td style="{_CELL}">{rank}</td>'
        f'<td style="{_CELL};unicode-bidi:isolate;overflow-wrap:anywhere;'
        f'font-weight:{"bold" if chosen else "normal"}">{html.escape(str(name))}</td>'
        f'<td style="{_CELL};white-space:nowrap">'
        f'<span style="{_BAR};width:{8 * share / largest:.2f}em"></span> {share:.1%}</td></tr>'
        for rank, name, share, chosen in zip(
            *(table[key][best].tolist() for key in ("rank", "column", "share", "selected")),
            strict=True,
        )
    )
    more = n_columns - _MOST
    return (
        f'<div style="margin:.6em 0"><p><strong>{n_chosen:,} of {n_columns:,} columns'
        f"</strong>{grouped} (k = {k:,}) · {html.escape(selector.objective_)} · "
        f"{_shape(selector)}</p>"
        f'<table style="border-collapse:collapse"><tbody>{rows}</tbody></table>'
        + (f"<p>and {more:,} more; selected ones are bold</p>" if more > 0 else "")
        + "</div>"
    )


def _shape(selector: "BaseSelector") -> str:
    columns = f"{selector.n_features_in_:,} columns"
    return columns if selector._n_rows is None else f"{selector._n_rows:,} rows × {columns}"
