from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.errors import Forbidden
from processes.models import Process
from processes.services import publish
from tests.builders import SOURCE_TEXT, add_version, make_process, make_project
from tests.golden.builders import document, editor_of, make_case
from tests.golden.replayed import ASKS, FILES, PASSED
from tests.tables import check_rows
from tests.trials.builders import access_to, make_legacy, make_trial, make_verifier
from tests.trials.replaying import compared, corpus_criterion, over_corpus, unpublished
from verification.engine.golden.replay import replay
from verification.engine.outcome import Outcome, Verdict
from verification.engine.shadow import Full, SideOutcome
from verification.golden.cases.services import change_case
from verification.golden.models import GoldenCase, GoldenCaseVersion, ReplayPurpose, ReplayState
from verification.golden.replays import services as golden
from verification.trials.models import Comparison, Judged, Trial
from verification.trials.replays import cases
from verification.trials.replays.cutover import replay_corpus, under_way
from verification.trials.selectors import cutover_replay

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


def good(project: Project, name: str = "case", **fields: Any) -> GoldenCase:
    return make_case(project, name, **{"files": FILES, **fields})


def legacy_trial(project: Project) -> Trial:
    return make_trial(
        project, baseline=make_legacy(project), candidate=project.verifiers.get(is_active=True)
    )


def columns(trial: Trial) -> dict[str, Any]:
    """Of the only case."""
    [found] = compared(over_corpus(trial)).values()
    return found


def test_both_sides_of_a_case_are_compared(project: Project) -> None:
    good(project, run={"output": "TODO"})

    told = columns(legacy_trial(project))

    assert (told["old"], told["new"]) == (SideOutcome.FAIL, SideOutcome.PASS_WITH_WARNINGS)
    assert told["diff_class"] == "old_fail_new_pass"
    assert told["rules"] == ["no-placeholders"]
    assert told["old_reason"] == told["old_observed"]["reason_code"] != ""
    assert told["new_observed"]["findings"][0]["enforcement"] == "advisory"
    assert (told["has_failed"], told["error_text"]) == (False, "")


def test_sides_that_agree_differ_in_nothing(project: Project) -> None:
    good(project)

    told = columns(legacy_trial(project))

    assert (told["old"], told["new"], told["diff_class"]) == ("pass", "pass", "no_diff")
    assert (told["finer"], told["rules"], told["summary"], told["kind"]) == ([], [], "", "")


def test_recorded_replies_stand_in_for_the_judges_of_both_sides(project: Project) -> None:
    make_case(project, "asked", **ASKS, replies=[{"text": f"I am sure. {PASSED}"}])

    told = columns(legacy_trial(project))

    assert (told["old"], told["new"]) == ("fail", "pass")  # prose around a verdict
    assert told["diff_class"] == "old_fail_new_pass"
    assert (told["new_observed"]["questions"], told["new_observed"]["stale"]) == (1, 0)


def test_what_nobody_recorded_leaves_a_case_without_a_class(project: Project) -> None:
    make_case(project, "asked", **ASKS)

    told = columns(legacy_trial(project))

    assert told["error_text"] == (
        "No answer to question 1 (assess) of tier 2 was recorded: the old side asks for it."
    )
    assert "diff_class" not in told
    assert "judged" not in told
    assert told["old_observed"]["tiers"]


def test_a_side_that_asks_more_than_was_recorded_is_named(project: Project) -> None:
    """The policy engine asks again what it cannot read; the old one gives up."""
    make_case(project, "asked", **ASKS, replies=[{"text": "Let me think about this."}])

    told = columns(legacy_trial(project))

    assert told["error_text"].startswith("No answer to question")
    assert told["error_text"].endswith("the new side asks for it.")


def side(outcome: Outcome, verdict: Verdict) -> Full:
    return Full(outcome, verdict)


PASSES = side(Outcome.PASS, Verdict.ACCEPT)
WARNS = side(Outcome.PASS_WITH_WARNINGS, Verdict.ACCEPT)
REJECTS = side(Outcome.FAIL, Verdict.REJECT)
DOUBTS = side(Outcome.FAIL, Verdict.UNDECIDED)


