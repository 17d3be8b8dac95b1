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
from verification.engine.judges.hearing import JudgeReply, ask_again, ask_alternate, ask_judge
from verification.engine.judges.independence import first_seat
from verification.engine.judges.weighing import (
    DISAGREES,
    RuleVerdict,
    is_bare_fail,
    merged,
    open_questions,
    strangers,
    verdict_of,
    weigh,
    withdraw_verdict,
)
from verification.engine.outcome import FindingVerdict, Source, Status
from verification.engine.protocol.prompt import ACCEPTANCE, OpenQuestion, Prompt, assessment
from verification.engine.protocol.quotes import Quotes
from verification.engine.protocol.reply import Reply
from verification.engine.rating import Rating
from verification.engine.tiers import TierReport, ratings_of

SCORE_CONTRADICTION = "score_contradiction"
CLAIMS_QUESTION = OpenQuestion(
    "claims",
    "You listed no labelled claim that stands in the work, and a synthesis needs them. List in claims"
    " each statement of fact and each recommendation of the work: text (word for word), label,"
    " section and evidence.",
)
"""What a judge is asked once more for where a synthesis has no labelled claim."""


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """What a judge said in the end. `lost`: why what was open could not be asked once more."""

    reply: Reply
    judge_reply: JudgeReply
    words: tuple[RuleVerdict, ...]
    confidence: float
    lost: str = ""


