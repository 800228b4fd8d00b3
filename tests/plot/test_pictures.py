"""Pictures are drawn with matplotlib or without, and say what they show."""

import importlib.util
import io
import os
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from featuremask.plot import Picture, write_pictures

SVG = "{http://www.w3.org/2000/svg}"
VALUES = np.arange(6.0).reshape(2, 3)
MARKED = np.array([[True, False, False], [False, False, True]])


@pytest.fixture
def without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec

    def hidden(name: str, *more: Any) -> Any:
        return None if name == "matplotlib" else find_spec(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", hidden)


def drawn(path: Path) -> ET.Element:
    return ET.fromstring(path.read_text(encoding="utf-8"))


def cells(svg: ET.Element) -> list[ET.Element]:
    return svg.findall(f"{SVG}rect")[1:]  # the first is the background


# ---- with matplotlib ------------------------------------------------------------------------


def test_a_png_is_written_where_matplotlib_is(tmp_path: Path) -> None:
    from matplotlib.image import imread

    path = write_pictures(
        tmp_path / "picture", [Picture("a", VALUES), Picture("b", VALUES, MARKED)]
    )
    assert path == tmp_path / "picture.png"
    image = imread(io.BytesIO(path.read_bytes()))
    assert image.shape[1] > 1.5 * image.shape[0]
    orange = (image[..., 0] > 0.7) & (image[..., 1] < 0.5) & (image[..., 2] < 0.2)
    assert not orange[:, : image.shape[1] // 2].any()
    assert orange[:, image.shape[1] // 2 :].any()


def test_the_callers_matplotlib_is_left_alone(tmp_path: Path) -> None:
    import matplotlib
    import matplotlib.pyplot as plt

    before = matplotlib.get_backend(), dict(matplotlib.rcParams), plt.get_fignums()
    write_pictures(tmp_path / "picture", [Picture("a", VALUES)])
    assert (matplotlib.get_backend(), dict(matplotlib.rcParams), plt.get_fignums()) == before


def test_signs_of_formulas_in_a_title_are_text(tmp_path: Path) -> None:
    assert write_pictures(tmp_path / "picture", [Picture("$\\frac{a$_^", VALUES)]).exists()


# ---- without it -----------------------------------------------------------------------------


@pytest.mark.usefixtures("without_matplotlib")
class TestAnSvg:
    def test_is_written_where_matplotlib_is_not(self, tmp_path: Path) -> None:
        path = write_pictures(tmp_path / "picture", [Picture("a", VALUES)])
        assert path == tmp_path / "picture.svg"
        assert os.listdir(tmp_path) == ["picture.svg"]
        assert len(cells(drawn(path))) == 6

    def test_is_darkest_where_the_value_is_largest(self, tmp_path: Path) -> None:
        path = write_pictures(tmp_path / "picture", [Picture("a", VALUES)])
        fills = [cell.get("fill") for cell in cells(drawn(path))]
        grays = [int(str(fill)[4:].split(",")[0]) for fill in fills]
        assert grays == [255, 204, 153, 102, 51, 0]

    def test_frames_the_marked_cells(self, tmp_path: Path) -> None:
        path = write_pictures(tmp_path / "picture", [Picture("a", VALUES, MARKED)])
        framed = [cell.get("stroke") is not None for cell in cells(drawn(path))]
        assert framed == MARKED.ravel().tolist()

    def test_puts_pictures_side_by_side(self, tmp_path: Path) -> None:
        pictures = [Picture("left", VALUES), Picture("right", VALUES.T)]
        svg = drawn(write_pictures(tmp_path / "picture", pictures))
        places = [float(str(cell.get("x"))) for cell in cells(svg)]
        assert max(places[:6]) < min(places[6:])
        assert max(places) < float(str(svg.get("width")))
        bottom = max(float(str(cell.get("y"))) for cell in cells(svg))
        assert bottom + 20 < float(str(svg.get("height")))

    def test_shows_titles_as_text_whatever_they_hold(self, tmp_path: Path) -> None:
        title = "</text><script>alert(1)</script> & \"quotes\" 'ä'"
        svg = drawn(write_pictures(tmp_path / "picture", [Picture(title, VALUES)]))
        assert [text.text for text in svg.findall(f"{SVG}text")] == [title]
        assert svg.findall(f".//{SVG}script") == []

    def test_of_equal_values_is_white(self, tmp_path: Path) -> None:
        svg = drawn(write_pictures(tmp_path / "picture", [Picture("a", np.full((2, 2), 7.0))]))
        assert {cell.get("fill") for cell in cells(svg)} == {"rgb(255,255,255)"}
