from __future__ import annotations

import re
from dataclasses import asdict, replace
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Role
from loomverify.env import environment
from tests.builders import evaluate, make_project, make_run, make_user, signed_in
from tests.gates import (
    CALC,
    PROBLEMS,
    TESTS,
    failed,
    going,
    make_gate,
    make_progress,
    passed,
)
from tests.judged import live_of
from verification.engine.outcome import Outcome, Status
from verification.engine.reports.model import (
    Coverage,
    FileCoverage,
    Problem,
    counted,
    gathered,
)
from verification.runs.evidence_store import delete_content
from verification.runs.models import BaseGateResult, GateResult, Run, RunState

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>\u202e'


@pytest.fixture
def run() -> Run:
    files = {"tests/test_calc.py": CALC}
    return make_run(make_project(), outcome=Outcome.FAIL, title="Write add", files=files)


def get(run: Run, path: str = "", *, status: int = 200, target: str = "") -> HttpResponse:
    url = path if path.startswith("/") else url_of(run) + path
    answer: Any = signed_in(make_user(run.project)).get(
        url, headers={"HX-Target": target} if target else {}
    )
    assert answer.status_code == status
    return answer  # type: ignore[no-any-return]


def html_of(run: Run, path: str = "", *, target: str = "") -> str:
    return get(run, path, target=target).content.decode()


def url_of(run: Run) -> str:
    return reverse("run_detail", args=[run.project.slug, run.uuid])


def gate_url(row: GateResult, *kept: str) -> str:
    run = row.evaluation.run
    name = "run_gate_text" if kept else "run_gate"
    return reverse(
        name, args=[run.project.slug, run.uuid, row.evaluation.uuid, row.position, *kept]
    )


def section(html: str) -> str:
    """The gates of a run's page."""
    found = re.search(r'<section class="sheet gap gates".*?</section>', html, re.DOTALL)
    return found[0] if found else ""


def test_a_run_without_gates_has_no_section_of_them(run: Run) -> None:
    assert section(html_of(run)) == ""


def test_gates_stand_on_one_time_axis_in_the_order_of_their_stages(run: Run) -> None:
    live = live_of(run)
    make_gate(live, "test", status=Status.FAILED, tests=TESTS, started_ms=6_000, duration_ms=2_000)
    make_gate(live, "install", started_ms=0, duration_ms=4_000)

    html = section(html_of(run))

    assert html.index(">install<") < html.index(">test<")
    assert 'x="0.00%" y="6" width="50.00%"' in html
    assert 'x="75.00%" y="6" width="25.00%"' in html
    assert re.findall(r'<text x="([^"]+)"[^>]*>(.+?)</text>', html) == [
        ("0.00%", "0"),
        ("25.00%", "2 s"),
        ("50.00%", "4 s"),
        ("75.00%", "6 s"),
    ]
    assert "1 passed, 1 failed" in html
    assert "8.0 s in all" in html


def test_a_status_is_told_by_a_word_beside_its_colour(run: Run) -> None:
    live = live_of(run)
    make_gate(live, "build")
    make_gate(live, "lint", status=Status.FAILED, problems=PROBLEMS)
    make_gate(live, "types", status=Status.SKIPPED, detail="No file says how.", duration_ms=0)
    make_gate(live, "run", status=Status.TIMED_OUT)

    html = section(html_of(run))

    assert "1 passed, 1 skipped, 1 failed, 1 timed out" in html
    assert "2 problems" in html
    assert "No file says how." in html
    assert html.count("<rect") == 3  # what did not run took no time


def test_a_gate_that_contradicts_itself_says_nothing_of_the_work(run: Run) -> None:
    row = make_gate(live_of(run), contradiction="ended well before its runner came to its end")

    listed, page = section(html_of(run)), html_of(run, gate_url(row))

    assert "1 undecided" in listed
    assert "It ended well before its runner came to its end." in page


