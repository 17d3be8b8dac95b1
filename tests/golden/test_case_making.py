from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, NotFound
from processes.selectors import definition_of
from tests.builders import make_project, make_run, make_user
from tests.gates import make_gate, passed
from tests.golden.builders import editor_of
from tests.model_server import ModelServer, Said, model_server
from tests.reviewing import make_review
from tests.reviews.deciding_rows import make_decision, over
from tests.runs.conftest import Caller, agent, project  # noqa: F401 - fixtures
from tests.runs.judged import AWAY, FAILING, NOISE, PASSING, judged_by, pass_deadline
from verification.adapters.probe import ChildProbe
from verification.engine.golden.replay import World
from verification.engine.outcome import Outcome
from verification.engine.reports.model import counted
from verification.engine.verifier import VerifierSpec
from verification.golden.cases import making, selectors
from verification.golden.models import GoldenCase
from verification.golden.replaying import LEGACY, Judged, judge_case
from verification.reviews.models import CaseDraft
from verification.runs import retention
from verification.runs.models import Review, Run
from verification.verifiers.models import VerifierVersion

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_evidence(tmp_path: Any, settings: LazySettings) -> None:
    storages: dict[str, Any] = dict(settings.STORAGES)
    storages["evidence"] = {**storages["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = storages
    settings.JUDGE_FIRST_WAIT_SECONDS = 0.01


@pytest.fixture
def server(project: Project) -> Iterator[ModelServer]:  # noqa: F811
    with model_server(PASSING) as server, model_server(PASSING) as other:
        judged_by(project, server, other, votes=3)
        yield server


def run_of(told: dict[str, Any]) -> Run:
    return Run.objects.select_related("project", "process", "task").get(uuid=told["id"])


def ended(agent: Caller, told: dict[str, Any]) -> dict[str, Any]:  # noqa: F811
    """Where it verifies itself again, let that happen once more, for the last time."""
    run = run_of(told)
    if run.is_over:
        return told
    pass_deadline(run)
    return agent.verified(told["id"])


def made_of(told: dict[str, Any], **wanted: Any) -> GoldenCase:
    run = run_of(told)
    return making.case_of_run(access=editor_of(run.project), run=run, **wanted)


def replayed(case: GoldenCase) -> Judged:
    """By the verifier and the process that are in force now."""
    version = selectors.version_of(case, case.current.number if case.current else 0)
    read = selectors.read_version(version)
    process = case.project.processes.get(slug=case.process)
    verifier = VerifierVersion.objects.get(project=case.project, is_active=True)
    return judge_case(
        read.given,
        read.expected,
        definition_of(process.published_id),  # type: ignore[arg-type]
        VerifierSpec.from_json(verifier.spec),
        World(read.workspace, ChildProbe()),
        legacy=LEGACY,
    )


def assert_holds(case: GoldenCase) -> Judged:
    judged = replayed(case)
    assert [one.to_json() for one in judged.differences] == []
    assert (judged.standing, judged.replayed.stale, judged.replayed.missing) == ("held", 0, 0)
    return judged


UNCONFIRMED = [
    {"text": f"Revenue rose by {n} %.", "label": "inferred", "section": "supporting"}
    for n in range(3)
]


@pytest.mark.parametrize(
    ("script", "submitted"),
    [
        ([PASSING], {"tier": 1}),
        ([PASSING], {"tier": 2}),
        ([FAILING], {"tier": 2}),
        ([NOISE, PASSING], {"tier": 2}),
        ([NOISE], {"tier": 2}),
        ([AWAY, PASSING], {"tier": 2}),
        ([AWAY], {"tier": 2}),
        ([Said("", status=200)], {"tier": 2}),
        ([Said('{"passed": tr', finish_reason="length")], {"tier": 2}),
        ([PASSING, PASSING, FAILING, PASSING], {"tier": 3}),
        ([PASSING, NOISE, FAILING, FAILING, PASSING], {"tier": 3}),
        ([PASSING], {"tier": 2, "return_code": 1}),
        ([PASSING], {"tier": 1, "claims": UNCONFIRMED}),
        ([PASSING], {"tier": 2, "files": {"a.md": "# A", "b.bin": {"base64": "AAEC/w=="}}}),
        ([PASSING], {"tier": 3, "alternatives": ["All is summed up.", "Nothing is."]}),
        ([PASSING, *[PASSING] * 3, AWAY], {"tier": 3, "alternatives": ["It is done.", "No."]}),
        ([PASSING], {"tier": 2, "executor": {"model": "openai/first"}}),
    ],
    ids=[
        "tier-1", "passed", "failed", "restated", "never-readable", "tried-again", "away", "empty",
        "cut", "votes", "votes-cast-again", "failed-work", "claims", "files", "alternatives",
        "lost-comparison", "judge-did-the-work",
    ],
)  # fmt: skip
def test_a_case_of_a_run_comes_out_as_the_run_did(
    agent: Caller,  # noqa: F811
    server: ModelServer,
    script: list[Any],
    submitted: dict[str, Any],
) -> None:
    server.script[:] = script
    told = ended(agent, agent.submit(**submitted))

    case = made_of(told)
    judged = assert_holds(case)

    assert judged.observed["outcome"] == told["outcome"]
    assert judged.observed["reason_code"] == (told["reason_code"] or "")
    answered = [one for one in spec_of(case).get("replies", ()) if "text" in one]
    assert {one.get("prompt") for one in answered} <= {one.prompt for one in judged.replayed.played}


@pytest.mark.extended
def test_what_was_carried_over_into_a_later_verification_is_heard_too(
    agent: Caller,  # noqa: F811
    server: ModelServer,
) -> None:
    server.script[:] = [PASSING, AWAY]
    told = agent.submit(tier=3)
    assert told["state"] != "finished"
    server.script[:] = [PASSING]

    told = ended(agent, told)

    assert (told["verdict"], told["tier_achieved"]) == ("accept", 3)
    assert_holds(made_of(told))


def test_a_judge_that_could_not_be_asked_at_all_is_lost_again(
    agent: Caller,  # noqa: F811
    server: ModelServer,
    project: Project,  # noqa: F811
) -> None:
    project.connections.update(is_removed=True)
    told = ended(agent, agent.submit(tier=2))

    judged = assert_holds(made_of(told))

    assert judged.observed["reason_code"] == "verifier_unavailable"


def test_claims_that_a_judge_confirmed_are_confirmed_again(
    agent: Caller,  # noqa: F811
    server: ModelServer,
) -> None:
    server.script[:] = [PASSING]
    task = {"is_critical_path": True}
    evidence = [{"id": "e1", "text": "Revenue rose by 1 %. Revenue rose by 2 %."}]
    told = ended(agent, agent.submit(tier=2, task=task, claims=UNCONFIRMED, evidence=evidence))

    judged = assert_holds(made_of(told))

    assert {one.ask for one in judged.replayed.played} >= {"confirm"}


def test_a_later_attempt_has_the_earlier_ones_behind_it(
    agent: Caller,  # noqa: F811
    server: ModelServer,
) -> None:
    task = {"id": "the-task", "max_attempts": 3}
    agent.submit(tier=1, task=task, output="First.", return_code=1)
    agent.submit(tier=1, task=task, output="Second.", return_code=1)
    again = agent.submit(tier=1, task=task, output="Second.", return_code=1)
    agent.submit(tier=1, task=task, output="Third.", return_code=1)

    case = made_of(again)

    history = spec_of(case)["history"]
    assert [problem["rule"] for problem in history.pop("findings")] == ["return-code"]
    assert history == {"attempts_used": 2, "submissions": 2, "is_same_candidate": True}
    observed = assert_holds(case).observed
    attempt = observed["attempt"]
    assert (attempt["used"], attempt["repeats"], attempt["counted"]) == (2, 1, False)
    assert "- [return-code] (remains)" in observed["feedback"]


def test_an_earlier_attempt_with_the_same_work_is_behind_a_run(
    agent: Caller,  # noqa: F811
    server: ModelServer,
) -> None:
    task = {"id": "the-task", "max_attempts": 3}
    agent.submit(tier=1, task=task, output="First.", return_code=1)
    agent.submit(tier=1, task=task, output="Second.", return_code=1)
    again = agent.submit(tier=1, task=task, output="First.", return_code=1)

    case = made_of(again)

    assert spec_of(case)["history"]["was_counted"] is True
    attempt = assert_holds(case).observed["attempt"]
    assert (attempt["used"], attempt["counted"]) == (2, False)


def spec_of(case: GoldenCase) -> dict[str, Any]:
    assert case.current is not None
    found: dict[str, Any] = case.current.spec
    return found


def test_where_it_comes_from_and_what_it_is_called_is_told(
    agent: Caller,  # noqa: F811
    server: ModelServer,
) -> None:
    told = agent.submit(tier=2, task={"description": "Sum up: Q3 (draft)!"})

    case = made_of(told, tags=["false-fail", "false-fail"])

    spec = spec_of(case)
    assert case.name == f"sum-up-q3-draft-{told['id'][:8]}"
    assert (case.run, case.owner, case.tags) == (run_of(told), "ed", ["false-fail"])
    assert spec["guards"] == "“Sum up: Q3 (draft)!” comes out as it was judged."
    assert spec["judges"] == {"primary": "openai/first", "alternate": "openai/second"}
    assert spec["provenance"] == {
        "run": told["id"],
        "evaluation": told["evaluation"],
        "process_version": str(told["process_version"]),
        "verifier_version": str(told["verifier_version"]),
    }


def test_a_run_is_made_a_case_once_whoever_asks(agent: Caller) -> None:  # noqa: F811
    told = agent.submit(tier=1)

    assert made_of(told) == made_of(told)
    assert GoldenCase.objects.count() == 1
    assert AuditEntry.objects.filter(verb="golden_case.made").count() == 1


@pytest.mark.parametrize("asked", [{}, {"tier": 1}])
def test_a_case_names_the_tier_that_its_submission_named(
    agent: Caller,  # noqa: F811
    asked: dict[str, int],
) -> None:
    document = making.document_of_run(run_of(agent.submit(**asked)))

    assert document.get("tier") == asked.get("tier")


def test_a_run_that_goes_on_is_no_case_yet(agent: Caller, server: ModelServer) -> None:  # noqa: F811
    server.script[:] = [PASSING, AWAY]
    told = agent.submit(tier=3)

    with pytest.raises(Conflict) as found:
        made_of(told)

    assert found.value.code == "golden.run_open"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER])
