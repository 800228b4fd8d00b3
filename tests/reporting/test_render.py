"""A page is whole, is small, and shows names as text."""

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.reporting.example import make_summary

from featuremask.reporting import Curve, render, write_report


class Page(HTMLParser):
    """What a browser sees of a page: tags with attributes, and texts by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.append((self._open[-1] if self._open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]

    def text(self, tag: str) -> str:
        return "".join(text for name, text in self.texts if name == tag)


def test_the_headline_is_in_plain_words() -> None:
    page = Page(render(make_summary()))
    assert page.text("h1") == "3 of 6 columns keep 85.1 % of the accuracy"


def test_names_that_try_to_be_more_are_text() -> None:
    page = Page(render(make_summary()))
    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert "alert(1)" in page.text("th")
    assert "{{ 7 * 7 }}" in page.text("th")
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)


def test_a_name_is_read_back_as_it_is() -> None:
    name = "a\r\nb \"'`&\\"
    heads = [text for tag, text in Page(render(make_summary())).texts if tag == "th"]
    assert name in heads


def test_a_title_and_settings_are_text_too() -> None:
    hostile = "</title><script>alert(1)</script>"
    assert len(Page(render(make_summary(title=hostile, repeat=(hostile,)))).all("script")) == 2


def test_the_policy_lets_only_the_pages_own_script_and_style_run() -> None:
    text = render(make_summary())
    page = Page(text)
    (policy,) = [m["content"] for m in page.all("meta") if "http-equiv" in m]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind in ("script", "style"):
        (allowed,) = re.findall(rf"{kind}-src 'sha256-([^']+)'", policy)
        (inline,) = re.findall(rf"<{kind}>(.*?)</{kind}>", text, re.DOTALL)
        assert base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode() == allowed


def test_nothing_is_fetched() -> None:
    page = Page(render(make_summary()))
    addresses = [a[k] for _, a in page.tags for k in ("src", "href", "action", "data") if k in a]
    assert all(str(address).startswith(("#", "data:")) for address in addresses)
    assert "url(" not in page.text("style")
    assert "@import" not in page.text("style")


def test_what_is_left_out_is_there_but_hidden() -> None:
    rows = [row for row in Page(render(make_summary())).all("tr") if "data-p" in row]
    assert ["hidden" in row for row in rows] == [False] * 3 + [True] * 3


def test_two_thousand_columns_stay_below_a_megabyte() -> None:
    names = tuple(f"sensor {i}: temperature at the inlet" for i in range(2000))
    assert len(render(make_summary(names, k=30)).encode()) < 1_000_000


def test_of_very_many_columns_the_best_are_listed_and_it_is_said() -> None:
    text = render(make_summary(tuple(f"c{i}" for i in range(2500)), k=30))
    assert len([row for row in Page(text).all("tr") if "data-p" in row]) == 2000
    assert "The best 2,000 of 2,500 columns are listed" in text


def test_all_chosen_columns_are_listed_however_many() -> None:
    text = render(make_summary(tuple(f"c{i}" for i in range(2500)), k=2400))
    assert len([row for row in Page(text).all("tr") if "data-p" in row]) == 2400


def test_a_page_without_a_curve_says_that_nothing_was_judged() -> None:
    text = render(make_summary(curve=None, redundancy=None, notes=()))
    assert Page(text).text("h1") == "3 of 6 columns are chosen"
    assert "not judged by another model" in text
    assert "Not looked at" in text


def test_the_slider_stops_at_k_and_at_the_ends() -> None:
    page = Page(render(make_summary(tuple(f"c{i}" for i in range(2000)), k=333)))
    (facts,) = [json.loads(t) for tag, t in page.texts if tag == "script" and t.startswith("{")]
    stops = facts["stops"]
    assert stops[:100] == list(range(1, 101))
    assert stops[-1] == 2000
    assert 333 in stops
    assert len(stops) < 300


def test_the_curve_has_a_place_for_each_k_up_to_its_end() -> None:
    curve = Curve("loss", "", [(10, 0.4), (40, 0.2)], higher_is_better=False)
    page = Page(render(make_summary(tuple(f"c{i}" for i in range(90)), k=20, curve=curve)))
    (facts,) = [json.loads(t) for tag, t in page.texts if tag == "script" and t.startswith("{")]
    assert len(facts["places"]) == 40
    assert facts["places"] == sorted(facts["places"])
    (marker,) = [line for line in page.all("line") if line.get("id") == "marker"]
    assert float(str(marker["x1"])) == facts["places"][19]


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    write_report(make_summary(), tmp_path / "report.html")
    assert os.listdir(tmp_path) == ["report.html"]
    assert (tmp_path / "report.html").read_bytes().decode() == render(make_summary())


@pytest.mark.parametrize("k", [1, 6])
def test_one_and_all_columns_are_shown_too(k: int) -> None:
    page = Page(render(make_summary(k=k)))
    assert page.text("h1").startswith("1 of 6" if k == 1 else "All 6 columns")