def test_what_was_not_run_again_names_the_run_that_ran_it(run: Run) -> None:
    before = make_run(run.project, title="Write add before")
    row = make_gate(live_of(run), "types", reused_from=before, started_ms=90_000)
    make_gate(live_of(run), "test")

    listed, page = section(html_of(run)), html_of(run, gate_url(row))

    assert "1 of 2 was not run again, which saved 1.5 s: the same commands had run over" in listed
    assert f'href="{url_of(before)}#gates"' in listed
    assert listed.count("<rect") == 1  # it took no time of this run
    assert f'href="{url_of(before)}#gates"' in page


def test_what_was_not_run_again_is_told_when_the_run_that_ran_it_is_gone(run: Run) -> None:
    before = make_run(run.project)
    row = make_gate(live_of(run), "types", reused_from=before)
    GateResult.objects.update(reused_from=None)

    assert "None was run again" in section(html_of(run))
    assert "in a run that is no longer kept" in html_of(run, gate_url(row))


@pytest.mark.parametrize("target", ["", "gate-0"])
def test_a_gate_unfolds_to_its_command_its_end_and_its_tests(run: Run, target: str) -> None:
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS, exit_code=1)

    listed, html = section(html_of(run)), html_of(run, gate_url(row), target=target)

    assert f'<div id="gate-0" hx-get="{gate_url(row)}"' in listed
    assert ("<html" in html) is not bool(target)
    assert "run-test" in html
    assert 'exit code <span class="mono">1</span>' in html
    assert "assert 3 == 4" in html


def test_tests_that_failed_are_open_and_the_others_folded_and_counted(run: Run) -> None:
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS)

    html = html_of(run, gate_url(row))

    opened, closed = re.findall(r'<details class="fold part tests"(?: open)?>\s*<summary>.*', html)
    assert " open>" in opened
    assert "tests/test_calc.py" in opened
    assert "1 failed" in opened
    assert "1 passed" in opened  # it names no file: the suite does
    assert " open>" not in closed
    assert re.search("tests.test_io.*1 passed.*1 skipped", closed)


def test_a_flaky_test_is_counted_and_marked(run: Run) -> None:
    flaky = replace(passed("test_opens"), is_flaky=True, message="was true")
    row = make_gate(live_of(run), tests=counted([flaky, passed("test_adds")]))

    html = html_of(run, gate_url(row))

    assert "2 passed (1 flaky)" in html
    assert re.search('test_opens <span class="tag">flaky</span> .*was true', html)
    assert html.count(">flaky<") == 1


def test_of_many_failures_the_first_are_open(run: Run) -> None:
    row = make_gate(live_of(run), tests=counted([failed(f"test_{n}") for n in range(8)]))

    html = html_of(run, gate_url(row))

    assert html.count('<details class="call gate-test"') == 8
    assert html.count('<details class="call gate-test" open>') == 5


def test_a_failure_stands_with_the_lines_around_it_and_leads_to_its_place(run: Run) -> None:
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS)

    html = html_of(run, gate_url(row))

    lines = re.findall(r'<span class="l( hit)?" data-n="(\d+)">', html)
    assert lines == [("", "10"), ("", "11"), (" hit", "12"), ("", "13"), ("", "14")]
    assert "files/tests/test_calc.py?places=12.hard#L12" in html


@pytest.mark.parametrize(
    ("path", "line", "is_link"),
    [
        ("tests/test_calc.py", 4_000, True),  # it has no such line
        ("tests/test_calc.py", None, True),
        ("elsewhere.py", 3, False),
    ],
)
def test_a_place_that_was_not_submitted_is_told_without_its_lines(
    run: Run, path: str, line: int | None, is_link: bool
) -> None:
    tests = counted([failed("test_it", path=path, line=line)])
    row = make_gate(live_of(run), status=Status.FAILED, tests=tests)

    html = html_of(run, gate_url(row))

    assert path in html
    assert (f"files/{path}" in html) is is_link
    assert 'class="lines"' not in html


