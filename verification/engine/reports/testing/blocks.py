"""Test runners that end with several lines for people: GoogleTest, bun, Playwright and Karma."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from verification.engine.reports.model import TestCounts

_GOOGLE_BEGINS = re.compile(r"\[=+\] Running \d{1,9} tests? from \d{1,9} test \w{1,6}\.")
_GOOGLE_RAN = re.compile(r"\[=+\] (\d{1,9}) tests? from \d{1,9} test (?:suite|case)s? ran\b.*")
_GOOGLE_PART = re.compile(
    r"\[ +(?P<kind>PASSED|SKIPPED|FAILED) +\] (?P<count>\d{1,9}) test(?: suite)?s?(?:\.|, .*)"
)
_GOOGLE_DISABLED = re.compile(r"YOU HAVE (?P<count>\d{1,9}) (?P<kind>DISABLED) TESTS?")
_BUN_RAN = re.compile(r"Ran \d{1,9} tests? across \d{1,9} files?\..*")
_BUN_PART = re.compile(r"(?P<count>\d{1,9}) (?P<kind>pass|fail|skip|todo|error)s?")
_BUN_BAILED = re.compile(r"Bailed out after (\d{1,9}) failures?.*")
_BUN_LINES = 12
"""At most so many stand between its first part and what says how many ran."""
_PLAYWRIGHT_BEGINS = re.compile(r"Running \d{1,9} tests? using \d{1,9} workers?\b.*")
_PLAYWRIGHT_PART = re.compile(
    r"(?P<count>\d{1,9}) (?:(?P<kind>failed|interrupted|flaky|skipped|did not run|passed)"
    r"(?: \([\d.]{1,12}\w{1,2}\))?|errors? (?:was|were) not a part of any test\b.*)"
)
_KARMA = re.compile(
    r"(?P<browser>.{1,200}): Executed (?P<executed>\d{1,9}) of \d{1,9}"
    r"(?: \((?P<failed>\d{1,9}) FAILED\))?(?: \(skipped (?P<skipped>\d{1,9})\))?"
    r"(?: (?:SUCCESS|(?P<error>ERROR|DISCONNECTED)))?(?: \(.{1,80}\))?"
)
_KARMA_TOTAL = re.compile(r"TOTAL: (?:(?P<failed>\d{1,9}) FAILED, )?(?P<passed>\d{1,9}) SUCCESS")


def found(lines: list[str]) -> TestCounts | None:
    """What all of them count together."""
    own = [line.strip() for line in lines]
    runs = [run for find in (_google, _bun, _playwright, _karma) for run in find(own)]
    return sum(runs[1:], runs[0]) if runs else None


def _google(lines: Sequence[str]) -> Iterator[TestCounts]:
    """What neither passed nor was skipped has failed: a brief one does not count those.

    One that begins, and never says how many ran, has crashed.
    """
    for end, block in _blocks(_GOOGLE_RAN, lines):
        said = _parts(_GOOGLE_PART, block)
        rest = int(end[1]) - said["PASSED"] - said["SKIPPED"]
        disabled = _parts(_GOOGLE_DISABLED, block)["DISABLED"]
        yield TestCounts(
            said["PASSED"], max(said["FAILED"], rest), skipped=said["SKIPPED"] + disabled
        )
    begun, ran = (
        sum(map(bool, map(one.fullmatch, lines))) for one in (_GOOGLE_BEGINS, _GOOGLE_RAN)
    )
    if begun > ran:
        yield TestCounts(errors=begun - ran)


def _bun(lines: Sequence[str]) -> Iterator[TestCounts]:
    """One that stops at the first failure says no more than that."""
    for at, line in enumerate(lines):
        if bailed := _BUN_BAILED.fullmatch(line):
            yield TestCounts(failed=int(bailed[1]))
        elif _BUN_RAN.fullmatch(line):
            said = _parts(_BUN_PART, lines[max(0, at - _BUN_LINES) : at])
            if said:
                skipped = said["skip"] + said["todo"]
                yield TestCounts(said["pass"], said["fail"], said["error"], skipped)


def _playwright(lines: Sequence[str]) -> Iterator[TestCounts]:
    """One that begins, and counts nothing, was stopped."""
    for _, block in _blocks(_PLAYWRIGHT_BEGINS, lines):
        said = _parts(_PLAYWRIGHT_PART, block)
        yield TestCounts(
            passed=said["passed"] + said["flaky"],
            failed=said["failed"] + said["interrupted"],
            errors=said[""] if said else 1,
            skipped=said["skipped"] + said["did not run"],
            flaky=said["flaky"],
        )


def _karma(lines: Sequence[str]) -> Iterator[TestCounts]:
    """A browser tells again and again how far it is, and what it told last may be another run's."""
    most: dict[str, Counter[str]] = {}
    for told in filter(None, map(_KARMA.fullmatch, lines)):
        failed = int(told["failed"] or 0)
        most[told["browser"]] = most.get(told["browser"], Counter()) | Counter(
            passed=int(told["executed"]) - failed,
            failed=failed,
            skipped=int(told["skipped"] or 0),
            errors=int(bool(told["error"])),
        )
    totals = list(filter(None, map(_KARMA_TOTAL.fullmatch, lines)))
    if most:
        seen = sum(most.values(), Counter())
        seen |= Counter(
            passed=sum(int(one["passed"]) for one in totals),
            failed=sum(int(one["failed"] or 0) for one in totals),
        )
        yield TestCounts(seen["passed"], seen["failed"], seen["errors"], seen["skipped"])


def _blocks(
    begins: re.Pattern[str], lines: Sequence[str]
) -> Iterator[tuple[re.Match[str], Sequence[str]]]:
    """Each such line, and those below it up to the next."""
    starts = [at for at, line in enumerate(lines) if begins.fullmatch(line)]
    for at, end in pairwise([*starts, len(lines)]):
        if begin := begins.fullmatch(lines[at]):
            yield begin, lines[at + 1 : end]


def _parts(pattern: re.Pattern[str], lines: Sequence[str]) -> Counter[str]:
    said: Counter[str] = Counter()
    for part in filter(None, map(pattern.fullmatch, lines)):
        said[part["kind"] or ""] += int(part["count"])
    return said
