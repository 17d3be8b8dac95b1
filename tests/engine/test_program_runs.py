"""Failures of programs that reject nothing: they only asked, or the same succeeded later."""

from __future__ import annotations

import shlex
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import ToolSuccessPolicy
from tests.engine.cases import evaluate, told
from tests.tables import check_rows
from verification.engine.checks.tools.commands import (
    MAX_COMMAND_CHARS,
    MAX_NESTED,
    read_command_line,
)
from verification.engine.checks.tools.program_runs import ProgramRuns
from verification.engine.evidence import ToolCall

ASKED: list[Any] = [
    "grep -rn foo .",
    "cd src && grep -q foo a.py",
    ". .venv/bin/activate && mkdir -p out && grep foo a.py",
    "grep foo a.py || grep bar b.py",
    "cat a.log | grep ERROR | wc -l",
    "! grep TODO src/a.py",
    "diff expected.txt actual.txt",
    "test -f build/a.js",
    "[ -d build ]",
    "which rg",
    "command -v rg",
    "python --version",
    "ls missing 2>/dev/null",
    "git diff --exit-code",
    "git -C sub grep foo",
    "find . -name a.py | xargs grep foo",
    "LC_ALL=C timeout 5 grep x y | head -3",
    ["bash", "-lc", "rg foo src"],
    ["grep", "a b", "c.py"],
]
DID_MORE: list[Any] = [
    None,
    "",
    "pytest",
    "timeout 3 pytest",
    "exit 1",
    "false",
    "cd nowhere",
    "python check.py --version",
    "pytest -v",
    "npm test -v",
    "make help",
    # Nobody knows which of the two failed.
    "grep x a.py && pytest",
    "grep x a.py; pytest",
    "pytest | grep -q passed",
    ". ./deploy.sh && grep x a.py",
    "echo x > a.py && grep x a.py",
    # What asks, and is made to do more.
    "find . -name a.py -delete",
    "find . | xargs rm",
    "sed -i s/a/b/ a.py",
    "grep foo a.py > out.txt",
    "cat a.sh | sh",
    "grep -q x $(pytest)",
    "grep -q x `pytest`",
    "grep x <(pytest)",
]
MENDED: list[tuple[Any, Any]] = [
    ("pytest tests/a.py", "pytest tests/a.py"),
    ("cd repo && python3 -m pytest -q", "cd repo && pytest -vv"),
    ("CI=1 npm test", "npm run test"),
    ("timeout 60 make build", "make build"),
    ("python a.py", "python3  a.py"),
    ("npx jest a", "yarn jest a"),
    ("pytest; echo done", "pytest"),
    ("pytest", "set -o pipefail; pytest | tail -3"),
    ("pytest", "cd /workspace && pytest"),
    (["bash", "-lc", "pytest"], "pytest"),
    ("for i in 1 2; do pytest; done", "for i in 1 2; do  pytest; done"),
    # Less was asked for than succeeded later.
    ("pytest tests/a.py", "pytest"),
    ("python -m pytest tests/a.py::test_x -x", "pytest -q tests"),
    ("pytest -k foo", "pytest --cov=src -n4"),
    ("npm test -- a", "npm test"),
    ("go test ./pkg/a", "go test ./..."),
    ("ruff check src/a.py", "ruff check ."),
    ("cargo test foo", "cargo test"),
    ("ruff check src", "ruff check --fix ."),
    ("cargo test", "cargo test --workspace -- --nocapture"),
    ("pytest tests/a.py", "pytest --cov src -q"),
    ("go test ./pkg/a", "go test ./pkg/..."),
    ("make -j4 test", "make test lint"),
    ("make", "make -j 8"),
    ("python -m unittest tests.test_a", "python -m unittest discover"),
    # All that may have failed succeeded.
    ("grep x a.py && pytest", "pytest"),
    ("npm install && npm test", "npm test"),
    ("ruff check a.py && pytest", "ruff check a.py && pytest"),
]
NOT_MENDED: list[tuple[Any, Any]] = [
    (None, None),
    # The line succeeds whatever the program does.
    ("pytest", "pytest || true"),
    ("pytest", "pytest; echo done"),
    ("pytest", "pytest | tail -5"),
    ("pytest", "pytest &"),
    ("pytest", "! pytest"),
    ("pytest", "set +e; pytest; set -e; echo done"),
    ("pytest", "if true; then pytest; fi"),
    ("docker build .", "docker build . || exit 0"),
    ("ruff check .", "ruff check . --exit-zero"),
    # Less succeeded than was asked for.
    ("pytest", "pytest tests/a.py"),
    ("pytest", "pytest -k foo"),
    ("pytest", "pytest --lf"),
    ("pytest", "pytest --collect-only"),
    ("pytest", "cd tests && pytest"),
    ("pytest tests/ab.py", "pytest tests/a"),
    ("pytest -W error", "pytest"),
    ("mypy --strict", "mypy"),
    ("npm test", "npm test --if-present"),
    ("go test ./...", "go test ./pkg/a"),
    ("make test", "make -n test"),
    ("make test", "make SKIP=1 test"),
    ("make test", "make"),
    ("nox -s tests", "nox -s lint"),
    ("python -m unittest", "python -m unittest discover -s unit"),
    ("npm test", "npm test -w one"),
    ("go test ./...", "go test ."),
    ("go test ./pkg/a", "go test ./pkg"),
    ("pytest", "pytest --cov --lf"),
    ("ruff check a.py && pytest", "pytest"),
    # Another program, or another place.
    ("python a.py", "python b.py"),
    ("python a.py --all", "python a.py"),
    ("npm install", "npm test"),
    ("git push", "git pull"),
    ("pytest", "echo pytest"),
    ("cd frontend && npm test", "cd backend && npm test"),
]
DEEP = "pytest"
for _ in range(MAX_NESTED):
    DEEP = f"bash -c {shlex.quote(DEEP)}"

