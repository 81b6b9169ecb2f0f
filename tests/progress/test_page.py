"""The HTML report in a real browser: headless Chromium, driven by playwright."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import pathname2url

import pytest

from tests.cli.project import Project
from tests.gitrepo import Repository
from tests.progress.invented import Truth

pytestmark = pytest.mark.browser
playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("pygal", reason="pygal is not installed")
pytest.importorskip("jinja2", reason="jinja2 is not installed")

WIDTHS = (400, 1400)
SCHEMES = ("light", "dark")
VISIBLE_WIDTHS = "all => all.filter(c => c.checkVisibility()).map(c => c.viewBox.baseVal.width)"


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        # A container's root has no sandbox to run in.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def page_file(
    moved_suite: tuple[Repository, list[Truth]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """The page of the suite of 60 commits, 20 commits before its end, and the same report as JSON."""
    from hwlint.cli import run

    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(moved_suite[0].root)
        for name in ("html", "json"):
            arguments = ["progress", "--rev", "HEAD~20", "--history", "--no-cache", "--format", name]
            assert run([*arguments, "-o", str(folder / f"page.{name}")]) == 0
    return folder / "page.html", json.loads((folder / "page.json").read_text(encoding="utf-8"))


class Opened:
    """The page in one window, with everything it said and asked for."""

    def __init__(self, browser: Any, file: Path, width: int = 1400, scheme: str = "light", script: bool = True) -> None:
        self.url = "file://" + pathname2url(str(file))
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        self.page = self.context.new_page()
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.url)

    def shown(self) -> list[str]:
        """Paths of the files that the table shows, in its order."""
        found: list[str] = self.page.eval_on_selector_all(
            "#table tbody tr:not([hidden]) th", "cells => cells.map(c => c.dataset.value)"
        )
        return found


@pytest.fixture
def opened(browser: Any, page_file: tuple[Path, dict[str, Any]]) -> Iterator[Opened]:
    window = Opened(browser, page_file[0])
    yield window
    window.context.close()


def files_of(page_file: tuple[Path, dict[str, Any]]) -> list[dict[str, Any]]:
    return list(page_file[1]["files"])


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_loads_by_itself_and_fits(
    browser: Any, page_file: tuple[Path, dict[str, Any]], width: int, scheme: str
) -> None:
    window = Opened(browser, page_file[0], width, scheme)
    assert window.messages == []
    assert window.requests == [window.url]
    assert window.page.evaluate("document.documentElement.scrollWidth") <= width
    background = window.page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
    assert (brightness > 200) == (scheme == "light") and (brightness < 60) == (scheme == "dark")
    # One of the two drawings of each chart, the one that fits the window.
    shown = window.page.eval_on_selector_all(".chart svg", VISIBLE_WIDTHS)
    assert shown == [400, 400] if width == 400 else [1080, 1080]
    assert len(window.shown()) == len(files_of(page_file))
    window.context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_stands_out_from_what_is_behind_it(
    browser: Any, page_file: tuple[Path, dict[str, Any]], scheme: str
) -> None:
    """WCAG 2.1, level AA: 4.5 to 1 for text."""
    window = Opened(browser, page_file[0], 1400, scheme)
    window.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    worst = window.page.evaluate(CONTRAST)
    assert worst["ratio"] >= 4.5, worst
    window.context.close()


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.slice(0, 3).map(linear);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  let worst = { ratio: 99, text: "" };
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest("svg, .hidden") || e.matches("script, style")) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < worst.ratio) worst = { ratio, text: e.outerHTML.slice(0, 120) };
  }
  return worst;
}"""


def test_sorting(opened: Opened, page_file: tuple[Path, dict[str, Any]]) -> None:
    files = files_of(page_file)
    unclassified = {f["path"]: sum(c["label"] is None for c in f["classes"]) for f in files}
    opened.page.click("#table thead button:has-text('to go')")
    assert opened.shown() == sorted(unclassified, key=lambda path: (-unclassified[path], path))
    assert opened.page.get_attribute("#table thead th:nth-child(5)", "aria-sort") == "descending"
    opened.page.click("#table thead button:has-text('to go')")
    assert opened.shown() == sorted(unclassified, key=lambda path: (unclassified[path], path))
    assert opened.page.get_attribute("#table thead th:nth-child(5)", "aria-sort") == "ascending"
    opened.page.click("#table thead button:has-text('file')")
    assert opened.shown() == sorted(unclassified)
    assert opened.page.get_attribute("#table thead th:nth-child(5)", "aria-sort") is None


def test_filtering(opened: Opened, page_file: tuple[Path, dict[str, Any]]) -> None:
    files = files_of(page_file)
    page = opened.page
    page.fill("input[name=text]", "DYNAMO test_file1")
    wanted = [f["path"] for f in files if "dynamo" in f["path"] and "test_file1" in f["path"]]
    assert 0 < len(wanted) < len(files)
    assert opened.shown() == wanted
    assert page.text_content("#count") == f"{len(wanted)} of {len(files)} files"
    page.click("button[type=reset]")
    playwright_api.expect(page.locator("#count")).to_have_text(f"{len(files)} files")
    page.select_option("select[name=state]", "open")
    page.select_option("select[name=group]", "graph")
    wanted = [f["path"] for f in files if f["state"] == "open" and f["group"] == "graph"]
    assert 0 < len(wanted) < len(files)
    assert opened.shown() == wanted
    page.select_option("select[name=state]", "")
    page.select_option("select[name=group]", "")
    page.select_option("select[name=step]", "migrate")
    assert opened.shown() == [f["path"] for f in files if f["step"]["kind"] == "migrate"]


