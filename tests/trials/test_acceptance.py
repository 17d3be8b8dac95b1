"""The rollout's targets: what is counted, what meets them, and that their rows are the counted."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from loomverify.accounts.models import Project
from processes.models import PhaseRule, Process
from tests.builders import make_process, make_project, make_run
from tests.engine.claim_cases import (
    ADVICE,
    BLOCK,
    BY_PEOPLE,
    CONFIRMED_ELSEWHERE,
    FACT,
    GUESS,
    PHASES,
    QUEUE,
    SURE,
    TEXT,
    settled,
)
from tests.golden.builders import PASSES, make_case, make_replay, make_result
from tests.judged import live_of, make_call, make_tier
from tests.reviews.agreement_rows import make_decided
from tests.trials.builders import (
    make_candidate,
    make_comparison,
    make_comparisons,
    make_judgement,
    make_legacy,
    make_sides,
    make_trial,
)
from verification.engine.claims.labels import passes_unconfirmed_recommendation
from verification.engine.outcome import Outcome, Verdict
from verification.engine.verifier import LEGACY_FLAGS, Flags
from verification.runs import figures
from verification.runs.models import DirtyHour, Evaluation, Finding, Review, Run, TargetMark
from verification.runs.spans import start_of_hour
from verification.trials.acceptance import hours, selectors
from verification.trials.acceptance.behind import Which
from verification.trials.acceptance.measures import ABOUT, Target, TargetState
from verification.trials.acceptance.scope import Scope
from verification.trials.models import Comparison, Judged, Trial, TrialState

pytestmark = pytest.mark.django_db
MET, MISSED, TOO_FEW = TargetState


def target(project: Project, name: str, **query: str) -> Target:
    found = selectors.targets(Scope.of(project, query))
    return next(one for one in found if one.name == name)


def rows(project: Project, name: str, which: str, **query: str) -> list[Any]:
    parts = selectors.rows(Scope.of(project, query), name, Which(which))
    return [one for part in parts for one in part]


def counted(project: Project, name: str, **query: str) -> tuple[int, int, TargetState]:
    """What is counted, of how many, and how the target stands. Its rows are as many."""
    found = target(project, name, **query)
    listed = [len(rows(project, name, which, **query)) for which in ("counted", "all")]
    assert listed == [found.numerator, found.denominator]
    if Which.REST in selectors.PARTS[name]:
        rest = rows(project, name, "rest", **query)
        assert len(rest) == found.rest
        assert not {one.pk for one in rest} & {one.pk for one in rows(project, name, "counted")}
    return found.numerator, found.denominator, found.state


@pytest.fixture
def trial(project: Project) -> Trial:
    """Legacy is the old one, policy the new one."""
    policy = project.verifiers.get(is_active=True)
    return make_trial(project, baseline=make_legacy(project), candidate=policy)


def judged_run(project: Project, recovery: str = "strict_json") -> Run:
    run = make_run(project, phase="write", tier_achieved=2)
    make_tier(live_of(run), recovery=recovery)
    return run


def copies(run: Run, count: int) -> None:
    """The same run again, with its evaluation's tiers."""
    for _ in range(count):
        again = make_run(
            run.project, process=run.process, task=run.task, phase=run.phase_id, tier_achieved=2
        )
        for tier in live_of(run).tiers.filter(tier=2):
            make_tier(live_of(again), recovery=tier.recovery)


def test_a_project_without_anything_lacks_figures_for_every_target(project: Project) -> None:
    found = selectors.targets(Scope.of(project, {}))

    assert [one.name for one in found] == list(ABOUT)
    assert {one.state for one in found} == {TOO_FEW}
    assert all(one.missing for one in found)
    assert found[0].missing == "100 more judged runs"
    assert found[2].missing == "40 more cases of known truth"
    assert found[3].missing == "20 more decided samples before and 20 more decided samples since"


