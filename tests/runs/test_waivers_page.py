from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_user, signed_in
from tests.waivers import REASON, SHELL, finding_of, in_days, make_waiver, problem, rejected
from verification.runs.models import Run, Waiver

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def run() -> Run:
    return rejected(make_project(), title="Write the release script")


def visitor(project: Project, role: Role = Role.REVIEWER) -> Client:
    return signed_in(make_user(project, role))


def list_of(project: Project, query: str = "") -> str:
    return reverse("waiver_list", args=[project.slug]) + query


def page(project: Project, query: str = "", *, role: Role = Role.VIEWER) -> str:
    answer = visitor(project, role).get(list_of(project, query))
    assert answer.status_code == 200
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def run_url(run: Run) -> str:
    return reverse("run_detail", args=[run.project.slug, run.uuid])


def form_url(run: Run) -> str:
    return reverse("waiver_new", args=[run.project.slug, run.uuid, finding_of(run).fingerprint])


def act(client: Client, waiver: Waiver, verb: str, **body: str) -> Any:
    return client.post(reverse(f"waiver_{verb}", args=[waiver.project.slug, waiver.uuid]), body)


def test_a_reviewer_is_led_from_the_finding_to_the_form_and_back_to_the_run(run: Run) -> None:
    client = visitor(run.project)

    assert form_url(run) in client.get(run_url(run)).content.decode()
    form = words(client.get(form_url(run)).content.decode())
    answer = client.post(form_url(run), {"reason": REASON, "until": str(in_days(90))})

    for part in (SHELL, "tools/release.py:12", "it rejects the work", "90 days", str(in_days(90))):
        assert part in form
    finding = finding_of(run)
    assert answer["Location"] == f"{run_url(run)}?finding={finding.fingerprint}#findings-title"
    assert Waiver.objects.get().until == in_days(90)
    after = client.get(run_url(run)).content.decode()
    assert f"Waived since, until {in_days(90)}" in words(after)
    assert form_url(run) not in after


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"reason": "short"}, "at least 10 characters"),
        ({"reason": " " * 40 + "x"}, "at least 10 characters"),
        ({"until": "soon"}, "Enter a valid date"),
        ({"until": "2001-01-01"}, "Name a day from tomorrow"),
    ],
)
def test_a_form_that_says_too_little_is_shown_again_with_what_was_said(
    run: Run, body: dict[str, str], said: str
) -> None:
    answer = visitor(run.project).post(
        form_url(run), {"reason": REASON, "until": str(in_days(30)), **body}
    )

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Waiver.objects.exists()


def test_what_is_waived_already_is_said_on_the_form(run: Run) -> None:
    make_waiver(run)

    answer = visitor(run.project).post(form_url(run), {"reason": REASON, "until": str(in_days(30))})

    assert (answer.status_code, Waiver.objects.count()) == (422, 1)
    assert "This finding is waived already." in answer.content.decode()


@pytest.mark.parametrize("fields", [{"path": ""}, {"rule": "build", "reason_code": "build_failed"}])
def test_what_cannot_be_waived_is_offered_to_nobody(fields: dict[str, str]) -> None:
    run = rejected(make_project(), problem(**fields))
    client = visitor(run.project)

    assert "Waive…" not in client.get(run_url(run)).content.decode()
    assert client.get(form_url(run)).status_code == 404


def test_who_may_not_waive_reads_and_is_offered_nothing(run: Run) -> None:
    made = make_waiver(rejected(run.project))
    agent, elsewhere = visitor(run.project, Role.AGENT), visitor(make_project(), Role.ADMIN)

    assert "Waive…" not in agent.get(run_url(run)).content.decode()
    assert "End it now" not in page(run.project, role=Role.AGENT)
    assert "End it now" in page(run.project, role=Role.REVIEWER)
    assert agent.get(form_url(run)).status_code == 403
    assert elsewhere.get(form_url(run)).status_code == 404
    for verb in ("end", "undo"):
        assert act(agent, made, verb).status_code == 403
        assert act(elsewhere, made, verb).status_code == 404
    made.refresh_from_db()
    assert made.ended_at is None


