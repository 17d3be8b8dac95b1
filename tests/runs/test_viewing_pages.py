from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Role
from tests.builders import make_project, make_run, make_user, signed_in
from tests.runs.viewed import MARKDOWN, TABLE, TREE, pdf, picture, workbook
from tests.tables import check_rows
from verification.runs import evidence_store
from verification.runs.models import Run

pytestmark = pytest.mark.django_db

FILES = {
    "report.md": MARKDOWN,
    "sales.csv": TABLE,
    "sales.json": TREE,
    "sales.xlsx": workbook(),
    "plot.png": picture(),
    "paper.pdf": pdf(6),
    "notes.txt": b"Nothing but words.",
    "tool.bin": b"\x00\x01",
    "page.html": b"<script>alert(1)</script>",
    "drawing.svg": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
}


@pytest.fixture(autouse=True)
def _own_views(settings: Any, tmp_path: Any) -> None:
    views = {**settings.STORAGES["views"], "OPTIONS": {"location": tmp_path / "views"}}
    settings.STORAGES = {**settings.STORAGES, "views": views}


@pytest.fixture
def run() -> Run:
    return make_run(make_project(), files=FILES)


def get(run: Run, url: str, **headers: str) -> HttpResponse:
    answer: Any = signed_in(make_user(run.project)).get(url, headers=headers)
    return answer  # type: ignore[no-any-return]


def url_of(run: Run, name: str, *path: str) -> str:
    return reverse(name, args=[run.project.slug, run.uuid, *path])


def file_page(run: Run, path: str, query: str = "", **headers: str) -> str:
    answer = get(run, url_of(run, "run_file_page", path) + query, **headers)
    assert answer.status_code == 200
    return answer.content.decode()


def pane(run: Run, query: str) -> str:
    answer = get(run, url_of(run, "run_detail") + query, HX_Target="artefact")
    assert answer.status_code == 200
    return answer.content.decode()


def part_of(html: str) -> str:
    """Where the pane gets its view from."""
    found = re.search(r'hx-get="([^"]+)" hx-trigger="load"', html)
    assert found is not None
    return unescape(found[1])


@check_rows(
    ("path", "shown"),
    [
        ("report.md", "<h3>The report</h3>"),
        ("sales.csv", '<td>Q2</td><td class="num">155</td>'),
        ("sales.json", '<span class="tree-number">1e400</span>'),
        ("sales.xlsx", '<td>Q1</td><td class="num">120</td>'),
        ("plot.png", "PNG, 40 by 30 pixels"),
        ("paper.pdf", '<iframe class="pages" sandbox src='),
        ("notes.txt", "Nothing but words."),
        ("tool.bin", "b413f47d13ee2fe6c845b2ee141af81de858df4ec549a58b7970bb96645bc8d2"),
    ],
    rollback=True,
)
def test_each_content_is_shown_as_what_it_is(run: Run, path: str, shown: str) -> None:
    assert shown in file_page(run, path)


@pytest.mark.parametrize("path", ["page.html", "drawing.svg"])
def test_what_a_browser_could_run_is_shown_as_text_and_served_nowhere(run: Run, path: str) -> None:
    assert "&lt;" in file_page(run, path)
    assert get(run, url_of(run, "run_picture", path)).status_code == 404
    assert get(run, url_of(run, "run_pages", path)).status_code == 404


@check_rows(
    ("content", "path", "shown"),
    [
        (picture(), "report.txt", "PNG, 40 by 30 pixels"),
        (pdf(), "report.doc", '<iframe class="pages"'),
        (workbook(), "macros.xlsm", "<td>Q1</td>"),
        (workbook(), "archive.zip", "<td>Q1</td>"),
        (MARKDOWN, "REPORT.MD", "<h3>The report</h3>"),
        (MARKDOWN, "report.txt", "<h3>The report</h3>"),
        (b'{"a": 1}', "answer", '<span class="tree-key">a</span>'),
        (b"words", "plot.png", "words"),
        (b"words", "paper.pdf", "words"),
        (b"\x00", "report.md", "This is not UTF-8 text."),
        (b"PK\x03\x04\x00", "sales.xlsx", "This is not UTF-8 text."),
        (b'{"a": ', "broken.json", "It is no JSON"),
        (b"# a comment\nx = 1\n", "script.py", "# a comment"),
    ],
    rollback=True,
)
def test_the_bytes_say_what_a_content_is_before_its_name_does(
    content: bytes, path: str, shown: str
) -> None:
    assert shown in file_page(make_run(make_project(), files={path: content}), path)


