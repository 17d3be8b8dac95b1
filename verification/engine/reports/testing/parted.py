"""Last lines of test runners that count in parts, each with its word: deno, nextest, Catch2, ExUnit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.reports.model import TestCounts

_COUNT = r"\d{1,9}"
_LINES: Sequence[re.Pattern[str]] = tuple(
    re.compile(pattern)
    for pattern in (
        # deno, with what it counts of steps
        rf"(?P<end>ok|FAILED) \| (?P<parts>{_COUNT} passed\b.{{1,200}}) \([\d.]{{1,12}}\w{{1,9}}\)",
        # cargo nextest
        rf"Summary \[ *[\d.]{{1,12}}s\] (?:{_COUNT}/)?{_COUNT} "
        r"(?:tests? run|stress run iterations?): (?P<parts>[^;]{1,300})(?:;.{1,100})?",
        # Catch2, doctest
        rf"(?:\[doctest\] )?test cases: +{_COUNT} +\|(?P<parts>.{{1,200}})",
        # ExUnit, Jasmine, bats
        rf"(?P<total>(?:{_COUNT} (?!failures?\b)\w{{1,30}}, ){{1,5}})"
        rf"(?P<parts>{_COUNT} failures?(?:, {_COUNT} \w{{1,12}}(?: \w{{1,12}}){{0,2}}){{0,4}})",
    )
)  # fmt: skip
_ASIDE = re.compile(r" ?\([^()]{0,100}\)")
_FLAKY = re.compile(rf"({_COUNT}) flaky\b")
_PART = re.compile(rf"({_COUNT}) ([a-z]+(?: [a-z]+){{0,3}})")
_KINDS = {
    "passed": "passed", "measured": "passed",
    "failed": "failed", "failure": "failed", "failures": "failed",
    "exec failed": "errors", "timed out": "failed", "invalid": "errors",
    "skipped": "skipped", "ignored": "skipped", "excluded": "skipped", "not run": "skipped",
    "failed as expected": "skipped", "pending spec": "skipped", "pending specs": "skipped",
}  # fmt: skip


def counted(line: str) -> TestCounts | None:
    """Of what counts all of its tests first, those that no part names have passed."""
    match = next(filter(None, (one.fullmatch(line) for one in _LINES)), None)
    if match is None:
        return None
    said = match.groupdict()
    seen = dict.fromkeys(("passed", "failed", "errors", "skipped"), 0)
    for count, word in _PART.findall(_ASIDE.sub("", said["parts"])):
        if kind := _KINDS.get(word):
            seen[kind] += int(count)
    if said.get("total"):
        every = sum(int(count) for count in re.findall(rf"({_COUNT}) ", said["total"]))
        seen["passed"] = max(0, every - sum(seen.values()))
    seen["flaky"] = min(sum(map(int, _FLAKY.findall(said["parts"]))), seen["passed"])
    if said.get("end") == "FAILED" and not seen["failed"]:
        seen["errors"] += 1
    return TestCounts(**seen)