@pytest.mark.extended
def test_answers_that_could_not_be_read_in_the_end_stay_below_one_in_a_hundred(
    project: Project,
) -> None:
    copies(judged_run(project), 109)
    make_run(project)
    lost = make_run(project, phase="write", outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)
    make_tier(live_of(lost), recovery="", status="error")

    assert counted(project, "unreadable") == (0, 110, MET)

    unread = judged_run(project, "unreadable")
    assert counted(project, "unreadable") == (1, 111, MET)
    assert rows(project, "unreadable", "counted") == [unread]

    judged_run(project, "unreadable")
    assert counted(project, "unreadable") == (2, 112, MISSED)


def test_a_vote_that_stays_unreadable_is_an_answer_that_could_not_be_read(
    project: Project,
) -> None:
    def voted(*recoveries: str) -> Run:
        run = judged_run(project)
        for number, recovery in enumerate(recoveries):
            again = ":again" if number else ""
            make_call(
                live_of(run), tier=3, ask="vote", nonce=f"vote:0{again}",
                recovery=recovery,
            )  # fmt: skip
        return run

    voted("strict_json")
    voted("unreadable", "yaml")
    lost = [voted("unreadable"), voted("unreadable", "unreadable"), voted("unreadable", "")]

    assert counted(project, "unreadable")[:2] == (3, 5)
    assert {one.pk for one in rows(project, "unreadable", "counted")} == {one.pk for one in lost}


def test_few_judged_runs_say_nothing_of_one_in_a_hundred_unless_it_is_certain(
    project: Project,
) -> None:
    copies(judged_run(project), 4)
    assert counted(project, "unreadable") == (0, 5, TOO_FEW)
    assert target(project, "unreadable").missing == "95 more judged runs"

    copies(judged_run(project, "unreadable"), 4)
    assert counted(project, "unreadable") == (5, 10, MISSED)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("decided", "undecided", "state"),
    [(18, 2, MET), (17, 3, MISSED), (9, 1, TOO_FEW), (0, 0, TOO_FEW), (0, 6, MISSED)],
)
def test_asking_again_is_to_settle_nine_of_ten(
    project: Project, decided: int, undecided: int, state: TargetState
) -> None:
    for number in range(decided):
        make_run(project, asked_again=number % 2, reverifications=(number + 1) % 2)
    for _ in range(undecided):
        make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED, reverifications=2)
    make_run(project)

    assert counted(project, "retries") == (decided, decided + undecided, state)


def test_a_fail_names_its_rule_and_how_hard_it_counts(project: Project) -> None:
    whole: dict[str, Any] = {"outcome": Outcome.FAIL, "reason_code": "rule_violated"}
    make_run(project, findings=[{}], **whole)
    make_run(project)
    make_run(project, outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)
    assert counted(project, "named") == (1, 1, MET)

    bare = make_run(project, **whole)
    unnamed = make_run(project, findings=[{}, {"rule": ""}], **whole)
    unsure = make_run(project, findings=[{"enforcement": ""}], **whole)

    assert counted(project, "named") == (1, 4, MISSED)
    assert {one.pk for one in rows(project, "named", "rest")} == {bare.pk, unnamed.pk, unsure.pk}


def add_rules(project: Project, *names: str) -> None:
    """Rules of the only version of small-work, each for both of its phases."""
    process = project.processes.get(slug="small-work")
    version = process.versions.get()
    for position, name in enumerate(names):
        rule = process.rules.create(name=name)
        content = rule.versions.create(content_sha256="9" * 64, spec={})
        for phase in ("build", "write"):
            PhaseRule.objects.create(
                process_version=version, phase_id=phase, rule_version=content, position=position
            )


def told(rule: str = "no-placeholders", **changed: Any) -> dict[str, Any]:
    entry = {"rule": rule, "phase": "build", "applied": True, "verdict": "satisfied"}
    return {**entry, "reason": "every_phase", **changed}


@pytest.mark.parametrize(
    ("trace", "is_whole"),
    [
        ([told()], True),
        ([told(applied=False, reason="other_phase")], True),
        ([], False),
        ([told(reason="")], False),
        ([told(applied=None)], False),
        ([{"rule": "no-placeholders"}], False),
    ],
)
def test_a_trace_tells_of_each_rule_whether_and_why_it_applied(
    project: Project, trace: list[dict[str, Any]], is_whole: bool
) -> None:
    add_rules(project, "no-placeholders")
    make_run(project, evaluation={"rule_trace": trace})

    assert counted(project, "traced") == (int(is_whole), 1, MET if is_whole else MISSED)


