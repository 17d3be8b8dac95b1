"""Tier 2: one independent judge, a fresh context, an answer for each rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement
from verification.engine import policy
from verification.engine.case import Case, Ports
from verification.engine.checks.read_once import ReadOnce
from verification.engine.claims.missing import lacks_labelled_claims
from verification.engine.claims.unconfirmed import Settled, settle
from verification.engine.finding import Finding
from verification.engine.judges.asking import Conversation, Judge
from verification.engine.judges.blaming import findings_of, lost_answer, remark, trace_of
from verification.engine.judges.hearing import Heard, ask_again, ask_alternate, hear
from verification.engine.judges.independence import first_seat
from verification.engine.judges.weighing import (
    DISAGREES,
    Word,
    doubted,
    is_bare_fail,
    lacks,
    merged,
    strangers,
    verdict_of,
    weigh,
)
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.protocol.prompt import ACCEPTANCE, Lack, Prompt, assessment
from verification.engine.protocol.quotes import Quotes
from verification.engine.protocol.reply import Reply
from verification.engine.rating import Rating
from verification.engine.tiers import TierReport, ratings_of

SCORE_CONTRADICTION = "score_contradiction"
CLAIMS_LACK = Lack(
    "claims",
    "You listed no labelled claim that stands in the work, and a synthesis needs them. List in claims"
    " each statement of fact and each recommendation of the work: text (word for word), label,"
    " section and evidence.",
)
"""What a judge is asked once more for where a synthesis has no labelled claim."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """What a judge said in the end. `lost`: why what was open could not be asked once more."""

    reply: Reply
    heard: Heard
    words: tuple[Word, ...]
    confidence: float
    lost: str = ""


def assess(case: Case, ports: Ports, judge: Judge, done: Sequence[TierReport]) -> TierReport:
    """Have one judge answer for tier 2. Never raises for a lost answer."""
    limits = case.verifier.limits
    talk = Conversation(judge, limits.judge_calls, limits.call_tries)
    ports = replace(ports, workspace=ReadOnce(ports.workspace))
    prompt = assessment(case, ports)
    heard = hear(case, talk, prompt)
    if heard.reply is None:
        return _unheard(case, talk, heard)
    sitting = _sit(case, ports, talk, prompt, heard, heard.reply, asks_claims=True)
    findings = _findings(case, sitting)
    settled = _settled(case, ports, talk, sitting, findings)
    findings = (*findings, *settled.findings)
    return TierReport(
        tier=2,
        status=policy.status_of(findings, case.verifier.flags),
        findings=findings,
        trace=trace_of(case, sitting.words),
        detail=_detail(case, sitting, prompt, settled),
        recovery=heard.stage,
        confidence=sitting.confidence,
        claims=settled.claims,
        artefacts=settled.artefacts,
        ratings=ratings_of(case, [sitting.reply.rating]),
        **talk.totals,
    )


def lost(
    talk: Conversation, reason_code: str, message: str, *, tier: int, recovery: str = ""
) -> TierReport:
    """Nothing is known: neither for nor against the work."""
    finding = lost_answer(reason_code, message, tier=tier)
    return TierReport(
        tier=tier, status=Status.ERROR, findings=(finding,), recovery=recovery, **talk.totals
    )


def _unheard(case: Case, talk: Conversation, heard: Heard) -> TierReport:
    """Doubt; but the old engine took a reply that it could not read for a fail."""
    if heard.lost != "parse_inconclusive" or not case.is_legacy:
        return lost(talk, heard.lost, heard.why, tier=2, recovery=heard.stage)
    finding = Finding(
        rule=ACCEPTANCE,
        reason_code="llm_semantic_failed",
        message=f"The judge's reply was not the JSON that was asked for. {heard.why}".strip(),
        enforcement=Enforcement.HARD,
        source=Source.LLM,
        tier=2,
    )
    return TierReport(
        tier=2, status=Status.FAILED, findings=(finding,), recovery=heard.stage, **talk.totals
    )


def _sit(
    case: Case,
    ports: Ports,
    talk: Conversation,
    prompt: Prompt,
    heard: Heard,
    reply: Reply,
    *,
    asks_claims: bool = False,
    asks_alternate: bool = True,
) -> Sitting:
    """Weigh the reply, and ask once more for what it left open.

    A fail that becomes a pass when it is asked again is a contradiction: the alternate judge
    decides it from scratch, else it stays open. `asks_claims`: the claims that the phase needs
    are part of what is asked.
    """

    def decide_by_alternate(doubt: Sitting) -> Sitting:
        other = ask_alternate(case, talk, prompt, heard) if asks_alternate else None
        if other is None or other.reply is None:
            return doubt
        return _sit(
            case,
            ports,
            talk,
            prompt,
            other,
            other.reply,
            asks_claims=asks_claims,
            asks_alternate=False,
        )

    quotes = Quotes(case, ports)
    words = weigh(case, reply, quotes)
    sitting = Sitting(reply, heard, words, _confidence(case, reply))
    if why := _contradiction(reply, words):
        resolved = _resolve_score(case, ports, talk, sitting, quotes, why)
        return resolved or decide_by_alternate(_doubted_score(sitting, why))
    if why := _missing_points(case, reply, words):
        return _complete_score(case, ports, talk, sitting, why)
    open_ones = lacks(words)
    needs_claims = (
        asks_claims
        and not any(word.is_blame for word in words)
        and lacks_labelled_claims(case, ports, reply.claims)
    )
    asked = (*open_ones, CLAIMS_LACK) if needs_claims else open_ones
    if not asked or case.is_legacy:
        return sitting
    again = ask_again(case, talk, assessment(case, ports, asked), heard.judge)
    if again.reply is None:
        return replace(sitting, lost=again.lost)
    if needs_claims:
        reply = replace(reply, claims=(*reply.claims, *again.reply.claims))
    second = merged(words, weigh(case, again.reply, quotes), {one.id for one in open_ones})
    failed_first = is_bare_fail(reply, words)
    is_contradiction = verdict_of(second) is True and (failed_first or again.reply.passed is False)
    if is_contradiction:
        second = [*second[:-1], replace(second[-1], verdict=FindingVerdict.UNKNOWN, gap=DISAGREES)]
    confidence = min(sitting.confidence, _confidence(case, again.reply))
    sitting = replace(sitting, reply=reply, words=tuple(second), confidence=confidence)
    return decide_by_alternate(sitting) if is_contradiction and failed_first else sitting


def _contradiction(reply: Reply, words: Sequence[Word]) -> str:
    """Why the judge's points contradict its verdict, '' if they do not."""
    passed = verdict_of(words)
    return reply.rating.contradiction_of(passed) if reply.rating and passed is not None else ""