@check_rows(
    ("expected", "old", "new", "judged"),
    [
        ({"verdict": "accept"}, REJECTS, PASSES, Judged.NEW),
        ({"verdict": "reject"}, REJECTS, PASSES, Judged.OLD),
        ({"verdict": "accept"}, PASSES, WARNS, Judged.BOTH),
        ({"outcome": "pass"}, PASSES, WARNS, Judged.OLD),
        ({"outcome": "pass_with_warnings"}, PASSES, PASSES, Judged.NEITHER),
        ({"verdict": "accept"}, DOUBTS, PASSES, Judged.NEW),
        ({"verdict": "undecided"}, DOUBTS, REJECTS, Judged.OLD),
        ({"outcome": "fail", "verdict": "reject"}, DOUBTS, DOUBTS, Judged.NEITHER),
        ({"reason_code": "tests_failed"}, REJECTS, PASSES, Judged.OLD),
        ({"outcome": "fail"}, REJECTS, DOUBTS, ""),  # a fail may be doubt: that says no verdict
        ({"confidence": 1.0}, REJECTS, PASSES, ""),
    ],
    ids=str,
    rollback=True,
)
def test_what_a_case_expects_says_which_side_is_right(
    expected: dict[str, Any], old: Full, new: Full, judged: str
) -> None:
    assert cases.judged(expected, old, new) == judged


def test_a_held_out_case_is_judged_by_what_it_expects(project: Project) -> None:
    good(project, run={"output": "TODO"}, expected={"verdict": "accept"})

    assert columns(legacy_trial(project))["judged"] == Judged.NEW


def test_a_candidate_version_of_a_process_is_compared_with_the_published_one(
    project: Project,
) -> None:
    good(project)
    trial = make_trial(project, candidate_process_version=unpublished(project))

    told = columns(trial)

    assert (told["old"], told["new"]) == ("pass", "fail")
    assert told["diff_class"] == "old_pass_new_fail"


def test_publishing_meanwhile_changes_nothing(project: Project) -> None:
    good(project)
    version = unpublished(project)
    replay = over_corpus(make_trial(project, candidate_process_version=version))

    publish(
        process=Process.objects.get(pk=version.process_id), number=version.number, actor=SYSTEM,
        reason="Try", corpus_reason="Try",
    )  # fmt: skip

    [told] = compared(replay).values()
    assert (told["old"], told["new"]) == ("pass", "fail")


def test_a_case_is_compared_as_it_was_when_the_replay_began(project: Project) -> None:
    case = good(project)
    replay = over_corpus(legacy_trial(project))

    changed = document("case", files=FILES, run={"output": "TODO"})
    change_case(access=editor_of(project), case=case.uuid, document=changed, reason="Better.")

    [told] = compared(replay).values()
    assert told["diff_class"] == "no_diff"


def test_a_phase_that_the_candidate_lacks_is_said(project: Project) -> None:
    good(project)
    text = SOURCE_TEXT.replace("- id: build", "- id: make").replace("[build]", "[make]")

    told = columns(make_trial(project, candidate_process_version=unpublished(project, text)))

    assert told == {"error_text": "The process has no phase 'build'."}


def test_a_process_of_its_own_goes_with_a_case(project: Project) -> None:
    own = SOURCE_TEXT.replace("small-work", "their-own")
    good(project, process="their-own", process_text=own)

    assert columns(legacy_trial(project))["diff_class"] == "no_diff"


def test_a_case_that_is_gone_is_said(project: Project) -> None:
    good(project)
    replay = over_corpus(legacy_trial(project))

    GoldenCase.objects.update(current=None)
    GoldenCaseVersion.objects.all().delete()

    [told] = compared(replay).values()

    assert told == {"error_text": cases.GONE}


