from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_task, make_user, signed_in
from tests.judged import make_remediation
from verification.runs.models import Event, Remediation, Run
from verification.runs.models.followup import RemediationState

pytestmark = pytest.mark.django_db
CLAIM = {"text": "It grew by 4 %.", "label": "inferred", "section": "supporting", "evidence": []}
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def run(project: Project) -> Run:
    return make_run(project, task=make_task(project.processes.get(), "market-7"))


def visitor(project: Project, role: Role = Role.VIEWER) -> Client:
    return signed_in(make_user(project, role))


def page(project: Project, query: str = "", *, role: Role = Role.VIEWER) -> str:
    answer = visitor(project, role).get(reverse("remediation_list", args=[project.slug]) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def post(client: Client, row: Remediation, verb: str, **body: str) -> int:
    url = reverse(f"remediation_{verb}", args=[row.project.slug, row.uuid])
    return client.post(url, body).status_code


def test_each_is_shown_with_what_it_asks_for_who_has_it_and_how_long_it_waits(run: Run) -> None:
    make_remediation(
        run,
        request={
            "reason_code": "recommendation_pruned",
            "claims": [CLAIM],
            "instructions": "Cite.",
        },
        expires_at=timezone.now() + timedelta(hours=2, minutes=5, seconds=30),
        attempts=1,
    )

    told = words(page(run.project))

    for part in (
        "Confirm or take out", "1 claim", "market-7", "2 h 5 min left", "1 of 2 attempts",
        "Unconfirmed recommendations were taken out", "It grew by 4 %.", "inferred", "Cite.", "nobody yet",
    ):  # fmt: skip
        assert part in told


def test_one_on_a_rule_says_which_and_what_was_found(run: Run) -> None:
    request = {
        "reason_code": "rule_violated",
        "rule": "figures-have-sources",
        "message": "No source.",
        "path": "size.md",
        "line": 8,
        "suggestion": "Add it.",
        "claims": [],
    }
    make_remediation(run, request=request)

    told = words(page(run.project))

    for part in ("Rule figures-have-sources ·", "No source. size.md:8", "Suggestion Add it."):
        assert part in told
    assert "0 claims" not in told


def test_states_are_counted_and_filter_by_the_address(run: Run) -> None:
    queued, done = make_remediation(run), make_remediation(run, state="resolved")

    html = page(run.project, "?state=resolved")

    assert f"remediation-{done.uuid}" in html
    assert f"remediation-{queued.uuid}" not in html
    assert {"all 2", "queued 1", "resolved 1", "expired 0"} <= set(
        re.findall(r"\w+ \d+", words(html))
    )


@pytest.mark.parametrize(("query", "status"), [("?state=open", 400), ("?run=7", 404)])
def test_a_filter_that_means_nothing_is_refused(project: Project, query: str, status: int) -> None:
    url = reverse("remediation_list", args=[project.slug])

    assert visitor(project).get(url + query).status_code == status


def test_those_of_one_run_are_found_by_its_link(project: Project, run: Run) -> None:
    mine, other = make_remediation(run), make_remediation(make_run(project))

    html = page(project, f"?run={run.uuid}")

    assert f"remediation-{mine.uuid}" in html
    assert f"remediation-{other.uuid}" not in html


def test_hostile_words_are_shown_and_do_nothing(run: Run) -> None:
    claims = [{**CLAIM, "text": HOSTILE, "label": HOSTILE}, "no claim", {"text": None}]
    make_remediation(run, mode=HOSTILE[:40], request={"claims": claims, "instructions": HOSTILE})
    make_remediation(run, request={"claims": 7, "reason_code": None})

    html = page(run.project)

    assert "<script>alert" not in html
    assert "\u202e" not in html


def test_a_reviewer_releases_a_claim_and_gives_one_up_with_a_reason(run: Run) -> None:
    lease = timezone.now() + timedelta(minutes=9)
    held = make_remediation(run, state="claimed", lease_until=lease)
    client = visitor(run.project, Role.REVIEWER)

    assert post(client, held, "release") == 302
    held.refresh_from_db()
    assert (held.state, held.lease_until) == (RemediationState.QUEUED, None)

    assert post(client, held, "give_up", reason=" ") == 302
    held.refresh_from_db()
    assert held.state == RemediationState.QUEUED

    assert post(client, held, "give_up", reason="The source is gone.") == 302
    held.refresh_from_db()
    assert (held.state, held.note) == (RemediationState.FAILED, "The source is gone.")
    assert Event.objects.filter(run=run, kind="remediation_resolved").count() == 1
    assert (
        post(client, held, "give_up", reason="Again.") == 302
    )  # said on the page, changes nothing
    assert Event.objects.filter(run=run, kind="remediation_resolved").count() == 1


@pytest.mark.parametrize("verb", ["release", "give_up"])
def test_who_may_not_act_sees_no_action_and_is_refused(run: Run, verb: str) -> None:
    held = make_remediation(run, state="claimed", lease_until=timezone.now() + timedelta(hours=1))
    elsewhere = visitor(make_project(), Role.ADMIN)

    assert "Give up" not in page(run.project, role=Role.AGENT)
    assert "Give up" in page(run.project, role=Role.REVIEWER)
    assert post(visitor(run.project, Role.AGENT), held, verb, reason="x") == 403
    assert post(elsewhere, held, verb, reason="x") == 404
    held.refresh_from_db()
    assert held.state == RemediationState.CLAIMED


def test_after_an_action_the_list_is_filtered_as_it_was_and_nothing_leads_away(run: Run) -> None:
    held = make_remediation(run, state="claimed", lease_until=timezone.now() + timedelta(hours=1))
    client = visitor(run.project, Role.REVIEWER)
    url = reverse("remediation_release", args=[run.project.slug, held.uuid])
    home = reverse("remediation_list", args=[run.project.slug])

    back = client.post(url, {"next": f"{home}?state=claimed"})
    away = client.post(url, {"next": "https://elsewhere.example/"})

    assert (back["Location"], away["Location"]) == (f"{home}?state=claimed", home)


def test_an_empty_page_says_how_to_fill_it(project: Project) -> None:
    html = page(project)

    assert "/api/v1/runs?wait=30" in html
    assert "/api/v1/remediations?state=queued" in html


def test_a_longer_list_asks_no_more_queries(run: Run) -> None:
    client = visitor(run.project)
    url = reverse("remediation_list", args=[run.project.slug])
    counts = []
    for _ in range(2):
        make_remediation(run, request={"claims": [CLAIM]})
        client.get(url)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(url)
        counts.append(len(queries))
        for _ in range(9):
            make_remediation(run, request={"claims": [CLAIM]})

    assert counts[0] == counts[1]


def test_more_than_a_page_are_turned_over(run: Run) -> None:
    for _ in range(52):
        make_remediation(run)

    first = page(run.project)
    older = re.search(r'rel="next"[^>]*href="([^"]+)"', first)

    assert older is not None
    assert page(run.project, unescape(older[1])).count('<li id="remediation-') == 2
