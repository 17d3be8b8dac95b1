from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.reports.problem_reports import FOLDER
from tests.engine.reports.report_strategies import cut_and_filled, with_odd_values
from tests.tables import check_rows
from verification.engine.finding import cleaned
from verification.engine.reports.contents import MAX_LINES
from verification.engine.reports.model import (
    MAX_LINE,
    MAX_MESSAGE_CHARS,
    MAX_NAME_CHARS,
    MAX_PROBLEMS,
    MAX_REPORT_BYTES,
    Problem,
    Unreadable,
)
from verification.engine.reports.problems import ProblemFormat, read_problems
from verification.engine.reports.problems.parsing import MAX_TOLD, lines_of

# Whatever go says keeps it from its work.
IN_WORDS = (ProblemFormat.GO_VET, ProblemFormat.GO_BUILD)
# What says itself of which format it is.
SAYING = (ProblemFormat.SARIF, ProblemFormat.ESLINT, ProblemFormat.BANDIT, ProblemFormat.CLIPPY)
FORMATS = [pytest.param(one, id=one.value) for one in ProblemFormat]


def recorded(format: ProblemFormat) -> list[bytes]:
    if format is ProblemFormat.ANY:
        return [one for each in SAYING for one in recorded(each)]
    folders = [FOLDER / kind / format for kind in ("recorded", "written")]
    files = [file for folder in folders if folder.is_dir() for file in sorted(folder.iterdir())]
    return [file.read_bytes() for file in files] or recorded(ProblemFormat.FLAKE8)


def json_recorded(format: ProblemFormat) -> list[bytes]:
    return [one for one in recorded(format) if is_json(one)]


def is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


JSON_FORMATS = [pytest.param(one, id=one.value) for one in ProblemFormat if json_recorded(one)]


def assert_bounded(format: ProblemFormat, content: bytes, folder: str = "") -> None:
    try:
        report = read_problems(format, content, folder)
    except Unreadable:
        return

    assert len(report.problems) <= min(report.total, MAX_PROBLEMS)
    for one in report.problems:
        assert_storable(one)


def assert_storable(one: Problem) -> None:
    assert 0 < len(one.message) <= MAX_MESSAGE_CHARS
    assert len(one.rule) <= MAX_NAME_CHARS
    assert cleaned(one.message + one.rule + one.path) == one.message + one.rule + one.path
    assert not one.path.startswith("/")
    assert ".." not in one.path.split("/")
    assert one.line is None or 0 < one.line <= MAX_LINE
    assert one.column is None or 0 < one.column <= MAX_LINE


@pytest.mark.parametrize("format", FORMATS)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_anything_is_read_or_is_unreadable(format: ProblemFormat, content: bytes) -> None:
    assert_bounded(format, content)


@pytest.mark.quick_rows(4)
@pytest.mark.parametrize("format", FORMATS)
@given(choices=st.data())
def test_a_report_that_is_cut_and_filled_is_read_or_is_unreadable(
    format: ProblemFormat, choices: st.DataObject
) -> None:
    content = choices.draw(cut_and_filled(recorded(format)))

    assert_bounded(format, content, "a/b")


@pytest.mark.parametrize("format", JSON_FORMATS)
@given(choices=st.data())
def test_a_report_with_odd_values_is_read_or_is_unreadable(
    format: ProblemFormat, choices: st.DataObject
) -> None:
    content = choices.draw(with_odd_values(json_recorded(format)))

    assert_bounded(format, content)


@pytest.mark.parametrize("format", JSON_FORMATS)
@given(choices=st.data())
def test_a_report_in_json_that_is_cut_short_is_unreadable(
    format: ProblemFormat, choices: st.DataObject
) -> None:
    content = choices.draw(st.sampled_from(json_recorded(format))).rstrip()
    cut = content[: choices.draw(st.integers(0, len(content) - 1))]

    with pytest.raises(Unreadable):
        read_problems(format, cut)


@pytest.mark.quick_rows(5)
@pytest.mark.parametrize("format", FORMATS)
@given(choices=st.data())
def test_a_report_that_is_cut_short_is_never_read_as_no_problem(
    format: ProblemFormat, choices: st.DataObject
) -> None:
    content = choices.draw(st.sampled_from([one for one in recorded(format) if tells(format, one)]))
    cut = content[: choices.draw(st.integers(0, len(content)))]

    if any(line.strip() for line in lines_of(cut)):
        assert tells(format, cut) is not False


def tells(format: ProblemFormat, content: bytes) -> bool | None:
    """Of problems; None where the report is unreadable."""
    try:
        return read_problems(format, content).total > 0
    except Unreadable:
        return None


@check_rows("format", [one for one in ProblemFormat if one not in IN_WORDS])
@check_rows(
    "content",
    [
        b"x" * (MAX_REPORT_BYTES + 1),
        b"[" * 500_000,
        b'{"a":' * 500_000,
        b"{}" * 1_000_001,
        b'{"runs": ' + b"9" * 5_000 + b"}",
        b"[NaN]",
        b"\xff\xfe\x00",
        b"\xed\xa0\x80",
    ],
    ids=["large", "lists", "objects", "parts", "number", "nan", "utf-16", "surrogate"],
)
def test_what_would_exhaust_or_confuse_a_reader_is_unreadable(
    format: ProblemFormat, content: bytes
) -> None:
    with pytest.raises(Unreadable):
        read_problems(format, content)


@pytest.mark.parametrize(
    ("format", "content"),
    [
        (ProblemFormat.GO_VET, b"x" * (MAX_REPORT_BYTES + 1)),
        (ProblemFormat.GO_BUILD, b"x" * (MAX_REPORT_BYTES + 1)),
        (ProblemFormat.GO_VET, b'{"a":' * 500_000),
        (ProblemFormat.GO_VET, b"{}" * 1_000_001),
        (ProblemFormat.GO_VET, b'{"a": {"printf": [{"posn": NaN}]}}'),
        (ProblemFormat.GO_VET, b"# example.com/shop\n"),
        (ProblemFormat.GO_BUILD, b"# example.com/shop\n"),
    ],
)
def test_so_is_what_go_does_not_say(format: ProblemFormat, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(format, content)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("format", "content"),
    [
        (ProblemFormat.FLAKE8, b"a:1:1: E1 x\n" * (MAX_TOLD + 1)),
        (ProblemFormat.GO_BUILD, b"x\n" * (MAX_TOLD + 1)),
        (ProblemFormat.GO_VET, b"{}\n" * (MAX_LINES + 1)),
        (ProblemFormat.TSC, b"\n" * (MAX_LINES + 1)),
        (ProblemFormat.RUFF, b"[%s{}]" % (b"{}," * MAX_TOLD)),
    ],
)
def test_a_report_that_takes_too_long_to_read_is_unreadable(
    format: ProblemFormat, content: bytes
) -> None:
    with pytest.raises(Unreadable, match="too many"):
        read_problems(format, content)


def test_of_many_problems_so_many_are_kept_and_all_are_counted() -> None:
    content = b"".join(b"a.py:%d:1: E501 long\n" % line for line in range(1, 3_001))
    content += b"a.py:9:1: E999 SyntaxError\n"

    report = read_problems(ProblemFormat.FLAKE8, content)

    assert (report.total, len(report.problems)) == (3_001, MAX_PROBLEMS)
    assert report.problems[0].rule == "E999"
