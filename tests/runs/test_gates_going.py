"""What the page shows of gates while they run."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from loomverify.env import environment
from tests.builders import make_process, make_project, make_run, make_user, signed_in
from tests.gates import going, make_progress
from verification.engine.gates import GateReport
from verification.engine.outcome import Status
from verification.runs.gating.progress import TAIL_CHARS, Progress
from verification.runs.models import Evaluation, GateProgress, Run, RunState

pytestmark = pytest.mark.django_db


@pytest.fixture
def run() -> Run:
    return make_run(make_project(), state=RunState.RUNNING, title="Write add")


def url_of(run: Run, name: str = "run_detail", *more: int) -> str:
    return reverse(name, args=[run.project.slug, run.uuid, *more])


def html_of(run: Run, url: str, **headers: str) -> str:
    return get(run, url, **headers).content.decode()


def get(run: Run, url: str, **headers: str) -> HttpResponse:
    answer: Any = signed_in(make_user(run.project)).get(url, headers=headers)
    return answer  # type: ignore[no-any-return]


def lines_of(html: str) -> list[str]:
    return re.findall(r'<span class="l">(.*?)</span>', html)


def next_of(html: str) -> str:
    """The address that the time axis asks next."""
    found = re.search(r'id="gates-going" hx-get="([^"]+)"', html)
    assert found
    return found[1]


def write(row: GateProgress, text: str) -> None:
    row.written, row.tail = row.written + len(text), (row.tail + text)[-TAIL_CHARS:]
    row.save()


def test_the_page_shows_which_gates_run_since_when_and_what_they_write(run: Run) -> None:
    evaluation, now = going(run), timezone.now()
    make_progress(
        evaluation,
        "build",
        status="passed",
        started_at=now - timedelta(minutes=8),
        ended_at=now - timedelta(minutes=6),
    )
    row = make_progress(evaluation, "test", started_at=now - timedelta(minutes=4), tail="a\nb\n1 %")

    html = html_of(run, url_of(run))

    assert '<span id="gates-now">Test runs.</span>' in html
    assert lines_of(html) == ["a", "b", "1 %"]
    assert html.count('class="gate-pane"') == 1  # of what is over nothing comes any more
    bars = re.findall(r'<rect class="([^"]+)" x="([\d.]+)%"[^>]* width="([\d.]+)%"', html)
    assert [one[0] for one in bars] == ["s-pass p-pass", "s-open p-open is-going"]
    assert [float(one[1]) for one in bars] == pytest.approx([0, 50], abs=8)
    assert [float(one[2]) for one in bars] == pytest.approx([25, 50], abs=8)
    assert next_of(html) == f"{url_of(run, 'run_gates_live')}?seen={row.pk}:4"  # 1 % may change


GATED = """\
name: gated
phases:
  - {id: build, description: Build it., gates: [test, build]}
