from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import generate_runs, make_process, make_project, make_run, make_user, signed_in
from tests.judged import count_calls, live_of, make_call
from tests.reviewing import DOUBTED, make_review
from verification.engine.outcome import Outcome, Verdict
from verification.runs import judge_wording
from verification.runs.models import ReviewState

pytestmark = pytest.mark.django_db


def get(project: Project, query: str = "") -> HttpResponse:
    url = reverse("overview", args=[project.slug])
    answer: HttpResponse = signed_in(make_user(project)).get(url + query)  # type: ignore[assignment]
    return answer


def test_a_project_without_runs_shows_the_request_that_makes_the_first() -> None:
    html = get(make_project()).content.decode()

    assert "/api/v1/runs?wait=30" in html
    assert "$LOOMVERIFY_API_KEY" in html
    assert "/settings/keys/" in html


def test_every_number_leads_to_exactly_the_rows_behind_it() -> None:
    project = make_project()
    generate_runs(project, 40, days=3)
    client = signed_in(make_user(project))
    figures = client.get(reverse("overview", args=[project.slug])).context["figures"]
    runs = reverse("run_list", args=[project.slug])

    shares = [*figures.shares, *(one for column in figures.chart.columns for one in column.counts)]
    found = [client.get(f"{runs}?{one.query}").context["count"] for one in shares if one.count]

    assert found == [one.count for one in shares if one.count]
    assert sum(one.count for one in figures.shares) == figures.total == 40
    blocked = client.get(f"{runs}?{figures.query}&verdict=reject&tier=1").context["count"]
    assert blocked == figures.deterministic_count > 0
    for reason in figures.reasons:
        assert client.get(f"{runs}?{reason.query}").context["count"] == reason.count


def test_an_undecided_run_is_counted_as_undecided_alone() -> None:
    project = make_project()
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)

    figures = get(project).context["figures"]  # type: ignore[attr-defined]

    assert {one.badge.word: one.count for one in figures.shares} == {
        "pass": 0,
        "warnings": 0,
        "partial": 0,
        "fail": 0,
        "undecided": 1,
    }


def test_the_chart_has_a_table_with_the_same_figures() -> None:
    project = make_project()
    make_run(project)

    html = get(project).content.decode()

    assert "<svg viewBox" in html
    assert "The same as a table" in html
    assert html.count("<rect") == 2


def reviews_tile(project: Project, query: str = "") -> tuple[str, str]:
    """The words of the tile of reviews, and where it leads."""
    html = get(project, query).content.decode()
    [tile] = re.findall(r'<a class="tile" href="([^"]*)"><span>Waiting for a person(.*?)</a>', html)
    words = re.sub(r"\s+([,.])", r"\1", " ".join(re.sub("<[^>]+>", " ", tile[1]).split()))
    return words, unescape(tile[0])


def test_pending_reviews_are_counted_with_the_age_of_the_oldest() -> None:
    project = make_project()
    make_review(project, created_at=timezone.now() - timedelta(hours=3))
    make_review(project)
    make_review(project, state=ReviewState.DECIDED)
    make_review(make_project())

    words, url = reviews_tile(project)

    assert words == "2 oldest for 3 h"
    assert url == reverse("review_queue", args=[project.slug])


def test_what_the_days_cap_held_back_is_counted_beside_what_waits() -> None:
    project = make_project()
    make_review(project, state=ReviewState.HELD)
    make_review(project, state=ReviewState.HELD, created_at=timezone.now() - timedelta(days=1))

    assert reviews_tile(project)[0] == "0 nothing waits, 1 held back today"


def test_reviews_narrow_down_to_a_process_as_the_figures_do() -> None:
    project, earlier = make_project(), timezone.now() - timedelta(hours=3)
    make_review(project)
    other = make_process(project, slug="other-work")
    make_review(project, make_run(project, process=other, **DOUBTED), created_at=earlier)

    words, url = reviews_tile(project, "?process=other-work")

    assert words == "1 oldest for 3 h"
    assert url.endswith("/review/?process=other-work")


