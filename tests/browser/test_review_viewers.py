from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from django.urls import reverse
from playwright.sync_api import Dialog, Request, expect

from tests.adapters.viewing_cases import MARKDOWN as HOSTILE
from tests.browser.conftest import LOOKS, Visit, Visitor
from tests.browser.scenes import Scene
from tests.builders import make_run
from tests.runs.viewed import MARKDOWN, TABLE, TREE, pdf, picture, workbook
from verification.runs.models import Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FILES = {
    "plot.png": picture(size=(400, 200)),
    "paper.pdf": pdf(6),
    "report.md": MARKDOWN,
    "sales.csv": TABLE + b"Q4,1\n" * 300,
    "sales.json": TREE,
    "sales.xlsx": workbook(One=[["quarter", "sales"], ["Q1", 120]], Two=[["more"]]),
}


@pytest.fixture
def run(scene: Scene) -> Run:
    return make_run(scene.project, output=MARKDOWN.decode(), files=FILES)


def url_of(run: Run, query: str = "") -> str:
    return reverse("run_detail", args=[run.project.slug, run.uuid]) + query


def elsewhere(visitor: Visitor) -> list[str]:
    """Addresses of other places that the browser asks from now on."""
    asked: list[str] = []
    own = urlsplit(visitor.address).netloc

    def note(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme != "data" and parts.netloc != own:
            asked.append(request.url)

    visitor.page.on("request", note)
    return asked


def test_hostile_markdown_runs_nothing_and_asks_nobody(visit: Visit, scene: Scene) -> None:
    texts = [one.make() for one in HOSTILE if not one.refusal]
    short = [text for text in texts if len(text) < 5_000 and b"\0" not in text]
    hostile = make_run(scene.project, files={"all.md": b"\n\n".join(short)})
    visitor = visit()
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    visitor.page.on("dialog", dismiss)
    asked = elsewhere(visitor)

    page = visitor.go(url_of(hostile, "?file=all.md"))
    expect(page.locator("#artefact .markdown")).to_contain_text("alert(1)")
    title = page.title()
    page.wait_for_load_state("networkidle")

    assert (dialogs, asked, visitor.complaints) == ([], [], [])
    assert page.title() == title
    assert page.locator(".markdown :is(script, iframe, img, svg, form, input, style)").count() == 0


def test_the_view_comes_by_itself_and_its_tabs_stay_in_the_address(visit: Visit, run: Run) -> None:
    visitor = visit()
    page = visitor.go(url_of(run))

    expect(page.locator("#artefact .markdown h3")).to_have_text("The report")

    page.get_by_role("link", name="Source").click()
    expect(page.locator("#artefact .lines")).to_contain_text("# The report")
    expect(page).to_have_url(re.compile("view=source"))
    page.locator("#artefact").get_by_role("link", name="sales.json").click()
    expect(page.locator("#artefact .tree")).to_contain_text("1e400")
    expect(page).not_to_have_url(re.compile("view="))
    page.go_back()
    expect(page.locator("#artefact .lines")).to_contain_text("# The report")
    assert visitor.complaints == []


def test_a_table_turns_its_pages_within_the_pane(visit: Visit, run: Run) -> None:
    visitor = visit()
    page = visitor.go(url_of(run, "?file=sales.csv"))

    expect(page.locator(".grid tbody tr")).to_have_count(200)
    page.get_by_role("link", name="103 rows more").click()
    expect(page.locator(".grid tbody tr")).to_have_count(103)
    page.get_by_role("link", name="200 rows before").click()
    expect(page.locator(".grid tbody tr").first).to_contain_text("Q1")
    assert visitor.complaints == []


def test_a_workbook_shows_one_sheet_after_the_other(visit: Visit, run: Run) -> None:
    visitor = visit()
    page = visitor.go(url_of(run, "?file=sales.xlsx"))

    expect(page.locator(".grid tbody tr")).to_have_count(2)
    page.get_by_role("link", name="Two").click()
    expect(page.locator(".grid tbody")).to_contain_text("more")
    assert visitor.complaints == []


def test_pages_of_a_pdf_are_painted_in_a_frame_without_rights(visit: Visit, run: Run) -> None:
    visitor = visit()
    page = visitor.go(url_of(run, "?file=paper.pdf"))

    frame = page.frame_locator("iframe.pages")
    expect(frame.locator("img")).to_have_count(4)
    [inner] = [one for one in page.frames if "/pages/" in one.url]
    for number in range(4):
        expect(frame.locator("img").nth(number)).not_to_have_js_property("naturalWidth", 0)
    assert inner.evaluate("self.origin") == "null"
    page.get_by_role("link", name="2 pages more").click()
    expect(frame.locator("img")).to_have_count(2)
    assert visitor.complaints == []


def test_a_picture_is_painted(visit: Visit, run: Run) -> None:
    visitor = visit()
    page = visitor.go(url_of(run, "?file=plot.png"))

    expect(page.locator(".picture img")).to_be_visible()
    expect(page.locator("img")).to_have_count(1)
    expect(page.locator("img")).to_have_js_property("naturalWidth", 400)
    assert visitor.complaints == []


def test_without_a_script_the_source_is_there_and_the_view_a_link_away(
    visit: Visit, run: Run
) -> None:
    visitor = visit(script=False)
    page = visitor.go(url_of(run, "?file=report.md"))

    expect(page.locator("#artefact .lines")).to_contain_text("# The report")
    page.get_by_role("link", name="Open it on a page of its own").click()
    expect(page.locator(".markdown h3")).to_have_text("The report")
    page.get_by_role("link", name="Source").click()
    expect(page.locator(".lines")).to_contain_text("# The report")


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_view_runs_over_the_edge_of_its_page(
    visit: Visit, run: Run, width: int, theme: str
) -> None:
    visitor = visit(width=width, theme=theme)
    overflowing = []

    for path in FILES:
        page = visitor.go(url_of(run, f"?file={path}"))
        expect(page.locator("#view:not([aria-busy])")).to_be_visible()
        if page.evaluate(OVERFLOW) > 0:
            overflowing.append(path)
        whole = reverse("run_file_page", args=[run.project.slug, run.uuid, path])
        if visitor.go(whole).evaluate(OVERFLOW) > 0:
            overflowing.append(whole)

    assert overflowing == []
    assert visitor.complaints == []