NESTED: Any = {}
for _ in range(5_000):
    NESTED = {"of": NESTED}


def call(command: Any, success: bool = False, tool: str = "bash", **fields: Any) -> ToolCall:
    return ToolCall(tool, success, args=command and {"command": command}, **fields)


def is_no_fault(*calls: ToolCall) -> bool:
    last = max(number for number, one in enumerate(calls) if not one.success)
    return ProgramRuns.of(calls).is_no_fault(last)


@check_rows("command", ASKED, ids=repr)
def test_a_program_that_only_asked_is_no_fault(command: Any) -> None:
    assert is_no_fault(call(command))


@check_rows("command", DID_MORE, ids=repr)
def test_a_program_that_did_more_than_ask_is_a_fault(command: Any) -> None:
    assert not is_no_fault(call(command))


@check_rows(("command", "later"), MENDED, ids=repr)
def test_a_command_that_succeeded_later_is_no_fault(command: Any, later: Any) -> None:
    assert is_no_fault(call(command), call(later, True))


@check_rows(("command", "later"), NOT_MENDED, ids=repr)
def test_only_a_success_of_the_same_command_mends_it(command: Any, later: Any) -> None:
    assert not is_no_fault(call(command), call(later, True))


@check_rows(
    "later",
    [
        call("pytest", True, result={"exit_code": 1}),
        call("pytest", True, result="Error: no such file"),
        call("pytest", True, result=f"{'.' * 2_000}\n== 1 failed, 3 passed in 2 s =="),
        call("pytest", True, result="F.\n1 failed, 3 passed"),
        call("pytest", True, result={"stdout": "4 passed, 2 errors", "stderr": ""}),
        call("pytest", True, result=[{"type": "text", "text": "Exit code: 1"}]),
        call("pytest", True, error="interrupted"),
        ToolCall("bash", True, args={"command": "pytest", "run_in_background": True}),
        ToolCall("bash", None, args={"command": "pytest"}),
    ],
    ids=repr,
)
def test_a_call_that_does_not_state_its_success_mends_nothing(later: ToolCall) -> None:
    assert not is_no_fault(call("pytest"), later)


