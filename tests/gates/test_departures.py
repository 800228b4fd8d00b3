"""Every departure from a publication is marked in the code and listed in the docs."""

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = {
    "FM": ["gates/_feature_mask.py", "gates/_narrowing.py"],
    "AFS": ["gates/_afs.py"],
    "ConAE": ["gates/_concrete.py", "selectors/_concrete.py"],
    "CancelOut": ["gates/_cancel_out.py"],
    "BSF": ["gates/_binary_stochastic.py"],
    "DFS": ["gates/_deep_feature_selection.py"],
    "FSDNN": ["gates/_potentials.py"],
    "SA": ["gates/_sequential_attention.py"],
    "SAND": ["gates/_noise_distortion.py"],
}


def marked(method: str) -> list[str]:
    """Return the notes of a method, each on one line."""
    texts = [(ROOT / "src/featuremask" / name).read_text("utf-8") for name in SOURCES[method]]
    notes = [note for text in texts for note in text.split("NOTE[DIFF]")[1:]]
    return [" ".join(note.split("\n\n")[0].split()) for note in notes]


def listed() -> Counter[str]:
    """Return how many rows the table of the docs has for each method."""
    page = (ROOT / "docs/methods.md").read_text("utf-8")
    section = page.split("## Departures")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][1:]
    return Counter(row.split("|")[1].strip() for row in rows)


def test_the_table_has_one_row_for_each_note() -> None:
    assert listed() == {method: len(marked(method)) for method in SOURCES}


def test_every_note_says_what_is_done_here_and_why() -> None:
    for method in SOURCES.keys() - {"FM"}:
        for note in marked(method):
            assert "here:" in note, note
            assert "because" in note, note
            assert "paper:" in note or "code" in note, note
