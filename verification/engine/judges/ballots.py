"""What a single vote says, and what the votes say together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from processes.definition.model import Enforcement
from verification.engine import policy
from verification.engine.case import Case
from verification.engine.finding import Finding
from verification.engine.judges.asking import Answer, Ballot, share_of_passes
from verification.engine.judges.blaming import findings_of
from verification.engine.judges.weighing import is_bare_fail, weigh
from verification.engine.outcome import FindingVerdict, Source
from verification.engine.protocol.quotes import Quotes
from verification.engine.protocol.reply import Recovered
from verification.engine.rating import Rating
from verification.engine.reasons import Effect

VOTES_RULE = "votes"
MAX_WHYS = 5
MAX_WHY_CHARS = 500
UNREADABLE = "parse_inconclusive"
SCORE_CONTRADICTION = "score_contradiction"


@dataclass(frozen=True, slots=True)
class Vote:
    """`blame` is what speaks against the work where it did not pass.

    `lost` is the reason code for which nothing can be read from it, '' where something can.
    `is_bare_fail`: nothing can be, since it fails the work without a reason.
    """

    ballot: Ballot
    blame: tuple[Finding, ...] = ()
    lost: str = ""
    rating: Rating | None = None
    is_bare_fail: bool = False

    @property
    def passed(self) -> bool | None:
        return self.ballot.passed


def opened(case: Case, number: int, answer: Answer, found: Recovered, quotes: Quotes) -> Vote:
    """Read one seat's answer as the single judge of tier 2 is read.

    What would leave a run undecided there is no vote here: neither a pass nor a fail.
    """
    blank = Ballot(number, answer.model, None)
    if answer.lost or found.reply is None:
        why = answer.detail or ("" if answer.lost else found.why)
        return Vote(replace(blank, why=why[:MAX_WHY_CHARS]), lost=answer.lost or UNREADABLE)
    words = weigh(case, found.reply, quotes)
    told = findings_of(case, words, found.reply, tier=3)
    decision = policy.decide(policy.ordered(told, {}), case.verifier.flags)
    blame = tuple(one for one in told if policy.effect_of(one) is Effect.REJECT)
    passed = decision.verdict.passed
    rating = found.reply.rating
    if rating and passed is not None and (why := rating.contradiction_of(passed)):
        return Vote(replace(blank, why=why), lost=SCORE_CONTRADICTION)
    return Vote(
        ballot=replace(
            blank,
            passed=passed,
            confidence=found.reply.confidence,
            why=" ".join(one.message for one in told)[:MAX_WHY_CHARS],
        ),
        blame=blame if passed is False else (),
        lost=decision.reason_code if passed is None else "",
        rating=rating,
        is_bare_fail=passed is None and is_bare_fail(found.reply, words),
    )


def count(case: Case, votes: Sequence[Vote]) -> tuple[Finding, ...]:
    """Find what follows from all votes. Their order plays no part.

    A majority is more than half of all, those among them that were lost. The old engine knows two
    outcomes: a vote that it cannot read, or a tie, speaks against the work.

    Source: docs/engine.md, "Votes".
    """
    if case.is_legacy:
        votes = [_as_of_old(vote) for vote in votes]
    passes, fails = _passes(votes), sum(vote.passed is False for vote in votes)
    is_tie_a_fail = case.is_legacy and not _reasons(votes)
    split = _divergence(case, votes, is_decided=is_tie_a_fail)
    if 2 * passes > len(votes):
        return (*split, *_low(case, votes))
    if 2 * fails > len(votes) or is_tie_a_fail:
        return (*_rejected(votes), *split)
    if passes and fails:
        return split
    return tuple(_lost(votes))


def confidence_of(case: Case, votes: Sequence[Vote]) -> float | None:
    """The probability, 0 to 1, that the majority is right: the mean over the votes that say it.

    A vote against the majority counts with the rest of its confidence. None without a majority.
    """
    passes, fails = _passes(votes), sum(vote.passed is False for vote in votes)
    if 2 * max(passes, fails) <= len(votes):
        return None
    majority = passes > fails
    named = [
        vote.ballot.confidence if vote.passed is majority else 1 - vote.ballot.confidence
        for vote in votes
        if vote.passed is not None and vote.ballot.confidence is not None
    ]
    # fsum: the order of votes plays no part.
    return math.fsum(named) / len(named) if named else case.verifier.limits.assumed_confidence


def _passes(votes: Sequence[Vote]) -> int:
    return sum(vote.passed is True for vote in votes)


def _as_of_old(vote: Vote) -> Vote:
    if vote.lost != UNREADABLE:
        return vote
    return replace(vote, ballot=replace(vote.ballot, passed=False), lost="")


def _divergence(case: Case, votes: Sequence[Vote], *, is_decided: bool) -> tuple[Finding, ...]:
    """A remark where most agree, which asks a person all the same; doubt where they do not."""
    total, passes = len(votes), _passes(votes)
    fails = sum(vote.passed is False for vote in votes)
    if total in (passes, fails):
        return ()
    is_decided = is_decided or 2 * max(passes, fails) > total
    unread = total - passes - fails
    tail = f", and {unread} said nothing that can be read" if unread else ""
    agreed = Enforcement.OBSERVE if case.is_legacy else Enforcement.ADVISORY
    return (
        _finding(
            "vote_divergence",
            f"Of {total} votes {passes} passed the work and {fails} rejected it{tail}.",
            enforcement=agreed if is_decided else Enforcement.HARD,
            verdict=FindingVerdict.VIOLATED if is_decided else FindingVerdict.UNKNOWN,
        ),
    )


def _low(case: Case, votes: Sequence[Vote]) -> tuple[Finding, ...]:
    """A remark if the votes are too divided, or too unsure, for the floor of the phase."""
    floor, share = case.phase.confidence_floor, share_of_passes([vote.ballot for vote in votes])
    confidence = confidence_of(case, votes)
    if case.is_legacy:
        return ()
    if share < floor:
        message = f"The share of votes that pass, {share:.2f}, lies below the phase's {floor:.2f}."
    elif confidence is not None and confidence < floor:
        message = (
            f"The confidence of the votes, {confidence:.2f}, lies below the phase's {floor:.2f}."
        )
    else:
        return ()
    return (_finding("low_confidence", message, enforcement=Enforcement.ADVISORY),)


def _rejected(votes: Sequence[Vote]) -> Iterator[Finding]:
    """One finding for each rule that most of the rejecting votes name; else one for all."""
    against = [vote for vote in votes if vote.passed is False]
    named = Counter(rule for vote in against for rule in {one.rule for one in vote.blame})
    agreed = sorted(rule for rule, times in named.items() if 2 * times > len(against))
    for rule in agreed:
        told = min((one for vote in against for one in vote.blame if one.rule == rule), key=_weight)
        lead = f"{named[rule]} of {len(votes)} votes reject the work for this."
        yield replace(told, reason_code="vote_rejected", tier=3, message=f"{lead} {told.message}")
    if not agreed:
        whys = sorted({vote.ballot.why for vote in against if vote.ballot.why})[:MAX_WHYS]
        lead = f"{len(against)} of {len(votes)} votes reject the work."
        yield _finding("vote_rejected", " ".join([lead, *whys]))


def _weight(finding: Finding) -> tuple[object, ...]:
    """First what can be shown in the material, then what the judge is surest of."""
    return (
        finding.quote_verified is not True,
        -(finding.confidence or 0.0),
        finding.path,
        finding.line or 0,
        finding.message,
        finding.quote,
    )


def _reasons(votes: Sequence[Vote]) -> Counter[str]:
    return Counter(vote.lost for vote in votes if vote.lost)


def _lost(votes: Sequence[Vote]) -> Iterator[Finding]:
    """One finding for each reason for which votes are missing."""
    for reason_code, times in sorted(_reasons(votes).items()):
        whys = sorted({vote.ballot.why for vote in votes if vote.lost == reason_code})
        message = f"{times} of {len(votes)} votes were lost, and those left make no majority."
        yield _finding(
            reason_code,
            " ".join([message, *filter(None, whys[:1])]),
            verdict=FindingVerdict.UNKNOWN,
        )


def _finding(
    reason_code: str,
    message: str,
    *,
    enforcement: Enforcement = Enforcement.HARD,
    verdict: FindingVerdict = FindingVerdict.VIOLATED,
) -> Finding:
    return Finding(
        rule=VOTES_RULE,
        reason_code=reason_code,
        message=message,
        enforcement=enforcement,
        verdict=verdict,
        source=Source.LLM,
        tier=3,
    )