def test_a_trace_that_leaves_a_rule_out_is_not_whole(project: Project) -> None:
    add_rules(project, "no-placeholders", "another")
    left_out = make_run(project, evaluation={"rule_trace": [told()]})
    make_run(project, evaluation={"rule_trace": [told(), told("another")]})

    other = make_run(project, evaluation={"rule_trace": [told(), told("unknown")]})

    assert counted(project, "traced") == (1, 3, MISSED)
    assert {one.pk for one in rows(project, "traced", "rest")} == {left_out.pk, other.pk}


def test_a_process_without_rules_has_none_to_tell_of(project: Project) -> None:
    make_run(project)

    assert counted(project, "traced") == (0, 0, TOO_FEW)


COUNTS: Mapping[str, Any] = {
    "confirmed": 2,
    "inferred": 0,
    "unsupported": 0,
    "recommendation_unconfirmed": 0,
    "supporting_unconfirmed_ratio": 0.0,
}


def test_no_run_passes_as_a_whole_with_an_unconfirmed_recommendation(project: Project) -> None:
    make_run(project, evaluation={"claims": COUNTS})
    make_run(project, evaluation={"claims": {**COUNTS, "confirmed": 0}})
    make_run(project)
    doubtful = {**COUNTS, "inferred": 3, "recommendation_unconfirmed": 3}
    make_run(project, outcome=Outcome.FAIL, evaluation={"claims": doubtful})
    assert counted(project, "recommendations") == (0, 1, MET)

    make_run(project, outcome=Outcome.PARTIAL_VERIFIED, evaluation={"claims": doubtful})
    assert counted(project, "recommendations") == (0, 2, MET)

    run = make_run(project, outcome=Outcome.PASS_WITH_WARNINGS, evaluation={"claims": doubtful})

    assert counted(project, "recommendations") == (1, 3, MISSED)
    assert rows(project, "recommendations", "counted") == [run]
    assert target(project, "recommendations").note == "3 unconfirmed claims in all."


ADVICE_OR_NONE = [(SURE, ADVICE), (CONFIRMED_ELSEWHERE, FACT), (SURE, GUESS)]
FLAGS = [Flags(), BY_PEOPLE, Flags(allow_partial_verified=False), LEGACY_FLAGS]


def test_the_target_and_the_policy_agree_on_every_conclusion(project: Project) -> None:
    different = {}
    for phase, claims, flags in itertools.product(PHASES, ADVICE_OR_NONE, FLAGS):
        for behaviour, output in ((BLOCK, TEXT), (QUEUE, "Something else.")):
            found = settled(*claims, phase=phase, flags=flags, behaviour=behaviour, output=output)
            passes = passes_unconfirmed_recommendation(found.outcome, found.claims)
            assert not (passes and flags.policy_engine_enabled)
            key = found.outcome, found.verdict, *found.claims.values()
            different[key] = found, passes

    passed = set()
    for found, passes in different.values():
        run = make_run(
            project,
            outcome=found.outcome,
            verdict=found.verdict,
            evaluation={"claims": found.claims},
        )
        passed |= {run.pk} if passes else set()

    assert {one.pk for one in rows(project, "recommendations", "counted")} == passed
    assert passed, "the legacy engine looks at no claims"


def judged(trial: Trial, old: str, new: str, said: str, count: int = 1, **columns: Any) -> None:
    make_comparisons(trial, {(old, new): count}, judged=said, **columns)


def test_structural_false_fails_are_halved_over_enough_cases(trial: Trial) -> None:
    judged(trial, "fail", "pass", Judged.NEW, 12)
    judged(trial, "fail", "fail", Judged.NEITHER, 4)
    judged(trial, "pass", "fail", Judged.OLD, 1)
    judged(trial, "pass", "pass", Judged.BOTH, 22)
    project = trial.project
    assert counted(project, "false_fails") == (5, 16, TOO_FEW)
    assert target(project, "false_fails").missing == "1 more case of known truth"

    judged(trial, "fail", "fail", Judged.BOTH, 1)

    assert counted(project, "false_fails") == (5, 16, MET)
    found = target(project, "false_fails")
    assert found.n == 40 == len(rows(project, "false_fails", "known"))
    assert found.value is not None
    assert found.value == pytest.approx(1 - 5 / 16)
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.value < found.high

    judged(trial, "pass", "fail", Judged.DISPUTED, 4)
    assert counted(project, "false_fails") == (9, 16, MISSED)


