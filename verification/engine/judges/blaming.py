"""From the judge's words to findings and trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from processes.definition.model import Enforcement, RuleType, Severity
from verification.engine import scoping
from verification.engine.case import Case
from verification.engine.checks.patterns import BY_FAILURE_CLASS
from verification.engine.finding import Finding, TraceEntry, TraceReason, TraceVerdict
from verification.engine.judges.weighing import UNKNOWN, VIOLATED, RuleVerdict
from verification.engine.outcome import FindingVerdict, Source
from verification.engine.protocol.framing import shown
from verification.engine.protocol.quotes import Where
from verification.engine.protocol.reply import Reply

JUDGE_RULE = "judge"
MAX_TEXT_CHARS = 4_000
_NAMED_CODE = re.compile(r"\s*[\[(]?evidence[_ -]gap\b", re.IGNORECASE)
_NOTHING_SAID = "The judge does not say why."


def findings_of(
    case: Case, words: Sequence[RuleVerdict], reply: Reply, *, tier: int, lost: str = ""
) -> tuple[Finding, ...]:
    """One for each rule that is violated or unknown.

    `lost` is the reason code for which what was open could not be asked once more.
    """
    is_blamed = any(word.is_blame for word in words)
    told = []
    for word in words:
        is_beside = is_blamed and not word.is_told and (word.asked is None or reply.is_short)
        if word.verdict is VIOLATED or (word.verdict is UNKNOWN and not is_beside):
            told.append(_finding(case, word, reply, is_blamed=is_blamed, tier=tier, lost=lost))
    return tuple(told)


def trace_of(case: Case, words: Sequence[RuleVerdict]) -> tuple[TraceEntry, ...]:
    """Every rule that is a judge's: those asked about with their verdict, the others skipped."""
    asked = {id(word.asked.rule): word for word in words if word.asked}
    return tuple(_entries(case, asked))


def remark(
    case: Case, reason_code: str, message: str, *, tier: int, confidence: float | None = None
) -> Finding:
    """Something worth saying of the judge, which decides nothing."""
    return Finding(
        rule=JUDGE_RULE,
        reason_code=reason_code,
        message=message,
        enforcement=_counted(case, Enforcement.ADVISORY),
        source=Source.LLM,
        tier=tier,
        confidence=confidence,
    )


def lost_answer(reason_code: str, message: str, *, tier: int) -> Finding:
    """An answer that was asked for and did not come: nothing is known of the work."""
    return Finding(
        rule=JUDGE_RULE,
        reason_code=reason_code,
        message=message,
        enforcement=Enforcement.HARD,
        verdict=FindingVerdict.UNKNOWN,
        source=Source.LLM,
        tier=tier,
    )


def _entries(case: Case, asked: dict[int, RuleVerdict]) -> Iterator[TraceEntry]:
    for rule in case.definition.rules:
        if rule.type is not RuleType.LLM:
            continue
        scope = scoping.case_scope(rule, case)
        word = asked.get(id(rule))
        if word is None:
            yield scoping.skipped(rule, case, scope.reason)
            continue
        is_observed = word.enforcement is Enforcement.OBSERVE
        yield scoping.entry(
            rule,
            case,
            applied=True,
            verdict=TraceVerdict(word.verdict),
            reason=TraceReason.OBSERVED if is_observed else scope.reason,
        )


def _finding(
    case: Case, word: RuleVerdict, reply: Reply, *, is_blamed: bool, tier: int, lost: str
) -> Finding:
    rule = word.asked.rule if word.asked else None
    is_doubted = word.is_open and not is_blamed
    where = word.where or Where()
    return Finding(
        rule=rule.name if rule else word.id,
        rule_sha256=scoping.rule_sha256(rule) if rule else "",
        reason_code=_doubt(word, lost) if word.verdict is UNKNOWN or is_doubted else _why(word),
        message=_message(word, is_doubted=is_doubted),
        enforcement=_counted(case, word.enforcement),
        verdict=FindingVerdict.UNKNOWN if is_doubted else word.verdict,
        source=Source.LLM,
        tier=tier,
        target=rule.target if rule else None,
        severity=rule.severity if rule else Severity.ERROR,
        quote=shown(word.quote, MAX_TEXT_CHARS),
        quote_verified=word.quote_verified,
        path=where.path,
        line=where.line,
        column=where.column,
        place=where.place,
        confidence=reply.confidence,
        suggestion=(rule.suggestion if rule else "") or shown(reply.suggestion, MAX_TEXT_CHARS),
    )


def _counted(case: Case, enforcement: Enforcement) -> Enforcement:
    """The old engine knows no remarks: what it would not have blamed is told alone."""
    is_remark = case.is_legacy and enforcement is Enforcement.ADVISORY
    return Enforcement.OBSERVE if is_remark else enforcement


def _why(word: RuleVerdict) -> str:
    """The reason of a violation; a judge may name one, and only that one."""
    if _NAMED_CODE.match(word.why):
        return "evidence_gap"
    if word.asked is None:
        return "llm_semantic_failed"
    return BY_FAILURE_CLASS.get(word.asked.rule.failure_class, "rule_violated")


def _doubt(word: RuleVerdict, lost: str) -> str:
    if word.reason_code:
        return word.reason_code
    if lost:
        return lost
    return "low_confidence" if word.is_told else "parse_inconclusive"


def _message(word: RuleVerdict, *, is_doubted: bool) -> str:
    name = f"The rule {word.id}" if word.asked else "The acceptance criteria"
    said = shown(word.why.strip(), MAX_TEXT_CHARS)
    if word.reason_code:
        return f"{name}: {word.gap}"
    if word.is_told:
        return f"{name}: the judge cannot tell. {said}".strip()
    if is_doubted and word.verdict is VIOLATED:
        unsound = "what the judge blames is not borne out by the material."
        return f"{name}: {unsound} {said}".strip()
    if word.verdict is UNKNOWN:
        return f"{name}: the judge gave no verdict that can be relied on."
    return said or f"{name}: violated. {_NOTHING_SAID}"
