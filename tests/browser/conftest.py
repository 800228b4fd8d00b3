"""A real browser, headless: Chromium of the system, driven by Playwright."""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.reporting.example import HOSTILE, make_summary

from featuremask.reporting import write_report

_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_HOW = (
    "to run the tests in a browser install Chromium (Debian: apt-get install chromium), or set "
    "FEATUREMASK_CHROMIUM to its path, and: pip install --group browser"
)
_FLAGS = (
    "--no-sandbox",  # a container's user is root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NAMES = (*HOSTILE, *(f"sensor {i}" for i in range(54)))
"""60 columns; 12 are chosen."""


def _chromium() -> str | None:
    given = os.environ.get("FEATUREMASK_CHROMIUM")
    return given or next(filter(None, map(shutil.which, _NAMES)), None)


@pytest.fixture(scope="session")
def browser(missing: Callable[[str, str], NoReturn]) -> Iterator[Any]:
    path = _chromium()
    driven = all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python")))
    if path is None or not driven:
        missing("browser", _HOW)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        yield browser
        browser.close()


class Visit:
    """A report in a tab, and all it tried to do."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", self._refuse)
        page.goto(address)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def shown(self) -> list[str]:
        """Return the names in the list."""
        texts = self.page.locator("#ranking tbody tr:visible th").all_text_contents()
        return ["" if text == "(no name)" else text for text in texts]

    def set_k(self, k: int) -> None:
        """Write k into its field."""
        self.page.fill("#k-number", str(k))
        self.page.press("#k-number", "Enter")

    def copied(self, what: str) -> tuple[str, str]:
        """Copy by a button; return what the page then says, and what was copied."""
        self.page.click(f"[data-copy='{what}']")
        said = self.page.wait_for_function("document.getElementById('said').textContent")
        return said.json_value(), str(self.page.evaluate("navigator.clipboard.readText()"))


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(make_summary(NAMES, k=12), path)
    return path.as_uri()


@pytest.fixture
def visit(browser: Any, address: str) -> Iterator[Callable[..., Visit]]:
    """A function that opens the report; its words are those of a browser's context."""
    contexts = []

    def visit(**words: Any) -> Visit:
        contexts.append(browser.new_context(**{"offline": True, **words}))
        contexts[-1].grant_permissions(["clipboard-read", "clipboard-write"])
        return Visit(contexts[-1].new_page(), address)

    yield visit
    for context in contexts:
        context.close()


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go: the folder FEATUREMASK_SCREENSHOTS, or one that is thrown away."""
    folder = Path(os.environ.get("FEATUREMASK_SCREENSHOTS", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