def test_few_false_fails_may_be_fewer_by_chance(trial: Trial) -> None:
    judged(trial, "fail", "pass", Judged.NEW, 3)
    judged(trial, "pass", "pass", Judged.BOTH, 60)

    assert counted(trial.project, "false_fails") == (0, 3, TOO_FEW)
    assert "chance" in target(trial.project, "false_fails").missing


def evaluated(row: Comparison) -> Evaluation:
    assert row.old_evaluation is not None
    return row.old_evaluation


def test_only_rejects_for_the_form_are_structural(trial: Trial) -> None:
    judged(trial, "fail", "pass", Judged.NEW, old_reason="deliverable_missing")
    judged(trial, "fail", "pass", Judged.NEW, old_reason="llm_semantic_failed")
    judged(trial, "fail", "pass", Judged.OLD)
    judged(trial, "undecided", "pass", Judged.NEW)
    make_comparison(trial, "fail", "pass")
    by_tier_1, by_judge, unread = (
        make_sides(trial, make_run(trial.project), old="fail", new="pass") for _ in range(3)
    )
    for row in (by_tier_1, by_judge, unread):
        make_judgement(row)
    Evaluation.objects.filter(pk=evaluated(by_judge).pk).update(tier_achieved=2)
    Comparison.objects.filter(pk=unread.pk).update(old_reason="llm_semantic_failed")
    make_tier(evaluated(unread), recovery="unreadable")

    found = rows(trial.project, "false_fails", "all")

    assert {one.pk for one in found} == {by_tier_1.pk, unread.pk}
    assert target(trial.project, "false_fails").n == 6


def test_other_trials_and_the_corpus_of_a_trial_say_nothing_of_legacy(project: Project) -> None:
    judged(make_trial(project), "fail", "pass", Judged.NEW)
    backwards = make_trial(
        project, baseline=project.verifiers.get(is_active=True), candidate=make_legacy(project)
    )
    judged(backwards, "fail", "pass", Judged.NEW)
    policy = project.verifiers.get(is_active=True)
    over_cases = make_trial(project, baseline=make_legacy(project), candidate=policy)
    judged(over_cases, "fail", "pass", Judged.NEW, origin="corpus")

    assert target(project, "false_fails").n == 0


OLD_FAILS = {"verdict": "reject", "outcome": "fail", "reason_code": "rule_violated", "missing": 0}
OLD_PASSES = {"verdict": "accept", "outcome": "pass", "reason_code": "", "missing": 0}
FAILS = {"outcome": "fail", "verdict": "reject", "reason_code": "rule_violated"}


def test_golden_cases_are_held_out_cases_of_known_truth(trial: Trial) -> None:
    project = trial.project
    replay = make_replay(project, total=5)

    def case(legacy: Mapping[str, Any], expected: Any = PASSES, **columns: Any) -> Any:
        return make_result(replay, make_case(project, expected=expected), legacy=legacy, **columns)

    fixed = case(OLD_FAILS)
    kept = case(OLD_FAILS, observed=FAILS)
    unread = case(
        {**OLD_FAILS, "reason_code": "llm_semantic_failed"},
        played=[{"tier": 2, "recovery": "embedded_json"}],
    )
    case({**OLD_FAILS, "reason_code": "llm_semantic_failed"}, played=[{"recovery": "strict_json"}])
    case(OLD_FAILS, expected={"verdict": "reject"}, observed=FAILS)
    case({})
    case(OLD_PASSES, missing=1)
    judged(trial, "fail", "pass", Judged.NEW)

    assert counted(project, "false_fails") == (1, 4, TOO_FEW)
    assert target(project, "false_fails").n == 6
    listed = [one for one in rows(project, "false_fails", "all") if one.pk != trial.pk]
    assert {one.pk for one in listed if hasattr(one, "case")} == {fixed.pk, kept.pk, unread.pk}


