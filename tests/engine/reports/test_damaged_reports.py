"""Reports with damage in them: what failed in the whole report never looks as if all went well."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

import pytest

from tests.engine.reports.problem_reports import FOLDER
from tests.engine.reports.test_test_reports import REPORTS, recorded
from tests.engine.reports.test_test_reports_laws import FAILING, WHOLE, holds, read_or_refused
from verification.engine.reports.coverage import CoverageFormat, read_coverage
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems
from verification.engine.reports.testing import TestFormat

ROUNDS = 150
NUMBER = re.compile(r"(?<![\w.:-])\d{1,4}(?![\w.:-])")
ATTRIBUTE = re.compile(r"\s[\w:-]+=\"[^\"]{0,200}\"")
MEMBER = re.compile(r"\"\w+\"\s*:\s*(?:\"[^\"]{0,60}\"|[\d.]+|true|false|null)\s*,?")

Damage = Callable[[str, random.Random], str]


def truncate(content: str, chance: random.Random) -> str:
    return content[: chance.randrange(len(content) + 1)]


def swap_numbers(content: str, chance: random.Random) -> str:
    numbers = list(NUMBER.finditer(content))
    if len(numbers) < 2:
        return content
    first, second = sorted(chance.sample(numbers, 2), key=lambda found: found.start())
    between = content[first.end() : second.start()]
    return content[: first.start()] + second[0] + between + first[0] + content[second.end() :]


def change_number(content: str, chance: random.Random) -> str:
    return _replace_one(content, NUMBER, str(chance.choice([0, 1, 2, 99, 2**31])), chance)


def drop_value(content: str, chance: random.Random) -> str:
    """An attribute of XML, or a member of a JSON object."""
    is_xml = content.lstrip("\ufeff \n").startswith("<")
    return _replace_one(content, ATTRIBUTE if is_xml else MEMBER, "", chance)


def _replace_one(
    content: str, pattern: re.Pattern[str], instead: str, chance: random.Random
) -> str:
    found = list(pattern.finditer(content))
    if not found:
        return content
    one = chance.choice(found)
    return content[: one.start()] + instead + content[one.end() :]


DAMAGES: Sequence[Damage] = (truncate, swap_numbers, change_number, drop_value)


def damaged(content: bytes, seed: str) -> list[bytes]:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    text = content.decode("utf-8-sig", errors="replace")
    copies = []
    for _ in range(ROUNDS):
        copy = text
        for _ in range(chance.randint(1, 3)):
            copy = chance.choice(DAMAGES)(copy, chance)
        copies.append(copy.encode())
    return copies


@pytest.mark.extended
@pytest.mark.parametrize(("written_in", "report"), FAILING)
def test_a_failure_is_no_success_whatever_is_damaged(written_in: TestFormat, report: str) -> None:
    for copy in damaged(recorded(report), report):
        read = read_or_refused(written_in, copy)
        assert holds(read)
        assert read is None or read.counts.ran == 0 or read.counts.failed + read.counts.errors, copy


@pytest.mark.extended
@pytest.mark.parametrize(
    ("written_in", "report"), [row[:2] for row in REPORTS if row[0] in WHOLE and row[2] == 0]
)
def test_a_damaged_report_of_good_tests_is_read_or_refused(
    written_in: TestFormat, report: str
) -> None:
    assert all(
        holds(read_or_refused(written_in, copy)) for copy in damaged(recorded(report), report)
    )


@pytest.mark.extended
@pytest.mark.parametrize("name", ["roslyn_1_0_0", "binary_1_0_0", "scored"])
def test_problems_of_sarif_are_still_some_whatever_is_damaged(name: str) -> None:
    content = (FOLDER / f"written/sarif/{name}.sarif").read_bytes()

    for copy in damaged(content, name):
        try:
            assert read_problems(ProblemFormat.SARIF, copy).total, copy
        except Unreadable:
            continue


@pytest.mark.extended
def test_lines_of_jacoco_that_no_test_ran_never_all_count_as_run() -> None:
    content = (FOLDER / "written/jacoco/maven.xml").read_bytes()

    for copy in damaged(content, "maven"):
        try:
            covered, every = read_coverage(CoverageFormat.JACOCO, copy).lines
        except Unreadable:
            continue
        assert covered < every, copy
