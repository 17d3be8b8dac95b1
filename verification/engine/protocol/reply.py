"""A judge's reply, once it has been read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from verification.engine.evidence import Claim
from verification.engine.outcome import FindingVerdict
from verification.engine.rating import Rating


class Stage(StrEnum):
    """By which recovery stage a reply was read, in the order in which they are tried."""

    STRICT = "strict_json"
    EMBEDDED = "embedded_json"
    REPAIRED = "repaired_json"
    YAML = "yaml"
    VERDICT_LINE = "verdict_line"
    RESTATED = "restated"
    ALTERNATE = "alternate"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """The judge's word on one rule."""

    rule: str
    verdict: FindingVerdict
    why: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """`passed` None: the reply does not say. `confidence` (0 to 1) None: absent or no such number.

    `is_short`: it came as `{passed, issues, confidence, suggestion}`, without a word on single
    rules. `acceptance` None: nothing is said of the acceptance criteria. `rating` None: no part of a
    score is given, or not in a form that says for certain what was given.
    """

    passed: bool | None
    rules: tuple[RuleAnswer, ...] = ()
    acceptance: FindingVerdict | None = None
    acceptance_why: str = ""
    claims: tuple[Claim, ...] = ()
    confidence: float | None = None
    suggestion: str = ""
    rating: Rating | None = None
    issues: tuple[str, ...] = ()
    is_short: bool = False


@dataclass(frozen=True, slots=True)
class Recovered:
    """`reply` None: the text holds no verdict, or more than one; `why` says which in a sentence.

    `answer` is the text that a reply was read from: without reasoning, its text parts alone.
    """

    stage: Stage
    reply: Reply | None = None
    why: str = ""
    answer: str = ""
