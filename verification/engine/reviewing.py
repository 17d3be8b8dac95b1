"""Which runs people are asked about, and how soon. Pure: chance is drawn from the run's own name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from processes.definition.model import USUAL_URGENCIES, ReviewPolicy, ReviewReason
from verification.engine.outcome import Outcome, SeverityClass, Verdict

DIVERGENCE = "vote_divergence"
RANDOM_SAMPLE = "random_sample"
"""The reason of a review that nothing flagged."""
CHANGE_HELD = "change_held"
"""The reason of a review that decides whether a change lands."""
CHANGE_URGENCY = 20
SAMPLE_URGENCY = 5
CRITICAL_PATH = 30
SEVERITIES = {SeverityClass.HARD_INVARIANT: 15, SeverityClass.SEMANTIC: 10}
MAX_URGENCY = 100
WAITING_PER_POINT = timedelta(hours=1)
"""Who waits so long is as urgent as who came just now with one point more."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A finished run, as far as it decides whether a person is asked.

    `flags` are the reason codes that ask for one; `terminal` is the code that ended its task.
    `holds_change`: it has a change whose action is a review branch.
    """

    run: UUID
    outcome: Outcome
    verdict: Verdict
    flags: Sequence[str] = ()
    terminal: str = ""
    severity_class: SeverityClass | None = None
    reason_code: str = ""
    is_critical_path: bool = False
    holds_change: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A person is asked. `sample_rate`: how likely the run was drawn, None where it was not."""

    reasons: tuple[str, ...]
    urgency: int
    is_flagged: bool
    sample_rate: float | None


def asked(policy: ReviewPolicy, ended: Ended, *, usual_sample_rate: float) -> Asked | None:
    """Whether people are asked about a run, and why; None: nobody is.

    Source: docs/review-policy.md, "Which runs are reviewed".
    """
    kinds = [kind for kind in _kinds(ended) if kind in policy.reasons]
    rate = usual_sample_rate if policy.sample_rate is None else policy.sample_rate
    is_drawn = ended.verdict is not Verdict.UNDECIDED and is_in_sample(ended.run, rate)
    if not kinds and not is_drawn and not ended.holds_change:
        return None
    reasons = [
        *_codes(ended, kinds),
        *([CHANGE_HELD] if ended.holds_change else []),
        *([RANDOM_SAMPLE] if is_drawn else []),
    ]
    return Asked(
        reasons=tuple(dict.fromkeys(reasons)),
        urgency=_urgency(policy, ended, kinds),
        is_flagged=bool(kinds) or ended.holds_change,
        sample_rate=rate if is_drawn else None,
    )


def is_in_sample(run: UUID, rate: float) -> bool:
    """Draw by the run's name: the same answer each time, and no say for anybody."""
    drawn = int.from_bytes(hashlib.sha256(b"review sample" + run.bytes).digest()[:8])
    return drawn < rate * 2**64


def rank_at(opened_at: datetime, urgency: int) -> datetime:
    """The queue's order, earliest first: urgency counts as time that was waited already."""
    return opened_at - urgency * WAITING_PER_POINT


def urgency_now(opened_at: datetime, urgency: int, now: datetime) -> int:
    """Urgency with what waiting has added, 0 to 100."""
    return max(0, min(MAX_URGENCY, urgency + (now - opened_at) // WAITING_PER_POINT))


def _kinds(ended: Ended) -> Iterator[ReviewReason]:
    if DIVERGENCE in ended.flags:
        yield ReviewReason.DIVERGENCE
    if ended.terminal:
        yield ReviewReason.TERMINAL
    if _is_undecided(ended):
        yield ReviewReason.UNDECIDED
    if "low_confidence" in ended.flags or (_remarks(ended) and not _is_undecided(ended)):
        yield ReviewReason.LOW_CONFIDENCE
    if ended.verdict is Verdict.REJECT:
        yield ReviewReason.REJECTED
    if ended.outcome is Outcome.PARTIAL_VERIFIED and ended.verdict is Verdict.ACCEPT:
        yield ReviewReason.PARTIAL


def _codes(ended: Ended, kinds: Sequence[ReviewReason]) -> Iterator[str]:
    """The reason codes behind the kinds that ask, in the order of their weight."""
    if kinds and _is_undecided(ended):
        yield from ended.flags
    named = {
        ReviewReason.DIVERGENCE: [DIVERGENCE],
        ReviewReason.LOW_CONFIDENCE: _remarks(ended),
        ReviewReason.TERMINAL: [ended.terminal],
    }
    for kind in kinds:
        yield from named.get(kind, [ended.reason_code or kind.value])


def _is_undecided(ended: Ended) -> bool:
    return ended.verdict is Verdict.UNDECIDED


def _remarks(ended: Ended) -> list[str]:
    """What beside disagreement asks for a person. Beside a verdict it is doubt in that verdict."""
    return [code for code in ended.flags if code != DIVERGENCE]


def _urgency(policy: ReviewPolicy, ended: Ended, kinds: Sequence[ReviewReason]) -> int:
    """Of a blind review it tells nothing of the verdict: any reason weighs like the heaviest."""
    counted = policy.reasons if policy.is_blind and kinds else kinds
    own = [
        USUAL_URGENCIES[kind] if (said := policy.reasons[kind]) is None else said
        for kind in counted
    ]
    urgency = max(own, default=CHANGE_URGENCY if ended.holds_change else SAMPLE_URGENCY)
    if kinds:
        urgency += CRITICAL_PATH * ended.is_critical_path
    if kinds and ended.severity_class and not policy.is_blind:
        urgency += SEVERITIES.get(ended.severity_class, 0)
    return min(MAX_URGENCY, urgency)