def test_a_result_that_counts_no_failure_mends() -> None:
    assert is_no_fault(call("pytest"), call("pytest", True, result="41 passed, 0 failed"))


def test_the_last_run_of_a_command_decides() -> None:
    assert not is_no_fault(call("pytest"), call("pytest", True), call("pytest -q"))


def test_the_folder_of_a_call_is_part_of_its_command() -> None:
    failed = ToolCall("exec_command", False, args={"cmd": "npm test", "workdir": "/w/front"})
    same = ToolCall("exec_command", True, args={"cmd": "npm test", "workdir": "/w/front"})
    other = ToolCall("exec_command", True, args={"cmd": "npm test", "workdir": "/w/back"})

    assert is_no_fault(failed, same)
    assert not is_no_fault(failed, other)


@pytest.mark.parametrize(
    ("args", "later", "expected"),
    [
        ({"path": "a.py"}, {"path": "a.py"}, True),
        ({"path": "a.py"}, {"path": "a.py", "timeout": 5}, True),
        ({"path": "a.py"}, None, True),
        (None, None, True),
        ({"path": "a.py"}, {"path": "b.py"}, False),
        (None, {"path": "a.py"}, False),
        ({"of": {"paths": ["a.py"]}}, {"of": {"paths": ["a.py"]}}, True),
        ({"of": {"paths": ["a.py"]}}, {"of": {"paths": ["a.py", "b.py"]}}, False),
        (NESTED, NESTED, False),
    ],
)
def test_a_tool_that_runs_tests_is_known_by_its_arguments(
    args: Any, later: Any, expected: bool
) -> None:
    failed = ToolCall("run_tests", False, args=args)

    assert is_no_fault(failed, ToolCall("run_tests", True, args=later)) is expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([call("grep -rn foo .")], "advisory"),
        ([call("pytest"), call("pytest", True)], "advisory"),
        ([call("pytest")], "hard"),
        # Other tools are no programs, whatever succeeds later.
        ([call("x", tool="edit_file"), call("x", True, tool="edit_file")], "hard"),
        ([call("grep foo .", error="Operation blocked by sandbox")], "hard"),
    ],
)
def test_a_policy_lets_the_last_run_of_a_program_decide(
    calls: list[ToolCall], expected: str
) -> None:
    policy = ToolSuccessPolicy.LAST_RUN_DECIDES

    [(_, enforcement, reason)] = told(evaluate(tool_calls=tuple(calls), tool_policy=policy))

    assert (enforcement, reason) == (expected, "tool_failed")


@given(st.text(alphabet="ab -|&;<>()'\"\\$`\n#=!", max_size=40))
def test_no_text_is_too_odd_to_be_read_as_a_command_line(text: str) -> None:
    line = read_command_line(text)

    assert line is None or set(line.succeeded) <= set(line.commands)


@pytest.mark.parametrize("text", ["a" * (MAX_COMMAND_CHARS + 1), DEEP, "'" * 3_999])
def test_a_line_beyond_every_bound_is_not_read(text: str) -> None:
    assert read_command_line(text) is None


def test_commands_are_compared_within_bounds() -> None:
    half = 1_000
    calls = [
        call(f"pytest {'a/' * 100}{number}.py {'b ' * 50}", success=number >= half)
        for number in range(2 * half)
    ]
    history = ProgramRuns.of([*calls, call("pytest", True), call("pytest c.py")])

    started = time.process_time()
    mended = [history.is_no_fault(number) for number in range(half)]

    assert time.process_time() - started < 5
    assert mended[0], "the last success is compared first"
    assert not history.is_no_fault(2 * half + 1)
