"""`verification.policy.review`: which runs people are asked about, and how."""

from __future__ import annotations

from processes.definition.model import ReviewPolicy, ReviewReason
from processes.definition.reading import Fields, Value

PLACE = "verification.policy.review"
MAX_URGENCY = 100
MAX_A_DAY = 100_000
MAX_HOURS = 8_760
MAX_REVIEWERS = 2
WORDS = tuple(ReviewReason)
USUAL = "usual"
NEVER = "never"


def read_review_policy(fields: Fields) -> ReviewPolicy:
    usual = ReviewPolicy()
    policy = ReviewPolicy(
        reasons=fields.read("reasons", _reasons, usual.reasons),
        sample_rate=fields.read("sample_rate", lambda value: value.number(0, 1), None),
        cap_per_day=fields.read("cap_per_day", lambda value: value.integer(0, MAX_A_DAY), None),
        expires_after_hours=_expiry(fields, usual.expires_after_hours),
        is_blind=fields.flag("blind"),
        reviewers=fields.read("reviewers", lambda value: value.integer(1, MAX_REVIEWERS), 1),
    )
    fields.close()
    return policy


def _expiry(fields: Fields, usual: int | None) -> int | None:
    value = fields.get("expires_after_hours")
    if value is None:
        return usual
    return None if _is_word(value, NEVER) else value.integer(1, MAX_HOURS)


def _is_word(value: Value, word: str) -> bool:
    return value.is_scalar and str(value.node.value).strip().lower() == word


def _reasons(value: Value) -> dict[ReviewReason, int | None] | None:
    """One reason, a list of them, or each with its urgency; None: a complaint was made."""
    if value.kind == "a mapping":
        return _urgencies(value)
    entries = [value] if value.is_scalar else value.entries("a list of reasons")
    if entries is None:
        return None
    words = [entry.word(WORDS) for entry in entries]
    return {ReviewReason(word): None for word in words if word}


def _urgencies(value: Value) -> dict[ReviewReason, int | None]:
    fields = value.mapping()
    found: dict[ReviewReason, int | None] = {}
    for name, one in fields.values.items() if fields else ():
        one.mark_place()
        if name in WORDS:
            urgency = None if _is_word(one, USUAL) else one.integer(0, MAX_URGENCY)
            found[ReviewReason(name)] = urgency
        else:
            one.complain("value.choice", f"{one.path} is none of {', '.join(WORDS)}.")
    return found
