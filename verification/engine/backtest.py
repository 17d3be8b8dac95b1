"""What a rule would have done to a run that is over, had it been written before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from verification.engine import policy
from verification.engine.finding import Finding
from verification.engine.outcome import FindingVerdict, Outcome, Verdict
from verification.engine.verifier import Flags

Result = tuple[Outcome, Verdict]

NOT_ASKED = "What checks come after it were never asked: what they would say is not known."
OTHER_REASONS = "Its outcome does not follow from its findings alone."
NOT_SEARCHED = "Its text could not be searched."


class Bucket(StrEnum):
    """What a change of outcome is worth, by what people said of the run.

    `relieved`: stopped or warned of before, let go now, and rightly so. `unlabelled` is newly
    spoken against, `let_go` dealt with more mildly; of neither anybody said whether that is right.
    """

    GOOD_CATCH = "good_catch"
    FALSE_ALARM = "false_alarm"
    UNSAFE_PASS = "unsafe_pass"  # noqa: S105 - a bucket, not a password
    RELIEVED = "relieved"
    UNLABELLED = "unlabelled"
    LET_GO = "let_go"
    COULD_NOT_EVALUATE = "could_not_evaluate"


@dataclass(frozen=True, slots=True)
class Past:
    """A run as it ended. `own` are the findings of the rule that is tried, `others` all the rest.

    `is_good` is what a person said of the work; None: nobody did. `is_climbed`: nothing was left
    unasked because the run was lost already: no tier, no verifier of the phase's own, no claim.
    """

    result: Result
    own: Sequence[Finding]
    others: Sequence[Finding]
    flags: Flags
    is_good: bool | None = None
    is_climbed: bool = True


@dataclass(frozen=True, slots=True)
class Weighed:
    """`bucket` None: the outcome stays what it was. `after` None: it cannot be told, see `why`."""

    bucket: Bucket | None
    after: Result | None
    why: str = ""


def weigh(past: Past, now: Sequence[Finding]) -> Weighed:
    """Replace what the rule said by what it says now, and decide again.

    Doubt about the new answer is never taken for a change of the outcome.
    """
    before = policy.outcome_of((*past.others, *past.own), past.flags)
    after = policy.outcome_of((*past.others, *now), past.flags)
    if any(finding.verdict is FindingVerdict.UNKNOWN for finding in now):
        return Weighed(Bucket.COULD_NOT_EVALUATE, None, NOT_SEARCHED)
    if after == before:
        return Weighed(None, past.result)
    if before != past.result:
        return Weighed(Bucket.COULD_NOT_EVALUATE, None, OTHER_REASONS)
    if _strictness(after) > _strictness(before):
        return Weighed(_held_back(past.is_good), after)
    if after[1] is Verdict.ACCEPT is not before[1] and not past.is_climbed:
        return Weighed(Bucket.COULD_NOT_EVALUATE, None, NOT_ASKED)
    return Weighed(_let_go(past, after), after)


def _strictness(result: Result) -> int:
    """More is stricter."""
    outcome, verdict = result
    return 10 * _BY_VERDICT.index(verdict) + list(Outcome).index(outcome)


_BY_VERDICT = (Verdict.ACCEPT, Verdict.UNDECIDED, Verdict.REJECT)


def _held_back(is_good: bool | None) -> Bucket:
    if is_good is None:
        return Bucket.UNLABELLED
    return Bucket.FALSE_ALARM if is_good else Bucket.GOOD_CATCH


def _let_go(past: Past, after: Result) -> Bucket:
    """Nobody's word is no word for it: what was not accepted would be accepted unseen."""
    if past.is_good is not None:
        return Bucket.RELIEVED if past.is_good else Bucket.UNSAFE_PASS
    is_accepted = after[1] is Verdict.ACCEPT and past.result[1] is not Verdict.ACCEPT
    return Bucket.UNSAFE_PASS if is_accepted else Bucket.LET_GO
