"""The acceptance page, the rows behind each number, its part of the overview, and the API."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_user, signed_in
from tests.golden.builders import make_case, make_replay, make_result
from tests.judged import live_of, make_tier
from tests.runs.conftest import Caller
from tests.trials.builders import make_comparison, make_comparisons, make_legacy, make_trial
from tests.trials.test_acceptance import OLD_FAILS, promoted, sampled
from verification.engine.outcome import Outcome
from verification.trials.acceptance import rows, schemas
from verification.trials.acceptance.measures import ABOUT
from verification.trials.models import Judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


def fill(project: Project) -> None:
    """Something of every target."""
    policy = project.verifiers.get(is_active=True)
    trial = make_trial(project, baseline=make_legacy(project), candidate=policy)
    make_comparisons(trial, {("fail", "pass"): 3}, judged=Judged.NEW)
    make_comparisons(trial, {("fail", "fail"): 2}, judged=Judged.NEITHER)
    make_comparison(trial, "fail", "pass")
    for recovery in ("strict_json", "unreadable"):
        run = make_run(project, phase="write", tier_achieved=2, asked_again=1)
        make_tier(live_of(run), recovery=recovery)
    make_run(project, outcome=Outcome.FAIL, findings=[{}], reason_code="rule_violated")
    make_run(project, outcome=Outcome.FAIL, reason_code="rule_violated")
    counts = {"confirmed": 1, "inferred": 1, "unsupported": 0, "recommendation_unconfirmed": 1}
    make_run(project, evaluation={"claims": counts})
    make_result(make_replay(project, total=1), make_case(project), legacy=OLD_FAILS)
    promoted(project)
    sampled(project, 5, "fail", 1)
    sampled(project, 15, "pass", 1)


def get(client: Client, project: Project, name: str = "", query: str = "") -> Any:
    args = [project.slug, name] if name else [project.slug]
    return client.get(reverse("acceptance_rows" if name else "acceptance", args=args) + query)


def test_an_empty_project_is_told_what_is_missing_in_numbers(
    project: Project, client: Client
) -> None:
    html = unescape(get(client, project).content.decode())

    assert "Missing: 100 more judged runs." in html
    assert "Missing: 40 more cases of known truth." in html
    assert "No promotion is in force." in html
    assert "Not replayed yet by the verifier that judges now." in html


@pytest.mark.extended
def test_every_number_opens_exactly_its_rows(project: Project, client: Client) -> None:
    fill(project)
    html = get(client, project).content.decode()
    links = re.findall(r'href="([^"]+which=[^"]+)"><b>([\d,]+)</b>', html)

    assert len(links) >= 2 * len(ABOUT)
    for url, number in links:
        page = client.get(unescape(url))
        assert (page.context["count"], len(page.context["rows"])) == (int(number), int(number))


@pytest.mark.extended
def test_the_rows_of_every_part_are_shown_with_a_way_to_each(
    project: Project, client: Client
) -> None:
    fill(project)

    for name in ABOUT:
        parts = get(client, project, name).context["parts"]
        for which, words in parts:
            page = get(client, project, name, f"?which={which}")
            assert page.context["words"] == words
            assert all(one.url.startswith("/p/") for one in page.context["rows"])


def test_rows_of_two_kinds_follow_each_other_page_by_page(
    project: Project, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(project)
    monkeypatch.setattr(rows, "PER_PAGE", 2)
    seen: list[str] = []
    cursor: str | None = ""

    while cursor is not None and len(seen) < 20:
        page = get(client, project, "false_fails", f"?which=all&cursor={cursor}")
        seen += [one.url for one in page.context["rows"]]
        cursor = page.context["next"]

    assert len(seen) == len(set(seen)) == page.context["count"] == 6


@pytest.mark.extended
def test_the_page_takes_the_same_statements_for_any_number_of_rows(
    project: Project, client: Client
) -> None:
    def statements(name: str = "") -> int:
        with CaptureQueriesContext(connection) as queries:
            assert get(client, project, name).status_code == 200
        return len(queries)

    fill(project)
    statements()
    few = [statements(name) for name in ("", *ABOUT)]
    for _ in range(3):
        fill(project)

    assert [statements(name) for name in ("", *ABOUT)] == few


@pytest.mark.parametrize(
    ("query", "status"),
    [("?days=7", 200), ("?days=0", 400), ("?days=x", 400), ("?process=none", 404), ("", 200)],
)
def test_what_cannot_be_asked_for_is_refused(
    project: Project, client: Client, query: str, status: int
) -> None:
    assert get(client, project, query=query).status_code == status
    assert get(client, project, "named", query).status_code == status


def test_rows_that_there_are_not_are_not_found(project: Project, client: Client) -> None:
    assert get(client, project, "other").status_code == 404
    assert get(client, project, "named", "?which=known").status_code == 400
    assert get(client, project, "named", "?cursor=7.x").status_code == 400
    assert get(client, project, "named", "?cursor=0.x").status_code == 400


def test_another_projects_targets_are_not_shown(project: Project, client: Client) -> None:
    assert get(client, make_project()).status_code == 404


def test_the_overview_asks_for_the_targets_and_leads_to_them(
    project: Project, client: Client
) -> None:
    fill(project)
    overview = client.get(reverse("overview", args=[project.slug]) + "?process=small-work")
    html = unescape(overview.content.decode())
    part = reverse("acceptance_part", args=[project.slug])

    assert f'hx-get="{part}?process=small-work"' in html
    assert f'href="{reverse("acceptance", args=[project.slug])}?process=small-work"' in html
    shown = client.get(f"{part}?process=small-work")
    assert shown.status_code == 200
    for about in ABOUT.values():
        assert about.title in shown.content.decode()
    assert client.get(f"{part}?days=0").status_code == 404


def test_a_page_without_any_run_does_not_ask_for_targets(project: Project, client: Client) -> None:
    html = client.get(reverse("overview", args=[project.slug])).content.decode()

    assert "acceptance" not in html


def test_the_api_tells_of_all_targets(project: Project) -> None:
    fill(project)
    caller = Caller(project, Role.VIEWER)

    told = caller.get("/shadow/acceptance").json()

    assert (told["days"], told["process"]) == (30, None)
    assert [one["name"] for one in told["targets"]] == list(ABOUT)
    first = told["targets"][0]
    assert (first["numerator"], first["denominator"], first["state"]) == (1, 2, "missed")
    assert first["rows"]["counted"].endswith("/acceptance/unreadable/?which=counted")
    assert set(first) == set(schemas.TARGET)
    narrowed = caller.get("/shadow/acceptance?days=7&process=small-work").json()
    assert "days=7&process=small-work" in narrowed["targets"][0]["rows"]["all"]


@pytest.mark.parametrize(
    ("query", "status"), [("?days=0", 422), ("?process=none", 404), ("?since=7d", 422)]
)
def test_the_api_refuses_what_it_does_not_know(project: Project, query: str, status: int) -> None:
    answer = Caller(project, Role.VIEWER).get(f"/shadow/acceptance{query}")

    assert answer.status_code == status
