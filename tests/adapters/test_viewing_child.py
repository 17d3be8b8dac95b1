from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.viewing_cases import CASES, Case
from tests.runs.viewed import MARKDOWN, TABLE, TREE, pdf, picture, workbook
from tests.tables import check_rows
from verification.adapters import viewing
from verification.adapters.viewing import (
    AT_ONCE,
    BUSY,
    MAX_ANSWER_BYTES,
    TOO_LARGE,
    TOO_LATE,
    TOO_MUCH,
    Opened,
    open_content,
)
from verification.adapters.viewing_text import HIDDEN, is_number

PATIENT = 120.0
TAGS = frozenset(
    [
        "a",
        "blockquote",
        "br",
        "code",
        "del",
        "details",
        "em",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "i",
        "li",
        "ol",
        "p",
        "pre",
        "s",
        "span",
        "strong",
        "summary",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
ATTRIBUTES = frozenset({"class", "href", "title", "target", "rel", "start", "open"})
CLASSES = frozenset(
    [
        "num",
        "tag",
        "faint",
        "ctl",
        "formula",
        "tree-key",
        "tree-at",
        "tree-text",
        "tree-number",
        "tree-word",
    ]
)


class Markup(HTMLParser):
    """Keeps what a browser would build of it."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def of(self, name: str) -> set[str]:
        return {value for one, value in self.attributes if one == name}


def markup_in(value: Any) -> Iterator[str]:
    """All strings that were told: whatever of them is markup has to be harmless."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from markup_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from markup_in(one)


def size_of(opened: Opened) -> int:
    return len(json.dumps(dict(opened.told))) + sum(map(len, opened.parts))


def shown(ask: str, content: bytes, **wishes: int) -> dict[str, Any]:
    opened = open_content(content, ask, wait_seconds=PATIENT, **wishes)
    assert opened.refusal == ""
    return dict(opened.told)


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("case", CASES, ids=[f"{one.ask}: {one.name}" for one in CASES])
def test_hostile_content_ends_in_a_sentence_or_in_a_bounded_harmless_view(case: Case) -> None:
    opened = open_content(case.make(), case.ask, wait_seconds=PATIENT)

    if opened.refusal == TOO_MUCH:
        assert case.refusal == TOO_MUCH or case.may_take_too_much
    elif case.refusal:
        assert opened.refusal.startswith(case.refusal)
    else:
        assert opened.refusal == ""
    assert opened.is_lasting
    assert size_of(opened) < MAX_ANSWER_BYTES
    for text in markup_in(opened.told):
        markup = Markup(text)
        assert markup.tags <= TAGS
        assert {name for name, _ in markup.attributes} <= ATTRIBUTES
        assert {word for names in markup.of("class") for word in names.split()} <= CLASSES
        assert all(url.startswith(("http://", "https://", "mailto:")) for url in markup.of("href"))
        assert "ctl" not in text or not HIDDEN.search(text)


@pytest.mark.quick_rows(3)
@pytest.mark.parametrize(
    ("source", "markup"),
    [
        ("# A\n## B\n##### C", "<h3>A</h3>\n<h4>B</h4>\n<h6>C</h6>"),
        ("a *b* **c** ~~d~~ `e`", "<em>b</em> <strong>c</strong> <s>d</s> <code>e</code>"),
        ("| a | b |\n|---|--:|\n| x | 1 |", '<td>x</td>\n<td class="num">1</td>'),
        ("> said\n\n3. three", '<ol start="3">'),
        ("---\ntitle: x\n---\n# A", "<pre><code>title: x\n</code></pre>\n<h3>A</h3>"),
        (
            "[a](https://b.example/c?d=1&e=2)",
            '<a href="https://b.example/c?d=1&amp;e=2" title="https://b.example/c?d=1&amp;e=2" '
            'target="_blank" rel="noopener noreferrer nofollow">a</a>',
        ),
        ("[a](mailto:a@b.example)", 'href="mailto:a@b.example"'),
        ("[a](notes.md)", '<span class="tag">link notes.md</span> a'),
        ("![a plot](plot.png)", '<span class="tag">image plot.png: a plot</span>'),
        ("<b>not bold</b>", "&lt;b&gt;not bold&lt;/b&gt;"),
        ("pay \u202eeno", 'pay <span class="ctl">U+202E</span>eno'),
    ],
)
def test_markdown_is_rendered(source: str, markup: str) -> None:
    assert markup in shown("markdown", source.encode())["html"]


@pytest.mark.extended
def test_a_long_text_is_rendered_to_its_bounds_and_the_rest_is_counted() -> None:
    told = shown("markdown", b"A line.\n\n" * 60_000)

    assert told["html"].count("<p>") == 33_333
    assert told["lines_left"] == 120_000 - 2 * 33_333


@pytest.mark.parametrize(
    ("content", "delimiter", "head"),
    [
        (b"a,b\n1,2\n", ",", ["a", "b"]),
        (b"a;b\n1,5;2\n3,5;4\n", ";", ["a", "b"]),
        (b"a\tb\n1\t2\n", "tab", ["a", "b"]),
        (b"a|b\n1|2\n", "|", ["a", "b"]),
        (b'"a,b;c";d\n"e,f";1\n', ";", ["a,b;c", "d"]),
        (b"alone\n1\n", ",", ["alone"]),
        (b"1,2\n3,4\n", ",", ["1", "2"]),
        ("\ufeffa,b\n1,2\n".encode(), ",", ["a", "b"]),
        ("größe,b\n1,2\n".encode("cp1252"), ",", ["größe", "b"]),
    ],
)
def test_a_table_is_parted_where_its_lines_agree(
    content: bytes, delimiter: str, head: list[str]
) -> None:
    told = shown("table", content)

    assert (told["delimiter"], told["head"]) == (delimiter, head)


def test_a_row_without_head_is_a_row() -> None:
    assert [row["number"] for row in shown("table", b"1,2\n3,4\n")["rows"]] == [1, 2]


def test_rows_of_another_width_are_shown_as_they_are_and_counted() -> None:
    told = shown("table", b"a,b\n1,2\n3\n4,5,6\n")

    assert [(row.get("cells"), row.get("missing")) for row in told["rows"]] == [
        (None, None),
        (1, 1),
        (3, 0),
    ]
    assert told["ragged"] == 2


def test_a_cell_of_several_lines_keeps_the_lines_of_the_rows_after_it() -> None:
    rows = shown("table", b'a,b\n"x\ny",2\n3,4\n')["rows"]

    assert [(row["number"], row["last"]) for row in rows] == [(2, 3), (4, 4)]


@pytest.mark.parametrize(
    ("wishes", "first", "lines", "before", "after"),
    [
        ({}, 1, (2, 201), 0, 300),
        ({"rows": 201}, 201, (202, 401), 200, 100),
        ({"rows": 401}, 401, (402, 501), 400, 0),
        ({"line": 2}, 1, (2, 201), 0, 300),
        ({"line": 202}, 201, (202, 401), 200, 100),
        ({"line": 501}, 401, (402, 501), 400, 0),
        ({"line": 1}, 1, (2, 201), 0, 300),
        ({"line": 99_999}, 401, (402, 501), 400, 0),
    ],
)
def test_a_long_table_is_shown_page_by_page_and_at_a_line(
    wishes: dict[str, int], first: int, lines: tuple[int, int], before: int, after: int
) -> None:
    told = shown("table", b"a,b\n" + b"1,2\n" * 500, **wishes)

    assert (told["first"], told["before"], told["after"]) == (first, before, after)
    assert (told["rows"][0]["number"], told["rows"][-1]["number"]) == lines


def test_a_page_beyond_the_end_is_empty_and_says_what_is_before() -> None:
    told = shown("table", b"a,b\n1,2\n", rows=4001)

    assert (told["rows"], told["before"], told["after"]) == ([], 1, 0)


@check_rows(
    ("text", "is_it"),
    [
        ("12", True),
        ("-1.5e3", True),
        ("1,234.50", True),
        ("1 234,5 %", True),
        ("$12", True),
        (".5", True),
        ("", False),
        ("-", False),
        ("1-2", False),
        ("2026-01-02", False),
        ("1.2.3", False),
        ("9" * 41, False),
    ],
)
def test_numbers_are_told_from_words(text: str, is_it: bool) -> None:
    assert is_number(text) is is_it


def test_a_workbook_shows_its_sheets_hidden_ones_too() -> None:
    import io

    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(workbook(One=[["a", 1.5, True]], Two=[["b"]])))
    book["Two"].sheet_state = "veryHidden"
    book["One"]["D1"] = "=B1*2"
    content = io.BytesIO()
    book.save(content)

    first, second = (shown("sheets", content.getvalue(), sheet=n) for n in (1, 2))

    assert [(one["html"], one["is_hidden"]) for one in first["sheets"]] == [
        ("One", False),
        ("Two", True),
    ]
    assert first["rows"][0]["html"] == (
        '<td>a</td><td class="num">1.5</td><td>TRUE</td><td> <span class="formula">=B1*2</span></td>'
    )
    assert second["rows"][0]["html"] == "<td>b</td>"


def test_a_long_sheet_is_shown_page_by_page() -> None:
    content = workbook(Long=[[n, f"row {n}"] for n in range(1, 451)])

    told = shown("sheets", content, rows=401)

    assert (told["rows"][0]["number"], len(told["rows"])) == (401, 50)
    assert (told["before"], told["after"]) == (400, 0)
    assert (shown("sheets", content)["after"], shown("sheets", content)["next"]) == (250, 201)


def test_a_tree_keeps_numbers_and_repeated_keys_as_they_are_written() -> None:
    told = shown("tree", b'{"a": 1e400, "a": 12345678901234567890.10, "b": [null, true, ""]}')

    assert '<span class="tree-number">1e400</span>' in told["html"]
    assert '<span class="tree-number">12345678901234567890.10</span>' in told["html"]
    assert told["html"].count('<span class="tree-key">a</span>') == 2
    assert told["repeated"] == 1


def test_a_large_tree_counts_what_it_leaves_out() -> None:
    told = shown("tree", json.dumps(list(range(10_000))).encode())

    assert told["html"].count("<li>") == 3_000
    assert told["left"] == 10_000 - 2_999


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_is_painted_anew_without_what_it_says_of_itself(kind: str) -> None:
    options: dict[str, Any] = {"comment": b"<script>"} if kind in ("GIF", "JPEG") else {}

    opened = open_content(picture(kind, **options), "image", wait_seconds=PATIENT)

    assert opened.told["format"] == kind
    assert opened.told["type"] == "image/png"
    assert opened.parts[0].startswith(b"\x89PNG\r\n\x1a\n")
    assert b"script" not in opened.parts[0]


def test_a_large_picture_is_made_smaller() -> None:
    told = shown("image", picture(size=(5_000, 2_500)))

    assert (told["width"], told["height"], told["shown"]) == (5_000, 2_500, [2_000, 1_000])


@pytest.mark.extended
@pytest.mark.parametrize(
    ("page", "numbers"), [(1, [1, 2, 3, 4]), (5, [5, 6]), (6, [6]), (999, [6])]
)
def test_a_few_pages_are_shown_at_a_time(page: int, numbers: list[int]) -> None:
    told = shown("pages", pdf(6), page=page)

    assert [one["number"] for one in told["pages"]] == numbers
    assert told["count"] == 6


def test_who_is_too_slow_is_not_waited_for_and_may_be_asked_again() -> None:
    opened = open_content(MARKDOWN, "markdown", wait_seconds=0.001)

    assert (opened.refusal, opened.is_lasting) == (TOO_LATE, False)
    assert open_content(MARKDOWN, "markdown", wait_seconds=PATIENT).refusal == ""


def test_only_a_few_are_opened_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "QUEUE_SECONDS", 0.01)
    for _ in range(AT_ONCE):
        assert viewing._seats.acquire(timeout=1)
    try:
        opened = open_content(MARKDOWN, "markdown")
    finally:
        viewing._seats.release(AT_ONCE)

    assert (opened.refusal, opened.is_lasting) == (BUSY, False)


def test_what_is_too_large_is_not_opened() -> None:
    assert open_content(b" " * (viewing.MAX_CONTENT_BYTES + 1), "tree").refusal == TOO_LARGE


def test_the_child_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("LOOMVERIFY_SECRET_KEY", "secret")

    assert "secret" not in json.dumps(viewing._environment())


def test_the_child_may_write_nothing(tmp_path: Path) -> None:
    script = """
import pathlib, signal, sys
from verification.adapters.viewing_child import _limit_further
_limit_further()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    pathlib.Path(sys.argv[1]).write_bytes(b"x")
except OSError as error:
    print(error.strerror)
"""
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "file")],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout == "File too large\n"


def test_the_libraries_that_read_hostile_content_are_never_imported_here() -> None:
    for content, ask in (
        (MARKDOWN, "markdown"),
        (TABLE, "table"),
        (TREE, "tree"),
    ):
        shown(ask, content)
    script = (
        "import verification.adapters.viewing, sys; "
        "print({'markdown_it', 'nh3', 'openpyxl', 'pypdfium2', 'PIL'} & set(sys.modules))"
    )
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True
    )

    assert ended.stdout == "set()\n"
