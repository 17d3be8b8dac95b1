from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.gating.fakes import part_with
from tests.tables import check_rows
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import OWN_WORD
from verification.engine.gating.sandbox import SandboxLost
from verification.engine.gating.service import watched
from verification.engine.gating.stages import Ended, Ready, Stage, Start
from verification.engine.gating.starting import MAX_OUTPUT_BYTES, difference, start_all
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

WELL = Ended(exit_code=0, out=b"7\n", duration_ms=1_000)
READY = Ready(8000, "/healthz", 20)
SERVICE = Start("app", ready=READY)
SUM = Start("add", "3 4", "7", line=3)


class Run:
    """Ends as it is told, and keeps what it was asked to run."""

    def __init__(self, *ends: Ended) -> None:
        self.ends = iter(ends)
        self.stages: list[Stage] = []

    def __call__(self, stage: Stage) -> Ended:
        self.stages.append(stage)
        return next(self.ends)


def started(*pairs: tuple[Start, Ended], seconds: int = 0, is_own: bool = False) -> GateReport:
    starts = tuple(start for start, _ in pairs)
    stage = Stage("run", "x", seconds=seconds, starts=starts, is_own=is_own)
    _, judged = start_all(part_with(stage), stage, Run(*(ended for _, ended in pairs)))
    return judged.report


def reasons(report: GateReport) -> list[str]:
    return [one.reason_code for one in findings_of(report)]


def service(code: int, report: bytes | None, err: bytes = b"") -> GateReport:
    return started((SERVICE, Ended(exit_code=code, report=report, err=err)))


def test_each_start_is_counted_and_each_difference_has_its_place() -> None:
    report = started((SUM, WELL), (SUM, Ended(exit_code=0, out=b"8")), (Start("x"), WELL))

    assert (report.status, report.tests) == (Status.FAILED, TestCounts(passed=2, failed=1))
    [finding] = findings_of(report)
    assert (finding.reason_code, finding.path, finding.line) == ("run_failed", "loomverify.yaml", 3)
    assert finding.message == (
        "add: Its output is not the expected one from line 1 on (- expected, + written):\n- 7\n+ 8"
    )


@check_rows(
    ("start", "ended", "found"),
    [
        (SUM, WELL, []),
        (Start("x"), WELL, []),
        (Start("x", exit_code=3), Ended(exit_code=3), []),
        (Start("x", exit_code=3), WELL, ["run_failed"]),
        (Start("x"), Ended(exit_code=1), ["run_failed"]),
        (Start("x"), Ended(exit_code=124), ["run_failed"]),
        (Start("x"), Ended(exit_code=139), ["run_failed"]),
        (Start("x"), Ended(exit_code=137), ["gate_out_of_memory"]),
        (Start("x"), Ended(exit_code=127), ["gate_error"]),
        (Start("x"), Ended(exit_code=126), ["gate_error"]),
        (Start("x"), Ended(is_timed_out=True), ["gate_timed_out"]),
        (Start("x"), Ended(), ["sandbox_unavailable"]),
        (Start("x"), Ended(exit_code=0, lost="gone"), ["sandbox_unavailable"]),
    ],
)
def test_how_a_start_ends_says_what_becomes_of_it(
    start: Start, ended: Ended, found: list[str]
) -> None:
    assert reasons(started((start, ended))) == found


@pytest.mark.parametrize(
    ("last", "found"),
    [
        (Ended(exit_code=127), ["run_failed"]),
        (Ended(is_timed_out=True), ["run_failed", "run_failed"]),
        (Ended(exit_code=137), ["run_failed", "run_failed"]),
        (Ended(lost="gone"), ["sandbox_unavailable"]),
    ],
)
def test_what_was_wrong_for_certain_stays_so(last: Ended, found: list[str]) -> None:
    assert reasons(started((SUM, Ended(exit_code=1)), (Start("x"), last))) == found


@pytest.mark.parametrize(
    ("code", "report", "said"),
    [
        (1, b"late none\n", "It was not ready within 20 s. Nothing answered on port 8000."),
        (1, b"late other\n", "It was not ready within 20 s. What answered on port 8000 was not HTTP."),
        (1, b"late 503\n", "It was not ready within 20 s. It answered 503."),
        (3, b"ended 3 none\n", "It ended by itself with exit code 3. Nothing answered on port 8000."),
        (1, b"ended 0 200\n", "It ended by itself with exit code 0. It answered 200."),
        (143, None, "It ended by itself with exit code 143."),
        (1, b"anything", "It ended by itself with exit code 1."),
    ],
)  # fmt: skip
def test_a_service_that_is_not_ready_says_how_and_its_last_words(
    code: int, report: bytes | None, said: str
) -> None:
    [finding] = findings_of(service(code, report, b"last words"))

    assert finding.reason_code == "run_failed"
    assert finding.message.startswith(f"app: {said}")
    assert finding.message.endswith("last words")


