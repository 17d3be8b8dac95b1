"""A judge that knows the truth and has its bad moments, by a seed."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from tests.engine.protocol.corpus import corpus
from tests.engine.protocol.generator import RULES, made
from tests.model_server import Said

MALFORMED, AWAY, SILENT = "malformed", "503", "timeout"
SHARES: Mapping[str, float] = {MALFORMED: 0.10, AWAY: 0.05, SILENT: 0.02}
SILENT_SECONDS = 1.5
MAX_REPLY_CHARS = 100_000
_NUMBER = re.compile(r"This is work (\d+)\.")
_FENCE = re.compile(r"\[([0-9a-f]{32}) begin")
_TOKEN = re.compile(r"token:? \(?the text (\w+)")

PROCESS = """\
name: mixed
phases:
  - {id: work, description: Work., verification_tier: 2, confidence_floor: 0}
verification:
  rules:
""" + "".join(
    f"    - {{name: {rule}, check: Is it so?, type: llm, severity: error, applies_to_phases: [work]}}\n"
    for rule in RULES
)


def is_good(number: int) -> bool:
    """The truth about a work."""
    return number % 2 == 0


def output(number: int) -> str:
    return f"This is work {number}. All quarters are summed up."


@dataclass
class MixedJudge:
    """Which call goes wrong, and how, depends on the seed, the work and the call's number alone."""

    seed: int
    shares: Mapping[str, float] = field(default_factory=lambda: SHARES)
    faults: defaultdict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    calls: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    works: dict[str, int] = field(default_factory=dict)
    meant: dict[int, bool | None] = field(default_factory=dict)

    def __call__(self, request: dict[str, Any]) -> Said:
        prompt = "\n".join(str(one["content"]) for one in request["messages"])
        fence = _FENCE.search(prompt)
        assert fence, prompt[:200]
        asked = _NUMBER.search(prompt)
        if asked:
            self.works[fence[1]] = int(asked[1])
        number = self.works[fence[1]]
        self.calls[number] += 1
        random = Random(f"{self.seed} {number} {self.calls[number]}")  # noqa: S311 - the same again
        meant = is_good(number) if asked else self.meant[number]
        return self._said(random, number, meant, prompt)

    def _said(self, random: Random, number: int, meant: bool | None, prompt: str) -> Said:
        fault = self._fault(random)
        if fault:
            self.faults[number].append(fault)
        if fault == AWAY:
            return Said("overloaded", status=503)
        if fault == SILENT:
            return Said(_answer(meant, prompt), seconds=SILENT_SECONDS)
        if fault == MALFORMED:
            text, self.meant[number] = _malformed(random, passed=is_good(number))
            return Said(text)
        return Said(_answer(meant, prompt))

    def _fault(self, random: Random) -> str:
        chance = random.random()
        for fault, share in self.shares.items():
            if chance < share:
                return fault
            chance -= share
        return ""


def _answer(meant: bool | None, prompt: str) -> str:
    token = _TOKEN.search(prompt)
    issues = ["The third quarter is missing."] if meant is False else []
    return json.dumps(
        {
            "token": token[1] if token else "",
            "passed": meant,
            "issues": issues,
            "confidence": 0.9,
        }
    )


def _malformed(random: Random, *, passed: bool) -> tuple[str, bool | None]:
    """A reply that means this, or nothing at all, in some bad shape; and what it means."""
    if random.random() < 0.5:
        return random.choice(_known(passed))
    while True:
        found = made(random.randrange(10**9))
        if found.passed is passed:
            return found.text, passed


@cache
def _known(passed: bool) -> list[tuple[str, bool | None]]:
    return [
        (one.text, one.passed)
        for one in corpus()
        if one.passed in (passed, None) and len(one.text) < MAX_REPLY_CHARS
    ]
