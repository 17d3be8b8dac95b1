"""What people decide, as the agents hear of it that did the work."""

from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from processes.services import add_version, publish
from tests.reviews.people import fresh, in_time, reviewer_of, says
from tests.runs.conftest import Caller, body_of, new_project, problem
from verification.engine.outcome import Outcome
from verification.reviews import deciding, settling
from verification.runs.models import Event, Review, Run, Task

PASS, FAIL = Outcome.PASS, Outcome.FAIL
ASKED_FOR_ALL = """\
name: asked
phases:
  - {id: work, description: Do it., max_attempts: 2}
verification:
  policy:
    review: {reasons: [undecided, rejected, terminal, partial], sample_rate: 1}
"""
REJECTED = {"return_code": 1}
UNDECIDED = {"tier": 2}  # no judge is configured


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: Any) -> None:
    storages = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages


@pytest.fixture
def project(db: None) -> Project:
    project = new_project("ours")
    version, _ = add_version(
        project=project, source_text=ASKED_FOR_ALL, actor=SYSTEM, role=Role.ADMIN
    )
    publish(process=version.process, number=version.number, actor=SYSTEM, reason="test")
    return project


@pytest.fixture
def agent(project: Project) -> Caller:
    return Caller(project, Role.AGENT)


@pytest.fixture
def reviewer(project: Project) -> Caller:
    return Caller(project, Role.REVIEWER)


class Work:
    """One task, and the runs that answer it."""

    def __init__(self, agent: Caller, reviewer: Caller) -> None:
        self.agent, self.reviewer = agent, reviewer
        self.task = body_of()["task"]["id"]

    def submitted(self, output: str, **fields: Any) -> dict[str, Any]:
        task = {"id": self.task}
        return self.agent.submit(process="asked", task=task, output=output, **fields)

    def decided(self, run: dict[str, Any], outcome: str, **said: Any) -> dict[str, Any]:
        body = {"outcome": outcome, **said}
        answer = self.reviewer.post(f"/runs/{run['id']}/review", body)
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()
        return found

    def refused(self) -> bool:
        answer = self.agent.post("/runs", body_of(process="asked", task={"id": self.task}))
        return int(answer.status_code) == 409

    @property
    def history(self) -> tuple[int, bool, str]:
        task = Task.objects.get(external_id=self.task)
        return task.attempts_used, task.exhausted, task.last_outcome


@pytest.fixture
def work(agent: Caller, reviewer: Caller) -> Work:
    return Work(agent, reviewer)


def test_a_run_tells_what_people_said_of_it(work: Work) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    before = run["review"]

    after = work.decided(run, "pass", comment="It holds.")

    assert (before["state"], before["outcome"], before["by"]) == ("pending", None, [])
    review = after["review"]
    assert review.pop("decided_at") is not None
    assert review == {
        "state": "decided",
        "closed": "",
        "reasons": before["reasons"],
        "outcome": "pass",
        "passed": True,
        "comment": "It holds.",
        "by": ["reviewer"],
        "findings": {},
    }
    assert (after["verdict"], after["passed"]) == ("undecided", None)
    assert after["final_outcome"] == "pass"
    assert after["feedback"] == run["feedback"]


def test_labels_of_findings_are_told_by_fingerprint(work: Work) -> None:
    run = work.submitted("All of it.", **REJECTED)
    [finding] = run["findings"]

    after = work.decided(run, "pass", findings={finding["fingerprint"]: "false_positive"})

    assert after["review"]["findings"] == {finding["fingerprint"]: "false_positive"}