def test_what_is_no_json_says_so_above_its_source() -> None:
    html = file_page(make_run(make_project(), files={"a.json": b'{"a": '}), "a.json")

    assert html.index("It is no JSON") < html.index('class="lines"')


@pytest.mark.parametrize(
    ("output", "views"),
    [
        (MARKDOWN.decode(), ["Rendered", "Source"]),
        ("- one\n- two\n\n**bold**", ["Rendered", "Source"]),
        ('{"a": [1, 2]}', ["Tree", "Source"]),
        ("Nothing but words, and a * star.", []),
        ("# a comment\nx = 1\n# another\n", []),
        ("", []),
    ],
)
def test_an_output_that_looks_like_markdown_or_json_has_two_views(
    output: str, views: list[str]
) -> None:
    html = pane(make_run(make_project(), output=output), "?show=output")

    found = re.search(r'aria-label="Views">(.*?)</nav>', html, re.S)
    assert re.findall(r">([A-Z][a-z]+)</a>", found[1] if found else "") == views


FOUND = {"path": "sales.csv", "line": 3}


@check_rows(
    ("findings", "query", "view"),
    [
        ([], "", "table"),
        ([FOUND], "", "source"),
        ([FOUND], "?view=table", "table"),
        ([{"path": "sales.csv", "quote": "155"}], "", "source"),
        ([{"path": "sales.csv"}], "", "table"),
        ([{"path": "sales.csv", "quote": "not there"}], "", "table"),
        ([{"path": "report.md", "line": 3}], "", "table"),
        ([], "?view=tree", "table"),
        ([], "?view=<script>", "table"),
    ],
    rollback=True,
)
def test_the_source_is_shown_first_where_a_finding_has_a_place_in_it(
    findings: list[dict[str, Any]], query: str, view: str
) -> None:
    run = make_run(make_project(), files=FILES, findings=findings)

    html = file_page(run, "sales.csv", query)

    assert ('class="grid"' in html, 'class="lines"' in html) == (view == "table", view == "source")


def test_the_row_of_a_finding_is_marked_in_a_table() -> None:
    run = make_run(
        make_project(),
        files={"sales.csv": b"a,b\n" + b"1,2\n" * 500},
        findings=[{"path": "sales.csv", "line": 300}],
    )
    get(run, part_of(pane(run, "?at=1&view=table")))

    html = pane(run, "?at=1&view=table")

    assert re.findall(r'<tr class="hit hit-hard"><th[^>]*>(\d+)', html) == ["300"]


def test_the_pane_waits_for_nobody_and_what_was_seen_before_is_there_at_once(run: Run) -> None:
    first = pane(run, "?file=report.md")
    assert "<noscript>" in first
    loaded = get(run, part_of(first), HX_Target="view").content.decode()

    assert loaded.strip().startswith('<div class="view view-markdown" id="view"')
    assert "<h3>The report</h3>" in loaded
    again = pane(run, "?file=report.md")
    assert "<h3>The report</h3>" in again
    assert 'hx-trigger="load"' not in again


def test_places_in_an_address_are_marked_instead_of_those_of_the_run() -> None:
    run = make_run(make_project(), files=FILES, findings=[FOUND])

    assert "hit-hard" in file_page(run, "sales.csv", "?view=table")
    assert "hit-hard" not in file_page(run, "sales.csv", "?view=table&places=")
    assert "hit-advisory" in file_page(run, "sales.csv", "?view=table&places=2.advisory,x,9.no")


PARTS = [
    ("run_file_page", "sales.csv"),
    ("run_picture", "plot.png"),
    ("run_pages", "paper.pdf"),
]


