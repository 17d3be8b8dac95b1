"""The review policy in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from processes.definition.model import ReviewPolicy
from processes.review_forms import LABELS, percent_of

HOURS_A_DAY = 24


def sentences(policy: ReviewPolicy, *, usual_sample_rate: float) -> tuple[str, ...]:
    """What the policy means for the runs of its version."""
    rate = usual_sample_rate if policy.sample_rate is None else policy.sample_rate
    if not policy.reasons and not rate:
        return ("Nobody is asked about any run.",)
    return tuple(_sentences(policy, rate))


def _sentences(policy: ReviewPolicy, rate: float) -> Iterator[str]:
    if policy.reasons:
        yield f"People are asked when {_listed(_reasons(policy))}."
    if policy.reasons and policy.cap_per_day is not None:
        yield f"At most {policy.cap_per_day:,} such runs a day; others are held back."
    if rate:
        usual = "" if policy.sample_rate is not None else ", as this installation says"
        yield f"{percent_of(rate)} % of decided runs are drawn by chance{usual}."
    if policy.is_blind:
        yield "Reviewers decide before they see the verdict."
    if policy.reviewers > 1:
        yield "Two decide without knowing of each other; where they differ, a third does."
    yield _until(policy.expires_after_hours)


def _reasons(policy: ReviewPolicy) -> list[str]:
    return [
        label if (urgency := policy.reasons[reason]) is None else f"{label} (urgency {urgency})"
        for reason, label in LABELS.items()
        if reason in policy.reasons
    ]


def _listed(parts: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _until(hours: int | None) -> str:
    if hours is None:
        return "A review stays open until somebody decides it."
    days, rest = divmod(hours, HOURS_A_DAY)
    number, unit = (hours, "hour") if rest else (days, "day")
    return f"What nobody decides is closed after {number:,} {unit}{'s' * (number != 1)}."
