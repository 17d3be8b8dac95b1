"""Comparisons behind the targets: live and past runs of trials that policy is the candidate of.

A run counts once, however many trials compared it: in the newest of its comparisons that a
target is of.
"""

from __future__ import annotations

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from loomverify.accounts.models import Project
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
REJECTED_RIGHTLY = (
    Q(old=FAIL, judged__in=REJECTED_WELL)
    | BOTH_FAIL & Q(judged=Judged.NEW)
    | LAXER & Q(judged=Judged.NEITHER)  # unsafe, as the gate takes it
)
NEWER = Q(created_at__gt=OuterRef("created_at")) | Q(
    created_at=OuterRef("created_at"), pk__gt=OuterRef("pk")
)


def judged(scope: Scope) -> QuerySet[Comparison]:
    """Legacy beside policy, decided by both and by people: each run in the newest such one."""
    rows = _compared(scope.project, baseline_verifier__engine=LEGACY).exclude(judged="")
    return _once(scope, rows.exclude(Q(old=UNDECIDED) | Q(new=UNDECIDED)))


def _compared(project: Project, **baseline: str) -> QuerySet[Comparison]:
    trials = Trial.objects.filter(project=project, candidate_verifier__engine=POLICY, **baseline)
    rows = Comparison.objects.filter(trial__in=trials.values("pk"), origin__in=COUNTED)
    return rows.exclude(diff_class="")


def _once(scope: Scope, rows: QuerySet[Comparison]) -> QuerySet[Comparison]:
    """Of the scope; each run in the newest of these rows, be that of another hour."""
    newest = rows.filter(scope.within).alias(newer=_beside(rows.filter(NEWER)))
    newest = newest.filter(newer=None)
    return newest.filter(process=scope.slug) if scope.process else newest


def _beside(rows: QuerySet[Comparison]) -> Subquery:
    """One of them of the same run, through its index: PostgreSQL would go through them all."""
    return Subquery(rows.filter(run_key=OuterRef("run_key")).values("pk")[:1])


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
    """What people found rightly rejected, in any trial, has no business completing."""
    form = structural.is_structural("old") | structural.is_unconfirmed("old")
    every = _compared(scope.project)
    rows = _once(scope, every.filter(Q(old=FAIL) & form & ~structural.counts_otherwise("old")))
    rows = rows.exclude(REJECTED_RIGHTLY).alias(rightly=_beside(every.filter(REJECTED_RIGHTLY)))
    return Behind.split(rows.filter(rightly=None), LAXER)