@pytest.mark.parametrize(("name", "path"), PARTS)
def test_nobody_from_elsewhere_sees_a_content(run: Run, name: str, path: str) -> None:
    url = url_of(run, name, path)
    stranger = signed_in(make_user(make_project(), Role.ADMIN))

    assert signed_in(make_user(run.project)).get(url).status_code == 200
    assert stranger.get(url).status_code == 404
    assert Client().get(url).status_code == 302
    foreign = url.replace(run.project.slug, make_project().slug)
    assert signed_in(make_user(run.project)).get(foreign).status_code == 404


@pytest.mark.quick_rows(7)
@pytest.mark.parametrize(("name", "path"), PARTS)
def test_no_other_path_leads_anywhere(run: Run, name: str, path: str) -> None:
    url = url_of(run, name, path).removesuffix(path)
    wrong_paths = ("../plot.png", "plot.png/", "%00", "plot.png%00", "none")

    statuses = {wrong: get(run, url + wrong).status_code for wrong in wrong_paths}

    assert statuses == dict.fromkeys(wrong_paths, 404)


def test_a_picture_is_served_as_pixels_and_nothing_else(run: Run) -> None:
    answer = get(run, url_of(run, "run_picture", "plot.png"))

    assert answer.status_code == 200
    assert answer.content.startswith(b"\x89PNG")
    assert {name: answer[name] for name in GUARDS} == {
        **GUARDS,
        "Content-Type": "image/png",
        "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
    }


GUARDS = {
    "Content-Type": "text/html; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, max-age=600",
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; frame-ancestors 'self'; "
    "base-uri 'none'; form-action 'none'",
    "X-Frame-Options": "SAMEORIGIN",
}


def test_pages_are_served_for_a_frame_that_may_do_nothing(run: Run) -> None:
    answer = get(run, url_of(run, "run_pages", "paper.pdf"))

    assert {name: answer[name] for name in GUARDS} == GUARDS
    assert answer.content.count(b'<img src="data:image/png;base64,') == 4


def test_the_next_pages_are_a_link_away(run: Run) -> None:
    assert "2 pages more" in file_page(run, "paper.pdf")
    html = file_page(run, "paper.pdf", "?page=5")

    assert "The pages before" in html
    assert "?page=5" in html


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    "query",
    [
        "?rows=0&sheet=0&page=0&line=0",
        "?rows=-1&sheet=-1&page=-1&line=-1",
        "?rows=99999999&page=99999999&sheet=1",
        "?rows=9999999999999999999999",
        "?rows=²&sheet=٣&page=x&line=1e9",
        "?from=²&places=1.hard%00,99999999999.hard",
        "?view=source&from=99999999",
    ],
)
def test_no_address_breaks_a_page(run: Run, query: str) -> None:
    for path in ("sales.csv", "sales.xlsx", "paper.pdf", "report.md"):
        file_page(run, path, query)


def test_a_sheet_that_is_not_there_says_so(run: Run) -> None:
    assert "There is no such sheet." in file_page(run, "sales.xlsx", "?sheet=9")


@check_rows("path", [path for path in FILES if "." in path], rollback=True)
def test_content_that_is_stored_no_longer_says_so(run: Run, path: str) -> None:
    row = run.files.select_related("blob").get(path=path)
    sha256 = row.blob.sha256
    evidence_store.delete_content(run.project, f"{sha256[:2]}/{sha256}")

    assert "The content is no longer stored." in file_page(run, path)


def test_half_a_character_is_shown_as_its_number() -> None:
    run = make_run(make_project(), files={"a.json": b'["\\ud800"]'})

    assert '<span class="ctl">U+D800</span>' in file_page(run, "a.json")


def test_looking_at_a_file_asks_the_database_as_often_whatever_it_holds() -> None:
    counts = set()
    for content in (TABLE, b"a,b\n" + b"1,2\n" * 5_000):
        run = make_run(make_project(), files={"sales.csv": content})
        client = signed_in(make_user(run.project))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(url_of(run, "run_file_page", "sales.csv"))
        counts.add(len(queries))

    assert len(counts) == 1
