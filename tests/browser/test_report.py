"""The report as a person uses it, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.browser.conftest import NAMES, Visit

pytestmark = pytest.mark.slow

Open = Callable[..., Visit]
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
DESKTOP = {"viewport": {"width": 1280, "height": 900}}


# ---- k --------------------------------------------------------------------------------------


def test_the_slider_moves_the_list_the_words_and_the_curve(visit: Open) -> None:
    report = visit()
    before = report.page.get_attribute("#marker", "x1")
    assert report.shown() == list(NAMES[:12])
    report.page.focus("#k")
    for _ in range(3):
        report.page.keyboard.press("ArrowRight")
    assert report.shown() == list(NAMES[:15])
    assert report.page.input_value("#k-number") == "15"
    assert report.page.text_content("#readout").startswith("k = 15: accuracy not measured here")
    assert float(report.page.get_attribute("#marker", "x1")) > float(before)
    report.page.click("#k-back")
    assert report.page.text_content("#readout").startswith("k = 12: accuracy 0.867 ± 0.020")
    assert report.page.get_attribute("#marker", "x1") == before


def test_the_ends_of_the_slider_are_one_and_all(visit: Open) -> None:
    report = visit()
    report.page.focus("#k")
    report.page.keyboard.press("Home")
    assert report.shown() == [NAMES[0]]
    report.page.keyboard.press("End")
    assert report.shown() == list(NAMES)


@pytest.mark.parametrize(("written", "k"), [("7", 7), ("0", 1), ("999", 60)])
def test_a_number_that_is_written_is_kept_within_bounds(visit: Open, written: str, k: int) -> None:
    report = visit()
    report.page.fill("#k-number", written)
    report.page.press("#k-number", "Enter")
    assert report.shown() == list(NAMES[:k])
    assert report.page.input_value("#k-number") == str(k)


# ---- search and sort ------------------------------------------------------------------------


def test_a_search_finds_columns_that_were_left_out_and_says_so(visit: Open) -> None:
    report = visit()
    report.page.fill("#search", "SENSOR 4")
    assert report.shown() == ["sensor 4", *(f"sensor {i}" for i in range(40, 50))]
    chosen = report.page.locator("#ranking tbody tr:visible td:last-child").all_text_contents()
    assert chosen == ["yes"] + ["no"] * 10
    assert "11 shown" in report.page.text_content("#shown")
    report.page.fill("#search", "")
    assert report.shown() == list(NAMES[:12])


def test_columns_left_out_are_shown_on_request(visit: Open) -> None:
    report = visit()
    report.page.check("#everything")
    assert report.shown() == list(NAMES)


def test_a_click_on_a_head_sorts_and_another_turns_it_round(visit: Open) -> None:
    report = visit()
    report.page.check("#everything")
    head = report.page.locator("[data-sort='1']")
    head.click()
    names = [name for name in report.shown() if name.startswith("sensor")]
    assert names == [f"sensor {i}" for i in range(54)]
    head.click()
    names = [name for name in report.shown() if name.startswith("sensor")]
    assert names == [f"sensor {i}" for i in reversed(range(54))]
    assert head.locator("..").get_attribute("aria-sort") == "descending"
    report.page.locator("[data-sort='2']").click()
    assert report.shown() == list(NAMES)
    assert report.page.locator("[aria-sort]").count() == 1


# ---- copies ---------------------------------------------------------------------------------


def test_the_columns_are_copied_as_python_that_is_the_same_list(visit: Open) -> None:
    report = visit()
    said, text = report.copied("python")
    assert "12 columns as Python" in said
    found: dict[str, Any] = {}
    exec(text, found)
    assert found["columns"] == list(NAMES[:12])


def test_the_columns_are_copied_as_sql_with_quotes_doubled(visit: Open) -> None:
    report = visit()
    _, text = report.copied("sql")
    assert text.startswith("SELECT\n    ")
    assert text.count(",\n    ") == 11
    assert '"<img src=x onerror=alert(1)>"' in text
    assert '""' in text


def test_the_columns_are_copied_as_text_for_the_k_of_the_slider(visit: Open) -> None:
    report = visit()
    report.set_k(2)
    assert report.copied("text")[1] == "\n".join(NAMES[:2])


def test_the_order_of_the_list_does_not_change_what_is_copied(visit: Open) -> None:
    report = visit()
    report.set_k(3)
    report.page.click("[data-sort='1']")
    assert report.copied("text")[1] == "\n".join(NAMES[:3])


def test_a_browser_that_refuses_its_clipboard_is_helped(visit: Open) -> None:
    report = visit()
    report.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    assert report.copied("lines")[1] == "featuremask select data.csv"


# ---- theme and paper ------------------------------------------------------------------------


def _background(report: Visit) -> str:
    return str(report.page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_the_theme_follows_the_system_and_the_button(visit: Open) -> None:
    light, dark = visit(color_scheme="light"), visit(color_scheme="dark")
    of_light, of_dark = _background(light), _background(dark)
    assert of_light == "rgb(255, 255, 255)"
    assert of_dark != of_light
    light.page.click("#theme")
    dark.page.click("#theme")
    assert (_background(light), _background(dark)) == (of_dark, of_light)
    assert light.page.get_attribute("#theme", "aria-pressed") == "true"


def test_on_paper_it_is_light_and_without_buttons(visit: Open, pictures: Path) -> None:
    report = visit(color_scheme="dark")
    report.page.emulate_media(media="print", color_scheme="dark")
    assert _background(report) == "rgb(255, 255, 255)"
    assert not report.page.is_visible("#k")
    assert not report.page.is_visible("[data-copy='sql']")
    assert report.shown() == list(NAMES[:12])
    report.page.screenshot(path=pictures / "print.png", full_page=True)


def test_without_scripts_the_chosen_columns_are_there(visit: Open) -> None:
    report = visit(java_script_enabled=False)
    assert report.shown() == list(NAMES[:12])
    assert not report.page.is_visible("#k")


# ---- safety ---------------------------------------------------------------------------------


def test_no_name_runs_and_nothing_leaves_the_page(visit: Open) -> None:
    report = visit(offline=False)
    report.page.check("#everything")
    report.set_k(60)
    for button in report.page.locator("main button").all():
        button.click()
    assert [url for url in report.requests if not url.startswith("data:")] == [report.address]
    assert report.complaints == []


def test_a_script_put_into_the_page_does_not_run(visit: Open) -> None:
    report = visit()
    report.page.evaluate(
        "document.querySelector('h1').innerHTML = '<img src=x onerror=\"document.title = 1\">'"
    )
    report.page.wait_for_timeout(200)
    assert report.page.title() != "1"
    assert any("Content Security Policy" in complaint for complaint in report.complaints)


# ---- seen and heard -------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_cut_or_hard_to_reach(
    visit: Open, pictures: Path, size: dict[str, Any], scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    report = visit(color_scheme=scheme, **size)
    wide = report.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1]
    name = f"report-{size['viewport']['width']}-{scheme}.png"
    report.page.screenshot(path=pictures / name, full_page=True)
    report.page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    found = Axe().run(report.page).response["violations"]
    said = [(v["id"], v["impact"], [node["html"] for node in v["nodes"]]) for v in found]
    assert said == []


def test_everything_is_reached_by_the_keyboard(visit: Open) -> None:
    report = visit()
    reached = set()
    for _ in range(40):
        report.page.keyboard.press("Tab")
        reached.add(
            report.page.evaluate(
                "(e => e.id || e.dataset.copy || e.dataset.sort || e.className)"
                "(document.activeElement)"
            )
        )
    assert {"skip", "theme", "k", "k-number", "k-back", "search", "everything"} <= reached
    assert {"python", "sql", "text", "lines", "0", "1", "2", "3", "4"} <= reached
