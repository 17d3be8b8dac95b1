"""Comparisons behind the targets: live and past runs of trials that policy is the candidate of."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet

from verification.engine.shadow import DiffClass, SideOutcome
from verification.trials.acceptance import structural
from verification.trials.acceptance.behind import Behind, Which
from verification.trials.acceptance.scope import Scope
from verification.trials.figures import AGAINST_NEW, COUNTED
from verification.trials.models import Comparison, Judged, Trial

LEGACY, POLICY = "legacy", "policy"
FAIL, UNDECIDED = SideOutcome.FAIL.value, SideOutcome.UNDECIDED.value
REJECTED_WELL = (Judged.OLD, Judged.BOTH, Judged.DISPUTED)
"""What people say of a reject that was right; a dispute is one until it is settled."""

BOTH_FAIL = Q(old=FAIL, new=FAIL)
LAXER = Q(diff_class=DiffClass.OLD_FAIL_NEW_PASS)
STRICTER = Q(diff_class=DiffClass.OLD_PASS_NEW_FAIL)
GOOD_WORK = (
    LAXER & Q(judged=Judged.NEW)
    | STRICTER & Q(judged__in=AGAINST_NEW)
    | BOTH_FAIL & Q(judged=Judged.NEITHER)
)
"""Judged so that a reject of it was false."""


def compared(scope: Scope, **baseline: str) -> QuerySet[Comparison]:
    trials = Trial.objects.filter(
        project=scope.project, candidate_verifier__engine=POLICY, **baseline
    )
    rows = Comparison.objects.filter(
        scope.within, trial__in=trials.values("pk"), origin__in=COUNTED
    ).exclude(diff_class="")
    return rows.filter(process=scope.slug) if scope.process else rows


def judged(scope: Scope) -> QuerySet[Comparison]:
    """Legacy beside policy, decided by both and by people."""
    rows = compared(scope, baseline_verifier__engine=LEGACY)
    return rows.exclude(judged="").exclude(Q(old=UNDECIDED) | Q(new=UNDECIDED))


OLD_FALSE = GOOD_WORK & Q(old=FAIL) & structural.is_structural("old")
NEW_FALSE = GOOD_WORK & Q(new=FAIL) & structural.is_structural("new")


FALSE_FAILS = {
    "false_old": Count("pk", filter=OLD_FALSE),
    "false_new": Count("pk", filter=NEW_FALSE),
    "false_kept": Count("pk", filter=OLD_FALSE & NEW_FALSE),
    "known": Count("pk"),
}
"""Of judged ones: whose structural false fails they are."""


def false_fail_rows(scope: Scope, which: Which) -> QuerySet[Comparison]:
    narrowed = {Which.COUNTED: NEW_FALSE, Which.ALL: OLD_FALSE, Which.KNOWN: Q()}[which]
    return judged(scope).filter(narrowed)


def completing(scope: Scope) -> Behind[Comparison]:
    """What people found rightly rejected is left out: it has no business completing."""
    form = structural.is_structural("old") | structural.is_unconfirmed("old")
    rows = compared(scope).filter(Q(old=FAIL) & form & ~structural.counts_otherwise("old"))
    rows = rows.exclude(judged__in=REJECTED_WELL)
    rows = rows.exclude(BOTH_FAIL & Q(judged=Judged.NEW))
    return Behind.split(rows, LAXER)