def test_more_tests_and_problems_than_a_page_holds_are_walked_through(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verification.runs.gating.report_page.MAX_CASES_SHOWN", 3)
    monkeypatch.setattr("verification.runs.gating.report_page.MAX_PROBLEMS_SHOWN", 1)
    tests = counted([*(passed(f"test_{n}") for n in range(4)), failed("test_bad")])
    row = make_gate(live_of(run), status=Status.FAILED, tests=tests, problems=PROBLEMS)

    first, second = html_of(run, gate_url(row)), html_of(run, f"{gate_url(row)}?tests=4&problems=2")

    assert "Tests 1 to 3 of 5, the worst first" in first
    assert "Problems 1 to 1 of 2, the worst first" in first
    assert [f"test_{one}" in first for one in ("bad", 0, 1, 2, 3)] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert f'href="{gate_url(row)}?tests=4">Next</a>' in first
    assert "Tests 4 to 5 of 5<" in second
    assert [f"test_{one}" in second for one in ("bad", 0, 1, 2, 3)] == [False] * 3 + [True] * 2
    assert ("F401" in first, "F401" in second) == (True, False)
    assert f'href="{gate_url(row)}?problems=1">Before</a>' in second


@pytest.mark.parametrize("asked", ["0", "-1", "x", "99999999", "9" * 5_000, "\u0663"])
def test_what_is_beyond_the_tests_is_their_end_or_their_begin(run: Run, asked: str) -> None:
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS, problems=PROBLEMS)

    html = html_of(run, f"{gate_url(row)}?tests={asked}&problems={asked}")

    assert "test_later" in html


def test_problems_stand_in_a_table_with_their_places(run: Run) -> None:
    row = make_gate(live_of(run), "lint", status=Status.FAILED, problems=PROBLEMS)

    html = html_of(run, gate_url(row))

    assert 'places=3.advisory#L3">tests/test_calc.py:3:8</a>' in html
    assert "F401" in html
    assert "`os` imported but unused" in html
    assert "no place" in html


def test_what_was_counted_in_a_text_for_people_is_marked(run: Run) -> None:
    tests = counted([passed("test_adds")], is_guess=True)
    row = make_gate(live_of(run), tests=tests)

    assert "guessed from the text" in section(html_of(run))
    assert "what was written for people was counted" in html_of(run, gate_url(row))


def test_a_report_that_the_work_names_itself_is_marked(run: Run) -> None:
    row = make_gate(live_of(run), tests=counted([passed("test_adds")]), is_word=True)

    for html in (section(html_of(run)), html_of(run, gate_url(row))):
        assert "the work's own word" in html
    other = make_gate(live_of(run), "lint", problems=PROBLEMS)
    assert "own word" not in html_of(run, gate_url(other))


def test_without_its_record_a_gate_still_shows_what_its_report_names(run: Run) -> None:
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS, problems=PROBLEMS)
    assert row.record is not None
    delete_content(run.project, f"{row.record.sha256[:2]}/{row.record.sha256}")

    html = html_of(run, gate_url(row))

    assert "test_divides" in html
    assert "F401" in html
    assert "3 more tests were counted, and are not kept one by one" in html


@pytest.mark.parametrize(("most", "is_read"), [(100_000, True), (10, False)])
def test_a_record_that_is_too_long_is_not_opened(
    run: Run, monkeypatch: pytest.MonkeyPatch, most: int, is_read: bool
) -> None:
    monkeypatch.setattr("verification.runs.gating.report_page.MAX_RECORD_BYTES", most)
    row = make_gate(live_of(run), status=Status.FAILED, tests=TESTS)

    assert ("test_adds" in html_of(run, gate_url(row))) is is_read


def test_a_log_is_plain_text_whatever_it_looks_like(run: Run) -> None:
    row = make_gate(live_of(run), log=b"<script>alert(1)</script>")

    answer = get(run, gate_url(row, "log"))

    assert answer.content == b"<script>alert(1)</script>"
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert answer["Content-Disposition"].startswith("inline;")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"


GONE = [("build", None), ("types", b"gone")]


