"""What a reply says of single rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.doubt import TOO_LONG, Doubt
from verification.engine.protocol.fields import Fields
from verification.engine.protocol.reply import RuleAnswer
from verification.engine.protocol.stance import blame_in
from verification.engine.protocol.words import CONFLICT, rule_verdict_of, truth_of

MAX_RULES = 1_000
MAX_RULE_NAME = 200
MAX_WHY_CHARS = 1_000
"""How much of a reason is held against its verdict."""
_RULE = ("rule", "ruleid", "rulename", "id", "name")
_WORDS = ("verdict", "result", "status", "outcome")
_TRUTHS = ("passed", "pass", "satisfied", "met", "compliant")
_UNTRUTHS = ("violated", "failed")
_WHY = ("why", "reason", "explanation", "rationale", "comment", "note", "message")
_QUOTE = ("quote", "excerpt", "citation")


def answers_of(value: Any) -> tuple[RuleAnswer, ...]:
    """Read a list of answers, or an object of answers by rule.

    An answer without a rule keeps its place under the name ''. Two answers for one rule that
    disagree are one, unknown.

    Raises:
        Doubt: there are more than `MAX_RULES`.
    """
    if isinstance(value, list | Mapping) and len(value) > MAX_RULES:
        raise Doubt(TOO_LONG)
    found: dict[str, RuleAnswer] = {}
    nameless = []
    for answer in _each(value):
        if not answer.rule:
            nameless.append(answer)
        elif found.setdefault(answer.rule, answer).verdict is not answer.verdict:
            why = "It was answered twice, and the answers disagree."
            found[answer.rule] = RuleAnswer(answer.rule, FindingVerdict.UNKNOWN, why)
    return (*found.values(), *nameless)


def verdict_in(fields: Fields) -> FindingVerdict:
    """The verdict on one rule or on the criteria. All that is said of it must agree."""
    said = {rule_verdict_of(fields.values[key]) for key in _WORDS if _is_there(fields, key)}
    said |= {_verdict_of_truth(fields.values[key], False) for key in _TRUTHS if fields.has(key)}
    said |= {_verdict_of_truth(fields.values[key], True) for key in _UNTRUTHS if fields.has(key)}
    return said.pop() if len(said) == 1 else FindingVerdict.UNKNOWN


def hold_against_reason(verdict: FindingVerdict, why: str) -> FindingVerdict:
    """Doubt that something is satisfied where the reason says outright that it is not."""
    is_satisfied = verdict is FindingVerdict.SATISFIED
    if is_satisfied and blame_in(why[:MAX_WHY_CHARS], outright=True):
        return FindingVerdict.UNKNOWN
    return verdict


def _each(value: Any) -> Iterator[RuleAnswer]:
    if isinstance(value, Mapping):
        for rule, told in value.items():
            fields = Fields(told) if isinstance(told, Mapping) else Fields({"verdict": told})
            yield _answer(fields, str(rule))
    elif isinstance(value, list):
        for told in value:
            yield _answer(Fields(told if isinstance(told, Mapping) else {}))
    elif value is CONFLICT:
        yield RuleAnswer("", FindingVerdict.UNKNOWN, "The rules were answered twice.")


def _answer(fields: Fields, rule: str = "") -> RuleAnswer:
    why = fields.text(*_WHY)
    return RuleAnswer(
        rule=Fields({"rule": rule or fields.first(*_RULE)}).text("rule").strip()[:MAX_RULE_NAME],
        verdict=hold_against_reason(verdict_in(fields), why),
        why=why,
        quote=fields.text(*_QUOTE),
    )


def _is_there(fields: Fields, key: str) -> bool:
    return fields.has(key) and fields.values[key] is not None


def _verdict_of_truth(value: Any, is_violated: bool) -> FindingVerdict:
    truth = truth_of(value)
    if truth is None:
        return FindingVerdict.UNKNOWN
    return FindingVerdict.VIOLATED if truth is is_violated else FindingVerdict.SATISFIED
