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
from verification.engine.judges.hearing import Heard, ask_again, hear, question_of
from verification.engine.judges.weighing import DISAGREES, Word, is_bare_fail, lacks, weigh
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.prompt import assessment
from verification.engine.protocol.quotes import Quotes


@dataclass(frozen=True, slots=True)
class Said:
    """`findings` are the rule's own: none, where it is satisfied.

    `lost` is the reason code for which nothing was heard, '' where something was; `why` tells
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
    heard = hear(case, talk, assessment(case, ports))
    if heard.reply is None:
        return _told(talk, lost=heard.lost, why=heard.why)
    quotes = Quotes(case, ports)
    words = weigh(case, heard.reply, quotes)
    word = _word_on(rule, words)
    if open_ones := () if case.is_legacy else lacks([word]):
        failed_first = is_bare_fail(heard.reply, words)
        heard = ask_again(case, talk, assessment(case, ports, open_ones), heard.judge)
        if heard.reply is None:
            return _told(talk, lost=heard.lost, why=heard.why)
        word = _word_on(rule, weigh(case, heard.reply, quotes))
        if failed_first and word.verdict is FindingVerdict.SATISFIED:
            word = replace(word, verdict=FindingVerdict.UNKNOWN, gap=DISAGREES)
    return _told(talk, findings=_findings(case, heard, word), why=word.why or word.gap)


def _word_on(rule: Rule, words: Sequence[Word]) -> Word:
    return next(word for word in words if word.asked is not None and word.asked.rule is rule)


def _findings(case: Case, heard: Heard, word: Word) -> Sequence[Finding]:
    assert heard.reply is not None  # noqa: S101 - the caller has heard it
    return with_fingerprints(findings_of(case, [word], heard.reply, tier=2))


def _told(
    talk: Conversation, *, findings: Sequence[Finding] = (), lost: str = "", why: str = ""
) -> Said:
    return Said(findings, lost, why, talk.calls)