def test_what_is_no_longer_kept_is_not_found(run: Run) -> None:
    without, lost = (make_gate(live_of(run), one, log=log) for one, log in GONE)
    assert lost.log is not None
    delete_content(run.project, f"{lost.log.sha256[:2]}/{lost.log.sha256}")

    for row in (without, lost):
        get(run, gate_url(row, "log"), status=404)
    get(run, gate_url(lost, "record"), status=404)
    get(run, gate_url(lost, "report"), status=404)
    assert "no longer stored" in html_of(run, gate_url(without))


@pytest.mark.parametrize("kept", [(), ("log",), ("record",)])
def test_a_gate_of_another_project_does_not_exist(run: Run, kept: tuple[str, ...]) -> None:
    row = make_gate(live_of(run), tests=TESTS)
    elsewhere = make_project()
    client = signed_in(make_user(elsewhere, Role.ADMIN))
    foreign = gate_url(row, *kept).replace(f"/{run.project.slug}/", f"/{elsewhere.slug}/")
    other_run = gate_url(row, *kept).replace(str(run.uuid), str(make_run(run.project).uuid))

    assert client.get(gate_url(row, *kept)).status_code == 404
    assert client.get(foreign).status_code == 404
    get(run, other_run, status=404)


@pytest.mark.parametrize("position", [7, 40_000, 10**30])
def test_a_gate_that_never_was_does_not_exist(run: Run, position: int) -> None:
    row = make_gate(live_of(run))

    get(run, gate_url(row).replace("/0/", f"/{position}/"), status=404)


def test_gates_that_ended_do_not_fold_while_the_page_refreshes() -> None:
    run = make_run(make_project(), state=RunState.RUNNING)
    row = make_gate(going(run))

    html = section(html_of(run))

    assert f'<a class="asked-row" href="{gate_url(row)}">' in html
    assert "<details" not in html


@pytest.mark.parametrize(
    ("sandbox", "sentence"),
    [
        ("docker", "Start a worker that reaches a Docker engine, or set LOOMVERIFY_SANDBOX=off"),
        ("off", "Set LOOMVERIFY_SANDBOX=docker, start a worker"),
    ],
)
@pytest.mark.parametrize("is_told_by", ["finding", "gate"])
def test_without_a_sandbox_the_page_says_what_to_do(
    run: Run, monkeypatch: pytest.MonkeyPatch, sandbox: str, sentence: str, is_told_by: str
) -> None:
    told = replace(environment(), sandbox=sandbox)
    monkeypatch.setattr("verification.runs.gating.page.environment", lambda: told)
    if is_told_by == "gate":
        make_gate(live_of(run), status=Status.ERROR, is_lost=True, detail="No engine answers.")
    else:
        run = make_run(run.project, findings=[{"reason_code": "sandbox_unavailable"}])

    html = section(html_of(run))

    assert sentence in html
    assert ("No gate was run." in html) is (is_told_by == "finding")
    assert ("No engine answers." in html) is (is_told_by == "gate")


def test_a_sandbox_that_was_wanting_before_is_not_asked_for_while_gates_run(run: Run) -> None:
    make_gate(live_of(run), status=Status.ERROR, is_lost=True)
    Run.objects.update(state=RunState.RUNNING, outcome=None, verdict="")
    make_progress(going(run))

    html = section(html_of(run))

    assert "Test runs." in html
    assert "LOOMVERIFY_SANDBOX" not in html


def test_everything_that_the_work_wrote_is_shown_as_text(run: Run) -> None:
    tests = counted([failed(HOSTILE, suite=HOSTILE, message=HOSTILE), passed(HOSTILE)])
    problems = gathered([Problem(HOSTILE, HOSTILE, 1, rule=HOSTILE)])
    words: dict[str, Any] = dict.fromkeys(("component", "command", "detail"), HOSTILE)
    row = make_gate(live_of(run), tests=tests, problems=problems, **words)
    running = make_run(run.project, state=RunState.RUNNING)
    make_progress(going(running), tail=HOSTILE, component=HOSTILE)

    for html in (section(html_of(run)), html_of(run, gate_url(row)), html_of(running)):
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "\u202e" not in html
        assert "&lt;script&gt;" in html


