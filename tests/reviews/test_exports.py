from __future__ import annotations

import csv
import io
import json
import tracemalloc
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import RequestFactory
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from loomverify.errors import InputError
from tests.builders import make_process, make_project, make_run, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.reviews.deciding_rows import make_decision, over
from tests.runs.conftest import Caller
from verification.engine.outcome import Outcome, Verdict
from verification.reviews import exports
from verification.reviews.exports import LabelFilters, agrees, labels, labels_csv, labels_jsonl
from verification.reviews.models import Decision
from verification.runs.exporting.answers import CUT_HEADER
from verification.runs.models import Review, ReviewState, TierResult, Vote

FORMULA = '=HYPERLINK("http://evil","x")'
NOW = timezone.now


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def ann(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "ann")


def decided(project: Project, by: User, outcome: Outcome = Outcome.PASS, **said: Any) -> Decision:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1"}, {"fingerprint": "f2"}])
    decision = make_decision(make_review(project, run), by, outcome, **said)
    over(decision.review, outcome)
    return decision


def text_of(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def lines(project: Project, **filters: str) -> list[dict[str, str]]:
    found = labels(project, LabelFilters(**filters))
    answer = labels_csv(RequestFactory().get("/"), found, for_people=False)
    return list(csv.DictReader(io.StringIO(text_of(answer))))


def objects(project: Project) -> list[dict[str, Any]]:
    answer = labels_jsonl(RequestFactory().get("/"), labels(project))
    return [json.loads(line) for line in text_of(answer).splitlines()]


def test_a_line_says_what_the_verifier_and_what_the_person_said(
    project: Project, ann: User
) -> None:
    run = make_run(
        project,
        outcome=Outcome.FAIL,
        reason_code="rule_violated",
        evaluation={"confidence": 0.8},
        findings=[{"fingerprint": "f1"}],
    )
    evaluation = run.live_evaluation
    assert evaluation
    TierResult.objects.create(evaluation=evaluation, tier=2, model="big", status="passed")
    for index, model in enumerate(["big", "small"]):
        Vote.objects.create(evaluation=evaluation, index=index, model=model)
    review = make_review(project, run, is_blind=True, sample_rate=0.02)
    decision = make_decision(
        review, ann, Outcome.PASS_WITH_WARNINGS, first_outcome="fail", seconds=40,
        comment="It\nis right.",
    )  # fmt: skip
    over(review, Outcome.PASS_WITH_WARNINGS)

    [row] = lines(project)

    assert row == {
        "kind": "decision",
        "decision": str(decision.uuid),
        "review": str(review.uuid),
        "run": str(run.uuid),
        "task": run.task.external_id,
        "process": "small-work",
        "process_version": "1",
        "phase": "build",
        "verifier_version": "1",
        "reviewer": "ann",
        "round": "1",
        "decided_at": decision.created_at.isoformat(),
        "models": "big, small",
        "engine_outcome": "fail",
        "engine_verdict": "reject",
        "reason_code": "rule_violated",
        "confidence": "0.8",
        "reasons": "rule_violated",
        "is_flagged": "true",
        "sample_rate": "0.02",
        "is_blind": "true",
        "is_adjudication": "false",
        "first_outcome": "fail",
        "outcome": "pass_with_warnings",
        "agrees": "false",
        "final_outcome": "pass_with_warnings",
        "seconds": "40",
        "comment": "It is right.",
        "rule": "",
        "fingerprint": "",
        "enforcement": "",
        "label": "",
    }


def test_each_finding_that_was_labelled_has_a_line_without_figures(
    project: Project, ann: User
) -> None:
    decision = decided(project, ann, labels={"f2": True, "f1": False}, seconds=9)

    [said, *found] = lines(project)

    assert (said["kind"], said["seconds"]) == ("decision", "9")
    assert [(one["kind"], one["fingerprint"], one["label"]) for one in found] == [
        ("finding", "f1", "false_positive"),
        ("finding", "f2", "true_positive"),
    ]
    assert {one["decision"] for one in found} == {str(decision.uuid)}
    assert {(one["outcome"], one["seconds"], one["sample_rate"]) for one in found} == {("", "", "")}


def test_an_object_holds_a_decision_with_its_findings(project: Project, ann: User) -> None:
    decided(project, ann, labels={"f1": True}, comment="Räder")

    [found] = objects(project)

    assert (found["outcome"], found["comment"], found["round"]) == ("pass", "Räder", 1)
    assert (found["agrees"], found["sample_rate"], found["models"]) == (None, None, [])
    assert found["findings"] == [
        {
            "rule": "no-placeholders",
            "fingerprint": "f1",
            "enforcement": "hard",
            "label": "true_positive",
        }
    ]


@pytest.mark.parametrize(
    ("outcome", "verdict", "expected"),
    [
        (Outcome.FAIL, Verdict.REJECT, True),
        (Outcome.PASS, Verdict.ACCEPT, True),
        (Outcome.PARTIAL_VERIFIED, Verdict.ACCEPT, True),
        (Outcome.PASS_WITH_WARNINGS, Verdict.REJECT, False),
        (Outcome.FAIL, Verdict.ACCEPT, False),
        (Outcome.FAIL, Verdict.UNDECIDED, None),  # nobody was contradicted
        (Outcome.PASS, "", None),
        ("", Verdict.ACCEPT, None),
    ],
)
def test_agreement_is_about_accepting_or_rejecting(
    outcome: str, verdict: str, expected: bool | None
) -> None:
    assert agrees(outcome, verdict) is expected


def test_no_cell_is_a_formula(project: Project) -> None:
    evil = make_user(project, Role.REVIEWER, "+evil@x")
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1", "rule": FORMULA}])
    run.task.external_id = run.phase_id = FORMULA
    run.task.save()
    review = make_review(project, run)
    make_decision(review, evil, comment=f"\t{FORMULA}", labels={"f1": True})
    over(review, Outcome.PASS)

    cells = [cell for row in lines(project) for cell in row.values()]

    assert len([cell for cell in cells if "HYPERLINK" in cell]) == 6
    assert [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@")] == []


def test_only_what_counts_is_exported(project: Project, ann: User) -> None:
    counted = decided(project, ann)
    decided(project, ann, is_settled=False)
    decided(project, ann, undone_at=NOW())

    assert [row["decision"] for row in lines(project)] == [str(counted.uuid)]
    assert [one["decision"] for one in objects(project)] == [str(counted.uuid)]


@pytest.mark.parametrize("state", [ReviewState.PENDING, ReviewState.DECIDED])
def test_nothing_of_a_round_that_is_not_over_is_exported(
    project: Project, ann: User, state: ReviewState
) -> None:
    review = make_review(project, state=state, reviewers=2)
    make_decision(review, ann)
    assert lines(project) == objects(project) == []

    Review.objects.filter(pk=review.pk).update(round=2, is_adjudication=True)
    [row] = lines(project)
    assert (row["round"], row["reviewer"]) == ("1", "ann")


def test_of_a_blind_review_nothing_is_exported_while_somebody_has_still_to_decide(
    project: Project, ann: User
) -> None:
    review = make_review(project, is_blind=True, round=2, is_adjudication=True)
    make_decision(review, ann, first_outcome=Outcome.PASS, round=1)
    assert lines(project) == objects(project) == []

    over(review, Outcome.PASS)
    assert [row["reviewer"] for row in lines(project)] == ["ann"]


def test_a_change_of_mind_is_a_line_of_its_own_round(project: Project, ann: User) -> None:
    decision = decided(project, ann, Outcome.FAIL)
    Review.objects.filter(pk=decision.review_id).update(round=2)
    make_decision(Review.objects.get(pk=decision.review_id), ann, Outcome.PASS)
    over(decision.review, Outcome.PASS)

    said = [(row["round"], row["outcome"], row["final_outcome"]) for row in lines(project)]
    assert said == [("2", "pass", "pass"), ("1", "fail", "pass")]


def test_filters_narrow_it_by_process_and_time(project: Project, ann: User) -> None:
    old = decided(project, ann, at=NOW() - timedelta(days=3))
    other = make_review(project, make_run(project, process=make_process(project, slug="other")))
    make_decision(over(other, Outcome.PASS), ann)
    other_one = other.decisions.get()
    decided(make_project("theirs"), ann)

    def named(**filters: str) -> list[str]:
        return [row["decision"] for row in lines(project, **filters)]

    assert named() == [str(other_one.uuid), str(old.uuid)]
    assert named(process="other") == named(since="2d") == [str(other_one.uuid)]
    assert named(process="small-work") == named(until="2d") == [str(old.uuid)]
    assert named(process="nowhere") == []


@pytest.mark.parametrize("wrong", [{"since": "soon"}, {"until": "1x"}, {"process": "a\x00"}])
def test_a_filter_that_is_none_is_refused(project: Project, wrong: dict[str, str]) -> None:
    with pytest.raises(InputError):
        labels(project, LabelFilters(**wrong))


def test_it_is_newest_first_across_pages_whole_and_says_when_it_is_cut(
    project: Project, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_DECISIONS", 2)
    now = NOW()
    made = [decided(project, ann, at=now - timedelta(minutes=n // 2)) for n in range(5)]
    expected = [str(made[n].uuid) for n in (1, 0, 3, 2, 4)]
    request, found = RequestFactory().get("/"), labels(project)

    cut = labels_jsonl(request, found, limit=3)
    whole = labels_csv(request, found, for_people=False, limit=5)

    assert [row["decision"] for row in lines(project)] == expected
    assert [one["decision"] for one in objects(project)] == expected
    assert (cut[CUT_HEADER], whole[CUT_HEADER]) == ("true", "false")
    assert cut["Content-Disposition"] == 'attachment; filename="labels-newest.jsonl"'
    assert text_of(cut).count("\n") == 3


def test_a_page_takes_the_same_queries_however_many_decisions(
    project: Project, ann: User, django_assert_num_queries: Any
) -> None:
    for _ in range(12):
        decided(project, ann, labels={"f1": True, "f2": False})

    with django_assert_num_queries(1 + 4):  # cut or not; decisions, labels, tiers, votes
        assert len(lines(project)) == 36


@pytest.mark.django_db(transaction=True)
def test_no_connection_is_held_while_somebody_reads_slowly() -> None:
    project = make_project()
    decided(project, make_user(name="ann"))
    answer: Any = labels_csv(RequestFactory().get("/"), labels(project), for_people=False)

    parts = iter(answer.streaming_content)
    next(parts)
    next(parts)

    assert connection.connection is None


@pytest.mark.extended
def test_an_export_is_never_held_whole(
    project: Project, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_DECISIONS", 20)
    review = decided(project, ann).review
    Decision.objects.bulk_create(
        Decision(
            project=project, review=review, evaluation=review.evaluation, reviewer=ann,
            round=number, outcome="pass", comment="word " * 1_800, created_at=NOW(),
            settled_at=NOW(),
        )
        for number in range(2, 1_002)
    )  # fmt: skip
    Review.objects.filter(pk=review.pk).update(round=1_001)
    request, found = RequestFactory().get("/"), labels(project)

    answers: list[Any] = [
        labels_csv(request, found, for_people=False),
        labels_jsonl(request, found),
    ]
    for answer in answers:
        tracemalloc.start()
        size = sum(len(part) for part in answer.streaming_content)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert size > 9_000_000
        assert peak < size / 4


def test_keys_and_people_get_the_same_lines(project: Project, ann: User) -> None:
    decided(project, ann, comment="Räder")

    by_key = Caller(project, Role.REVIEWER).get("/reviews/labels.csv?since=1h")
    by_page = signed_in(ann).get("/p/ours/review/labels.csv?since=1h")
    in_lines = Caller(project, Role.REVIEWER).get("/reviews/labels.jsonl")
    in_lines_by_page = signed_in(ann).get("/p/ours/review/labels.jsonl")

    # For people it begins as spreadsheets want UTF-8.
    assert "\ufeff" + text_of(by_key) == text_of(by_page)
    assert text_of(in_lines) == text_of(in_lines_by_page)
    assert by_key["Content-Type"] == "text/csv; charset=utf-8"
    assert in_lines["Content-Type"] == "application/jsonl"


@pytest.mark.parametrize(
    ("role", "status"), [(Role.VIEWER, 403), (Role.AGENT, 403), (Role.REVIEWER, 200), (None, 404)]
)
def test_pages_give_labels_to_reviewers(project: Project, role: Role | None, status: int) -> None:
    client = signed_in(make_user(project if role else None, role or Role.VIEWER))

    for suffix in ("csv", "jsonl"):
        assert client.get(f"/p/ours/review/labels.{suffix}").status_code == status


@pytest.mark.parametrize("query", ["since=soon", "process=%00"])
def test_a_page_with_a_wrong_filter_says_so(ann: User, query: str) -> None:
    assert signed_in(ann).get(f"/p/ours/review/labels.csv?{query}").status_code == 400


@pytest.mark.parametrize("query", ["since=soon", "process=%00", "proces=x", "phase=write"])
def test_a_request_with_a_wrong_filter_is_refused(project: Project, query: str) -> None:
    answer = Caller(project, Role.REVIEWER).get(f"/reviews/labels.csv?{query}")

    assert answer.status_code in (400, 422)


@pytest.mark.parametrize(("role", "is_offered"), [(Role.VIEWER, False), (Role.REVIEWER, True)])
def test_the_queue_offers_the_labels_of_what_it_shows(
    project: Project, role: Role, is_offered: bool
) -> None:
    client = signed_in(make_user(project, role))

    page = client.get("/p/ours/review/?process=small-work").content.decode()

    links = [f"/p/ours/review/labels.{suffix}?process=small-work" for suffix in ("csv", "jsonl")]
    assert [link in page for link in links] == [is_offered, is_offered]