def test_figures_narrow_down_to_a_process() -> None:
    project = make_project()
    make_run(project)
    make_run(project, process=make_process(project, slug="other-work"))

    assert get(project, "?process=other-work").context["figures"].total == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(("query", "status"), [("?since=8d", 400), ("?process=unknown", 404)])
def test_a_filter_that_makes_no_sense_is_refused(query: str, status: int) -> None:
    assert get(make_project(), query).status_code == status


def test_every_number_of_judging_leads_to_the_rows_behind_it() -> None:
    project = make_project()
    make_run(project, asked_again=1, cost_usd=Decimal("0.5"), findings=[{"rule": "sources"}])
    make_run(project, reverifications=2, outcome=Outcome.FAIL, final_outcome="pass", findings=[{}])
    lost = {"outcome": Outcome.FAIL, "verdict": Verdict.UNDECIDED, "reverifications": 9}
    run = make_run(project, severity_class="inconclusive", **lost)  # type: ignore[arg-type]
    make_call(live_of(run), recovery="unreadable")
    count_calls(project, {"unreadable": 1, "strict_json": 3})
    client = signed_in(make_user(project))

    judging = client.get(reverse("overview", args=[project.slug])).context["figures"].judging

    def behind(query: str) -> int:
        runs = client.get(f"{reverse('run_list', args=[project.slug])}?{query}")
        count: int = runs.context["count"]
        return count

    rates = (judging.inconclusive, judging.retry_resolved, judging.false_fail, judging.unreadable)
    assert [(one.count, one.n) for one in rates] == [(1, 3), (2, 3), (1, 1), (1, 4)]
    assert [behind(one.query) for one in rates] == [one.count for one in rates]
    assert [(one.rule, one.count) for one in judging.rules] == [
        ("no-placeholders", 1),
        ("sources", 1),
    ]
    assert [behind(one.query) for one in judging.rules] == [1, 1]
    today = judging.cost.columns[-1]
    assert (today.total.cost_usd, behind(today.total.query)) == (Decimal("0.5"), 3)
    assert [behind(cell.query) for cell in today.cells] == [3]


def test_all_eight_stages_are_named_also_those_of_no_answer() -> None:
    project = make_project()
    make_run(project)
    count_calls(project, {"strict_json": 9, "yaml": 1, "": 2})

    html = get(project).content.decode()

    assert "12 calls, 2 without an answer" in html
    for words in judge_wording.STAGES.values():
        assert f'<span class="bar-name">{words.short[0].upper()}{words.short[1:]}</span>' in html


def test_without_judges_the_overview_says_how_to_have_one_asked() -> None:
    project = make_project()
    make_run(project)

    html = get(project).content.decode()

    assert "<code>verification_tier: 2</code>" in html
    assert "No run of this time violated a rule." in html
    assert "Nothing was paid in this time." in html


@pytest.mark.parametrize(("since", "step", "columns"), [("24h", "hour", 24), ("7d", "day", 7), ("90d", "day", 90)])  # fmt: skip
def test_cost_stands_by_process_and_day(
    monkeypatch: pytest.MonkeyPatch, since: str, step: str, columns: int
) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # no hour ends meanwhile
    project = make_project()
    other = make_process(project, slug="other-work")
    make_run(project, cost_usd=Decimal("1"))
    make_run(project, process=other, cost_usd=Decimal("2"))

    cost = get(project, f"?since={since}").context["figures"].judging.cost  # type: ignore[attr-defined]

    assert (cost.step, len(cost.columns), cost.top) == (step, columns, Decimal("3"))
    assert list(cost.names) == ["other-work", "small-work"]
    assert [cell.cost_usd for cell in cost.columns[-1].cells] == [Decimal("2"), Decimal("1")]


def test_the_overview_takes_as_many_queries_for_many_runs_as_for_few() -> None:
    project = make_project()
    client, url = signed_in(make_user(project)), reverse("overview", args=[project.slug])
    client.get(url)  # the first page also opens the session

    def queries_with(count: int) -> int:
        generate_runs(project, count)
        for number in range(count):
            count_calls(project, {"strict_json": 1, "yaml": 1}, model=f"model-{count}-{number}")
        with CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    assert queries_with(5) == queries_with(50)
