"""The problems that earlier attempts of a task had."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, Q

from processes.definition.model import Enforcement
from verification.engine import finding as engine
from verification.engine.outcome import FindingVerdict, Source, Verdict
from verification.engine.progress import COUNTED, EarlierFindings, identity
from verification.runs.models import Evaluation, Finding, Run

DECIDED = Q(verdict__in=(Verdict.ACCEPT, Verdict.REJECT)) | Q(review_state="decided")
"""An undecided run says nothing about the work."""


def earlier_findings(
    *, run_id: int, task_id: int, phase_id: str, findings: Iterable[engine.Finding]
) -> EarlierFindings | None:
    """Load the problems of the task's earlier attempts in this phase; None: there was none.

    Of problems that the last attempt had no more, only those are loaded that may be among
    `findings`.
    """
    runs = Run.objects.filter(DECIDED, task=task_id, phase_id=phase_id)
    before = runs.filter(pk__lt=run_id, live_evaluation__isnull=False).order_by("-pk")
    evaluations = list(before.values_list("live_evaluation_id", flat=True))
    if not evaluations:
        return None
    last = evaluations[0]
    feedback = Evaluation.objects.values_list("feedback", flat=True).get(pk=last)
    not_checked = {item["fingerprint"] for item in feedback.get("not_checked", ())}
    current = list(findings)
    rows = (
        Finding.objects.filter(
            Q(evaluation=last)
            | Q(fingerprint__in={finding.fingerprint for finding in current} | not_checked)
            | Q(rule__in={finding.rule for finding in current}, source=Source.LLM)
            | Q(rule__in={finding.rule for finding in current}, place__has_key=engine.TEST),
            evaluation__in=evaluations,
            enforcement__in=COUNTED,
            verdict=FindingVerdict.VIOLATED,
        )
        .order_by(F("evaluation").desc(), "tier", "position")
        .defer("quote", "confidence", "suggestion")
    )
    still_open: dict[object, engine.Finding] = {}
    gone: dict[object, engine.Finding] = {}
    for row in rows:
        problem = problem_of(row)
        name = identity(problem)
        is_open = row.evaluation_id == last or row.fingerprint in not_checked
        if is_open:
            still_open.setdefault(name, problem)
        elif name not in still_open:
            gone.setdefault(name, problem)
    return EarlierFindings(tuple(still_open.values()), tuple(gone.values()))


def problem_of(row: Finding) -> engine.Finding:
    """Return as much of a finding as identifies and describes it."""
    return engine.Finding(
        rule=row.rule,
        reason_code=row.reason_code,
        message=row.message,
        enforcement=Enforcement(row.enforcement),
        source=Source(row.source),
        tier=row.tier,
        path=row.path,
        line=row.line,
        column=row.column,
        place=row.place,
        fingerprint=row.fingerprint,
    )