@pytest.mark.parametrize("state", ["held", "expired", "withdrawn"])
def test_a_run_tells_why_nobody_is_asked_any_more(work: Work, state: str) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    Review.objects.update(state=state)
    Run.objects.update(review_state="not_required")

    after = work.agent.get(f"/runs/{run['id']}").json()["review"]

    assert (after["state"], after["closed"], after["outcome"]) == ("not_required", state, None)


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("submitted", "said", "history"),
    [
        (UNDECIDED, "fail", (1, False, "rejected")),
        (UNDECIDED, "pass", (0, False, "passed")),
        (REJECTED, "pass", (0, False, "passed")),
        (REJECTED, "fail", (1, False, "rejected")),
        ({}, "fail", (1, False, "rejected")),
        ({}, "pass", (0, False, "passed")),
    ],
)
def test_a_decision_counts_in_the_history_of_its_task(
    work: Work, submitted: dict[str, Any], said: str, history: tuple[int, bool, str]
) -> None:
    run = work.submitted("All of it.", **submitted)

    after = work.decided(run, said)

    assert work.history == history
    assert Run.objects.get().attempt == (1 if said == "fail" else None)
    assert after["task"]["attempts_used"] == history[0]


def test_a_change_of_mind_gives_back_what_it_took_and_takes_it_again(work: Work) -> None:
    run = work.submitted("All of it.", **UNDECIDED)

    used = [work.decided(run, said)["task"]["attempts_used"] for said in ("fail", "pass", "fail")]

    assert used == [1, 0, 1]


def test_a_persons_reject_can_use_up_the_task(work: Work) -> None:
    work.submitted("First.", **REJECTED)
    run = work.submitted("Second.", **UNDECIDED)

    work.decided(run, "fail")

    assert work.history == (2, True, "rejected")
    assert work.refused()
    kinds = Event.objects.filter(run__uuid=run["id"]).values_list("kind", flat=True)
    assert list(kinds.order_by("seq"))[-2:] == ["review_decided", "verification_exhausted"]


def false_negatives(run: dict[str, Any]) -> list[dict[str, Any]]:
    found = Event.objects.filter(run__uuid=run["id"], kind="verification_false_negative_candidate")
    return list(found.order_by("seq").values_list("data", flat=True))


def test_a_reject_that_a_person_overturns_is_a_false_negative_candidate(work: Work) -> None:
    run = work.submitted("First.", **REJECTED)

    work.decided(run, "pass")

    assert false_negatives(run) == [
        {
            "source": "review",
            "reason_code": "nonzero_return_code",
            "enforcement": "hard",
            "rules": ["return-code"],
        }
    ]


@pytest.mark.parametrize(
    ("submitted", "decisions", "count"),
    [
        (REJECTED, ("fail",), 0),
        (REJECTED, ("fail", "pass"), 1),
        (REJECTED, ("pass", "pass_with_warnings"), 1),
        (REJECTED, ("pass", "fail", "pass"), 1),
        (UNDECIDED, ("pass",), 0),
        ({}, ("fail",), 0),
    ],
    ids=["confirmed", "overturned later", "kept", "overturned twice", "undecided", "accepted"],
)
def test_only_an_overturned_reject_is_a_false_negative_candidate_and_once(
    work: Work, submitted: dict[str, Any], decisions: tuple[str, ...], count: int
) -> None:
    run = work.submitted("First.", **submitted)

    for outcome in decisions:
        work.decided(run, outcome)

    assert len(false_negatives(run)) == count


def test_what_only_that_reject_had_ended_is_open_again(work: Work) -> None:
    work.submitted("First.", **REJECTED)
    run = work.submitted("Second.", **REJECTED)
    assert work.refused()

    work.decided(run, "pass")

    assert work.history == (1, False, "passed")
    assert not work.refused()
    assert Event.objects.filter(run__uuid=run["id"], kind="task_reopened").count() == 1


def test_of_three_identical_ones_the_accepted_opens_the_task(work: Work) -> None:
    runs = [work.submitted("The same.", **REJECTED) for _ in range(3)]
    assert work.history == (1, True, "rejected")

    work.decided(runs[2], "pass")

    assert work.history == (1, False, "passed")


def test_an_earlier_run_changes_the_count_and_not_how_the_task_stands(work: Work) -> None:
    first = work.submitted("First.", **REJECTED)
    work.submitted("Second.")

    work.decided(first, "pass")
    assert work.history == (0, False, "passed")
    work.decided(first, "fail")
    assert work.history == (1, False, "passed")