def rule_of(reason: str, verdict: str = "violated") -> dict[str, Any]:
    return {"rule": "risk", "verdict": verdict, "reason": reason}


@pytest.mark.parametrize(
    ("observed", "crosses"),
    [
        ({"rules": {"applied": [rule_of("phase")], "skipped": []}}, False),
        ({"rules": {"applied": [rule_of("global_scope")], "skipped": []}}, True),
        ({"rules": {"applied": [rule_of("global_scope", "satisfied")], "skipped": []}}, False),
        (
            {
                "rules": {"applied": [], "skipped": [{"rule": "risk", "reason": "other_phase"}]},
                "findings": [{"rule": "risk", "verdict": "violated"}],
            },
            True,
        ),
        ({"rules": {"applied": [], "skipped": [{"rule": "risk", "reason": "other_phase"}]}}, False),
    ],
)
def test_a_failure_across_phases_is_one_by_a_rule_of_another_phase(
    project: Project, observed: Mapping[str, Any], crosses: bool
) -> None:
    replay = make_replay(project, total=2)
    make_result(replay, make_case(project))
    found = make_result(replay, make_case(project), observed={**FAILS, **observed})

    assert counted(project, "cross_phase") == (int(crosses), 2, MISSED if crosses else MET)
    assert rows(project, "cross_phase", "counted") == ([found] if crosses else [])


def test_the_corpus_is_counted_in_its_newest_whole_replay_by_what_judges(project: Project) -> None:
    crossing = {**FAILS, "rules": {"applied": [rule_of("global_scope")], "skipped": []}}
    case = make_case(project)
    make_result(make_replay(project, total=1), case)
    for other in ({"is_live_line": False}, {"tags": ["smoke"]}, {"state": "cancelled"}):
        make_result(make_replay(project, total=1, **other), case, observed=crossing)

    assert counted(project, "cross_phase") == (0, 1, MET)

    candidate = make_candidate(project)
    project.verifiers.update(is_active=False)
    project.verifiers.filter(pk=candidate.pk).update(is_active=True)
    assert counted(project, "cross_phase") == (0, 0, TOO_FEW)


@pytest.mark.parametrize(
    ("complete", "not_so", "state"), [(18, 2, MET), (17, 3, MISSED), (5, 0, TOO_FEW)]
)
def test_what_failed_for_its_form_alone_completes_in_nine_of_ten(
    trial: Trial, complete: int, not_so: int, state: TargetState
) -> None:
    make_comparisons(trial, {("fail", "pass_with_warnings"): complete, ("fail", "fail"): not_so})
    make_comparisons(trial, {("pass", "pass"): 5, ("undecided", "pass"): 2})

    assert counted(trial.project, "completing") == (complete, complete + not_so, state)


def test_what_failed_for_something_else_too_or_rightly_is_not_held_to_complete(
    trial: Trial,
) -> None:
    project = trial.project
    judged(trial, "fail", "fail", Judged.BOTH)
    judged(trial, "fail", "pass", Judged.OLD)
    judged(trial, "fail", "pass", Judged.NEITHER)
    make_comparison(trial, "fail", "pass", old_reason="deliverable_missing")
    claims = make_comparison(trial, "fail", "pass", old_reason="unconfirmed_critical_path")
    alone, mixed = (make_sides(trial, make_run(project), old="fail", new="pass") for _ in range(2))
    for row, reason in ((alone, "syntax_invalid"), (mixed, "deliverable_empty")):
        Finding.objects.create(
            project=project,
            evaluation=evaluated(row),
            tier=1,
            position=0,
            rule="files",
            source="deterministic",
            enforcement="hard",
            verdict="violated",
            reason_code=reason,
            message="",
            fingerprint="1" * 64,
        )

    assert counted(project, "completing") == (2, 2, TOO_FEW)
    assert {one.pk for one in rows(project, "completing", "all")} == {claims.pk, alone.pk}


def promoted(project: Project, days_ago: int = 10, process: Process | None = None) -> Trial:
    at = timezone.now() - timedelta(days=days_ago)
    return make_trial(project, process=process, state=TrialState.PROMOTED, promoted_at=at)


