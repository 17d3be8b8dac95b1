from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import evaluate, generate_runs, make_process, make_project, make_run
from tests.judged import count_calls
from tests.reviewing import DOUBTED, make_review
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from verification.engine.outcome import Outcome, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs.figures import refresh_dirty_hours
from verification.runs.models import DirtyHour, ReviewState, RuleHour, Run, RunState

pytestmark = pytest.mark.django_db

UNDECIDED: dict[str, Any] = {"outcome": Outcome.FAIL, "verdict": Verdict.UNDECIDED}
EARLIER = timedelta(hours=30)


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def caller(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def measured(caller: Caller, query: str = "") -> dict[str, Any]:
    answer = caller.get(f"/metrics/verification{query}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_nothing_measured_has_no_rates(caller: Caller) -> None:
    found = measured(caller)

    assert found["n"]["finished"] == 0
    assert [name for name in found if name.endswith("_rate") and found[name] is not None] == []
    assert found["recovery"] == {stage.value: 0 for stage in Stage}
    assert found["cost_usd"]["total"] == "0.000000"


def test_doubt_is_told_apart_by_whether_the_judge_answered(
    project: Project, caller: Caller
) -> None:
    make_run(project)
    make_run(project, **UNDECIDED, reason_code="parse_inconclusive", severity_class="inconclusive")
    make_run(project, **UNDECIDED, reason_code="infra_verifier_error", severity_class="infra")
    make_run(project, **UNDECIDED, reason_code="infra_verifier_error", severity_class="infra")

    found = measured(caller)

    assert (found["inconclusive_rate"], found["undecided_rate"]) == (0.25, 0.75)
    assert (found["n"]["inconclusive"], found["undecided"]) == (1, 3)
    assert found["reasons"][0] == {
        "reason_code": "infra_verifier_error",
        "severity_class": "infra",
        "count": 2,
    }


def test_what_asking_again_resolved_is_counted_of_what_was_asked_again(
    project: Project, caller: Caller
) -> None:
    make_run(project)
    make_run(project, asked_again=2)
    make_run(project, reverifications=1, outcome=Outcome.FAIL)
    make_run(project, reverifications=3, asked_again=1)
    make_run(project, reverifications=9, **UNDECIDED)
    make_run(project, reverifications=1, state=RunState.QUEUED)

    found = measured(caller)

    assert found["retry_resolved_rate"] == 0.75
    assert (found["n"]["retry_resolved"], found["n"]["retried"]) == (3, 4)


@check_rows(
    ("columns", "shadow", "candidates"),
    [
        ({"outcome": Outcome.FAIL}, None, 0),
        ({"outcome": Outcome.FAIL, "final_outcome": "fail"}, None, 0),
        ({"outcome": Outcome.FAIL, "final_outcome": "pass"}, None, 1),
        ({"outcome": Outcome.FAIL, "final_outcome": "partial_verified"}, None, 1),
        ({"outcome": Outcome.PASS, "final_outcome": "pass"}, None, 0),
        ({**UNDECIDED, "final_outcome": "pass"}, None, 0),
        ({"outcome": Outcome.FAIL}, ("accept", 2), 1),
        ({"outcome": Outcome.FAIL}, ("accept", 1), 0),
        ({"outcome": Outcome.FAIL}, ("reject", 2), 0),
        ({"outcome": Outcome.FAIL, "tier_achieved": 2}, ("accept", 2), 0),
        ({"outcome": Outcome.FAIL, "final_outcome": "pass"}, ("accept", 2), 1),
    ],
    rollback=True,
)
def test_a_false_fail_is_what_a_person_or_a_judge_in_shadow_accepts(
    project: Project,
    caller: Caller,
    columns: dict[str, Any],
    shadow: tuple[str, int] | None,
    candidates: int,
) -> None:
    run = make_run(project, **columns)
    if shadow:
        verdict, tier = shadow
        evaluate(run, purpose="shadow", verdict=verdict, tier_achieved=tier)

    assert measured(caller)["false_fail_candidates"] == candidates
    listed = caller.get("/runs?only=false_fail").json()["items"]
    assert len(listed) == candidates


def test_a_run_counts_once_for_a_rule_by_its_most_severe_finding(
    project: Project, caller: Caller
) -> None:
    twice = [{"enforcement": "advisory"}, {"enforcement": "hard"}]
    make_run(project, outcome=Outcome.FAIL, findings=twice)
    make_run(project, findings=[{"enforcement": "advisory"}])
    make_run(project, findings=[{"rule": "judge", "verdict": "unknown"}])
    make_run(
        project,
        outcome=Outcome.FAIL,
        findings=[{"rule": "sources", "source": "llm", "reason_code": "llm_semantic_failed"}],
    )

    found = measured(caller)["rule_failures"]

    assert {
        (one["rule"], one["type"], one["enforcement"], one["reason_code"]): one["count"]
        for one in found
    } == {
        ("no-placeholders", "deterministic", "hard", "rule_violated"): 1,
        ("no-placeholders", "deterministic", "advisory", "rule_violated"): 1,
        ("sources", "llm", "hard", "llm_semantic_failed"): 1,
    }


def test_rules_count_the_same_before_and_after_their_hour_is_recomputed(
    project: Project, caller: Caller
) -> None:
    earlier = timezone.now() - EARLIER
    for _ in range(2):
        make_run(project, created_at=earlier, findings=[{}])

    raw = measured(caller)["rule_failures"]
    refresh_dirty_hours()
    refreshed = measured(caller)["rule_failures"]

    assert not DirtyHour.objects.exists()
    assert RuleHour.objects.get().count == 2
    assert raw == refreshed
    assert raw[0]["count"] == 2


def test_a_verdict_that_changes_takes_its_rules_along(project: Project, caller: Caller) -> None:
    run = make_run(project, created_at=timezone.now() - EARLIER, findings=[{}])
    refresh_dirty_hours()
    evaluate(run, findings=())
    DirtyHour.objects.create(project=project, hour=RuleHour.objects.get().hour)

    refresh_dirty_hours()

    assert measured(caller)["rule_failures"] == []


def test_answers_are_counted_by_the_stage_that_read_them(project: Project, caller: Caller) -> None:
    count_calls(project, {"strict_json": 90, "embedded_json": 6, "unreadable": 4, "": 3})
    count_calls(project, {"yaml": 10}, model="ollama/qwen3", cost_usd=Decimal("2"))

    found = measured(caller)

    assert found["recovery"]["strict_json"] == 90
    assert found["recovery"]["yaml"] == 10
    assert found["recovery"]["restated"] == 0
    assert (found["calls"]["calls"], found["calls"]["lost"]) == (113, 3)
    assert found["calls"]["unreadable_rate"] == pytest.approx(4 / 110)
    assert found["calls"]["by_model"][0]["model"] == "ollama/qwen3"
    assert found["cost_usd"]["by_model"]["openai/gpt-5-mini"] == "0.103000"


def test_cost_is_told_by_process_and_by_day(project: Project, caller: Caller) -> None:
    other = make_process(project, slug="other-work")
    make_run(project, cost_usd=Decimal("0.25"), created_at=timezone.now() - timedelta(days=2))
    make_run(project, cost_usd=Decimal("0.5"))
    make_run(project, process=other, cost_usd=Decimal("2"))

    cost = measured(caller)["cost_usd"]

    assert cost["total"] == "2.750000"
    assert [(one["process"], one["cost_usd"]) for one in cost["by_process"]] == [
        ("other-work", "2.000000"),
        ("small-work", "0.750000"),
    ]
    assert [one["cost_usd"] for one in cost["by_day"]] == ["0.250000", "2.500000"]


def test_a_process_and_a_span_narrow_all_of_it(project: Project, caller: Caller) -> None:
    other = make_process(project, slug="other-work")
    make_run(project, findings=[{}], cost_usd=Decimal("1"))
    make_run(project, process=other, created_at=timezone.now() - timedelta(days=3))
    count_calls(project, {"strict_json": 5})

    narrowed = measured(caller, "?process=other-work&since=9d")
    past = measured(caller, "?since=9d&until=2d")

    assert narrowed["n"]["finished"] == past["n"]["finished"] == 1
    assert narrowed["rule_failures"] == past["rule_failures"] == []
    assert narrowed["calls"]["calls"] == past["calls"]["calls"] == 0


def test_another_projects_figures_are_not_told(project: Project) -> None:
    make_run(project, findings=[{}])
    count_calls(project, {"strict_json": 5})

    found = measured(Caller(make_project(), Role.ADMIN))

    assert (found["n"]["finished"], found["calls"]["calls"], found["rule_failures"]) == (0, 0, [])


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?since=yesterday", 400, "filter.invalid"),
        ("?since=1h&until=2h", 400, "span.invalid"),
        ("?since=2020-01-01", 400, "span.invalid"),
        ("?since=0001-01-01&until=9999-12-31", 400, "span.invalid"),
        ("?process=unknown", 404, "process.unknown"),
        ("?sinc=1h", 422, "parameter.unknown"),
    ],
)
def test_a_span_that_makes_no_sense_is_refused(
    caller: Caller, query: str, status: int, code: str
) -> None:
    answer = caller.get(f"/metrics/verification{query}")

    assert problem(answer)[:2] == (status, code)


