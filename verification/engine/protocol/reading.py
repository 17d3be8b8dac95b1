"""From a reply's JSON to its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from verification.engine.evidence import Claim
from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.answers import answers_of, hold_against_reason, verdict_in
from verification.engine.protocol.doubt import DISAGREE, UNCLEAR, Doubt
from verification.engine.protocol.fields import (
    Fields,
    is_rating,
    pairs,
    rating_of,
    share_of,
    text_of,
    texts_of,
)
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.stance import blame_in, blames_the_work
from verification.engine.protocol.words import (
    CONFLICT,
    FAILED_KEYS,
    NAMED_VERDICT_KEYS,
    PASSED_KEYS,
    VERDICT_KEYS,
    VIOLATIONS_KEYS,
    plain_key,
    says_violated,
    truth_of,
    verdict_of,
)

MAX_CLAIMS = 1_000
MAX_EVIDENCE = 50
MAX_BLAMING_CHARS = 1_000
"""How much of a text under a key that nobody knows is held against a pass."""
RULES = ("rules", "ruleverdicts", "ruleresults", "rulechecks")
ACCEPTANCE = ("acceptance", "acceptancecriteria")
ISSUES = ("issues", "problems", "issue", "concerns", "concern", "keyconcerns")
CONFIDENCE = ("confidence", "confidencescore")
SUGGESTION = ("suggestion", "suggestions", "suggestedfix", "fix")
WHY = ("why", "reason", "reasons", "reasoning", "explanation", "rationale", "summary", "comment")
CLAIMS = ("claims",)
SCORE = ("score", "scores")
REPLY_KEYS = frozenset((*RULES, *ACCEPTANCE, *ISSUES, *CONFIDENCE, *SUGGESTION, *CLAIMS, *SCORE))
_RULE_KEYS = ("rule", "ruleid", "rulename", "id", "name")
_SPOKEN_OF = frozenset(
    (*RULES, *ACCEPTANCE, *CLAIMS, *ISSUES, *SUGGESTION, *WHY, "quote", "quotes")
)


def reply_of(document: Mapping[Any, Any]) -> Reply | None:
    """Read a reply; None: it says neither pass nor fail.

    Raises:
        Doubt: it says both, or something between.
    """
    fields = Fields(document)
    passed = _passed(fields)
    if passed is None:
        return None
    if passed and _hides_a_violation(fields):
        raise Doubt(DISAGREE)
    issues = texts_of(fields.first(*ISSUES))
    reasons = (*issues, fields.text(*WHY))
    if passed and any(blame_in(reason, outright=True) for reason in reasons):
        raise Doubt(DISAGREE)
    acceptance, acceptance_why = _acceptance(fields)
    return Reply(
        passed=passed,
        rules=answers_of(fields.first(*RULES)),
        acceptance=acceptance,
        acceptance_why=acceptance_why,
        claims=_claims(fields.first(*CLAIMS)),
        confidence=share_of(fields.first(*CONFIDENCE)),
        suggestion=fields.text(*SUGGESTION),
        rating=rating_of(fields.first(*SCORE)),
        issues=issues,
        is_short=_is_short(fields),
    )


def speaks_of_a_verdict(document: Mapping[Any, Any]) -> bool:
    """Whether it is a reply at all: one rule's answer, a tool's result and a schema are none."""
    fields = Fields(document)
    said = fields.has(*PASSED_KEYS, *NAMED_VERDICT_KEYS) or any(
        verdict_of(fields.values.get(key)) is not None for key in VERDICT_KEYS
    )
    of_one_rule = fields.has(*_RULE_KEYS) and not fields.has(*REPLY_KEYS)
    return said and not of_one_rule


def fail_in(document: Mapping[Any, Any]) -> bool:
    """Whether anything in it says that the work did not pass, however unclear the rest is."""
    try:
        reply = reply_of(document)
    except Doubt:
        return True
    return reply is not None and not reply.passed


def _passed(fields: Fields) -> bool | None:
    said: set[bool | None] = set()
    for key, value in fields.values.items():
        if value is CONFLICT and key in PASSED_KEYS | VERDICT_KEYS:
            raise Doubt(DISAGREE)
        if key in PASSED_KEYS:
            said.add(truth_of(value))
        elif key in VERDICT_KEYS and _is_a_word(key, value):
            said.add(verdict_of(value))
    if len(said) > 1:
        raise Doubt(DISAGREE if None not in said else UNCLEAR)
    [passed] = said or {None}
    failed = {truth_of(fields.values[key]) for key in FAILED_KEYS & fields.values.keys()} - {None}
    if passed is not None and passed in failed:
        raise Doubt(DISAGREE)
    return passed


def _is_a_word(key: str, value: Any) -> bool:
    """`result` may be a wrapper, or hold anything; what is named a verdict is one."""
    if isinstance(value, Mapping | list):
        return False
    return key in NAMED_VERDICT_KEYS or verdict_of(value) is not None


def _hides_a_violation(fields: Fields) -> bool:
    """Whether one stands where no answer is looked for: under a misspelt key, perhaps."""
    left = [(key, value) for key, value in fields.values.items() if key not in _SPOKEN_OF]
    while left:
        key, value = left.pop()
        if key in VIOLATIONS_KEYS and _holds_anything(value):
            return True
        if isinstance(value, Mapping | list):
            left += ((plain_key(name) if name else key, one) for name, one in pairs(value))
        elif says_violated(key, value) or _blames(key, value):
            return True
    return False


def _blames(key: str, value: Any) -> bool:
    """Whether a text says that the work fails; under the name of a verdict, `FAIL - no date` does."""
    if not isinstance(value, str):
        return False
    if key in VERDICT_KEYS:
        return blames_the_work(f"{key}: {value}")
    return blame_in(value[:MAX_BLAMING_CHARS], outright=True) != ""


def _holds_anything(value: Any) -> bool:
    if isinstance(value, bool | int | float | Mapping):
        return bool(value)
    if isinstance(value, str) and (truth_of(value) is False or value.strip() == "0"):
        return False
    are_objects = isinstance(value, list) and any(map(_is_object, value))
    return are_objects or bool(texts_of(value))


def _acceptance(fields: Fields) -> tuple[FindingVerdict | None, str]:
    if not fields.has(*ACCEPTANCE):
        return None, ""
    value = fields.first(*ACCEPTANCE)
    if not isinstance(value, Mapping):
        return verdict_in(Fields({"verdict": value})), ""
    acceptance = Fields(value)
    why = acceptance.text(*WHY)
    return hold_against_reason(verdict_in(acceptance), why), why


def _claims(value: Any) -> tuple[Claim, ...]:
    if not isinstance(value, list):
        return ()
    read = (_claim(Fields(one)) for one in value[:MAX_CLAIMS] if isinstance(one, Mapping))
    return tuple(claim for claim in read if claim.text)


def _claim(fields: Fields) -> Claim:
    evidence = fields.first("evidence", "evidenceids", "evidenceid")
    return Claim(
        text=fields.text("text", "claim"),
        label=text_of(fields.first("label"))[:40],
        section=text_of(fields.first("section"))[:200],
        evidence=tuple(text[:200] for text in texts_of(evidence)[:MAX_EVIDENCE]),
    )


def _is_short(fields: Fields) -> bool:
    """Nothing is said of single rules, under whatever name."""
    if fields.has(*RULES, *ACCEPTANCE, *CLAIMS):
        return False
    known = (*ISSUES, *SUGGESTION, *WHY, *CONFIDENCE)
    return not any(
        isinstance(value, Mapping) or (isinstance(value, list) and any(map(_is_object, value)))
        for key, value in fields.values.items()
        if key not in known and not (key in SCORE and is_rating(value))
    )


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping | list)
