"""What came of a sample so far: weighed anew whenever it is looked at, for people go on deciding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from processes import selectors
from processes.definition.model import Rule
from verification.engine import scoping
from verification.engine.backtest import weigh
from verification.engine.finding import Finding
from verification.engine.judges.blaming import lost_answer
from verification.engine.verifier import Flags
from verification.rules.backtest import history, services
from verification.rules.backtest.history import PastRun
from verification.rules.backtest.running import Changed, Progress
from verification.rules.models import Drawn, Sample, SampledRun, SampleState
from verification.rules.samples.cast import Candidate
from verification.runs import wording

VIOLATED, UNKNOWN = "violated", "unknown"


def progress_of(sample: Sample) -> Progress:
    """The figures of all runs that were answered; those that were deleted since are gone."""
    candidate = Candidate.of(sample.candidate_text, sample.rule_index)
    rows = {
        one.run_id: one
        for one in SampledRun.objects.filter(sample=sample, answered_at__isnull=False)
    }
    runs = history.these(rows)
    until = sample.finished_at or timezone.now()
    progress = Progress(
        sample.total,
        scoping.rule_enforcement(candidate.rule, Flags()),
        evaluated=len(runs),
        seconds=(until - sample.created_at).total_seconds(),
        is_over=sample.state != SampleState.OPEN,
        stopped=sample.stopped,
    )
    pasts = history.pasts(runs, [sample.replaces or sample.rule], candidate.definition)
    for run in runs:
        row = rows[run.pk]
        findings = _findings(row)
        progress.matched += any(one.verdict == VIOLATED for one in findings)
        progress.told += not any(one.verdict == UNKNOWN for one in findings)
        weighed = weigh(pasts[run.pk], findings)
        if weighed.bucket is not None:
            why = _doubt(row) or weighed.why
            progress.add(
                Changed(run, weighed.bucket, weighed.after, why, _place(run, findings), row.why)
            )
    return progress


def remember(sample: Sample) -> None:
    """Keep the figures beside those of patterns, where a whole lot was answered."""
    if sample.is_narrowed or sample.drawn != Drawn.BY_LOT:
        return
    progress = progress_of(Sample.objects.get(pk=sample.pk))
    if progress.stopped or not progress.told:
        return
    candidate = Candidate.of(sample.candidate_text, sample.rule_index)
    services.keep(
        sample.process,
        candidate.rule,
        progress,
        tried_by=sample.asked_by,
        published_sha256=_published_sha256(sample),
    )


def _published_sha256(sample: Sample) -> str:
    published = sample.process.published_id
    rules: Sequence[Rule] = selectors.definition_of(published).rules if published else ()
    named = sample.replaces or sample.rule
    return next((rule.looks_for_sha256 for rule in rules if rule.name == named), "")


def _findings(row: SampledRun) -> list[Finding]:
    if row.lost:
        return [lost_answer(row.lost, row.why, tier=2)]
    return [Finding.from_json(one) for one in row.findings]


def _doubt(row: SampledRun) -> str:
    """Why nothing is known of a run."""
    if row.lost:
        return f"{wording.reason(row.lost)} {row.why}".strip()
    doubted = [one for one in row.findings if one["verdict"] == "unknown"]
    return str(doubted[0]["message"]) if doubted else ""


def _place(run: PastRun, findings: Sequence[Finding]) -> Mapping[str, Any] | None:
    """Where the quote stands that the judge gives."""
    found = next((one for one in findings if one.quote and one.line), None)
    if found is None:
        return None
    return {
        "path": found.path,
        "evidence": str(found.place.get("evidence", "")),
        "line": found.line,
        "column": found.column,
        "quote": found.quote,
        "before": "",
        "after": "",
    }