def test_below_editor_no_run_becomes_a_case(agent: Caller, role: Role) -> None:  # noqa: F811
    run = run_of(agent.submit(tier=1))

    with pytest.raises(Forbidden):
        making.case_of_run(access=replace(editor_of(run.project), role=role), run=run)


def test_the_case_outlives_the_run_and_its_content(agent: Caller) -> None:  # noqa: F811
    case = made_of(agent.submit(tier=1, files={"a.md": "# Kept"}))
    later = timezone.now() + timedelta(days=3650)
    Run.objects.update(retain_until=timezone.now())

    retention.purge_expired(later)
    retention.sweep_content(later)

    assert not Run.objects.exists()
    case = selectors.case_of(case.project, case.uuid)
    assert case.run is None
    assert selectors.document_of(selectors.version_of(case, 1))["files"] == {"a.md": "# Kept"}
    assert_holds(case)


FINDINGS = [
    {"rule": "wrong", "fingerprint": "1", "path": "a.md", "quote": "TBD"},
    {"rule": "right", "fingerprint": "2"},
    {"rule": "unsaid", "fingerprint": "3"},
]
RULE = {"reason_code": "rule_violated"}


@pytest.fixture
def reviewed() -> Review:
    """A rejected run of which a person has found one finding wrong and one right."""
    theirs = make_project("reviewed")
    run = make_run(
        theirs,
        outcome=Outcome.FAIL,
        reason_code="rule_violated",
        severity_class="semantic",
        findings=FINDINGS,
        evaluation={"severity_class": "semantic", "retry_strategy": "generic"},
    )
    review = make_review(theirs, run)
    make_decision(review, make_user(theirs), Outcome.PASS, labels={"1": False, "2": True})
    return review