def test_a_side_that_breaks_is_undecided_and_compared(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(project)
    trial = legacy_trial(project)

    def breaks(given: Any, definition: Any, verifier: Any, world: Any) -> Any:
        if verifier.flags.policy_engine_enabled:
            raise ZeroDivisionError("division by zero")
        return replay(given, definition, verifier, world)

    monkeypatch.setattr(cases, "replay", breaks)

    told = columns(trial)

    assert (told["old"], told["new"], told["new_reason"]) == (
        "pass", "undecided", "infra_verifier_error",
    )  # fmt: skip
    assert (told["diff_class"], told["has_failed"]) == ("new_undecided", True)
    number = trial.candidate_verifier.number
    assert told["error_text"] == f"ZeroDivisionError in verifier version {number}: division by zero"


def test_what_is_stored_of_each_side_is_bounded(project: Project) -> None:
    good(project, run={"output": "TODO\n" * 3_000})

    told = columns(legacy_trial(project))

    assert len(told["old_observed"]["findings"]) <= 1_000


def test_every_column_is_one_of_a_comparison(project: Project) -> None:
    good(project)
    fields = {field.name for field in Comparison._meta.concrete_fields}

    assert set(columns(legacy_trial(project))) <= fields


def test_the_candidate_is_replayed_with_the_held_set_before_a_cutover(project: Project) -> None:
    good(project, "usual")
    good(project, "held-set", tags=["canary"])
    candidate = make_verifier(project, regex_default_advisory=False)
    trial = make_trial(project, candidate=candidate)

    replay = replay_corpus(access=access_to(project), trial=trial)

    assert (replay.purpose, replay.verifier_version) == (ReplayPurpose.CUTOVER, candidate)
    assert (replay.process, replay.process_version, replay.total) == (None, None, 2)
    assert replay.state == ReplayState.QUEUED


def test_the_gate_reads_the_cutovers_replay_of_the_corpus_as_it_is_now(project: Project) -> None:
    good(project)
    trial = make_trial(project)
    assert corpus_criterion(trial).n == 0

    replay = replay_corpus(access=access_to(project), trial=trial)
    golden.run_now(replay)

    assert cutover_replay(trial) == replay
    assert corpus_criterion(trial).n == 1
    good(project, "one-more")
    assert cutover_replay(trial) is None


def test_a_candidate_version_is_replayed_over_the_cases_of_its_process(project: Project) -> None:
    make_process(project, slug="other")
    good(project)
    make_case(project, "elsewhere", process="other")
    version = unpublished(project)

    replay = replay_corpus(
        access=access_to(project), trial=make_trial(project, candidate_process_version=version)
    )
    golden.run_now(replay)

    assert (replay.process_version, replay.total) == (version, 1)
    assert replay.counts["new"] == 1


def test_where_the_verifier_changes_too_all_cases_are_replayed_by_both(project: Project) -> None:
    other = make_process(project, slug="other")
    good(project)
    make_case(project, "elsewhere", process="other")
    version, verifier = unpublished(project), make_verifier(project, regex_default_advisory=False)
    trial = make_trial(project, candidate=verifier, candidate_process_version=version)

    replay = replay_corpus(access=access_to(project), trial=trial)
    golden.run_now(replay)

    taken = replay.results.values_list("case__process", "process_version")
    assert dict(taken) == {"small-work": version.pk, "other": other.published_id}
    assert (replay.verifier_version, cutover_replay(trial)) == (verifier, replay)
    add_version(other, SOURCE_TEXT + "# Better.\n")
    assert cutover_replay(trial) is None, "what is published by now was not replayed"


def test_a_replay_for_the_cutover_that_is_under_way_is_not_started_twice(
    project: Project,
) -> None:
    good(project)
    trial, access = make_trial(project), access_to(project)

    first = replay_corpus(access=access, trial=trial)

    assert replay_corpus(access=access, trial=trial) == first == under_way(trial)
    assert under_way(legacy_trial(project)) is None
    good(project, "one-more")
    assert replay_corpus(access=access, trial=trial) != first


def test_only_editors_start_the_replay_of_a_cutover(project: Project) -> None:
    with pytest.raises(Forbidden):
        replay_corpus(access=access_to(project, Role.REVIEWER), trial=make_trial(project))
