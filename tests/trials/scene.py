"""A project with trials in every state, some of their texts hostile."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.trials.builders import (
    access_to,
    fill_open,
    make_acknowledgement,
    make_candidate,
    make_compared_run,
    make_comparison,
    make_comparisons,
    make_judgement,
    make_legacy,
    make_queued,
    make_trial,
    make_trial_replay,
    make_verifier,
)
from verification.trials.models import Comparison, Origin, StopReason, Trial, TrialState
from verification.trials.services import promoting

MARKUP = "<script>document.title='owned'</script>\"><img src=x onerror=\"document.title='owned'\">"
LONG_WORD = "Incomprehensibilities" * 9


@dataclass
class ShadowScene:
    """`running` has rows of every kind, `ready` an open gate, `drifted` an alarm after its cutover."""

    running: Trial
    ready: Trial
    drifted: Trial
    empty: Trial
    hostile: Trial


def make_shadow_scene(project: Project) -> ShadowScene:
    legacy, live = make_legacy(project), project.verifiers.get(is_active=True)
    running = make_trial(
        project, baseline=legacy, candidate=live, title="The policy engine beside the legacy one",
        sample_rate=0.25, budget_usd=Decimal(20), cost_usd=Decimal("1.28"),
    )  # fmt: skip
    fill_running(running)
    empty = make_trial(project, title="Nothing yet")
    stopped = make_trial(
        project, title="Too dear", state=TrialState.STOPPED, stop_reason=StopReason.BUDGET,
        stop_text="20 USD of 20 are spent.", finished_at=timezone.now(),
    )  # fmt: skip
    make_comparisons(stopped, {("pass", "pass"): 12, ("pass", "fail"): 3})
    hostile = make_trial(project, title=f"{MARKUP} {'w' * 80}"[:200])
    make_comparison(
        hostile, "fail", "pass", title=f"{MARKUP}{LONG_WORD}"[:200], summary=LONG_WORD[:300],
        rules=[MARKUP[:200], LONG_WORD], phase="p" * 120,
    )  # fmt: skip
    drifted = make_drifted(project)
    other = make_verifier(project, unconfirmed_supporting_threshold=0.5)
    ready = make_trial(project, candidate=other, title="Ready to be promoted")
    fill_open(ready)
    return ShadowScene(running, ready, drifted, empty, hostile)


def fill_running(trial: Trial) -> None:
    now = timezone.now()
    for days in range(6):
        pairs = {("pass", "pass"): 31 + days * 7, ("fail", "fail"): 9, ("pass", "fail"): days % 2}
        make_comparisons(
            trial, pairs, compared_at=now - timedelta(days=days), old_ms=310, new_ms=402
        )
        laxer = {("fail", "pass_with_warnings"): 6 + days, ("fail", "pass"): 3}
        make_comparisons(trial, laxer, compared_at=now - timedelta(days=days), judged="new")
    make_comparisons(trial, {("fail", "partial_verified"): 5, ("pass", "pass_with_warnings"): 14})
    make_comparisons(trial, {("undecided", "pass"): 2, ("pass", "undecided"): 1}, has_failed=True)
    make_comparisons(trial, {("pass", "pass"): 30}, is_aa=True, old_again="pass", new_again="pass")
    make_comparisons(trial, {("pass", "pass"): 1}, is_aa=True, old_again="fail", new_again="pass")
    replay = make_trial_replay(trial, total=40)
    make_comparisons(trial, {("pass", "pass"): 12}, replay=replay, origin=Origin.PAST)
    for _ in range(28):
        make_queued(trial, replay=replay, origin=Origin.PAST)
    make_comparison(trial, "fail", "fail", origin=Origin.CORPUS, title="figures-that-do-not-parse")
    make_queued(trial, compared_at=now, error_text="The run was deleted.")
    known = make_comparison(
        trial, "fail", "fail", finer=["reason"], rules=["tone"], kind="known",
        summary="tone: other words for the same", diff_class="both_fail_reason_diff",
    )  # fmt: skip
    make_acknowledgement(known)
    moves = [make_compared_run(trial, "fail", "pass_with_warnings") for _ in range(3)]
    make_judgement(moves[0], "new")
    make_judgement(moves[0], "old", "bo")
    make_compared_run(trial, "pass", "fail")


def make_drifted(project: Project) -> Trial:
    """A promoted candidate whose watch rang. What judged before is left to judge afterwards."""
    trial = make_trial(project, candidate=make_candidate(project), title="A looser threshold")
    fill_open(trial)
    promote(trial)
    watch = Trial.objects.get(watches=trial)
    make_comparisons(watch, {("pass", "pass"): 60, ("pass", "fail"): 8})
    rise = {"outcome": "fail", "before": 0.07, "after": 0.19, "low": 0.04, "high": 0.2}
    rise |= {"before_n": 600, "after_n": 68, "against": "trial"}
    Trial.objects.filter(pk=watch.pk).update(drift=[rise], drift_at=timezone.now())
    return trial


def promote(trial: Trial) -> Trial:
    admin = access_to(trial.project, Role.ADMIN, "ada")
    return promoting.promote(access=admin, trial=trial, reason="Fewer false fails")


def newest(trial: Trial) -> Comparison:
    return Comparison.objects.filter(trial=trial, compared_at__isnull=False).latest("pk")
