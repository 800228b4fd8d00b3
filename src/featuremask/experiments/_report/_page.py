"""A page of headings, texts, tables and figures, as Markdown and as HTML."""

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from featuremask.reporting import style_sheet

__all__ = ["Block", "Figure", "Heading", "Items", "Table", "Text", "to_html", "to_markdown"]


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is that of the page."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head.

    Attributes
    ----------
    head : sequence of str
    rows : sequence of sequences of str
    caption : str
    strong : set of (int, int)
        Rows and columns of cells that stand out.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    strong: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Figure:
    """A picture.

    Attributes
    ----------
    name : str
        Its file, without ending.
    caption : str
    draw : callable
        Writes the picture to a path.
    """

    name: str
    caption: str
    draw: Callable[[Path], None] = field(compare=False)


Block = Heading | Text | Items | Table | Figure


def to_markdown(blocks: Iterable[Block], figures: str) -> str:
    """Return a page; `figures` is the folder of the pictures as seen from the page."""
    return "\n\n".join(_markdown(block, figures) for block in blocks) + "\n"


def _markdown(block: Block, figures: str) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Text(text):
            return text
        case Items(items):
            return "\n".join(f"- {item}" for item in items)
        case Table():
            return _markdown_table(block)
        case Figure(name, caption):
            return f"![{caption}]({figures}/{name}.png)\n\n*{caption}*"


def _markdown_table(table: Table) -> str:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    lines = [line(table.head), "|" + "---|" * len(table.head)]
    for i, row in enumerate(table.rows):
        lines.append(line(f"**{c}**" if (i, j) in table.strong else c for j, c in enumerate(row)))
    return "\n".join([*([f"*{table.caption}*", ""] if table.caption else []), *lines])


_OWN_STYLE = """
body { max-width: 75rem; }
table { margin: 1rem 0; display: block; overflow-x: auto; }
caption { text-align: left; font-style: italic; padding-bottom: .3rem; }
td + td { white-space: nowrap; }
img { max-width: 100%; background: white; } figcaption { font-style: italic; }
"""


def to_html(blocks: Iterable[Block], title: str, figures: str) -> str:
    """Return a page that needs nothing but the pictures beside it; all text is escaped."""
    body = "\n".join(_html(block, figures) for block in blocks)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{style_sheet()}{_OWN_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _html(block: Block, figures: str) -> str:
    match block:
        case Heading(text, level):
            return f"<h{level}>{html.escape(text)}</h{level}>"
        case Text(text):
            return f"<p>{html.escape(text)}</p>"
        case Items(items):
            return "<ul>" + "".join(f"<li>{html.escape(i)}</li>" for i in items) + "</ul>"
        case Table():
            return _html_table(block)
        case Figure(name, caption):
            shown, words = html.escape(f"{figures}/{name}.png"), html.escape(caption)
            image = f'<img src="{shown}" alt="{words}">'
            return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in table.head)
    rows = []
    for i, row in enumerate(table.rows):
        cells = [
            f"<td><strong>{html.escape(c)}</strong></td>"
            if (i, j) in table.strong
            else f"<td>{html.escape(c)}</td>"
            for j, c in enumerate(row)
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}<tr>{head}</tr>{''.join(rows)}</table>"