def sampled(
    project: Project, days_ago: float, people: str, count: int, process: Process | None = None
) -> list[Review]:
    at = timezone.now() - timedelta(days=days_ago)
    return [
        make_decided(
            project, "pass", people, sample_rate=0.5, created_at=at, process=process,
            is_flagged=False,
        )
        for _ in range(count)
    ]  # fmt: skip


@pytest.mark.extended
@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        ((1, 20), (1, 20), MET),
        ((0, 20), (9, 20), MISSED),
        ((1, 20), (0, 19), TOO_FEW),
        ((0, 19), (1, 20), TOO_FEW),
    ],
)
def test_escaped_defects_do_not_rise_after_a_promotion(
    project: Project, before: tuple[int, int], after: tuple[int, int], state: TargetState
) -> None:
    promoted(project)
    for (escaped, n), days_ago in ((before, 15), (after, 5)):
        sampled(project, days_ago, "fail", escaped)
        sampled(project, days_ago, "pass", n - escaped)

    assert counted(project, "escaped") == (*after, state)
    assert len(rows(project, "escaped", "before")) == before[1]
    assert len(rows(project, "escaped", "escaped_before")) == before[0]


def test_only_the_random_sample_of_accepted_runs_tells_of_escaped_defects(
    project: Project,
) -> None:
    promoted(project)
    (found,) = sampled(project, 5, "fail", 1)
    now = timezone.now() - timedelta(days=5)
    make_decided(project, "fail", "fail", sample_rate=0.5, created_at=now)
    make_decided(project, "pass", "fail", created_at=now)
    sampled(project, 45, "fail", 1)

    assert counted(project, "escaped") == (1, 1, TOO_FEW)
    assert rows(project, "escaped", "counted") == [found]


def test_the_canaries_are_the_processes_of_promotions_in_force(project: Project) -> None:
    canary = project.processes.get(slug="small-work")
    other = make_process(project, slug="other-work")
    promoted(project, process=canary)
    back = promoted(project, process=other)
    Trial.objects.filter(pk=back.pk).update(state=TrialState.ROLLED_BACK)
    sampled(project, 5, "pass", 1, canary)
    sampled(project, 5, "pass", 2, other)

    assert counted(project, "escaped") == (0, 1, TOO_FEW)

    newest = promoted(project, days_ago=7)
    assert counted(project, "escaped") == (0, 3, TOO_FEW)
    assert counted(project, "escaped", process="other-work") == (0, 2, TOO_FEW)

    undone = {"verifier": {"before": 1, "after": newest.candidate_verifier.number}}
    Trial.objects.filter(pk=newest.pk).update(promotion=undone)
    assert counted(project, "escaped") == (0, 1, TOO_FEW)


def test_figures_are_of_the_span_the_process_and_the_project(project: Project) -> None:
    other = make_process(project, slug="other-work")
    old = timezone.now() - timedelta(days=40)
    fails: dict[str, Any] = {"outcome": Outcome.FAIL, "findings": [{}]}
    make_run(project, **fails)
    make_run(project, process=other, **fails)
    make_run(project, created_at=old, **fails)
    make_run(make_project(), **fails)

    assert counted(project, "named")[1] == 2
    assert counted(project, "named", days="90")[1] == 3
    assert counted(project, "named", process="other-work")[1] == 1


def standing_of(project: Project) -> dict[str, tuple[int, int, TargetState]]:
    return {name: counted(project, name) for name in ABOUT}


def refreshed_of(project: Project) -> dict[str, tuple[int, int, TargetState]]:
    """The same from what is kept, with no hour left to be counted from rows."""
    over = start_of_hour(timezone.now())
    figures.refresh_dirty_hours()
    hours.sweep()
    assert not DirtyHour.objects.exists()
    assert not TargetMark.objects.filter(hour__lt=over).exists()
    return standing_of(project)