def _resolve_score(
    case: Case, ports: Ports, talk: Conversation, sitting: Sitting, quotes: Quotes, why: str
) -> Sitting | None:
    """Ask once more about points that contradict the verdict.

    What stays contradictory is doubt. None: a reject became a pass, which another judge decides.
    """
    doubt = _doubted_score(sitting, why)
    if case.is_legacy:  # it asks nothing twice
        return doubt
    prompt = assessment(case, ports, [Lack(ACCEPTANCE, why)])
    again = ask_again(case, talk, prompt, sitting.heard.judge).reply
    if again is None:
        return doubt
    words = merged(sitting.words, weigh(case, again, quotes), {ACCEPTANCE})
    was_rejected = verdict_of(sitting.words) is False
    if was_rejected and (again.passed is not False or verdict_of(words) is not False):
        return None
    if verdict_of(words) is None or _contradiction(again, words):
        return doubt
    return replace(
        sitting,
        reply=replace(sitting.reply, rating=again.rating),
        words=tuple(words),
        confidence=min(sitting.confidence, _confidence(case, again)),
    )


def _doubted_score(sitting: Sitting, why: str) -> Sitting:
    return replace(
        sitting,
        reply=replace(sitting.reply, rating=None),
        words=doubted(sitting.words, SCORE_CONTRADICTION, why),
    )


def _missing_points(case: Case, reply: Reply, words: Sequence[Word]) -> str:
    """Which points of a score are missing that nothing else measures, '' if none are."""
    is_needed = case.phase.score is not None and not case.gated and verdict_of(words) is True
    rating = reply.rating or Rating()
    if not is_needed or case.is_legacy or not rating.missing:
        return ""
    return f"The score has no points for: {', '.join(rating.missing)}."


def _complete_score(
    case: Case, ports: Ports, talk: Conversation, sitting: Sitting, why: str
) -> Sitting:
    """Ask once more for the points that are missing. Only a second pass gives them."""
    prompt = assessment(case, ports, [Lack(ACCEPTANCE, why)])
    again = ask_again(case, talk, prompt, sitting.heard.judge).reply
    if again is None or again.rating is None:
        return sitting
    why = DISAGREES if again.passed is not True else again.rating.contradiction_of(True)
    if why:
        words = doubted(sitting.words, SCORE_CONTRADICTION, why)
        return replace(sitting, reply=replace(sitting.reply, rating=None), words=words)
    return replace(sitting, reply=replace(sitting.reply, rating=again.rating))


def _confidence(case: Case, reply: Reply) -> float:
    assumed = case.verifier.limits.assumed_confidence
    return assumed if reply.confidence is None else reply.confidence


def _findings(case: Case, sitting: Sitting) -> tuple[Finding, ...]:
    findings = findings_of(case, sitting.words, sitting.reply, tier=2, lost=sitting.lost)
    floor = case.phase.confidence_floor
    if sitting.confidence < floor:
        message = f"The judge's confidence, {sitting.confidence:.2f}, lies below {floor:.2f}."
        findings += (
            remark(case, "low_confidence", message, tier=2, confidence=sitting.confidence),
        )
    if not first_seat(case).is_independent:
        message = f"The judge {sitting.heard.judge} is the model that did the work."
        findings += (remark(case, "verifier_not_independent", message, tier=2),)
    return findings


def _settled(
    case: Case, ports: Ports, talk: Conversation, sitting: Sitting, findings: Sequence[Finding]
) -> Settled:
    """Settle the claims; what was taken out of the work may need another look at the rest."""

    def assess_again(rest: Case, remaining: Ports) -> tuple[Finding, ...]:
        prompt = assessment(rest, remaining)
        heard = hear(rest, talk, prompt)
        if heard.reply is None:
            return lost(talk, heard.lost, heard.why, tier=2).findings
        return _findings(rest, _sit(rest, remaining, talk, prompt, heard, heard.reply))

    return settle(
        case,
        ports,
        sitting.reply.claims,
        talk,
        sitting.heard.judge,
        assess_again,
        is_open=policy.is_open(findings, case.verifier.flags),
        lost=sitting.lost,
    )


def _detail(case: Case, sitting: Sitting, prompt: Prompt, settled: Settled) -> str:
    notes = [*prompt.notes[:5]]
    if more := len(prompt.notes) - 5:
        notes += [f"{more} more were shown in part"] if more > 0 else []
    if unknown := strangers(sitting.reply, case):
        notes.append(f"{unknown} answers name no rule that was asked about")
    if settled.note:
        notes.append(settled.note)
    return "; ".join(notes)
