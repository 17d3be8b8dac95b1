from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.builders import make_project, make_run, make_user
from tests.reviewing import DOUBTED, make_review
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from verification.reviews.models import CaseDraft, Decision
from verification.runs.models import Review, ReviewState, Run

PASS = {"outcome": "pass"}
FAIL = {"outcome": "fail"}


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def ann(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def ben(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def cleo(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def review(project: Project) -> Review:
    found = [{"fingerprint": "f1"}, {"fingerprint": "f2"}]
    return make_review(project, make_run(project, **DOUBTED, findings=found))


def act(caller: Caller, review: Review, verb: str, body: Any = None) -> Any:
    return caller.post(f"/reviews/{review.uuid}/{verb}", body)


def done(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def move(review: Review, **columns: Any) -> None:
    Review.objects.filter(pk=review.pk).update(**columns)


def test_the_next_is_claimed_for_five_minutes_and_nobody_else_gets_it(
    project: Project, review: Review, ann: Caller, ben: Caller
) -> None:
    taken = done(ann.post("/reviews/claim"))

    assert (taken["id"], taken["is_mine"], taken["holder"]) == (
        str(review.uuid), True, "key reviewer"
    )  # fmt: skip
    assert ben.post("/reviews/claim").status_code == 204
    assert problem(act(ben, review, "claim"))[:2] == (409, "review.held")
    move(review, lease_until=timezone.now() - timedelta(seconds=1))
    assert done(act(ben, review, "claim"))["is_mine"] is True


def test_a_claim_is_kept_by_claiming_again_and_given_back_by_releasing(
    review: Review, ann: Caller, ben: Caller
) -> None:
    done(act(ann, review, "claim"))
    move(review, lease_until=timezone.now() + timedelta(seconds=9))
    lease = Review.objects.get(pk=review.pk).lease_until

    kept = done(act(ann, review, "claim"))["lease_until"]
    assert lease is not None
    assert kept > lease.isoformat()

    assert done(act(ben, review, "release"))["holder"] == "key reviewer"
    assert done(act(ann, review, "release"))["holder"] is None


def test_the_next_goes_by_filters_and_passes_over_what_is_named(
    project: Project, ann: Caller
) -> None:
    urgent, other = (make_review(project, urgency=urgency) for urgency in (90, 10))
    in_phase = make_review(project, make_run(project, **DOUBTED, phase="write"), urgency=0)

    def claimed(body: Any) -> Any:
        return done(ann.post("/reviews/claim", body))["id"]

    assert claimed({"phase": "write"}) == str(in_phase.uuid)
    assert claimed({"without": [str(urgent.uuid), str(in_phase.uuid)]}) == str(other.uuid)
    assert ann.post("/reviews/claim", {"process": "nowhere"}).status_code == 204


def test_what_was_skipped_comes_last(project: Project, ann: Caller) -> None:
    first, second = (make_review(project, urgency=urgency) for urgency in (90, 10))

    assert done(act(ann, first, "skip"))["holder"] is None

    assert done(ann.post("/reviews/claim"))["id"] == str(second.uuid)
    act(ann, second, "skip")
    assert done(ann.post("/reviews/claim"))["id"] == str(first.uuid)


def test_one_person_is_given_it_or_anybody(project: Project, review: Review, ann: Caller) -> None:
    make_user(project, Role.REVIEWER, "Dora")

    assert done(act(ann, review, "assign", {"user": "dora"}))["assigned_to"] == "Dora"
    assert ann.post("/reviews/claim").status_code == 204
    assert done(act(ann, review, "assign", {"user": None}))["assigned_to"] is None
    assert done(ann.post("/reviews/claim"))["id"] == str(review.uuid)


@pytest.mark.parametrize(
    ("name", "code"),
    [("nobody", "user.unknown"), ("stranger", "user.unknown"), ("viewer", "review.assignee")],
)
def test_only_a_reviewer_of_the_project_is_given_one(
    project: Project, review: Review, ann: Caller, name: str, code: str
) -> None:
    make_user(project, Role.VIEWER, "viewer")
    make_user(make_project("theirs"), Role.REVIEWER, "stranger")

    assert problem(act(ann, review, "assign", {"user": name}))[:2] == (422, code)


def test_what_the_cap_held_back_is_taken_in_once(project: Project, ann: Caller) -> None:
    held = make_review(project, state=ReviewState.HELD)

    assert problem(act(ann, held, "claim"))[:2] == (409, "review.over")
    assert done(act(ann, held, "take-in"))["state"] == "pending"
    assert problem(act(ann, held, "take-in"))[0] == 409


def test_a_decision_takes_effect_at_once_and_the_verifiers_word_stays(
    review: Review, ann: Caller
) -> None:
    body = {
        **PASS,
        "comment": "The figures are right.",
        "findings": {"f1": "false_positive", "f2": "true_positive"},
        "golden": True,
    }

    decided = done(act(ann, review, "decide", body))

    decision, after = decided["decision"], decided["review"]
    assert (after["state"], after["outcome"], after["engine"]["outcome"]) == (
        "decided", "pass", "fail"
    )  # fmt: skip
    assert decision["findings"] == body["findings"]
    assert (decision["comment"], decision["is_mine"]) == ("The figures are right.", True)
    assert decision["settled_at"]
    assert after["decisions"] == [decision]
    run = ann.get(f"/runs/{review.run.uuid}").json()
    assert (run["final_outcome"], run["outcome"]) == ("pass", "fail")
    assert (run["review"]["state"], run["review"]["outcome"]) == ("decided", "pass")
    assert CaseDraft.objects.get().run == review.run


def test_null_is_the_verifiers_own_outcome_and_must_be_said(review: Review, ann: Caller) -> None:
    assert problem(act(ann, review, "decide", {}))[::2] == (422, ["body", "body", "outcome"])
    assert not Decision.objects.exists()

    assert done(act(ann, review, "decide", {"outcome": None}))["review"]["outcome"] == "fail"


def test_the_same_said_twice_is_one_decision_and_another_word_a_new_round(
    review: Review, ann: Caller
) -> None:
    first = done(act(ann, review, "decide", PASS))["decision"]
    again = done(act(ann, review, "decide", PASS))["decision"]
    changed = done(act(ann, review, "decide", FAIL))["review"]

    assert again["id"] == first["id"]
    assert [one["round"] for one in changed["decisions"]] == [1, 2]
    assert changed["outcome"] == "fail"


def test_what_somebody_else_decided_is_decided_anew_only_on_purpose(
    review: Review, ann: Caller, ben: Caller
) -> None:
    done(act(ann, review, "decide", PASS))

    assert problem(act(ben, review, "decide", FAIL))[:2] == (409, "review.over")
    assert done(act(ben, review, "decide", {**FAIL, "anew": True}))["review"]["outcome"] == "fail"
    assert problem(act(ann, review, "decide", PASS))[:2] == (409, "review.over")


def test_blind_the_first_answer_reveals_and_the_second_confirms_or_changes(
    project: Project, ann: Caller
) -> None:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": "f1"}])
    review = make_review(project, run, is_blind=True)

    early = act(ann, review, "decide", {**PASS, "findings": {"f1": "true_positive"}})
    unsaid = act(ann, review, "decide", {"outcome": None})
    first = done(act(ann, review, "decide", {**PASS, "is_first": True}))
    second = done(act(ann, review, "decide", {**FAIL, "findings": {"f1": "true_positive"}}))

    assert problem(early)[:2] == (422, "review.blind")
    assert problem(unsaid)[:2] == (422, "outcome.required")
    assert (first["decision"]["first_outcome"], first["decision"]["outcome"]) == ("pass", None)
    assert (first["review"]["is_revealed"], first["review"]["state"]) == (True, "pending")
    assert len(first["review"]["findings"]) == 1
    assert (second["decision"]["first_outcome"], second["decision"]["outcome"]) == ("pass", "fail")
    assert (second["review"]["state"], second["review"]["outcome"]) == ("decided", "fail")


def test_of_two_the_second_is_offered_to_somebody_else_who_sees_nothing_of_the_first(
    project: Project, ann: Caller, ben: Caller
) -> None:
    review = make_review(project, reviewers=2)
    said = done(act(ann, review, "decide", {**PASS, "comment": "telltale"}))

    assert said["review"]["state"] == "pending"
    assert ann.post("/reviews/claim").status_code == 204
    assert problem(act(ann, review, "decide", FAIL))[:2] == (409, "review.decided_by_you")
    offered = done(ben.post("/reviews/claim"))
    assert (offered["decisions"], "telltale" in str(offered)) == ([], False)
    assert b"telltale" not in ben.get(f"/runs/{review.run.uuid}").content
    assert b"telltale" not in ben.get(f"/runs/{review.run.uuid}/events").content
    assert b"telltale" not in read(ben.get("/reviews/labels.csv"))

    agreed = done(act(ben, review, "decide", PASS))["review"]
    assert (agreed["state"], agreed["outcome"], len(agreed["decisions"])) == ("decided", "pass", 2)
    assert read(ann.get("/reviews/labels.csv")).count(b"telltale") == 1


def read(answer: Any) -> bytes:
    assert answer.status_code == 200
    return b"".join(answer.streaming_content)


def test_where_two_disagree_a_third_sees_both_and_decides(
    project: Project, ann: Caller, ben: Caller, cleo: Caller
) -> None:
    review = make_review(project, reviewers=2)
    done(act(ann, review, "decide", PASS))
    opened = done(act(ben, review, "decide", FAIL))["review"]

    assert (opened["state"], opened["round"], opened["is_adjudication"]) == ("pending", 2, True)
    assert [caller.post("/reviews/claim").status_code for caller in (ann, ben)] == [204, 204]
    seen = done(cleo.post("/reviews/claim"))["decisions"]
    assert [one["outcome"] for one in seen] == ["pass", "fail"]
    settled = done(act(cleo, review, "decide", FAIL))["review"]
    assert (settled["state"], settled["outcome"]) == ("decided", "fail")


def test_many_are_decided_alike_and_each_refusal_says_why(
    project: Project, ann: Caller, ben: Caller
) -> None:
    reviews = [make_review(project) for _ in range(3)]
    blind, held = make_review(project, is_blind=True), make_review(project)
    foreign = make_review(make_project("theirs"))
    done(act(ben, held, "claim"))
    asked = [str(one.uuid) for one in (*reviews, blind, held, foreign, reviews[0])]

    together = done(ann.post("/reviews/decide", {"reviews": asked, **FAIL}))

    assert together["decided"] == asked[:3]
    assert together["refused"] == {
        str(blind.uuid): "review.one_by_one",
        str(held.uuid): "review.held",
        str(foreign.uuid): "review.unknown",
    }
    assert Run.objects.filter(final_outcome="fail").count() == 3


def test_what_took_effect_is_not_erased_and_may_be_decided_anew(
    review: Review, ann: Caller, ben: Caller
) -> None:
    decision = done(act(ann, review, "decide", PASS))["decision"]

    undone = done(ann.post("/reviews/undo"))

    assert (undone["erased"], undone["review"]["outcome"]) == (False, "pass")
    assert done(ann.post("/reviews/undo", {"decision": decision["id"]}))["erased"] is False
    for stranger in (decision["id"], str(uuid4())):
        refused = ben.post("/reviews/undo", {"decision": stranger})
        assert problem(refused)[:2] == (404, "decision.unknown")


VERBS: dict[str, Any] = {
    "claim": None, "release": None, "skip": None, "assign": {"user": None}, "take-in": None,
    "decide": PASS,
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
def test_what_another_project_holds_is_not_found(review: Review, verb: str) -> None:
    stranger = Caller(make_project("theirs"), Role.ADMIN)

    assert problem(act(stranger, review, verb, VERBS[verb]))[:2] == (404, "review.unknown")
    assert stranger.post(f"/reviews/{uuid4()}/{verb}", VERBS[verb]).status_code == 404


LONG = "x" * 10_001
HOSTILE: list[tuple[str, str, Any]] = [
    ("an outcome that is none", "decide", {"outcome": "maybe"}),
    ("an outcome of another kind", "decide", {"outcome": ["pass"]}),
    ("undecided is no word of a person", "decide", {"outcome": "undecided"}),
    ("a comment that is too long", "decide", {**PASS, "comment": LONG}),
    ("a comment of another kind", "decide", {**PASS, "comment": {"a": 1}}),
    ("a finding that is none", "decide", {**PASS, "findings": {"f9": "true_positive"}}),
    ("a NUL in a fingerprint", "decide", {**PASS, "findings": {"f\x00": "true_positive"}}),
    ("half a surrogate pair", "decide", {**PASS, "findings": {"\ud800": "true_positive"}}),
    ("a label that is none", "decide", {**PASS, "findings": {"f1": "right"}}),
    ("a label of another kind", "decide", {**PASS, "findings": {"f1": True}}),
    ("findings as a list", "decide", {**PASS, "findings": ["f1"]}),
    ("too many findings", "decide",
     {**PASS, "findings": {f"f{n}": "true_positive" for n in range(1_001)}}),
    ("a field with a typing error", "decide", {**PASS, "coment": "x"}),
    ("golden of another kind", "decide", {**PASS, "golden": "perhaps"}),
    ("no object", "decide", [PASS]),
    ("an evaluation that is no id", "decide", {**PASS, "evaluation": "one"}),
    ("nobody said", "assign", {}),
    ("a NUL in a name", "assign", {"user": "a\x00"}),
    ("half a name", "assign", {"user": "\ud800"}),
    ("a name of another kind", "assign", {"user": 7}),
]  # fmt: skip


@check_rows(
    ("verb", "body"),
    [each[1:] for each in HOSTILE],
    ids=[each[0] for each in HOSTILE],
    rollback=True,
)
def test_a_hostile_body_is_refused_and_changes_nothing(
    review: Review, ann: Caller, verb: str, body: Any
) -> None:
    status, _, loc = problem(act(ann, review, verb, body))

    assert (status, loc[0]) == (422, "body")
    assert not Decision.objects.exists()


@check_rows(
    ("path", "body"),
    [
        ("/reviews/decide", {**PASS, "reviews": []}),
        ("/reviews/decide", {**PASS, "reviews": [str(uuid4()) for _ in range(201)]}),
        ("/reviews/decide", {**PASS, "reviews": "all"}),
        ("/reviews/decide", {"reviews": [str(uuid4())]}),
        ("/reviews/claim", {"without": [str(uuid4()) for _ in range(1_001)]}),
        ("/reviews/claim", {"without": ["one"]}),
        ("/reviews/claim", {"proces": "small-work"}),
        ("/reviews/claim", {"state": "held"}),
        ("/reviews/claim", {"process": "a\x00"}),
        ("/reviews/claim", {"rule": "\ud800"}),
        ("/reviews/claim", {"verdict": "maybe"}),
        ("/reviews/undo", {"decision": "latest"}),
        ("/reviews/undo", {"review": str(uuid4())}),
    ],
    rollback=True,
)
def test_hostile_bodies_of_what_names_no_review_are_refused(
    review: Review, ann: Caller, path: str, body: Any
) -> None:
    assert problem(ann.post(path, body))[0] == 422
    assert Review.objects.get(pk=review.pk).claimed_key is None


def test_a_nul_in_a_comment_is_replaced_rather_than_lost(review: Review, ann: Caller) -> None:
    decided = done(act(ann, review, "decide", {**PASS, "comment": "a\x00b"}))

    assert decided["decision"]["comment"] == "a\ufffdb"


def test_what_was_looked_at_is_what_is_decided(review: Review, ann: Caller) -> None:
    stale = act(ann, review, "decide", {**PASS, "evaluation": str(uuid4())})
    fresh = act(ann, review, "decide", {**PASS, "evaluation": str(review.evaluation.uuid)})

    assert problem(stale)[:2] == (409, "review.changed")
    assert fresh.status_code == 200


AUDITED: list[tuple[str, Any, list[str]]] = [
    ("claim", None, []),  # a lease passes; nobody is told of it, or misses it
    ("release", None, []),
    ("skip", None, []),
    ("assign", {"user": "dora"}, ["review.assigned"]),
    ("take-in", None, ["review.taken_in"]),
    ("decide", PASS, ["review.decided"]),
    ("decide", {**PASS, "golden": True}, ["case_draft.made", "review.decided"]),
]


@pytest.mark.parametrize(
    ("verb", "body", "verbs"), AUDITED, ids=[f"{verb}-{n}" for n, (verb, *_) in enumerate(AUDITED)]
)
def test_whatever_changes_something_for_good_is_in_the_audit_trail(
    project: Project, review: Review, ann: Caller, verb: str, body: Any, verbs: list[str]
) -> None:
    make_user(project, Role.REVIEWER, "dora")
    if verb == "take-in":
        move(review, state=ReviewState.HELD)
    before = AuditEntry.objects.latest("pk").pk

    done(act(ann, review, verb, body))

    entries = AuditEntry.objects.filter(pk__gt=before).order_by("verb")
    assert [entry.verb for entry in entries] == verbs
    assert {entry.actor for entry in entries} <= {"key reviewer"}
    assert {entry.object_id for entry in entries} <= {str(review.uuid)}


def test_a_change_of_mind_is_in_the_audit_trail_with_what_it_was(
    review: Review, ann: Caller
) -> None:
    done(act(ann, review, "decide", PASS))
    done(act(ann, review, "decide", FAIL))

    entry = AuditEntry.objects.get(verb="review.changed")
    assert entry.diff == {"outcome": ["pass", "fail"]}