@pytest.mark.extended
def test_hours_that_are_over_are_counted_once_and_again_when_they_change(trial: Trial) -> None:
    project = trial.project
    add_rules(project, "no-placeholders")
    long_ago = timezone.now() - timedelta(days=3)
    standing, refreshed = partial(standing_of, project), partial(refreshed_of, project)

    doubtful = {**COUNTS, "recommendation_unconfirmed": 1}
    first = make_run(project, created_at=long_ago, evaluation={"claims": doubtful}, asked_again=1)
    bare = make_run(project, created_at=long_ago, outcome=Outcome.FAIL)
    other = make_run(
        project, created_at=long_ago - timedelta(hours=7), evaluation={"rule_trace": [told()]}
    )
    make_tier(live_of(other), recovery="unreadable")
    row = make_sides(trial, bare)
    Comparison.objects.update(created_at=long_ago)
    before = standing()
    assert refreshed() == before
    assert before["traced"] == (1, 3, MISSED)
    assert before["completing"][:2] == (1, 1)

    make_judgement(row, Judged.NEW)
    judged_since = standing()
    assert refreshed() == judged_since
    assert judged_since["false_fails"][:2] == (0, 1)

    Run.objects.filter(pk__in=[first.pk, bare.pk]).delete()
    assert standing()["traced"] == refreshed()["traced"] == (1, 1, MET)
    assert rows(project, "recommendations", "all") == []


def compared_twice(trial: Trial) -> tuple[Comparison, Comparison]:
    """A run in two trials of the same sides, days apart: accepted first, rejected then."""
    other = make_trial(
        trial.project, baseline=trial.baseline_verifier, candidate=trial.candidate_verifier
    )
    run = make_run(trial.project, created_at=timezone.now() - timedelta(days=4))
    older, newer = make_sides(trial, run), make_sides(other, run, new="fail")
    for row, days in ((older, 3), (newer, 2)):
        at = timezone.now() - timedelta(days=days)
        Comparison.objects.filter(pk=row.pk).update(created_at=at)
    return older, newer


@pytest.mark.extended
def test_a_run_of_several_trials_counts_in_its_newest_comparison(trial: Trial) -> None:
    project = trial.project
    older, newer = compared_twice(trial)
    refreshed_of(project)

    def told() -> list[tuple[int, int]]:
        """False fails and what completes, by rows and from what is kept: both agree."""
        found = standing_of(project)
        assert refreshed_of(project) == found
        known = rows(project, "false_fails", "known")
        assert len(known) == target(project, "false_fails").n <= 1
        return [found[name][:2] for name in ("false_fails", "completing")]

    assert told() == [(0, 0), (0, 1)]

    # Said of the older one later: the newest that people judged tells who failed falsely.
    make_judgement(older, Judged.NEW)
    assert told() == [(0, 1), (0, 1)]
    assert rows(project, "false_fails", "all") == [older]
    assert rows(project, "completing", "all") == [newer]

    make_judgement(newer, Judged.NEITHER)
    assert told() == [(1, 1), (0, 1)]
    assert rows(project, "false_fails", "known") == [newer]

    assert older.run is not None
    older.run.delete()
    assert told() == [(1, 1), (0, 1)]

    newer.delete()
    assert told() == [(0, 1), (1, 1)]


@pytest.mark.extended
def test_what_people_rejected_rightly_in_one_trial_need_not_complete_in_another(
    trial: Trial,
) -> None:
    project = trial.project
    older, newer = compared_twice(trial)
    assert refreshed_of(project)["completing"][:2] == (0, 1)

    make_judgement(older, Judged.OLD)

    assert standing_of(project)["completing"] == (0, 0, TOO_FEW)
    assert refreshed_of(project) == standing_of(project)
    assert rows(project, "false_fails", "known") == [older]
    assert not newer.judged


def test_the_targets_take_the_same_statements_for_any_number_of_rows(trial: Trial) -> None:
    project = trial.project

    def fill() -> None:
        promoted(project)
        judged_run(project)
        make_run(project, outcome=Outcome.FAIL, findings=[{}])
        judged(trial, "fail", "pass", Judged.NEW)
        make_result(make_replay(project, total=1), make_case(project), legacy=OLD_FAILS)
        sampled(project, 5, "fail", 1)

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            selectors.targets(Scope.of(project, {}))
        return len(queries)

    fill()
    few = statements()
    for _ in range(5):
        fill()

    assert statements() == few
