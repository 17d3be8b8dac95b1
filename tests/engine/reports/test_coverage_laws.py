from __future__ import annotations

import difflib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.reports.problem_reports import FOLDER
from tests.engine.reports.report_strategies import cut_and_filled, with_odd_values
from tests.tables import check_rows
from verification.engine.reports.coverage import (
    CoverageFormat,
    changed_lines,
    lines_of_diff,
    read_coverage,
)
from verification.engine.reports.coverage.tally import MAX_CODE_LINES
from verification.engine.reports.model import (
    MAX_LINE,
    MAX_REPORT_BYTES,
    Coverage,
    FileCoverage,
    Unreadable,
)

FORMATS = [pytest.param(one, id=one.value) for one in CoverageFormat]
TEXTS = st.lists(st.sampled_from(["a", "b", "-- a", "++ b/x", "@@ -1 +1 @@", "", "\x0b", "é"]))


def recorded(format: CoverageFormat) -> list[bytes]:
    formats = [one for one in CoverageFormat if one is not CoverageFormat.ANY]
    named = formats if format is CoverageFormat.ANY else [format]
    folders = [FOLDER / kind / one for one in named for kind in ("recorded", "written")]
    return [file.read_bytes() for folder in folders for file in sorted(folder.glob("*"))]


def assert_bounded(read: Callable[[], Coverage]) -> None:
    try:
        coverage = read()
    except Unreadable:
        return

    for path, file in coverage.files.items():
        assert path
        assert not path.startswith("/")
        assert ".." not in path.split("/")
        assert not file.covered & file.missed
        assert all(0 < line <= MAX_LINE for line in file.covered | file.missed)


@pytest.mark.parametrize("format", FORMATS)
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_anything_is_read_or_is_unreadable(format: CoverageFormat, content: bytes) -> None:
    assert_bounded(lambda: read_coverage(format, content))


@pytest.mark.parametrize("format", FORMATS)
@given(choices=st.data())
def test_a_report_that_is_cut_and_filled_is_read_or_is_unreadable(
    format: CoverageFormat, choices: st.DataObject
) -> None:
    content = choices.draw(cut_and_filled(recorded(format)))

    assert_bounded(lambda: read_coverage(format, content, "a/b"))


@given(content=with_odd_values(recorded(CoverageFormat.COVERAGE_PY)))
def test_a_report_with_odd_values_is_read_or_is_unreadable(content: bytes) -> None:
    assert_bounded(lambda: read_coverage(CoverageFormat.COVERAGE_PY, content))


@pytest.mark.parametrize(
    "format",
    [
        CoverageFormat.COBERTURA,
        CoverageFormat.CLOVER,
        CoverageFormat.JACOCO,
        CoverageFormat.OPENCOVER,
        CoverageFormat.COVERAGE_PY,
    ],
)
@given(choices=st.data())
def test_a_report_that_is_cut_short_is_unreadable(
    format: CoverageFormat, choices: st.DataObject
) -> None:
    content = choices.draw(st.sampled_from(recorded(format))).rstrip()
    cut = content[: choices.draw(st.integers(0, len(content) - 1))]

    with pytest.raises(Unreadable):
        read_coverage(format, cut)


@pytest.mark.parametrize("content", recorded(CoverageFormat.LCOV))
def test_a_tracefile_that_is_cut_short_holds_its_whole_records_or_is_unreadable(
    content: bytes,
) -> None:
    files = files_of(content)
    assert files

    for end in range(len(content)):
        cut = content[:end]
        rest = cut.rpartition(b"end_of_record")[2]
        whole = files[: cut.count(b"end_of_record")]
        if b"SF:" in rest:
            assert files_of(cut) is None, cut
        elif rest.strip():
            assert files_of(cut) in (None, whole), cut
        else:
            assert files_of(cut) == whole, cut


def files_of(content: bytes) -> list[tuple[str, FileCoverage]] | None:
    try:
        return list(read_coverage(CoverageFormat.LCOV, content).files.items())
    except Unreadable:
        return None


@check_rows("format", FORMATS)
@check_rows(
    "content",
    [
        b"x",
        b"x" * (MAX_REPORT_BYTES + 1),
        b"<coverage>" * 100_000,
        b"<report>" * 100_000,
        b"<report><package>" + b"<group>" * 70 + b"</group>" * 70 + b"</package></report>",
        b"<CoverageSession><Modules>"
        + b"<a>" * 70
        + b"</a>" * 70
        + b"</Modules></CoverageSession>",
        b'<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><coverage>&b;</coverage>',
        b'<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><coverage>&a;</coverage>',
        b"[" * 500_000,
        b"mode: set\na.go:1.1,%d.1 1 1\n" % (MAX_CODE_LINES + 1),
        b"mode: set\na.go:2.1,1.1 1 1\n",
        b"SF:a\nDA:1,many\nend_of_record\n",
        b'{"files": {"a": {"executed_lines": [1]}}}',
    ],
)
def test_what_would_exhaust_or_confuse_a_reader_is_unreadable(
    format: CoverageFormat, content: bytes
) -> None:
    with pytest.raises(Unreadable):
        read_coverage(format, content)


@given(before=TEXTS, after=TEXTS)
def test_the_lines_of_a_diff_are_those_that_differ(before: list[str], after: list[str]) -> None:
    diff = "\n".join(difflib.unified_diff(before, after, "a/x", "b/x", lineterm=""))
    matcher = difflib.SequenceMatcher(None, before, after)
    same = {line + 1 for block in matcher.get_matching_blocks() for line in block_lines(block)}
    new = frozenset(range(1, len(after) + 1)) - same

    assert lines_of_diff(diff) == ({"x": new} if new else {})


def block_lines(block: difflib.Match) -> range:
    return range(block.b, block.b + block.size)


@given(
    diff=st.text(max_size=200)
    | cut_and_filled(
        [
            (FOLDER / "recorded" / "git" / "plain.diff").read_bytes(),
        ]
    ).map(lambda content: content.decode(errors="replace"))
)
def test_any_diff_is_read_or_is_unreadable(diff: str) -> None:
    try:
        changed = lines_of_diff(diff)
    except Unreadable:
        return

    for path, lines in changed.items():
        assert path
        assert ".." not in path.split("/")
        assert lines
        assert all(0 < line <= MAX_LINE for line in lines)
    assert changed_lines(Coverage(), changed) is None