def test_ten_gates_take_as_many_queries_as_one(run: Run) -> None:
    other = make_run(run.project, outcome=Outcome.FAIL, files={"tests/test_calc.py": CALC})
    make_gate(live_of(run), tests=TESTS, reused_from=other)
    for number in range(10):
        make_gate(live_of(other), component=f"c{number}", tests=TESTS, reused_from=run)

    assert queries_of(url_of(other), run) == queries_of(url_of(run), run)


def test_many_failures_take_as_many_queries_as_one(run: Run) -> None:
    paths = [f"f{number}.py" for number in range(15)]
    other = make_run(run.project, files=dict.fromkeys(paths, CALC))
    many = counted([failed("test_it", path=path, line=3) for path in paths])
    one_row = make_gate(live_of(run), tests=TESTS)
    row = make_gate(live_of(other), tests=many)

    assert queries_of(gate_url(row), run) == queries_of(gate_url(one_row), run)


@pytest.mark.extended
def test_ten_thousand_tests_and_lines_of_many_files_are_a_page_like_others(run: Run) -> None:
    bad = [failed(f"t[{n}]", suite=f"m{n % 99}.T", message="E no\n" * 90) for n in range(1_000)]
    good = [passed(f"test_{n}", suite=f"m{n % 99}.T") for n in range(9_000)]
    lines = FileCoverage(frozenset(range(1, 90)), frozenset(range(90, 99)))
    files = Coverage({f"m{n}.py": lines for n in range(1_500)})
    row = make_gate(live_of(run), tests=counted([*bad, *good]), coverage=files)
    small = make_gate(live_of(run), "types", tests=TESTS)

    html = html_of(run, gate_url(row))

    assert queries_of(gate_url(row), run) <= queries_of(gate_url(small), run)
    assert len(html) < 400_000
    assert "Tests 1 to 150 of 10,000, the worst first" in html
    assert "Files 1 to 100 of 1,500, those least run first" in html
    assert f'href="{gate_url(row)}?files=101#covered-{row.position}">Next</a>' in html
    assert re.search(r"m0\.T.*?11 failed.*?91 passed", html, re.DOTALL)
    assert "m999.py" in html_of(run, f"{gate_url(row)}?files=1401")