def test_a_finding_that_was_waived_when_it_counted_leads_to_its_waiver() -> None:
    said = "Waived by Ann until 2030-01-31: constants alone."
    waived = problem(enforcement="observe", message=f"{SHELL} {said}", place={"waived": said})
    run = rejected(make_project(), waived)
    made = make_waiver(run)

    html = visitor(run.project, Role.VIEWER).get(run_url(run)).content.decode()

    assert f"{list_of(run.project)}?finding={made.fingerprint}" in html
    assert '<span class="tag">waived</span>' in html
    assert said in html
    assert "1 finding is waived." in html
    assert "Verify the run again" not in html
    Waiver.objects.update(ended_at=timezone.now())
    assert "which is over" in visitor(run.project).get(run_url(run)).content.decode()


def test_each_is_shown_with_what_why_who_and_how_long(run: Run) -> None:
    made = make_waiver(run)

    told = words(page(run.project))

    for part in (
        SHELL, "tools/release.py", "small-work", REASON, "Ann (ann)", "30 days left",
        f"until {made.until}", "Write the release script", "all 1 active 1 expired 0 ended 0",
    ):  # fmt: skip
        assert part in told


def test_states_and_words_filter_by_the_address(run: Run) -> None:
    now = timezone.now()
    active = make_waiver(run, reason="A constant of ours, checked by Bob")
    over = make_waiver(rejected(run.project), expires_at=now - timedelta(days=1))
    ended = make_waiver(rejected(run.project), ended_at=now, ended_name="Bob")

    def shown(query: str) -> set[str]:
        return set(re.findall('<li id="waiver-([0-9a-f-]+)"', page(run.project, query)))

    assert shown("") == {str(one.uuid) for one in (active, over, ended)}
    assert shown("?state=active") == {str(active.uuid)}
    assert shown("?state=expired") == {str(over.uuid)}
    assert shown("?state=ended") == {str(ended.uuid)}
    assert shown("?q=checked+by") == {str(active.uuid)}
    assert shown(f"?finding={over.fingerprint}") == {str(over.uuid)}
    assert shown("?q=nothing+of+it") == set()


def test_the_counts_are_of_what_was_searched_for(run: Run) -> None:
    make_waiver(run, reason="A constant of ours, checked by Bob")
    make_waiver(rejected(run.project), reason="Made of nothing but constants.")

    assert "all 1 active 1 expired 0 ended 0" in words(page(run.project, "?q=checked+by"))
    assert "all 2 active 2 expired 0 ended 0" in words(page(run.project, "?state=ended"))
    nothing = words(page(run.project, "?q=nothing+of+it"))
    assert "all 0 active 0 expired 0 ended 0" in nothing
    assert "None fits this filter." in nothing


def test_a_waiver_leads_to_its_own_finding_among_others() -> None:
    other, own = problem(message="S307: eval"), problem(message="S608: SQL")
    run = rejected(make_project(), other, own)
    make_waiver(run, fingerprint=own["fingerprint"])

    found = re.search(r'href="([^"]+\?finding=[0-9a-f]+)#findings-title"', page(run.project))

    assert found
    html = visitor(run.project).get(found[1]).content.decode()
    chosen = html[: html.index('aria-current="true">', html.index('id="finding-'))]
    assert chosen.rpartition('id="finding-')[2].startswith("2")


def test_the_form_shows_the_line_among_its_neighbours() -> None:
    code = b"".join(b"line_%d = %d\n" % (n, n) for n in range(1, 30))
    run = rejected(make_project(), files={"tools/release.py": code})

    html = visitor(run.project).get(form_url(run)).content.decode()

    assert "tools/release.py?places=12.hard#L12" in html
    assert re.findall(r'data-n="(\d+)"', html) == ["10", "11", "12", "13", "14"]
    assert 'class="l hit" data-n="12"' in html


def test_lines_of_a_reason_end_as_everywhere(run: Run) -> None:
    body = {"reason": "It is ours.\r\nSee SEC-12.", "until": str(in_days(30))}

    visitor(run.project).post(form_url(run), body)

    assert Waiver.objects.get().reason == "It is ours.\nSee SEC-12."


