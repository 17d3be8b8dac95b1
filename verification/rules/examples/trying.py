"""A rule tried on a text that it must speak against, or let pass."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from processes.definition import patterns
from processes.definition.lint import MAX_COUNTED, MAX_SECONDS, counts_as_violated
from processes.definition.model import Rule, RuleType
from verification.rules.examples.judged import Heard, is_caught
from verification.rules.models import Expected, Pin

IsTimeLeft = Callable[[], bool]
NO_TIME = "There was no time to try it."
NOT_ASKED = "No judge was asked yet: ask about the pinned runs, under the rule's form."
NOWHERE = "The judge speaks against the run, and does not say where."
NO_RUN = "A judge is asked about whole runs, not about a text."


class Standing(StrEnum):
    HOLDS = "holds"
    BROKEN = "broken"
    UNTRIED = "untried"
    """It could not be tried: that is doubt, and nobody's fault."""


@dataclass(frozen=True, slots=True)
class Tried:
    """`why` says what came of it, where it does not hold."""

    standing: Standing
    why: str = ""

    @property
    def is_broken(self) -> bool:
        return self.standing is Standing.BROKEN

    @property
    def holds(self) -> bool | None:
        return None if self.standing is Standing.UNTRIED else not self.is_broken


def time_limit(clock: Callable[[], float] = time.monotonic) -> IsTimeLeft:
    """For all that is tried for one answer, as long as the lint takes for a file."""
    until = clock() + MAX_SECONDS
    return lambda: clock() < until


def try_pin(rule: Rule | None, pin: Pin, heard: Heard, is_time_left: IsTimeLeft) -> Tried:
    """Try a pattern on what is pinned; of an instruction, tell what a judge said of the run."""
    expected = Expected(pin.expected)
    if rule is None or rule.type is RuleType.REGEX:
        return tried(rule, pin.text, expected, is_time_left)
    if pin.run_id is None:
        return Tried(Standing.UNTRIED, NO_RUN)
    places = heard.get((rule.looks_for_sha256, pin.run_id))
    if places is None:
        return Tried(Standing.UNTRIED, NOT_ASKED)
    caught = is_caught(pin, places)
    if caught is None:
        return Tried(Standing.UNTRIED, NOWHERE)
    return _standing(is_caught=caught, expected=expected)


def tried(rule: Rule | None, text: str, expected: Expected, is_time_left: IsTimeLeft) -> Tried:
    """Try what a rule looks for; what is no pattern is not tried here."""
    if rule is None:
        return Tried(Standing.UNTRIED, "There is no rule of this name.")
    if rule.type is not RuleType.REGEX:
        return Tried(Standing.UNTRIED, "An instruction is tried by a judge, not here.")
    if not rule.check.strip():
        return Tried(Standing.UNTRIED, "The rule has no pattern yet.")
    if not is_time_left():
        return Tried(Standing.UNTRIED, NO_TIME)
    if problem := patterns.problem_of(rule.check):
        return Tried(Standing.UNTRIED, f"The pattern cannot run: {problem.message}")
    found = _matches(rule, text, is_time_left)
    if found is None:
        return Tried(Standing.UNTRIED, NO_TIME)
    return _standing(is_caught=counts_as_violated(rule, found), expected=expected)


def _standing(*, is_caught: bool, expected: Expected) -> Tried:
    if is_caught is (expected is Expected.CAUGHT):
        return Tried(Standing.HOLDS)
    return Tried(Standing.BROKEN, "is caught, must pass" if is_caught else "passes, must be caught")


def _matches(rule: Rule, text: str, is_time_left: IsTimeLeft) -> int | None:
    """As many as decide whether the rule is violated; None: that would take too long."""
    wanted = rule.wanted_count
    enough = 1 if wanted is None else min(wanted + 1, MAX_COUNTED)
    found = 0
    for _span in patterns.spans(patterns.compiled(rule.check), text.encode(errors="replace")):
        found += 1
        if found >= enough:
            break
        if not is_time_left():
            return None
    return found