"""


@pytest.mark.parametrize("sandbox", ["docker", "off"])
def test_before_the_first_gate_begins_the_page_says_which_are_to_come(
    monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    told = replace(environment(), sandbox=sandbox)
    monkeypatch.setattr("verification.runs.gating.page.environment", lambda: told)
    project = make_project()
    process = make_process(project, slug="gated", source_text=GATED)
    run = make_run(project, process=process, state=RunState.RUNNING)
    evaluation = going(run)

    before = html_of(run, url_of(run))
    make_progress(evaluation, "build")
    after = html_of(run, url_of(run))

    assert ("<b>Being prepared:</b> build, test." in before) is (sandbox == "docker")
    assert "Being prepared" not in after
    steps = [html.partition('class="climb')[2].partition("</ol>")[0] for html in (before, after)]
    assert ["under way" in html for html in steps] == [False, True]


def test_between_two_gates_the_page_says_how_many_are_over(run: Run) -> None:
    make_progress(going(run), "build", status="passed", ended_at=timezone.now())

    html = html_of(run, url_of(run))

    assert "1 over; the next one is being prepared." in html
    assert lines_of(html) == ["collected 2 items"]  # stays, so that nothing jumps


def test_a_log_that_is_being_written_is_not_read_out(run: Run) -> None:
    make_progress(going(run))

    html = html_of(run, url_of(run))

    assert 'role="log" aria-live="off"' in html
    assert html.count('aria-live="polite"') == 2  # the verdict, and which gate runs
    assert not re.search(r'<div id="body"[^>]*aria-live', html)


def test_what_is_looked_at_stays_while_the_page_around_it_is_exchanged(run: Run) -> None:
    make_progress(going(run))

    assert re.search(r'id="gates"[^>]* hx-preserve="true">', html_of(run, url_of(run)))


def test_a_gate_that_writes_nothing_says_so_and_why_where_that_is_known(run: Run) -> None:
    evaluation = going(run)
    make_progress(evaluation, "build", status="passed", ended_at=timezone.now(), tail="")
    make_progress(evaluation, "test", tail="")

    plainly = html_of(run, url_of(run))
    Project.objects.update(redaction_patterns=["key-[0-9]+"])
    veiled = html_of(run, url_of(run))

    assert "It has written nothing yet." in plainly
    assert "It wrote nothing" in plainly
    assert "What it writes is redacted, and shown when the gate has ended." in veiled
    assert "written nothing yet" not in veiled
    assert "It wrote nothing" not in veiled


def test_each_poll_brings_what_was_written_since(run: Run) -> None:
    row = make_progress(going(run), tail="one\ntw")
    first = html_of(run, url_of(run))
    write(row, "o\nthree\nfo")

    html = html_of(run, next_of(first), **{"HX-Target": "gates-going"})

    appended, rest = html.split(f'id="log-{row.pk}-rest"')
    assert f'hx-swap-oob="beforeend:#log-{row.pk}-lines"' in appended
    assert lines_of(appended) == ["two", "three"]
    assert lines_of(rest) == ["fo"]
    assert next_of(html).endswith(f"?seen={row.pk}:14")
    assert "gate-pane" not in html


def test_more_than_is_kept_is_told(run: Run) -> None:
    row = make_progress(going(run), tail="one\n")
    first = html_of(run, url_of(run))
    write(row, f"{'x' * 99}\n" * 700)

    html = html_of(run, next_of(first))

    assert len(lines_of(html)) == TAIL_CHARS // 100
    assert "6000 characters came in between" in html


def test_a_gate_that_begins_brings_its_pane_and_one_that_ended_takes_it_away(run: Run) -> None:
    evaluation = going(run)
    build = make_progress(evaluation, "build")
    first = html_of(run, url_of(run))
    GateProgress.objects.update(status="passed", ended_at=timezone.now())
    test = make_progress(evaluation, "test")

    html = html_of(run, next_of(first))

    assert 'hx-swap-oob="beforeend:#gate-panes"' in html
    assert f'id="pane-{test.pk}"' in html
    assert f'<div id="pane-{build.pk}" hx-swap-oob="delete">' in html
    assert next_of(html).endswith(f"?seen={test.pk}:18")


def test_a_gate_that_is_tried_once_more_is_shown_from_its_begin(run: Run) -> None:
    row = make_progress(going(run), tail="first try\n" * 9)
    first = html_of(run, url_of(run))
    row.written, row.tail = 5, "next\n"
    row.save()

    assert lines_of(html_of(run, next_of(first))) == ["next"]


@pytest.mark.parametrize("seen", ["", "x", "1:", f"{10**30}:{10**30}", "1:1," * 9_000, "-1:-1"])
def test_what_is_odd_in_an_address_was_not_seen(run: Run, seen: str) -> None:
    make_progress(going(run))

    answer = get(run, f"{url_of(run, 'run_gates_live')}?seen={seen}")

    assert answer.status_code == 200
    assert lines_of(answer.content.decode()) == ["collected 2 items"]


def test_once_the_run_is_over_there_is_nothing_to_follow(run: Run) -> None:
    row = make_progress(going(run))
    Run.objects.update(state=RunState.CANCELLED)
    GateProgress.objects.all().delete()
    alone = url_of(run, "run_gate_live", row.pk)

    assert get(run, url_of(run, "run_gates_live")).status_code == 204
    assert get(run, alone)["Location"] == f"{url_of(run)}#gates"
    assert get(run, alone, **{"HX-Request": "true"})["HX-Redirect"] == f"{url_of(run)}#gates"
    assert get(run, url_of(run, "run_gate_live", 10**30)).status_code == 302


def test_one_gate_has_a_page_of_its_own_also_when_it_is_over(run: Run) -> None:
    evaluation = going(run)
    row = make_progress(evaluation, "lint", status="failed", ended_at=timezone.now(), tail="bad\n")
    make_progress(evaluation, "test", tail="good\n")

    html = html_of(run, url_of(run, "run_gate_live", row.pk))

    assert lines_of(html) == ["bad"]
    assert "hx-trigger" not in html  # nothing comes any more


def test_output_that_goes_on_is_of_its_own_project_alone(run: Run) -> None:
    row = make_progress(going(run))
    elsewhere = signed_in(make_user(make_project(), Role.ADMIN))

    for url in (url_of(run, "run_gates_live"), url_of(run, "run_gate_live", row.pk)):
        assert elsewhere.get(url).status_code == 404


def test_twenty_gates_take_as_many_queries_as_one(run: Run) -> None:
    def asked() -> int:
        client = signed_in(make_user(run.project))
        client.get(url_of(run, "run_gates_live"))
        with CaptureQueriesContext(connection) as found:
            client.get(url_of(run, "run_gates_live"))
        return len(found)

    evaluation = going(run)
    make_progress(evaluation)
    one = asked()
    for number in range(20):
        make_progress(evaluation, component=f"c{number}", status="passed" if number % 2 else "")

    assert asked() == one


@pytest.fixture
def progress(run: Run, monkeypatch: pytest.MonkeyPatch) -> Progress:
    monkeypatch.setattr("verification.runs.gating.progress.SAVE_SECONDS", 0.0)
    return Progress(going(run).pk)


def test_a_gate_is_shown_from_its_begin_and_its_end_is_kept(progress: Progress) -> None:
    progress.add(". (go)", "build", b"")
    progress.save()
    begun = GateProgress.objects.get()
    progress.end(". (go)", GateReport("build", Status.PASSED))
    progress.save()
    ended = GateProgress.objects.get()

    assert (begun.status, begun.written, begun.ended_at) == ("", 0, None)
    assert ended.status == "passed"
    assert ended.ended_at is not None
    assert ended.ended_at >= ended.started_at == begun.started_at


def test_a_character_that_comes_in_two_pieces_is_one(progress: Progress) -> None:
    for chunk in (b"gr\xc3", b"\xbc\xc3\x9f\x00", b"\xff\n"):
        progress.add(". (go)", "test", chunk)
    progress.save()

    row = GateProgress.objects.get()
    assert (row.tail, row.written) == ("grüß\ufffd\ufffd\n", 7)


def test_the_end_of_what_was_written_is_kept_and_all_of_it_counted(progress: Progress) -> None:
    for number in range(900):
        progress.add(". (go)", "test", b"%099d\n" % number)
    progress.save()

    row = GateProgress.objects.get()
    assert row.written == 90_000
    assert len(row.tail) == TAIL_CHARS
    assert row.tail.endswith("899\n")


def test_a_gate_that_begins_once_more_is_not_over(progress: Progress) -> None:
    progress.add("", "test", b"first\n")
    progress.end("", GateReport("test", Status.FAILED))
    progress.add("", "test", b"")
    progress.add("", "test", b"second\n")
    progress.save()

    row: GateProgress = GateProgress.objects.get()
    assert (row.status, row.ended_at, row.tail, row.written) == ("", None, "second\n", 7)


def test_an_evaluation_beside_the_run_is_not_what_goes_on(run: Run) -> None:
    evaluation = going(run)
    make_progress(evaluation)
    Evaluation.objects.update(trial_id=7)

    assert get(run, url_of(run, "run_gates_live")).status_code == 204