def test_the_last_days_of_a_waiver_stand_out(run: Run) -> None:
    make_waiver(run, expires_at=timezone.now() + timedelta(days=3))

    assert '<span class="is-warn strong">' in page(run.project)


@pytest.mark.parametrize(
    ("query", "status"), [("?state=open", 400), ("?q=%00", 404), ("?finding=%00", 404)]
)
def test_a_filter_that_means_nothing_is_refused(run: Run, query: str, status: int) -> None:
    assert visitor(run.project).get(list_of(run.project, query)).status_code == status


def test_an_ending_is_offered_back_for_a_few_minutes(run: Run) -> None:
    made, client = make_waiver(run), visitor(run.project)

    answer = act(client, made, "end")
    notice = client.get(answer["Location"]).content.decode()
    undone = act(client, made, "undo")

    assert "what it accepted counts again" in notice
    assert reverse("waiver_undo", args=[run.project.slug, made.uuid]) in notice
    assert undone["Location"] == list_of(run.project)
    made.refresh_from_db()
    assert made.ended_at is None
    late = list_of(run.project, f"?over={made.uuid}")
    assert "counts again" not in client.get(late).content.decode()
    assert client.get(list_of(run.project, "?over=x")).status_code == 200


def test_ending_twice_is_said_and_changes_nothing(run: Run) -> None:
    made, client = make_waiver(run), visitor(run.project)
    act(client, made, "end")

    answer = client.post(
        reverse("waiver_end", args=[run.project.slug, made.uuid]),
        {"next": list_of(run.project, "?state=ended")},
        follow=True,
    )

    assert answer.redirect_chain[-1][0].endswith("?state=ended")
    assert "This waiver is over already." in answer.content.decode()


def test_hostile_words_are_shown_and_do_nothing(run: Run) -> None:
    hostile = problem(message=HOSTILE, path=HOSTILE)
    made = make_waiver(rejected(run.project, hostile), reason=HOSTILE, created_name=HOSTILE)
    client = visitor(run.project)

    html = page(run.project) + page(run.project, f"?over={made.uuid}")
    html += client.get(form_url(made.run)).content.decode() if made.run else ""

    assert "<script>alert" not in html
    assert "\u202e" not in html


def test_the_table_holds_what_the_list_is_filtered_to(run: Run) -> None:
    make_waiver(run, reason="=HYPERLINK(1) is a constant")
    make_waiver(rejected(run.project), ended_at=timezone.now(), ended_name="Bob")
    client = visitor(run.project, Role.VIEWER)

    answer: Any = client.get(reverse("waiver_export", args=[run.project.slug]) + "?state=active")

    text = b"".join(answer.streaming_content).decode()
    header, row = text.removeprefix("\ufeff").splitlines()
    assert header.startswith("id,state,process,rule,path")
    assert "'=HYPERLINK(1)" in row
    assert answer["Content-Disposition"] == 'attachment; filename="waivers.csv"'


def test_an_empty_page_says_how_a_finding_is_waived(run: Run) -> None:
    html = page(run.project)

    assert "Nothing is waived." in html
    assert "?reason_code=security_failed" in html


@pytest.mark.extended
def test_a_longer_list_and_more_findings_ask_no_more_queries(run: Run) -> None:
    client = visitor(run.project)
    many = rejected(run.project, *(problem(line=n) for n in range(9)))
    counts: dict[str, list[int]] = {}
    for shown in (run, many):
        make_waiver(shown)
        for name, url in (("list", list_of(run.project)), ("run", run_url(shown))):
            client.get(url)
            with CaptureQueriesContext(connection) as queries:
                client.get(url)
            counts.setdefault(name, []).append(len(queries))

    assert all(few == more for few, more in counts.values())


def test_more_than_a_page_are_turned_over(run: Run) -> None:
    found = finding_of(run)
    for number in range(52):
        make_waiver(run, fingerprint=f"{number:064x}", path=found.path)

    first = page(run.project, "?state=active")
    older = re.search(r'rel="next"[^>]*href="([^"]+)"', first)

    assert older is not None
    assert page(run.project, unescape(older[1])).count('<li id="waiver-') == 2
