"""What a rule did in past runs, by hours."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, quote

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.errors import InputError
from processes.models import Process, RuleVersion
from processes.models import Rule as RuleName
from processes.services import add_version, publish
from tests.builders import SOURCE_TEXT, make_project, make_run
from tests.reviewing import make_review
from tests.reviews.people import FAIL, PASS, reviewer_of, says, settled
from verification.engine.outcome import Outcome
from verification.rules.figures.reading import Use, steps, totals
from verification.rules.models import RuleUse
from verification.rules.pages.page import rule_page
from verification.rules.pages.searching import RuleFilters, published_rules, with_figures
from verification.runs.figures import refresh_dirty_hours
from verification.runs.models import DirtyHour, Run
from verification.runs.selectors import RunFilters, runs
from verification.runs.spans import Span, Window, start_of_hour

pytestmark = pytest.mark.django_db
OLD = SOURCE_TEXT.replace("small-work", "old-work")


def told(rule: str, verdict: str = "violated", sha256: str = "a" * 64) -> dict[str, Any]:
    return {
        "rule": rule, "phase": "build", "applied": verdict != "not_reached", "verdict": verdict,
        "reason": "phase", "rule_sha256": sha256,
    }  # fmt: skip


def month() -> Span:
    window = Window.of("30d", timezone.now())
    assert window is not None
    return window.span


def use_of(project: Project, rule: str = "no-placeholders") -> Use:
    named = (project.processes.get(slug="small-work").pk, rule)
    return totals(project.pk, [named], month())[named]


def spoken(project: Project, at: datetime | None = None, **columns: Any) -> Run:
    """A run that `no-placeholders` speaks against."""
    given: Mapping[str, Any] = {
        "outcome": Outcome.FAIL,
        "reason_code": "rule_violated",
        "findings": [{}],
        "evaluation": {"rule_trace": [told("no-placeholders")]},
        **columns,
    }
    return make_run(project, created_at=at, **given)


def test_a_rule_counts_in_runs_before_and_after_its_hour_is_recounted() -> None:
    project, earlier = make_project(), timezone.now() - timedelta(hours=30)
    run = spoken(project, earlier)
    for verdict in ("satisfied", "unknown", "not_reached"):
        trace = [told("no-placeholders", verdict)]
        make_run(project, created_at=earlier, evaluation={"rule_trace": trace})

    raw = use_of(project)
    refresh_dirty_hours()

    assert not DirtyHour.objects.exists()
    assert RuleUse.objects.get().applied == 3
    assert (raw.applied, raw.violated, raw.unknown) == (3, 1, 1)
    assert (raw.last_run, raw.last_at) == (run.pk, run.created_at)
    assert use_of(project) == raw
    assert raw.hit_rate == pytest.approx(1 / 3)


def test_a_rule_that_found_twice_in_a_run_counts_it_once() -> None:
    project = make_project()
    spoken(project, findings=[{}, {}, {"verdict": "unknown"}])

    assert (use_of(project).applied, use_of(project).violated) == (1, 1)


def test_two_contents_of_a_rule_are_told_apart() -> None:
    project = make_project()
    spoken(project)
    spoken(project, evaluation={"rule_trace": [told("no-placeholders", sha256="b" * 64)]})
    named = (project.processes.get().pk, "no-placeholders")

    found = steps(project.pk, named, month())

    assert {(one.content_sha256[0], one.use.violated) for one in found} == {("a", 1), ("b", 1)}


def test_what_a_judge_cost_is_shared_by_the_rules_it_was_asked_about() -> None:
    project = make_project()
    process: Process = project.processes.get()
    source = f"{SOURCE_TEXT}    - {{name: names-units, check: Units are named, type: llm}}\n"
    add_version(project=project, source_text=source, actor=SYSTEM, role=Role.ADMIN)
    shas = dict(
        RuleVersion.objects.filter(rule__process=process).values_list(
            "rule__name", "content_sha256"
        )
    )
    trace = [told(name, "satisfied", sha256) for name, sha256 in shas.items()]
    make_run(project, evaluation={"rule_trace": trace, "cost_usd": Decimal("0.004")})

    costs = {name: use_of(project, name).cost_usd for name in shas}

    assert costs == {
        "no-placeholders": 0, "figures-have-sources": Decimal("0.002"),
        "names-units": Decimal("0.002"),
    }  # fmt: skip


def test_a_rule_that_was_quiet_for_long_tells_when_it_last_spoke() -> None:
    project = make_project()
    run = spoken(project, timezone.now() - timedelta(days=80))
    refresh_dirty_hours()

    found = use_of(project)

    assert (found.applied, found.last_run) == (0, run.pk)


@pytest.mark.parametrize(
    ("outcome", "is_right", "expected"),
    [(PASS, False, (0, 1, 1, 1)), (FAIL, True, (1, 0, 1, 0))],
)
def test_what_a_person_says_long_after_is_counted_in_the_hour_of_the_run(
    outcome: Outcome, is_right: bool, expected: tuple[int, ...]
) -> None:
    project = make_project()
    run = spoken(project, timezone.now() - timedelta(days=3), findings=[{"fingerprint": "f"}])
    review = make_review(project, run)
    refresh_dirty_hours()
    before = use_of(project)

    says(reviewer_of(project), review, outcome, findings={"f": is_right})
    undecided = use_of(project)
    settled(review)
    raw = use_of(project)
    refresh_dirty_hours()

    assert undecided == before
    assert (raw.found_right, raw.found_wrong, raw.decided, raw.overturned) == expected
    assert runs(project, RunFilters(only="overturned")).count() == raw.overturned
    assert use_of(project) == raw


def test_two_who_are_at_odds_count_once_a_third_has_said_who_is_right() -> None:
    project = make_project()
    run = spoken(project, timezone.now() - timedelta(days=3), findings=[{"fingerprint": "f"}])
    review = make_review(project, run, reviewers=2)
    for outcome, is_right in ((PASS, False), (FAIL, True)):
        says(reviewer_of(project), review, outcome, findings={"f": is_right})
    settled(review)
    at_odds = use_of(project)

    says(reviewer_of(project), review, PASS, findings={"f": False})
    settled(review)

    assert at_odds.labelled == 0
    assert (use_of(project).found_right, use_of(project).found_wrong) == (0, 1)


def test_each_number_of_a_rules_page_is_the_length_of_the_list_it_opens() -> None:
    """Also where a review is late, or led by the rule without a label, or about an old run."""
    project = make_project()
    process, now = project.processes.get(), timezone.now()
    said: list[tuple[int, Outcome, dict[str, bool]]] = [
        (2, PASS, {"f": False}), (3, FAIL, {"f": True}), (4, FAIL, {}), (40, FAIL, {"f": True}),
    ]  # fmt: skip
    for days, outcome, findings in said:
        at = now - timedelta(days=days)
        review = make_review(project, spoken(project, at, findings=[{"fingerprint": "f"}]))
        says(reviewer_of(project), review, outcome, findings=findings)
        settled(review)
    spoken(project, state="verifying")
    other = {**told("no-placeholders", "satisfied"), "rule": "another"}
    make_run(project, evaluation={"rule_trace": [told("no-placeholders", "satisfied"), other]})
    row, _ = RuleName.objects.get_or_create(process=process, name="no-placeholders")
    add_version(project=project, source_text=SOURCE_TEXT + "\n", actor=SYSTEM, role=Role.ADMIN)
    window = Window.of("7d", now)
    assert window

    page = rule_page(row, window=window)

    numbers = page.use
    counted = {
        page.links.applied: numbers.applied, page.links.violated: numbers.violated,
        page.links.decided: numbers.decided, page.links.overturned: numbers.overturned,
        page.links.right: numbers.found_right, page.links.wrong: numbers.found_wrong,
    }  # fmt: skip
    assert list(counted.values()) == [4, 3, 3, 1, 1, 1]
    assert {link: listed(project, link) for link in counted} == counted
    for column in page.chart.columns:
        assert listed(project, column.query) == column.use.violated


def listed(project: Project, query: str) -> int:
    return runs(project, RunFilters.of(dict(parse_qsl(query)))).count()


def test_the_search_counts_from_the_moment_that_its_link_names() -> None:
    project = make_project()
    add_version(project=project, source_text=f"{SOURCE_TEXT}\n", actor=SYSTEM, role=Role.ADMIN)
    process = project.processes.get()
    publish(process=process, number=2, actor=SYSTEM, reason="Try")
    spoken(project, start_of_hour(timezone.now() - timedelta(days=30)))
    spoken(project)

    rows = list(published_rules(project, RuleFilters(q="no-placeholders")))
    (found,) = with_figures(project, rows)

    link = f"process=small-work&rule=no-placeholders&state=finished&since={quote(found.since)}"
    assert (found.use.violated, listed(project, link)) == (2, 2)


def test_words_about_a_rule_need_one() -> None:
    with pytest.raises(InputError, match="Name a rule"):
        runs(make_project(), RunFilters(only="found_right"))
