"""The words by which judges say yes and no. Whatever is not in these tables says nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from verification.engine.outcome import FindingVerdict

PASSED_KEYS: Final = frozenset(
    ("passed", "pass", "ispassed", "haspassed", "didpass", "overallpassed", "overallpass")
)
FAILED_KEYS: Final = frozenset(("failed", "fail", "isfailed", "hasfailed", "overallfailed"))
"""Never read as a verdict; one that contradicts the verdict makes it ambiguous."""
VIOLATIONS_KEYS: Final = FAILED_KEYS | {
    *("failures", "failedrules", "failingrules", "failedcriteria", "violations", "violated"),
    *("violatedrules", "ruleviolations", "violatedcriteria", "unmet", "unmetrules"),
    "unmetcriteria",
}
"""What stands there is a fault, if anything does."""
NAMED_VERDICT_KEYS: Final = frozenset(("verdict", "finalverdict", "overallverdict"))
VERDICT_KEYS: Final = NAMED_VERDICT_KEYS | frozenset(
    ("result", "outcome", "decision", "judgment", "judgement", "overall", "finalresult")
)

_TRUTH = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), True),
    **dict.fromkeys(("false", "no", "fail", "failed", "not passed"), False),
}
_VERDICT = {
    **dict.fromkeys(("pass", "passed", "accept", "accepted", "approve", "approved"), True),
    **dict.fromkeys(("fail", "failed", "reject", "rejected", "not passed"), False),
}
_SATISFIED = ("satisfied", "pass", "passed", "met", "fulfilled", "compliant")
_VIOLATED = (
    *("violated", "violation", "fail", "failed", "not passed", "does not pass", "did not pass"),
    *("not satisfied", "unsatisfied", "not met", "unmet", "not fulfilled", "unfulfilled"),
    *("non compliant", "noncompliant", "not compliant"),
)
_RULE = {
    **dict.fromkeys(_SATISFIED, FindingVerdict.SATISFIED),
    **dict.fromkeys(_VIOLATED, FindingVerdict.VIOLATED),
}
_LONGEST = 60
_Meaning = TypeVar("_Meaning")
_BEFORE = " \t\r\n\"'`*_“”‘’"
_AFTER = f"{_BEFORE}.!;,"
_GOOD_MARKS, _BAD_MARKS = " ✅✔☑👍🟢\ufe0f*_", " ❌✗✘👎🔴\ufe0f*_"
_NEGATED = re.compile(r"[\W_]*[!¬~]")
"""Before a word these turn it round, or leave open what is meant."""
_NOT_OF_A_KEY = re.compile(r"[\W_]+")
_BETWEEN = re.compile(r"[\s_\-]+")


class Conflict:
    """What stands where one key was given two values."""


CONFLICT: Final = Conflict()


def plain_key(key: Any) -> str:
    """Spellings of one key become one: `Is Passed`, `is_passed` and `IsPassed` are `ispassed`."""
    folded = unicodedata.normalize("NFKC", str(key)[: 2 * _LONGEST]).casefold()
    plain = _NOT_OF_A_KEY.sub("", folded)[:_LONGEST]
    return f"not{plain}" if _NEGATED.match(folded) else plain


def plain_word(value: Any) -> str:
    """A short text without its marks; '' for anything else."""
    if not isinstance(value, str) or len(value) > _LONGEST:
        return ""
    folded = unicodedata.normalize("NFKC", value).casefold().lstrip(_BEFORE).rstrip(_AFTER)
    return _BETWEEN.sub(" ", folded)


def truth_of(value: Any) -> bool | None:
    """What `passed` says. Numbers say nothing: they may be counts."""
    return value if isinstance(value, bool) else _look_up(value, _TRUTH)


def verdict_of(value: Any) -> bool | None:
    """What `verdict` says of the whole work. A bare truth value says nothing."""
    return _look_up(value, _VERDICT)


def rule_verdict_of(value: Any) -> FindingVerdict:
    """What is said of one rule. Yes and no may answer the rule's own question: unknown."""
    return _look_up(value, _RULE) or FindingVerdict.UNKNOWN


def _look_up(value: Any, table: Mapping[str, _Meaning]) -> _Meaning | None:
    """Return what a word means; a tick beside it may only stand beside a good one."""
    meaning = table.get(plain_word(value))
    if meaning is not None or not isinstance(value, str):
        return meaning
    for marks, is_good in ((_GOOD_MARKS, True), (_BAD_MARKS, False)):
        meaning = table.get(plain_word(value[:_LONGEST].strip(marks)))
        if meaning is not None and (meaning in (True, FindingVerdict.SATISFIED)) is is_good:
            return meaning
    return None


def says_violated(key: str, value: Any) -> bool:
    """Whether a value somewhere in a reply says that something is not as it should be."""
    if isinstance(value, bool):
        return (key in PASSED_KEYS and not value) or (key in FAILED_KEYS and value)
    return rule_verdict_of(value) is FindingVerdict.VIOLATED