def test_many_runs_take_as_many_queries_as_few(project: Project, caller: Caller) -> None:
    def queries_with(count: int) -> int:
        generate_runs(project, count)
        with CaptureQueriesContext(connection) as captured:
            measured(caller)
        return len(captured)

    caller.get("/metrics/verification")
    assert queries_with(5) == queries_with(60)


def test_what_waits_for_a_person_is_told_as_of_now(project: Project, caller: Caller) -> None:
    assert measured(caller)["reviews"] == {"pending": 0, "oldest_seconds": None, "held_back": 0}
    long_ago = timezone.now() - timedelta(days=30)
    make_review(project, created_at=long_ago)
    make_review(project, state=ReviewState.HELD)
    other = make_process(project, slug="other")
    make_review(project, make_run(project, process=other, **DOUBTED))

    everywhere, narrowed = measured(caller), measured(caller, "?process=other&since=24h")

    month = timedelta(days=30).total_seconds()
    assert everywhere["reviews"]["oldest_seconds"] == pytest.approx(month, abs=60)
    assert (everywhere["reviews"]["pending"], everywhere["reviews"]["held_back"]) == (2, 1)
    assert (narrowed["reviews"]["pending"], narrowed["reviews"]["held_back"]) == (1, 0)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("rule=no-placeholders", {"violates"}),
        ("rule=judge", set()),
        ("severity_class=infra", {"lost"}),
        ("only=retried", {"lost", "resolved"}),
        ("only=retry_resolved", {"resolved"}),
        ("only=false_fail", {"overturned"}),
    ],
)
def test_runs_are_found_by_what_the_figures_count(
    project: Project, caller: Caller, query: str, found: set[str]
) -> None:
    make_run(project, title="violates", outcome=Outcome.FAIL, findings=[{}])
    unknown = [{"rule": "judge", "verdict": "unknown"}]
    make_run(
        project, title="lost", **UNDECIDED, severity_class="infra", reverifications=2,
        findings=unknown,
    )  # fmt: skip
    make_run(project, title="resolved", asked_again=1)
    make_run(project, title="overturned", outcome=Outcome.FAIL, final_outcome="pass")

    listed = caller.get(f"/runs?{query}").json()["items"]

    assert {Run.objects.get(uuid=one["id"]).title for one in listed} == found
