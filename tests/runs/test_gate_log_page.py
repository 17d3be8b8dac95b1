from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.builders import make_project, make_run, make_user, signed_in
from tests.gates import make_gate
from tests.judged import live_of
from tests.tables import check_rows
from verification.adapters.sandbox.capture import MAX_STREAM_BYTES, HeadAndTail
from verification.engine.outcome import Outcome
from verification.runs.evidence_store import delete_content
from verification.runs.models import GateResult, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make_run(make_project(), outcome=Outcome.FAIL)


def page_of(row: GateResult, query: str = "", *, status: int = 200) -> str:
    run = row.evaluation.run
    url = reverse(
        "run_gate_log", args=[run.project.slug, run.uuid, row.evaluation.uuid, row.position]
    )
    answer = signed_in(make_user(run.project)).get(url + query)
    assert answer.status_code == status
    return answer.content.decode()


def lines_of(html: str) -> list[tuple[str, str]]:
    return re.findall(r'<span class="l" data-n="(\d+)" id="L\d+">(.*?)</span>(?=<|\n)', html)


def test_what_a_gate_wrote_is_shown_line_by_line_in_its_colours(run: Run) -> None:
    row = make_gate(live_of(run), log=b"\x1b[32mok\x1b[0m\n<b>\n\xff\n")

    html = page_of(row)

    assert '<span class="t-green">ok</span>' in html
    assert 'data-n="2" id="L2">&lt;b&gt;</span>' in html
    assert "\ufffd" in html
    assert "Lines 1 to" not in html  # all of it stands there


def test_the_cut_between_head_and_tail_is_told_where_it_is_and_above(run: Run) -> None:
    captured = HeadAndTail()
    for number in range(30_000):
        captured.add(b"%099d\n" % number)
    row = make_gate(live_of(run), log=captured.content())

    first, cut = page_of(row), page_of(row, "?from=5000")

    said = re.search(r"([\d,]+) bytes of the middle are left out, after.*?line ([\d,]+)", first)
    assert said
    assert said.groups() == ("2,000,000", "5,001")
    assert 'id="L5002">2,000,000 bytes are left out here.</span>' in cut
    assert "Lines 5,000 to 6,999 of 10,002" in cut


def test_a_short_log_that_speaks_of_a_cut_was_not_cut(run: Run) -> None:
    row = make_gate(live_of(run), log="… 77 bytes left out …\n".encode())

    assert "of the middle" not in page_of(row)


@check_rows(
    ("query", "first", "ways"),
    [
        ("", 1, {"Next": 2_001, "Last": 3_001}),
        ("?from=2001", 2_001, {"First": 1, "Before": 1, "Next": 4_001, "Last": 3_001}),
        ("?from=3001", 3_001, {"First": 1, "Before": 1_001}),
        ("?from=99999999", 5_000, {"First": 1, "Before": 3_000}),
        ("?from=0", 1, {"Next": 2_001, "Last": 3_001}),
        ("?from=x", 1, {"Next": 2_001, "Last": 3_001}),
        ("?from=-4", 1, {"Next": 2_001, "Last": 3_001}),
        ("?from=" + "9" * 5_000, 1, {"Next": 2_001, "Last": 3_001}),
    ],
    rollback=True,
)
def test_a_long_log_is_walked_through(
    run: Run, query: str, first: int, ways: dict[str, int]
) -> None:
    row = make_gate(live_of(run), log=b"".join(b"%d\n" % n for n in range(1, 5_001)))

    html = page_of(row, query)

    assert lines_of(html)[0] == (str(first), str(first))
    walk = html[html.index('aria-label="Lines"') :].partition("</nav>")[0]
    assert {word: int(at) for at, word in re.findall(r'from=(\d+)">(\w+)<', walk)} == ways


def test_a_gate_that_wrote_nothing_says_so(run: Run) -> None:
    assert "It wrote nothing." in page_of(make_gate(live_of(run), log=b""))


def test_a_log_that_is_no_longer_kept_is_not_found(run: Run) -> None:
    without = make_gate(live_of(run), "build", log=None)
    lost = make_gate(live_of(run), "types", log=b"gone")
    assert lost.log is not None
    delete_content(run.project, f"{lost.log.sha256[:2]}/{lost.log.sha256}")

    for row in (without, lost):
        page_of(row, status=404)


@pytest.mark.extended
def test_a_log_of_two_megabytes_is_bounded_on_the_page(run: Run) -> None:
    row = make_gate(live_of(run), log=b"\x1b[31m.\x1b[0m" * (MAX_STREAM_BYTES // 5))

    html = page_of(row)

    assert len(html) < 200_000
    assert "characters more" in html
