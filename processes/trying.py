"""A pattern tried on a handful of texts, within the bounds that the lint keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from processes.definition import patterns
from processes.definition.lint import (
    MAX_COUNTED,
    MAX_EXAMPLE_CHARS,
    MAX_TRIED_CHARS,
    count_matches,
    is_violated,
)
from processes.definition.model import Enforcement, Expect, Rule, RuleType
from processes.definition.rules import MAX_RULE_NAME
from processes.models import Draft, Process
from processes.renames import published_name

MAX_TEXTS = 50


@dataclass(frozen=True, slots=True)
class Part:
    """What a room above shows beside the examples: `shown`, by `template`."""

    template: str
    shown: Any


BESIDE: list[Callable[[Process, Rule, Sequence[str]], Part | None]] = []
"""Rooms above that try a rule as it is typed on what they know of it register here.

They are told the names, too, under which the draft and what is published know the rule.
"""


@dataclass(frozen=True, slots=True)
class TriedText:
    """`holds` is None where the text was too long to be tried."""

    text: str
    is_caught: bool
    matches: int
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Tried:
    """`problem` says why the pattern cannot run; then nothing was tried."""

    problem: str
    passing: Sequence[TriedText]
    failing: Sequence[TriedText]
    is_pattern: bool = True
    beside: Sequence[Part] = ()

    @property
    def count(self) -> int:
        return len(self.passing) + len(self.failing)

    @property
    def broken(self) -> int:
        return sum(one.holds is False for one in (*self.passing, *self.failing))


def tried(sent: QueryDict, draft: Draft) -> Tried:
    """Try what a rule's form says, whether or not the rest of it is right."""
    rule = _rule(sent, sent.get("check", "").replace("\r\n", "\n"))
    names = _other_names(draft, sent.get("seen_name", ""))
    shown = (tell(draft.process, rule, names) for tell in BESIDE)
    beside = [part for part in shown if part is not None]
    return replace(_on_its_examples(sent, rule), beside=beside)


def _other_names(draft: Draft, seen_name: str) -> list[str]:
    return [name for name in (seen_name, published_name(draft, seen_name)) if name]


def _on_its_examples(sent: QueryDict, rule: Rule) -> Tried:
    check = rule.check
    if rule.type is not RuleType.REGEX or not check.strip():
        return Tried("", (), (), is_pattern=rule.type is RuleType.REGEX)
    if problem := patterns.problem_of(check):
        place = f" (column {problem.column})" if problem.column else ""
        return Tried(f"{problem.message}{place}", (), ())
    left = MAX_TRIED_CHARS
    groups: dict[str, list[TriedText]] = {}
    for key, expected in (("pass", False), ("fail", True)):
        texts = [text.replace("\r\n", "\n") for text in sent.getlist(f"example_{key}")[:MAX_TEXTS]]
        groups[key] = []
        for text in (text for text in texts if text.strip()):
            left -= len(text)
            groups[key].append(_tried(rule, text, expected=expected, fits=left >= 0))
    return Tried("", groups["pass"], groups["fail"])


def _rule(sent: QueryDict, check: str) -> Rule:
    count = sent.get("min_count", "").strip()
    expect = Expect.MATCH if sent.get("expect") == Expect.MATCH else Expect.NO_MATCH
    is_number = count.isascii() and count.isdecimal() and len(count) < 8
    return Rule(
        name=sent.get("name", "").strip()[:MAX_RULE_NAME].replace("\0", ""),
        check=check,
        type=RuleType.REGEX if sent.get("type") == RuleType.REGEX else RuleType.LLM,
        enforcement=Enforcement.HARD if sent.get("enforcement") == Enforcement.HARD else None,
        expect=expect,
        min_count=int(count) if is_number else None,
        requires_exact_cardinality=bool(sent.get("requires_exact_cardinality")),
    )


def _tried(rule: Rule, text: str, *, expected: bool, fits: bool) -> TriedText:
    if not fits or len(text) > MAX_EXAMPLE_CHARS:
        return TriedText(text[:200], is_caught=False, matches=0, holds=None)
    caught = is_violated(rule, text)
    matches = count_matches(rule, text, limit=MAX_COUNTED)
    return TriedText(text[:200], caught, matches, holds=caught is expected)
