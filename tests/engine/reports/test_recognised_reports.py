from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import check_rows
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems
from verification.engine.reports.testing import TestFormat, read_tests

FOLDER = Path(__file__).parent
TESTS = {
    TestFormat.JUNIT: [
        "pytest/*.xml",
        "surefire/*.xml",
        "vitest/*.xml",
        "mocha/*.xml",
        "node/*.xml",
    ],
    TestFormat.TRX: ["trx/*.trx"],
    TestFormat.NUNIT3: ["nunit3/*.xml"],
    TestFormat.NUNIT2: ["nunit2/*.xml"],
    TestFormat.XUNIT: ["xunit/*.xml"],
    TestFormat.DART: ["dart/*.jsonl"],
    TestFormat.GO: ["go/all.jsonl", "go/calc.jsonl", "go/exits.jsonl", "go/ok.jsonl"],
    TestFormat.TAP: ["node/*.tap", "mocha/*.tap", "tap/*.tap", "bats/*.tap"],
    TestFormat.JEST: ["jest/*.json", "vitest/*.json"],
    TestFormat.MOCHA: ["mocha/*.json"],
    TestFormat.RSPEC: ["rspec/*.json", "minitest/*.json"],
}
PROBLEMS = {
    ProblemFormat.SARIF: ["sarif/*.sarif"],
    ProblemFormat.ESLINT: ["eslint/*.json"],
    ProblemFormat.RUFF: ["ruff/*.json"],
    ProblemFormat.BANDIT: ["bandit/*.json"],
    ProblemFormat.GOLANGCI: ["golangci/*.json"],
    ProblemFormat.CLIPPY: ["clippy/*.jsonl"],
    ProblemFormat.MYPY: ["mypy/broken.jsonl", "mypy/store.jsonl"],
}


def files(*patterns: str) -> list[Path]:
    folders = [FOLDER / one for one in ("recorded", "written")]
    return sorted(one for folder in folders for each in patterns for one in folder.glob(each))


def as_said(form: TestFormat | ProblemFormat, content: bytes) -> object:
    try:
        if isinstance(form, TestFormat):
            return read_tests(form, content)
        return read_problems(form, content)
    except Unreadable:
        return None


@check_rows(
    ("form", "file"),
    [
        pytest.param(form, file, id=f"{form}-{file.name}")
        for form, patterns in (TESTS | PROBLEMS).items()
        for file in files(*patterns)
    ],
)
def test_a_report_says_itself_which_format_it_is(
    form: TestFormat | ProblemFormat, file: Path
) -> None:
    content = file.read_bytes()
    any_form = TestFormat.ANY if isinstance(form, TestFormat) else ProblemFormat.ANY

    assert as_said(any_form, content) == as_said(form, content)


@check_rows("form", [*TESTS, *PROBLEMS])
def test_each_format_has_such_a_report(form: TestFormat | ProblemFormat) -> None:
    assert files(*(TESTS | PROBLEMS)[form])


@check_rows(
    "content",
    [b"", b" \n", b"{}", b"[]", b"1", b"null", b"<a/>", b"<a", b'{"Action"', b"3 passed in 0.1s",
     b"ok 1 - a", b'{"testResults": 1', b'{"runs": []}', b'[{"a": 1}]'],
)  # fmt: skip
def test_what_is_in_no_format_of_tests_is_unreadable(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_tests(TestFormat.ANY, content)


@check_rows(
    "content",
    [b"", b" \n", b"{}", b"[1]", b"null", b"<a/>", b"0", b"a.py:1:2: F401 x", b'{"runs": []}',
     b'[{"filePath": "a", "messages": []}, {}]', b"no problems", b'{"Issues"', b"[", b'[{"a": 1}]'],
)  # fmt: skip
def test_what_is_in_no_format_of_problems_is_unreadable(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat.ANY, content)


def test_a_report_in_utf_16_says_itself_which_format_it_is() -> None:
    report = '<?xml version="1.0" encoding="utf-16"?><test-results total="0"/>'.encode("utf-16")

    assert read_tests(TestFormat.ANY, report) == read_tests(TestFormat.NUNIT2, report)


@check_rows(
    ("content", "why"),
    [
        (b"<?xml version='1.0'?><!-- a --><test-suite><test-case/></test-suite>",
         "its root is `test-suite` with `test-case` in it"),
        (b'<checkstyle version="4"/>', "its root is `checkstyle`"),
    ],
)  # fmt: skip
def test_xml_in_no_format_that_is_known_is_refused_by_the_name_of_its_root(
    content: bytes, why: str
) -> None:
    with pytest.raises(Unreadable, match=why):
        read_tests(TestFormat.ANY, content)


def test_an_empty_list_is_how_linters_say_that_all_is_well() -> None:
    assert read_problems(ProblemFormat.ANY, b"[]\n").total == 0