def decided(review: Review, outcome: Outcome) -> Run:
    over(review, outcome)
    Run.objects.filter(pk=review.run_id).update(review_state="decided", final_outcome=outcome)
    return run_of({"id": review.run.uuid})


def test_what_people_decided_is_expected_and_not_what_the_verifier_said(reviewed: Review) -> None:
    run = decided(reviewed, Outcome.PASS)

    document = making.document_of_run(run)

    assert document["guards"].endswith("comes out as people decided.")
    assert document["provenance"]["review"] == str(reviewed.uuid)
    assert document["expected"] == {
        "outcome": "pass",
        "verdict": "accept",
        "findings": {
            "must": [{"rule": "right", **RULE}],
            "must_not": [{"rule": "wrong", **RULE, "path": "a.md", "quote": "TBD"}],
        },
    }


def test_where_people_agree_the_verifiers_reasons_are_expected_too(reviewed: Review) -> None:
    run = decided(reviewed, Outcome.FAIL)

    assert making.document_of_run(run)["expected"] == {
        "outcome": "fail",
        "verdict": "reject",
        "reason_code": "rule_violated",
        "severity_class": "semantic",
        "retry_strategy": "generic",
        "findings": {
            "must": [{"rule": "right", **RULE}, {"rule": "unsaid", **RULE}],
            "must_not": [{"rule": "wrong", **RULE, "path": "a.md", "quote": "TBD"}],
        },
    }


