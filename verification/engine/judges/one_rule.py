"""What a judge says of one rule, asked among all that speak in its phase, as it would be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Rule
from verification.engine.case import Case, Ports
from verification.engine.checks.read_once import ReadOnce
from verification.engine.finding import Finding, with_fingerprints
from verification.engine.judges.asking import Conversation, Judge, Question
from verification.engine.judges.blaming import findings_of
from verification.engine.judges.hearing import JudgeReply, ask_again, ask_judge, question_of
from verification.engine.judges.weighing import (
    DISAGREES,
    RuleVerdict,
    is_bare_fail,
    open_questions,
    weigh,
)
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.prompt import assessment
from verification.engine.protocol.quotes import Quotes


@dataclass(frozen=True, slots=True)
class Said:
    """`findings` are the rule's own: none, where it is satisfied.

    `lost` is the reason code for which nothing was read, '' where something was; `why` tells
    more. `calls` are those that were made.
    """

    findings: Sequence[Finding] = ()
    lost: str = ""
    why: str = ""
    calls: int = 0


def first_question(case: Case, ports: Ports) -> Question:
    """What is asked first, and mostly all that is asked."""
    return question_of(case, assessment(case, ports))


def said_of(rule: Rule, case: Case, ports: Ports, judge: Judge) -> Said:
    """Hear a judge on all that it would be asked about, and keep what it says of this one rule.

    What it leaves open of this rule is asked once more, as in tier 2; claims are not settled.
    `rule` is one of the case's definition.
    """
    limits = case.verifier.limits
    talk = Conversation(judge, limits.judge_calls, limits.call_tries)
    ports = replace(ports, workspace=ReadOnce(ports.workspace))
    judge_reply = ask_judge(case, talk, assessment(case, ports))
    if judge_reply.reply is None:
        return _told(talk, lost=judge_reply.lost, why=judge_reply.why)
    quotes = Quotes(case, ports)
    words = weigh(case, judge_reply.reply, quotes)
    word = _word_on(rule, words)
    if open_ones := () if case.is_legacy else open_questions([word]):
        failed_first = is_bare_fail(judge_reply.reply, words)
        judge_reply = ask_again(case, talk, assessment(case, ports, open_ones), judge_reply.judge)
        if judge_reply.reply is None:
            return _told(talk, lost=judge_reply.lost, why=judge_reply.why)
        word = _word_on(rule, weigh(case, judge_reply.reply, quotes))
        if failed_first and word.verdict is FindingVerdict.SATISFIED:
            word = replace(word, verdict=FindingVerdict.UNKNOWN, gap=DISAGREES)
    return _told(talk, findings=_findings(case, judge_reply, word), why=word.why or word.gap)


def _word_on(rule: Rule, words: Sequence[RuleVerdict]) -> RuleVerdict:
    return next(word for word in words if word.asked is not None and word.asked.rule is rule)


def _findings(case: Case, judge_reply: JudgeReply, word: RuleVerdict) -> Sequence[Finding]:
    assert judge_reply.reply is not None  # noqa: S101 - the caller has read it
    return with_fingerprints(findings_of(case, [word], judge_reply.reply, tier=2))


def _told(
    talk: Conversation, *, findings: Sequence[Finding] = (), lost: str = "", why: str = ""
) -> Said:
    return Said(findings, lost, why, talk.calls)
