"""Tier 3: independent votes, side by side; the majority of all of them counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement
from verification.engine import policy, scoping
from verification.engine.case import Case, Ports
from verification.engine.finding import Finding, TraceEntry, TraceVerdict
from verification.engine.judges import alternatives
from verification.engine.judges.asking import Answer, Ask, Conversation, Judge, Question
from verification.engine.judges.ballots import (
    SCORE_CONTRADICTION,
    UNREADABLE,
    VOTES_RULE,
    Vote,
    confidence_of,
    count,
    opened,
)
from verification.engine.judges.hearing import is_strict, read
from verification.engine.judges.independence import first_seat, seats
from verification.engine.outcome import FindingVerdict, Source
from verification.engine.protocol.prompt import Prompt, assessment
from verification.engine.protocol.quotes import Quotes
from verification.engine.tiers import TierReport, ratings_of

NOT_INDEPENDENT = "verifier_not_independent"
CAST_AGAIN = ":again"
"""Behind the nonce of a vote that could not be read and is cast once more."""


def vote(case: Case, ports: Ports, judge: Judge, done: Sequence[TierReport]) -> TierReport:
    """Count the votes of tier 3. Never raises for a lost one.

    All are asked at once, and with them, where the alternatives differ in form, which of these
    say the same. A vote that cannot be read is cast once more, except by the old engine.

    Source: docs/engine.md, "Votes".
    """
    booth = Booth(case, assessment(case, ports), Quotes(case, ports))
    questions = _questions(case, booth.prompt)
    groups = alternatives.by_form(case.submission)
    compared = alternatives.question(case, groups, first_seat(case).judge)
    asked = [*questions, compared] if compared else questions
    tries = case.verifier.limits.call_tries
    talk = Conversation(judge, len(asked) * tries, tries)
    answers = talk.ask_all(asked)
    votes = _votes(booth, talk, questions, answers)
    if compared:
        talk.note(answers[-1], alternatives.stage_of(case, groups, answers[-1]))
    told = alternatives.findings(case, groups, answers[-1] if compared else None)
    return _report(case, talk, votes, (*count(case, votes), *told, *_dependent(case, done)))


@dataclass(frozen=True, slots=True)
class Booth:
    """What each vote is read by."""

    case: Case
    prompt: Prompt
    quotes: Quotes


def _questions(case: Case, prompt: Prompt) -> list[Question]:
    seated = [seat.judge for seat in seats(case)]
    times = Counter(seated)
    # A judge that is asked more than once would copy itself at 0.
    repeated = case.verifier.limits.vote_temperature
    return [
        Question(
            judge=judge,
            ask=Ask.VOTE,
            system=prompt.system,
            prompt=prompt.text,
            schema=prompt.schema,
            nonce=f"{case.nonce}:vote:{number}",
            temperature=repeated if times[judge] > 1 else 0.0,
        )
        for number, judge in enumerate(seated)
    ]


def _votes(
    booth: Booth, talk: Conversation, questions: Sequence[Question], answers: Sequence[Answer]
) -> list[Vote]:
    """Read all votes; cast those once more that cannot be read.

    A fail without a reason that becomes a pass contradicts itself: it stays unread.
    """
    votes = [_read(booth, talk, number, answers[number]) for number in range(len(questions))]
    unread = [vote.ballot.index for vote in votes if vote.lost in (UNREADABLE, SCORE_CONTRADICTION)]
    if unread and talk.calls_left and not booth.case.is_legacy:
        once_more = [
            replace(questions[one], nonce=questions[one].nonce + CAST_AGAIN) for one in unread
        ]
        for number, answer in zip(unread, talk.ask_all(once_more), strict=True):
            vote = _read(booth, talk, number, answer)
            if not (votes[number].is_bare_fail and vote.passed):
                votes[number] = vote
    return votes


def _read(booth: Booth, talk: Conversation, number: int, answer: Answer) -> Vote:
    found = read(answer, booth.prompt, strict=is_strict(booth.case))
    talk.note(answer, found.stage)
    return opened(booth.case, number, answer, found, booth.quotes)


def _report(
    case: Case, talk: Conversation, votes: Sequence[Vote], findings: Sequence[Finding]
) -> TierReport:
    passes = sum(vote.passed is True for vote in votes)
    return TierReport(
        tier=3,
        status=policy.status_of(findings, case.verifier.flags),
        findings=tuple(findings),
        trace=tuple(_trace(case, findings)),
        detail=f"{passes} of {len(votes)} votes passed",
        confidence=confidence_of(case, votes),
        ballots=tuple(vote.ballot for vote in votes),
        ratings=ratings_of(case, [vote.rating for vote in votes]),
        **talk.totals,
    )


def _trace(case: Case, findings: Sequence[Finding]) -> Iterator[TraceEntry]:
    """The rules for which most reject the work, whatever one judge said of them before."""
    blamed = {
        one.rule_sha256
        for one in findings
        if one.rule_sha256 and one.verdict is FindingVerdict.VIOLATED
    }
    for rule in case.definition.rules:
        if scoping.rule_sha256(rule) in blamed:
            yield scoping.entry(
                rule,
                case,
                applied=True,
                verdict=TraceVerdict.VIOLATED,
                reason=scoping.case_scope(rule, case).reason,
            )


def _dependent(case: Case, done: Sequence[TierReport]) -> Iterator[Finding]:
    """A remark where a judge votes on its own model's work, unless tier 2 has made it."""
    told = {finding.reason_code for report in done for finding in report.findings}
    own = [seat.judge for seat in seats(case) if not seat.is_independent]
    if own and NOT_INDEPENDENT not in told:
        yield Finding(
            rule=VOTES_RULE,
            reason_code=NOT_INDEPENDENT,
            message=f"{len(own)} of the votes were cast by the model that did the work.",
            enforcement=Enforcement.OBSERVE if case.is_legacy else Enforcement.ADVISORY,
            source=Source.LLM,
            tier=3,
        )