def test_somebodys_word_goes_beyond_both(reviewed: Review) -> None:
    run = decided(reviewed, Outcome.FAIL)

    expected = making.document_of_run(run, expected_outcome="partial_verified")["expected"]

    assert (expected["outcome"], expected["verdict"]) == ("partial_verified", "accept")
    assert "reason_code" not in expected


def test_a_verdict_that_is_still_decided_blind_is_not_told_by_a_case(reviewed: Review) -> None:
    Review.objects.filter(pk=reviewed.pk).update(is_blind=True)

    with pytest.raises(Conflict) as found:
        making.document_of_run(run_of({"id": reviewed.run.uuid}))

    assert found.value.code == "golden.review_open"


def test_a_draft_becomes_a_case_and_is_a_draft_no_more(reviewed: Review) -> None:
    run = reviewed.run
    draft = CaseDraft.objects.create(
        project=run.project, run=run, review=reviewed, outcome="pass", made_by="ann",
        created_at=timezone.now(),
    )  # fmt: skip

    case = making.case_of_draft(access=editor_of(run.project), draft=draft.uuid)

    assert spec_of(case)["expected"]["outcome"] == "pass"
    assert not CaseDraft.objects.exists()
    assert AuditEntry.objects.filter(verb="case_draft.taken").count() == 1
    with pytest.raises(NotFound):
        making.case_of_draft(access=editor_of(run.project), draft=draft.uuid)


def test_a_prompt_that_was_cut_for_a_small_model_is_cut_again(
    agent: Caller,  # noqa: F811
    server: ModelServer,
    project: Project,  # noqa: F811
) -> None:
    project.connections.update(max_input_chars=6_000)
    told = agent.submit(tier=2, output="All quarters are summed up. " * 500)

    case = made_of(told)

    assert spec_of(case)["judges"]["prompt_chars"] == 6_000
    assert len(server.prompts()[0]) <= 6_000
    assert_holds(case)


def test_whose_word_a_gate_went_by_is_kept(agent: Caller, server: ModelServer) -> None:  # noqa: F811
    run = run_of(ended(agent, agent.submit(tier=2)))
    assert run.live_evaluation
    make_gate(run.live_evaluation, tests=counted([passed("adds")], is_guess=True))
    make_gate(run.live_evaluation, "lint", is_word=True)

    [test, lint] = making.document_of_run(run)["gates"]

    assert (test["is_guess"], test["is_word"]) == (True, False)
    assert (lint["is_guess"], lint["is_word"]) == (False, True)
