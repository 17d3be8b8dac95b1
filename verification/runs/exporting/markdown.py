"""A run as a report for people, in Markdown. Source: docs/exports.md, "Report"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import groupby

from verification.engine.outcome import ConfidenceLevel
from verification.runs import rendering, wording
from verification.runs.exporting.gathered import Found, RunReport
from verification.runs.exporting.texts import markdown_code, markdown_span, markdown_text
from verification.runs.judged_page import ShownClaim, Tally
from verification.runs.models import TierResult
from verification.runs.places import place_of
from verification.runs.run_page import GROUPS

MAX_SHOWN = 200
MAX_LINE = 600
MAX_QUOTE = 1_000
MAX_EVIDENCE = 12
VOTED = {True: "for", False: "against", None: "unreadable"}


def markdown(report: RunReport) -> str:
    parts = [
        *_verdict(report),
        *_next_step(report),
        *_findings(report),
        *_rules(report),
        *_tiers(report),
        *_votes(report),
        *_claims(report),
        f"[The run with all its material]({report.url})",
    ]
    return "\n\n".join(parts) + "\n"


def _verdict(report: RunReport) -> Iterator[str]:
    run, head = report.run, report.headline
    yield f"# {markdown_text(head.title, MAX_LINE)}"
    if head.detail:
        yield markdown_text(head.detail, MAX_LINE)
    if decided := report.decided_otherwise:
        yield f"A person decided since: **{wording.OUTCOMES[decided].word}**."
    attempts = f"{run.task.attempts_used} of {run.task.max_attempts} used"
    facts = {
        "Work": run.title or run.task.external_id,
        "Task": run.task.external_id,
        "Attempts": attempts,
        "Process": f"{run.process.slug} v{run.process_version.number}, phase {run.phase_id}",
        "Verifier": f"v{run.verifier_version.number}",
        "Tier": f"{run.tier_achieved} of {run.tier_requested} reached",
        "Cost": _cost(run.cost_usd),
    }
    if run.confidence_level not in ("", ConfidenceLevel.FAILED):
        facts["Confidence"] = run.confidence_level.lower()
    lines = [f"- {name}: {markdown_text(value, MAX_LINE)}" for name, value in facts.items()]
    yield "\n".join([*lines, f"- Submitted: {run.created_at:%Y-%m-%d %H:%M:%S} UTC"])


def _next_step(report: RunReport) -> Iterator[str]:
    yield "## What to do next"
    action = report.evaluation.action if report.evaluation else ""
    said = wording.next_step(report.run, action)
    yield markdown_text(said or "Nothing follows from this by itself.", MAX_LINE)


def _findings(report: RunReport) -> Iterator[str]:
    yield "## Findings"
    if not report.found:
        yield "None: nothing was found to be violated, and nothing stayed unknown."
        return
    labels = dict(GROUPS)
    shown = report.found[:MAX_SHOWN]
    for enforcement, found in groupby(shown, key=lambda one: one.row.enforcement):
        yield f"### {labels[enforcement]}"
        for one in found:
            yield from _finding(one)
    left_out = len(report.found) - len(shown) + report.left_out
    if left_out:
        yield f"And {left_out} more: the page of the run shows them."


def _finding(one: Found) -> Iterator[str]:
    rule, place = markdown_text(one.row.rule, MAX_LINE), place_of(one.row)
    unknown = "" if one.is_violated else " (could not be looked into)"
    where = f", at {markdown_span(place, MAX_LINE)}" if place else ""
    yield f"**{rule}**{unknown}{where}: {markdown_text(one.message, MAX_LINE)}"
    if one.quote:
        doubtful = one.row.quote_verified is False
        yield "Quoted, but not found in the work:" if doubtful else "Found:"
        yield markdown_code(one.quote, MAX_QUOTE)
    if one.suggestion:
        yield f"Suggestion: {markdown_text(one.suggestion, MAX_LINE)}"


def _rules(report: RunReport) -> Iterator[str]:
    applied = [entry for entry in report.trace if entry["applied"]]
    skipped = [entry for entry in report.trace if not entry["applied"]]
    yield "## Rules"
    if not report.trace:
        yield "The process has none, or none was reached."
    if applied:
        rows = [
            (one["rule"], _words(one["verdict"]), wording.trace_reason(one["reason"]))
            for one in applied
        ]
        yield _table(("Applied", "Verdict", "Why"), rows)
    if skipped:
        yield _table(("Skipped", "Why"), [(one["rule"], _words(one["reason"])) for one in skipped])


def _tiers(report: RunReport) -> Iterator[str]:
    yield "## Tiers"
    if not report.tiers:
        yield "None was reached."
        return
    yield _table(
        ("Tier", "Ended", "Time", "Cost", "Model", "Said"),
        [_tier(tier) for tier in report.tiers],
    )


def _tier(tier: TierResult) -> tuple[str, ...]:
    return (
        str(tier.tier),
        _words(tier.status),
        f"{tier.duration_ms} ms",
        _cost(tier.cost_usd),
        tier.model,
        tier.detail,
    )


def _votes(report: RunReport) -> Iterator[str]:
    if not report.votes:
        return
    yield "## Votes"
    yield markdown_text(Tally(report.votes).said, MAX_LINE)
    rows = [(str(vote.index), vote.model, VOTED[vote.passed], vote.why) for vote in report.votes]
    yield _table(("Vote", "Model", "Said", "Why"), rows)


def _claims(report: RunReport) -> Iterator[str]:
    if not report.claims:
        return
    yield "## Claims"
    shown = report.claims[:MAX_SHOWN]
    yield _table(("Claim", "Label", "Section", "Evidence", "Note"), [_claim(one) for one in shown])
    if left_out := len(report.claims) - len(shown):
        yield f"And {left_out} more: the API lists all of them."


def _claim(claim: ShownClaim) -> tuple[str, ...]:
    label = f"{claim.label}, pruned" if claim.is_pruned else claim.label
    evidence = ", ".join(claim.evidence[:MAX_EVIDENCE]) or "none"
    return claim.text, label, claim.section, evidence, claim.note


def _cost(amount: Decimal) -> str:
    return f"${rendering.usd(amount)}" if amount else "free"


def _words(code: str) -> str:
    return code.replace("_", " ")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in rows:
        cells = [markdown_text(cell, MAX_LINE) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