def test_a_service_is_ready_when_its_end_and_its_report_say_so() -> None:
    assert reasons(service(0, b"ready 204\n")) == []
    for code, report in ((0, None), (0, b"late none\n"), (0, b"ready\n"), (1, b"ready 200\n")):
        assert reasons(service(code, report)) == ["gate_contradiction"]


def test_they_share_the_seconds_of_the_gate() -> None:
    stage = Stage("run", "x", seconds=10, starts=(SUM, SERVICE, SUM))
    long, short = Ended(exit_code=0, duration_ms=7_500), Ended(exit_code=0, duration_ms=500)
    run = Run(long, short, long)

    start_all(part_with(stage), stage, run)

    assert [one.seconds for one in run.stages] == [10, 3, 2]
    assert [one.input for one in run.stages] == ["3 4", "", "3 4"]
    assert run.stages[1].command == watched("app", READY)


def test_what_is_stopped_is_the_last_and_lost_is_lost() -> None:
    stage = Stage("run", "x", starts=(SUM, SUM, SUM))
    run = Run(WELL, Ended(is_timed_out=True))

    ended, judged = start_all(part_with(stage), stage, run)

    assert (ended.exit_code, judged.report.status) == (None, Status.TIMED_OUT)
    with pytest.raises(SandboxLost):
        start_all(part_with(stage), stage, _lost)


def _lost(_stage: Stage) -> Ended:
    raise SandboxLost("gone")


def test_what_several_wrote_is_kept_command_by_command() -> None:
    stage = Stage("run", "x", starts=(SUM, Start("next")))

    ended, _ = start_all(part_with(stage), stage, Run(WELL, Ended(exit_code=0, err=b"oh")))

    assert ended.out == b"$ add\n7\n\n$ next\noh"
    assert ended.duration_ms == 1_000


def test_whose_word_a_gate_went_by_is_told() -> None:
    assert started((SUM, WELL), is_own=True).detail == OWN_WORD
    assert started((SUM, WELL)).detail == ""


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        (None, b"anything"),
        ("7", b"7\n"),
        ("a\nb\n", b"a  \r\nb\t\r\n\r\n\n"),
        ("", b"\n \n"),
        ("é", "é\n".encode()),
    ],
)
def test_line_ends_and_trailing_blanks_do_not_matter(expected: str | None, written: bytes) -> None:
    assert difference(expected, written) == ""


@pytest.mark.parametrize(
    ("expected", "written", "shown"),
    [
        ("7", b"", ["line 1", "- 7"]),
        ("", b"7", ["line 1", "+ 7"]),
        ("a\nb", b"a\n b", ["line 2", "- b", "+  b"]),
        ("a", b"A", ["- a", "+ A"]),
        ("a", b"a\n\n" + b"b\n" * 9, ["line 2", "+ \n+ b\n+ b\n+ … 7 more lines"]),
        ("x", b"y" * 900, [f"+ {'y' * 200}…"]),
        ("x", b"\xff\x00", ["+ \ufffd\ufffd"]),
        ("x", b"x" * (MAX_OUTPUT_BYTES + 1), ["more than 500000 bytes"]),
    ],
)
def test_a_difference_is_shown_where_it_begins(
    expected: str, written: bytes, shown: list[str]
) -> None:
    said = difference(expected, written)

    assert [one for one in shown if one not in said] == []
    assert len(said) < 2_000


LINES = st.lists(st.sampled_from([b"", b" ", b"a", b"a ", b" a", b"b\r", b"\xff"]), max_size=5)


@pytest.mark.extended
@given(LINES, LINES)
def test_outputs_are_the_same_when_their_stripped_lines_are(
    one: list[bytes], other: list[bytes]
) -> None:
    texts = [b"\n".join(lines) for lines in (one, other)]

    is_same = difference(texts[0].decode("latin-1"), texts[1].decode("latin-1").encode()) == ""

    def stripped(text: bytes) -> list[bytes]:
        lines = [line.rstrip() for line in text.split(b"\n")]
        return list(_without_end(lines))

    assert is_same is (stripped(texts[0]) == stripped(texts[1]))


def _without_end(lines: list[bytes]) -> Iterator[bytes]:
    last = max((number for number, line in enumerate(lines) if line), default=-1)
    yield from lines[: last + 1]


@given(st.text(), st.from_regex(r"/[!-~]{0,20}", fullmatch=True))
def test_a_service_is_handed_to_its_watch_as_words(command: str, path: str) -> None:
    words = shlex.split(watched(command, Ready(80, path, 3)))

    assert words[0:2] == ["/bin/bash", "-c"]
    assert words[3:8] == ["watch", command, "80", path, "3"]