def test_a_file_counts_its_tests_on_all_pages(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verification.runs.gating.report_page.MAX_CASES_SHOWN", 3)
    bad = failed("test_bad", suite="tests.test_calc", path="tests/test_calc.py", duration_ms=70)
    good = [passed(f"test_{n}", suite="tests.test_calc", duration_ms=1_000) for n in range(4)]
    row = make_gate(live_of(run), status=Status.FAILED, tests=counted([bad, *good]))

    first, second = html_of(run, gate_url(row)), html_of(run, f"{gate_url(row)}?tests=4")

    for html in (first, second):
        assert re.search("tests/test_calc.py.*1 failed.*4 passed.*4.1 s", html)
        assert "<summary>2 of 4 passed</summary>" in html
    assert '<details class="fold part tests" open>' in first
    assert '<details class="fold part tests">' in second  # what failed in it stands elsewhere


@pytest.mark.parametrize("name", ["test of python", "test of . (python)"])
def test_what_a_gate_says_begins_without_its_name_which_stands_beside_it(
    run: Run, name: str
) -> None:
    make_gate(live_of(run), status=Status.TIMED_OUT, detail=f"{name} took longer than 9 s.")

    html = section(html_of(run))

    assert "<bdi>Took longer than 9 s.</bdi>" in html


def test_a_gate_that_was_lost_before_it_began_has_neither_a_time_nor_an_output(run: Run) -> None:
    row = make_gate(
        live_of(run), status=Status.ERROR, is_lost=True, log=None, exit_code=None, duration_ms=0
    )

    listed, html = section(html_of(run)), html_of(run, gate_url(row))

    assert "0 ms" not in listed + html
    assert "<rect" not in listed
    assert "it was not run" in html
    assert "no longer stored" not in html


def queries_of(url: str, run: Run) -> int:
    client = signed_in(make_user(run.project))
    client.get(url)
    with CaptureQueriesContext(
        connection,
    ) as found:
        assert client.get(url).status_code == 200
    return len(found)


def test_an_evaluation_beside_the_one_that_counts_shows_its_own_gates(run: Run) -> None:
    beside = evaluate(run, purpose="reverify")
    make_gate(live_of(run), "build")
    row = make_gate(beside, "types")

    html = section(html_of(run, f"?evaluation={beside.uuid}"))

    assert gate_url(row) in html
    assert ">types<" in html
    assert ">build<" not in html


def test_what_failed_before_the_work_is_marked_and_its_gates_stand_below(run: Run) -> None:
    evaluation = live_of(run)
    found = counted([failed("old", suite="tests"), failed("new", suite="tests"), passed("good")])
    row = make_gate(evaluation, status=Status.FAILED, tests=found)
    new = {"name": "new", "suite": "tests"}
    row.report |= {
        "failures": [one for one in row.report["failures"] if one["name"] == new["name"]],
        "old_failures": 1,
        "changed_lines": [3, 5],
        "unrun": [["tests/test_calc.py", 2, 2], ["gone.py", 4, 9]],
        "unreported": [["gone.py", 2]],
        "is_coverage_word": True,
    }
    row.save()
    BaseGateResult.objects.create(
        evaluation=evaluation, gate="test", status="failed", tests={"failed": 1, "passed": 1}
    )

    html, report = section(html_of(run)), html_of(run, gate_url(row))

    assert "1 of them before the work · 3 of 5 new lines run" in html
    assert "3 of 5 new lines run; 2 new lines in gone.py were in no report <span" in report
    assert "Before the work" in html
    assert "1 passed, 1 failed" in html.partition("Before the work")[2]
    old, fresh = (report.partition(f"{name}</b>")[2][:60] for name in ("old", "new"))
    assert ("before the work, too" in old, "before the work, too" in fresh) == (True, False)
    covered = report[report.index('class="covered"') :]
    assert 'files/tests/test_calc.py?places=2.advisory#L2">2</a>' in covered
    assert 'class="l hit-advisory" data-n="2">' in covered
    assert re.findall(r'data-n="(\d+)"', covered) == ["1", "2", "3", "4"]
    assert "run by no test: 4-9</span>" in covered.partition("gone.py")[2]


def test_of_tests_of_one_name_the_one_in_the_file_that_failed_before_is_marked(run: Run) -> None:
    both = [failed("renders", path=one, file=one) for one in ("a.test.js", "b.test.js")]
    row = make_gate(live_of(run), status=Status.FAILED, tests=counted(both))
    row.report |= {"failures": row.report["failures"][1:], "old_failures": 1}
    row.save()

    report = html_of(run, gate_url(row))

    old, fresh = (part[:400] for part in report.split("renders</b>")[1:])
    assert ("before the work, too" in old, "before the work, too" in fresh) == (True, False)


def test_a_problem_tells_who_accepts_it_and_which_was_there_before(run: Run) -> None:
    old, new, waived = (Problem(f"It is {one}.", "a.py", 1, rule="S602") for one in "onw")
    found = gathered([old, new, waived])
    row = make_gate(live_of(run), "security", status=Status.FAILED, problems=found)
    accepted = replace(waived, waived="Waived by <Ann>: ours.", anchor="0a1b2c3d")
    row.report |= {
        "problems": [asdict(one) for one in (replace(new, anchor="0a1b2c3e"), accepted)],
        "old_problems": 1,
    }
    row.save()

    assert "3 problems · 1 of them before the work · 1 waived" in section(html_of(run))
    rows = re.findall(r"<tr>.*?</tr>", html_of(run, gate_url(row)), re.DOTALL)[1:]

    assert ["before the work, too" in one for one in rows] == [True, False, False]
    assert ["Waived by &lt;Ann&gt;: ours." in one for one in rows] == [False, False, True]
