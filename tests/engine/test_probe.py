from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from verification.adapters.probe import ChildProbe
from verification.engine.evidence import (
    Matches,
    NotInspected,
    Pattern,
    PatternMatch,
    SyntaxProblem,
    UnsupportedPattern,
)

ROOT = Path(__file__).parents[2]
SLOW = Pattern("(a?){900}b", 1)
SLOW_TEXT = b"a" * 20_000_000


@pytest.fixture
def probe() -> Iterator[ChildProbe]:
    probe = ChildProbe()
    yield probe
    probe.close()


def pid_of(probe: ChildProbe) -> int:
    assert probe._child is not None
    return probe._child._process.pid


def finds_x(probe: ChildProbe) -> bool:
    [answer] = probe.search([Pattern("x", 1)], [b"x"], seconds=30)
    return isinstance(answer, Matches) and answer.count == 1


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_many_patterns_and_texts_take_one_round_trip(probe: ChildProbe) -> None:
    texts = ["aéx".encode(), b"\nyyy"]

    found, first = probe.search([Pattern("é|x", 9), Pattern("y", 1)], texts, seconds=30)

    assert isinstance(found, Matches)
    assert isinstance(first, Matches)
    assert (found.count, found.places) == (
        2,
        (PatternMatch(0, 1, 2, "é"), PatternMatch(0, 1, 3, "x")),
    )
    assert (first.count, first.places) == (1, (PatternMatch(1, 2, 1, "y"),))


def test_a_pattern_that_cannot_run_is_said_to_be_so(probe: ChildProbe) -> None:
    found, other = probe.search([Pattern("(?=x)", 1), Pattern("x", 1)], [b"x"], seconds=30)

    assert isinstance(found, UnsupportedPattern)
    assert "lookahead" in found.why
    assert isinstance(other, Matches)


def test_python_is_read_by_a_current_grammar_with_line_and_column(probe: ChildProbe) -> None:
    current = b"match x:\n    case [1, *_]: pass\n"
    broken = b"x = 1\nif True print(2)\n# ruff: noqa\n"

    fine, found = probe.syntax([("a.py", current), ("b.py", broken)])
    [alone] = probe.syntax([("b.py", broken)])

    assert fine == []
    assert found == alone == [SyntaxProblem("Expected `:`, found identifier.", 2, 9)]


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        ("a.json", b'{"a": }', 1),
        ("a.yaml", b"a: [1\nb: 2\n", 2),
        ("latin.py", b"x = 1\ny = '\xe9'\n", 2),
    ],
)
def test_other_files_are_read_by_their_suffix(
    probe: ChildProbe, path: str, content: bytes, line: int
) -> None:
    [problems] = probe.syntax([(path, content)])

    assert not isinstance(problems, NotInspected)
    assert [problem.line for problem in problems] == [line]


def test_an_encoding_that_a_python_file_names_is_honoured(probe: ChildProbe) -> None:
    content = b"# coding: latin-1\nx = '\xe9'\n"

    assert probe.syntax([("a.py", content)]) == [[]]


def test_deep_nesting_costs_an_answer_and_not_the_worker(probe: ChildProbe) -> None:
    [answer] = probe.syntax([("a.json", b"[" * 1_000_000)])

    assert isinstance(answer, NotInspected)


def test_what_takes_too_long_is_killed_and_the_next_request_is_served() -> None:
    probe = ChildProbe()
    probe.start()
    first = pid_of(probe)

    answers = probe.search([SLOW, Pattern("x", 1)], [SLOW_TEXT], seconds=0.3)

    assert answers == [NotInspected("It took too long.")]
    assert not is_alive(first)
    assert finds_x(probe)
    probe.close()


def test_a_child_that_was_killed_between_requests_is_replaced(probe: ChildProbe) -> None:
    probe.start()
    os.kill(pid_of(probe), signal.SIGKILL)
    os.waitid(os.P_PID, pid_of(probe), os.WEXITED | os.WNOWAIT)

    assert finds_x(probe)


def test_a_child_that_has_served_enough_is_replaced() -> None:
    probe = ChildProbe(max_requests=1)
    finds_x(probe)
    first = pid_of(probe)

    finds_x(probe)

    assert pid_of(probe) != first
    assert not is_alive(first)
    probe.close()


def test_the_child_inherits_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    probe = ChildProbe()
    probe.start()

    environment = Path(f"/proc/{pid_of(probe)}/environ")

    if not environment.exists():
        pytest.skip("this system shows no environments of processes")
    assert b"secret" not in environment.read_bytes()
    probe.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs the parent death signal of Linux")
def test_a_killed_worker_leaves_no_probe_behind() -> None:
    code = (
        "import sys; from verification.adapters.probe import ChildProbe; p = ChildProbe();"
        "p.start(); print(p._child._process.pid, flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert worker.stdout is not None
        descriptor = os.pidfd_open(int(worker.stdout.readline()))
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)

        worker.kill()

        assert poll.poll(60_000), "the probe ends with its worker"
        os.close(descriptor)