def test_an_accepted_submission_that_is_rejected_again_uses_up_an_attempt_again(
    work: Work,
) -> None:
    first, _ = (work.submitted(output, **REJECTED) for output in ("A", "B"))
    work.decided(first, PASS)

    used = []
    for output in ("B", "A"):
        work.submitted(output, **REJECTED)
        used.append(work.history[0])

    assert used == [1, 2]


def test_a_persons_word_outlives_that_the_run_is_verified_again(work: Work) -> None:
    run = work.submitted("All of it.", **REJECTED)
    work.decided(run, "pass")

    assert work.reviewer.post(f"/runs/{run['id']}/reverify").status_code == 202
    after = work.agent.verified(run["id"])

    assert (after["verdict"], after["final_outcome"]) == ("reject", "pass")
    assert (after["review"]["state"], after["review"]["outcome"]) == ("decided", "pass")
    assert work.history == (0, False, "passed")


def test_a_decision_while_the_run_is_verified_again_stands_too(work: Work) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    assert work.reviewer.post(f"/runs/{run['id']}/reverify").status_code == 202
    work.decided(run, "fail")

    after = work.agent.verified(run["id"])

    assert (after["verdict"], after["final_outcome"]) == ("undecided", "fail")
    assert work.history == (1, False, "rejected")
    assert Run.objects.get().attempt == 1


def test_a_decision_on_a_page_is_no_news_until_it_takes_effect(
    project: Project, work: Work
) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    review = Review.objects.get()
    says(reviewer_of(project, "anna"), review, FAIL)

    between = work.agent.get(f"/runs/{run['id']}").json()
    settling.settle_due(now=in_time())
    after = work.agent.get(f"/runs/{run['id']}").json()

    assert (between["review"]["state"], between["final_outcome"]) == (
        "pending",
        run["final_outcome"],
    )
    assert (after["review"]["state"], after["final_outcome"]) == ("decided", "fail")


def test_verified_again_within_the_time_for_undoing_the_persons_word_still_takes_effect(
    project: Project, work: Work
) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    review = Review.objects.get()
    anna = reviewer_of(project, "anna")
    says(anna, review, FAIL)
    assert work.reviewer.post(f"/runs/{run['id']}/reverify").status_code == 202
    again = work.agent.verified(run["id"])
    assert again["review"]["state"] == "pending"

    settling.settle_due(now=in_time())

    after = fresh(review)
    assert (after.outcome, after.run.final_outcome) == ("fail", "fail")
    assert work.history == (1, False, "rejected")


def test_undone_after_it_was_verified_again_it_waits_for_a_person(
    project: Project, work: Work
) -> None:
    run = work.submitted("All of it.", **UNDECIDED)
    anna = reviewer_of(project, "anna")
    says(anna, Review.objects.get(), FAIL)
    assert work.reviewer.post(f"/runs/{run['id']}/reverify").status_code == 202
    work.agent.verified(run["id"])

    deciding.undo(access=anna)

    assert work.agent.get(f"/runs/{run['id']}").json()["review"]["state"] == "pending"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"outcome": "maybe"}, 422, "enum"),
        ({"outcome": "pass", "finding": {}}, 422, "extra_forbidden"),
        ({"outcome": "pass", "findings": {"one": "true_positive"}}, 422, "finding.unknown"),
        ({}, 422, "missing"),
    ],
)
def test_a_decision_that_says_nothing_clear_is_refused(
    work: Work, body: dict[str, Any], status: int, code: str
) -> None:
    run = work.submitted("All of it.", **UNDECIDED)

    answer = work.reviewer.post(f"/runs/{run['id']}/review", body)

    assert problem(answer)[:2] == (status, code)


def test_a_run_that_nobody_was_asked_about_has_no_review(work: Work) -> None:
    run = work.agent.submit()

    answer = work.reviewer.post(f"/runs/{run['id']}/review", {"outcome": "pass"})

    assert problem(answer)[:2] == (404, "review.unknown")


@pytest.mark.parametrize("query", ["until=never", "wait=61&until=decided", "wait=-1"])
def test_a_wait_for_anything_else_is_refused(work: Work, query: str) -> None:
    run = work.agent.submit()

    assert work.agent.get(f"/runs/{run['id']}?{query}").status_code == 422
