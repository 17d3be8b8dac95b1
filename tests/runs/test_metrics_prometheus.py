from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests.builders import generate_runs, make_process, make_project, make_run
from tests.judged import count_calls
from tests.reviewing import make_review
from verification.engine.outcome import Outcome, Verdict
from verification.runs.figures import refresh_dirty_hours
from verification.runs.models import ReviewState, RunState

pytestmark = pytest.mark.django_db


def scraped(name: str, *labels: str) -> dict[tuple[str, ...], float]:
    """The samples of one family by the values of these labels."""
    text = Client().get("/metrics").content.decode()
    [family] = [one for one in text_string_to_metric_families(text) if one.name == name]
    return {tuple(one.labels[label] for label in labels): one.value for one in family.samples}


def test_runs_are_counted_by_verdict_and_reason_for_each_process() -> None:
    ours, theirs = make_project("ours"), make_project("theirs")
    other = make_process(ours, slug="other")
    make_run(ours)
    make_run(ours, created_at=timezone.now() - timedelta(hours=5))
    make_run(ours, process=other, outcome=Outcome.FAIL, reason_code="tests_failed")
    make_run(theirs)
    make_run(theirs, created_at=timezone.now() - timedelta(hours=30))
    make_run(theirs, state=RunState.RUNNING)
    family = ("loomverify_verification_runs", "project", "process", "verdict", "reason_code")

    raw = scraped(*family)
    refresh_dirty_hours()
    refreshed = scraped(*family)

    assert (
        raw
        == refreshed
        == {
            ("ours", "small-work", "accept", ""): 2,
            ("ours", "other", "reject", "tests_failed"): 1,
            ("theirs", "small-work", "accept", ""): 1,
        }
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("inconclusive", 1),
        ("undecided", 1),
        ("deterministic_blocks", 2),
        ("retried", 2),
        ("retry_resolved", 1),
        ("false_fail_candidates", 1),
        ("cost_usd", 0.75),
    ],
)
def test_each_measure_is_a_gauge(name: str, value: float) -> None:
    project = make_project("ours")
    make_run(project, cost_usd=Decimal("0.5"), asked_again=1)
    make_run(project, outcome=Outcome.FAIL, cost_usd=Decimal("0.25"))
    make_run(project, outcome=Outcome.FAIL, final_outcome="pass")
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED, reverifications=1,
             severity_class="inconclusive", tier_achieved=2)  # fmt: skip

    assert scraped(f"loomverify_verification_{name}", "process") == {("small-work",): value}


def test_calls_are_counted_by_stage_and_no_stage_is_made_up() -> None:
    count_calls(make_project("ours"), {"yaml": 3, "": 2, "soothsaying": 1})

    assert scraped("loomverify_judge_calls", "stage") == {
        ("yaml",): 3,
        ("lost",): 2,
        ("unread",): 1,
    }
    assert scraped("loomverify_judge_cost_usd", "project") == {("ours",): pytest.approx(0.006)}


def test_runs_that_verify_themselves_again_are_counted() -> None:
    make_run(make_project(), state=RunState.QUEUED, undecided_since=timezone.now())
    make_run(make_project(), undecided_since=timezone.now())

    assert scraped("loomverify_runs_undecided") == {(): 1}


def test_a_scrape_takes_as_many_queries_for_many_projects_as_for_one() -> None:
    def queries_with(count: int) -> int:
        for _ in range(count):
            project = make_project()
            generate_runs(project, 5)
            count_calls(project, {"yaml": 1})
        with CaptureQueriesContext(connection) as captured:
            Client().get("/metrics")
        return len(captured)

    assert queries_with(1) == queries_with(4)


def test_reviews_that_wait_and_that_are_held_are_counted_where_they_are() -> None:
    ours, theirs = make_project("ours"), make_project("theirs")
    make_review(ours, created_at=timezone.now() - timedelta(hours=2))
    make_review(ours)
    make_review(ours, state=ReviewState.DECIDED)
    make_review(theirs, state=ReviewState.HELD)
    place = ("project", "process")

    pending = scraped("loomverify_reviews_pending", *place)
    held = scraped("loomverify_reviews_held", *place)
    oldest = scraped("loomverify_reviews_oldest_seconds", *place)

    assert pending == {("ours", "small-work"): 2, ("theirs", "small-work"): 0}
    assert held == {("ours", "small-work"): 0, ("theirs", "small-work"): 1}
    assert oldest[("ours", "small-work")] == pytest.approx(7200, abs=60)
