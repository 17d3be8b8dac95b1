"""Tier 2: one independent judge, a fresh context, an answer for each rule."""

from __future__ import annotations

from collections.abc import Sequence

from processes.definition.model import Enforcement
from verification.engine.case import Case, Ports
from verification.engine.finding import Finding
from verification.engine.judging import Ask, Conversation, Judge, Question
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.protocol.prompt import assessment
from verification.engine.protocol.recovery import recover
from verification.engine.protocol.reply import Recovered
from verification.engine.tiers import TierReport

JUDGE_RULE = "judge"
USUAL_CONFIDENCE = 0.5
"""Of a judge that names none."""


def assess(case: Case, ports: Ports, judge: Judge, done: Sequence[TierReport]) -> TierReport:
    """Have one judge answer for tier 2. Never raises for a lost answer."""
    talk = Conversation(judge)
    prompt = assessment(case, ports)
    answer = talk.ask(
        Question(case.verifier.models.primary, Ask.ASSESS, prompt.system, prompt.text)
    )
    found = recover(answer.text)
    talk.note(answer, found.stage)
    if answer.lost or found.reply is None:
        reason_code = answer.lost or "parse_inconclusive"
        return lost(talk, reason_code, answer.detail or found.why, tier=2, recovery=found.stage)
    findings = () if found.reply.passed else (_rejected(found),)
    return TierReport(
        tier=2,
        status=Status.FAILED if findings else Status.PASSED,
        findings=findings,
        recovery=found.stage,
        confidence=USUAL_CONFIDENCE if found.reply.confidence is None else found.reply.confidence,
        **talk.totals,
    )


def _rejected(found: Recovered) -> Finding:
    assert found.reply is not None  # noqa: S101
    return Finding(
        rule="acceptance-criteria",
        reason_code="llm_semantic_failed",
        message=" ".join(found.reply.issues) or "The judge finds the criteria not met.",
        enforcement=Enforcement.HARD,
        source=Source.LLM,
        tier=2,
        suggestion=found.reply.suggestion,
    )


def lost(
    talk: Conversation, reason_code: str, message: str, *, tier: int, recovery: str = ""
) -> TierReport:
    """Nothing is known: neither for nor against the work."""
    finding = Finding(
        rule=JUDGE_RULE,
        reason_code=reason_code,
        message=message,
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=Source.LLM,
        tier=tier,
    )
    return TierReport(
        tier=tier, status=Status.ERROR, findings=(finding,), recovery=recovery, **talk.totals
    )