def test_a_long_table_is_shown_in_part(browser: Any, project: Project) -> None:
    for at in range(130):
        project.write(f"test_{at:03}.py", source(at % 7 + 1))
    assert project.hwlint("progress", "--no-cache", "--format", "html", "-o", "page.html") == 0
    window = Opened(browser, project.root / "page.html")
    assert len(window.shown()) == 100
    assert window.page.text_content("#count") == "130 files, the first 100 shown"
    # What is shown is the top of all of them in the order asked for, not those that were shown before.
    window.page.click("#table thead button:has-text('tests')")
    assert window.shown()[:3] == ["test_006.py", "test_013.py", "test_020.py"] and len(window.shown()) == 100
    window.page.click("text=Show all 130")
    assert len(window.shown()) == 130 and window.page.text_content("#count") == "130 files"
    assert not window.page.locator("#more").is_visible()
    window.context.close()


def source(tests: int) -> str:
    body = "".join(f"    def test_{at}(self): pass\n" for at in range(tests))
    return f"from x import TestCase\nclass A(TestCase):\n{body}"


def test_sorting_by_the_list_of_a_phone(browser: Any, page_file: tuple[Path, dict[str, Any]]) -> None:
    window = Opened(browser, page_file[0], 400)
    tests = {f["path"]: sum(c["tests"] for c in f["classes"]) for f in files_of(page_file)}
    window.page.select_option("select[name=sort]", "6:d")
    assert window.shown() == sorted(tests, key=lambda path: (-tests[path], path))
    window.context.close()


def test_keyboard(opened: Opened) -> None:
    """Everything that a mouse reaches, the tabulator does; the focus is seen."""
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the files"
    page.keyboard.press("Enter")
    page.wait_for_url("**#files")
    names = []
    for _ in range(16):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.name || document.activeElement.textContent.trim()"))
        style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", names[-1]
    assert names[:6] == ["text", "state", "step", "group", "owner", "Clear"]
    assert {"file", "state", "to go", "next step"} <= set(names)
    page.focus("#table thead button:has-text('classes')")
    page.keyboard.press("Enter")
    assert page.get_attribute("#table thead th:nth-child(4)", "aria-sort") == "descending"


def test_what_a_screen_reader_is_told(opened: Opened) -> None:
    page = opened.page
    assert page.get_attribute("html", "lang") == "en"
    for role, name in (
        ("heading", "Hardware classification progress"),
        ("img", "Burn-down"),
        ("img", "Classes by folder"),
        ("search", "Filter the files"),
        ("textbox", "Path or reason"),
        ("combobox", "State"),
        ("columnheader", "next step"),
        ("rowheader", "test/nn/test_added.py"),
    ):
        found = page.get_by_role("searchbox" if role == "textbox" else role, name=name)
        assert found.count() >= 1, (role, name)
    assert page.locator("[role=status]").get_attribute("aria-live") == "polite"
    levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    unnamed = page.eval_on_selector_all(
        "input, select, button", "all => all.filter(c => !(c.labels?.length || c.textContent.trim())).length"
    )
    assert unnamed == 0


def test_roles_stay_on_a_phone(browser: Any, page_file: tuple[Path, dict[str, Any]]) -> None:
    window = Opened(browser, page_file[0], 400)
    files = len(files_of(page_file))
    assert window.page.locator("#table").get_by_role("row").count() == files
    assert window.page.get_by_role("rowheader", name="test/nn/test_added.py").count() == 1
    window.context.close()


def test_colours_can_be_chosen(opened: Opened) -> None:
    page = opened.page
    colours = []
    for _ in range(3):
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.click("#scheme")
    assert colours[0] == colours[1] != colours[2]
    assert page.text_content("#scheme") == "Colours: as the system"


def test_without_script_all_is_there(browser: Any, page_file: tuple[Path, dict[str, Any]]) -> None:
    window = Opened(browser, page_file[0], script=False)
    text = window.page.content()
    assert all(f["path"] in text for f in files_of(page_file))
    assert not window.page.locator("#filters").is_visible() and not window.page.locator("#scheme").is_visible()
    window.context.close()


def test_names_from_the_suite_are_text(browser: Any, project: Project) -> None:
    """What stands in a file's name, an owner's or a class's is never markup."""
    evil = "<img src=x onerror=alert(1)>"
    source = f'# Owner(s): ["{evil}"]\n'
    project.write(
        "test_<b>&amp;.py", source + "from x import TestCase\nclass A(TestCase):\n    def test_a(self): pass\n"
    )
    assert project.hwlint("progress", "--no-cache", "--format", "html", "-o", "page.html") == 0
    window = Opened(browser, project.root / "page.html")
    assert window.messages == [] and window.requests == [window.url]
    assert window.shown() == ["test_<b>&amp;.py"]
    assert window.page.locator("main img, main th b").count() == 0
    window.context.close()


def test_page_is_alone(page_file: tuple[Path, dict[str, Any]]) -> None:
    """No address in it, whether it would be fetched or not, but the names of the SVG standards."""
    text = page_file[0].read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(?:link|script|img|iframe|object|embed)[^>]*(?:src|href)=[\"'](?!data:)", text)