def assess(case: Case, ports: Ports, judge: Judge, done: Sequence[TierReport]) -> TierReport:
    """Have one judge answer for tier 2. Never raises for a lost answer."""
    limits = case.verifier.limits
    talk = Conversation(judge, limits.judge_calls, limits.call_tries)
    ports = replace(ports, workspace=ReadOnce(ports.workspace))
    prompt = assessment(case, ports)
    judge_reply = ask_judge(case, talk, prompt)
    if judge_reply.reply is None:
        return _report_lost(case, talk, judge_reply)
    outcome = _weigh_reply(
        case, ports, talk, prompt, judge_reply, judge_reply.reply, asks_claims=True
    )
    findings = _findings(case, outcome)
    settled = _settled(case, ports, talk, outcome, findings)
    findings = (*findings, *settled.findings)
    return TierReport(
        tier=2,
        status=policy.status_of(findings, case.verifier.flags),
        findings=findings,
        trace=trace_of(case, outcome.words),
        detail=_detail(case, outcome, prompt, settled),
        recovery=judge_reply.stage,
        confidence=outcome.confidence,
        claims=settled.claims,
        artefacts=settled.artefacts,
        ratings=ratings_of(case, [outcome.reply.rating]),
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


def _report_lost(case: Case, talk: Conversation, judge_reply: JudgeReply) -> TierReport:
    """Doubt; but the old engine took a reply that it could not read for a fail."""
    if judge_reply.lost != "parse_inconclusive" or not case.is_legacy:
        return lost(talk, judge_reply.lost, judge_reply.why, tier=2, recovery=judge_reply.stage)
    finding = Finding(
        rule=ACCEPTANCE,
        reason_code="llm_semantic_failed",
        message=f"The judge's reply was not the JSON that was asked for. {judge_reply.why}".strip(),
        enforcement=Enforcement.HARD,
        source=Source.LLM,
        tier=2,
    )
    return TierReport(
        tier=2, status=Status.FAILED, findings=(finding,), recovery=judge_reply.stage, **talk.totals
    )


def _weigh_reply(
    case: Case,
    ports: Ports,
    talk: Conversation,
    prompt: Prompt,
    judge_reply: JudgeReply,
    reply: Reply,
    *,
    asks_claims: bool = False,
    asks_alternate: bool = True,
) -> JudgeOutcome:
    """Weigh the reply, and ask once more for what it left open.

    A fail that becomes a pass when it is asked again is a contradiction: the alternate judge
    decides it from scratch, else it stays open. `asks_claims`: the claims that the phase needs
    are part of what is asked.
    """

    def decide_by_alternate(doubt: JudgeOutcome) -> JudgeOutcome:
        other = ask_alternate(case, talk, prompt, judge_reply) if asks_alternate else None
        if other is None or other.reply is None:
            return doubt
        return _weigh_reply(
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
    outcome = JudgeOutcome(reply, judge_reply, words, _confidence(case, reply))
    if why := _contradiction(reply, words):
        resolved = _resolve_score(case, ports, talk, outcome, quotes, why)
        return resolved or decide_by_alternate(_doubted_score(outcome, why))
    if why := _missing_points(case, reply, words):
        return _complete_score(case, ports, talk, outcome, why)
    open_ones = open_questions(words)
    needs_claims = (
        asks_claims
        and not any(word.is_blame for word in words)
        and lacks_labelled_claims(case, ports, reply.claims)
    )
    asked = (*open_ones, CLAIMS_QUESTION) if needs_claims else open_ones
    if not asked or case.is_legacy:
        return outcome
    again = ask_again(case, talk, assessment(case, ports, asked), judge_reply.judge)
    if again.reply is None:
        return replace(outcome, lost=again.lost)
    if needs_claims:
        reply = replace(reply, claims=(*reply.claims, *again.reply.claims))
    second = merged(words, weigh(case, again.reply, quotes), {one.id for one in open_ones})
    failed_first = is_bare_fail(reply, words)
    is_contradiction = verdict_of(second) is True and (failed_first or again.reply.passed is False)
    if is_contradiction:
        second = [*second[:-1], replace(second[-1], verdict=FindingVerdict.UNKNOWN, gap=DISAGREES)]
    confidence = min(outcome.confidence, _confidence(case, again.reply))
    outcome = replace(outcome, reply=reply, words=tuple(second), confidence=confidence)
    return decide_by_alternate(outcome) if is_contradiction and failed_first else outcome


def _contradiction(reply: Reply, words: Sequence[RuleVerdict]) -> str:
    """Why the judge's points contradict its verdict, '' if they do not."""
    passed = verdict_of(words)
    return reply.rating.contradiction_of(passed) if reply.rating and passed is not None else ""


def _resolve_score(
    case: Case, ports: Ports, talk: Conversation, outcome: JudgeOutcome, quotes: Quotes, why: str
) -> JudgeOutcome | None:
    """Ask once more about points that contradict the verdict.

    What stays contradictory is doubt. None: a reject became a pass, which another judge decides.
    """
    doubt = _doubted_score(outcome, why)
    if case.is_legacy:  # it asks nothing twice
        return doubt
    prompt = assessment(case, ports, [OpenQuestion(ACCEPTANCE, why)])
    again = ask_again(case, talk, prompt, outcome.judge_reply.judge).reply
    if again is None:
        return doubt
    words = merged(outcome.words, weigh(case, again, quotes), {ACCEPTANCE})
    was_rejected = verdict_of(outcome.words) is False
    if was_rejected and (again.passed is not False or verdict_of(words) is not False):
        return None
    if verdict_of(words) is None or _contradiction(again, words):
        return doubt
    return replace(
        outcome,
        reply=replace(outcome.reply, rating=again.rating),
        words=tuple(words),
        confidence=min(outcome.confidence, _confidence(case, again)),
    )


def _doubted_score(outcome: JudgeOutcome, why: str) -> JudgeOutcome:
    return replace(
        outcome,
        reply=replace(outcome.reply, rating=None),
        words=withdraw_verdict(outcome.words, SCORE_CONTRADICTION, why),
    )


def _missing_points(case: Case, reply: Reply, words: Sequence[RuleVerdict]) -> str:
    """Which points of a score are missing that nothing else measures, '' if none are."""
    is_needed = case.phase.score is not None and not case.gated and verdict_of(words) is True
    rating = reply.rating or Rating()
    if not is_needed or case.is_legacy or not rating.missing:
        return ""
    return f"The score has no points for: {', '.join(rating.missing)}."


def _complete_score(
    case: Case, ports: Ports, talk: Conversation, outcome: JudgeOutcome, why: str
) -> JudgeOutcome:
    """Ask once more for the points that are missing. Only a second pass gives them."""
    prompt = assessment(case, ports, [OpenQuestion(ACCEPTANCE, why)])
    again = ask_again(case, talk, prompt, outcome.judge_reply.judge).reply
    if again is None or again.rating is None:
        return outcome
    why = DISAGREES if again.passed is not True else again.rating.contradiction_of(True)
    if why:
        words = withdraw_verdict(outcome.words, SCORE_CONTRADICTION, why)
        return replace(outcome, reply=replace(outcome.reply, rating=None), words=words)
    return replace(outcome, reply=replace(outcome.reply, rating=again.rating))


def _confidence(case: Case, reply: Reply) -> float:
    assumed = case.verifier.limits.assumed_confidence
    return assumed if reply.confidence is None else reply.confidence


def _findings(case: Case, outcome: JudgeOutcome) -> tuple[Finding, ...]:
    findings = findings_of(case, outcome.words, outcome.reply, tier=2, lost=outcome.lost)
    floor = case.phase.confidence_floor
    if outcome.confidence < floor:
        message = f"The judge's confidence, {outcome.confidence:.2f}, lies below {floor:.2f}."
        findings += (
            remark(case, "low_confidence", message, tier=2, confidence=outcome.confidence),
        )
    if not first_seat(case).is_independent:
        message = f"The judge {outcome.judge_reply.judge} is the model that did the work."
        findings += (remark(case, "verifier_not_independent", message, tier=2),)
    return findings


def _settled(
    case: Case, ports: Ports, talk: Conversation, outcome: JudgeOutcome, findings: Sequence[Finding]
) -> Settled:
    """Settle the claims; what was taken out of the work may need another look at the rest."""

    def assess_again(rest: Case, remaining: Ports) -> tuple[Finding, ...]:
        prompt = assessment(rest, remaining)
        judge_reply = ask_judge(rest, talk, prompt)
        if judge_reply.reply is None:
            return lost(talk, judge_reply.lost, judge_reply.why, tier=2).findings
        return _findings(
            rest, _weigh_reply(rest, remaining, talk, prompt, judge_reply, judge_reply.reply)
        )

    return settle(
        case,
        ports,
        outcome.reply.claims,
        talk,
        outcome.judge_reply.judge,
        assess_again,
        is_open=policy.is_open(findings, case.verifier.flags),
        lost=outcome.lost,
    )


def _detail(case: Case, outcome: JudgeOutcome, prompt: Prompt, settled: Settled) -> str:
    notes = [*prompt.notes[:5]]
    if more := len(prompt.notes) - 5:
        notes += [f"{more} more were shown in part"] if more > 0 else []
    if unknown := strangers(outcome.reply, case):
        notes.append(f"{unknown} answers name no rule that was asked about")
    if settled.note:
        notes.append(settled.note)
    return "; ".join(notes)
