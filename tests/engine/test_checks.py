from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from processes.definition.model import GatesWithoutSandbox
from tests.engine.cases import case, evaluate, ports, told
from tests.tables import check_rows
from verification.engine.climb import climb, conclude
from verification.engine.evidence import ToolCall
from verification.engine.gates import GateReport
from verification.engine.golden.given import RecordedGates
from verification.engine.outcome import Status

MEDIUM_WITHOUT = {"gates_without_sandbox": GatesWithoutSandbox.MEDIUM}


def enforcements(**about: Any) -> list[str]:
    return [str(one.enforcement) for one in evaluate(**about).findings]


@pytest.mark.parametrize(("code", "expected"), [(None, []), (0, []), (1, ["hard"]), (-9, ["hard"])])
def test_a_return_code_other_than_zero_fails(code: int | None, expected: list[str]) -> None:
    assert enforcements(return_code=code) == expected


@pytest.mark.parametrize(
    ("files", "deliverables", "expected", "found"),
    [
        ({"a.md": "text"}, ["a.md"], [], None),
        ({"a.md": "text"}, ["./a.md"], [], None),
        ({"a.md": ""}, ["a.md"], [], "deliverable_empty"),
        ({}, ["a.md"], [], "deliverable_missing"),
        ({}, [], ["a.md"], "deliverable_missing"),
        ({"b.md": "text"}, ["a.md"], [], "deliverable_missing"),
        ({"reports/a.csv": "1"}, ["reports/"], [], None),
        ({"reports/a.csv": "1"}, ["reports/*.csv"], [], None),
        ({"reports/a.csv": ""}, ["reports/*.csv"], [], "deliverable_empty"),
        ({"pkg/__init__.py": ""}, ["pkg/__init__.py"], [], None),
        ({"a.md": "text"}, ["../a.md"], [], "deliverable_missing"),
    ],
)
def test_what_is_declared_must_be_there(
    files: dict[str, str], deliverables: list[str], expected: list[str], found: str | None
) -> None:
    conclusion = evaluate(files=files, deliverables=deliverables, expected_outputs=expected)

    assert (conclusion.reason_code or None) == found


def test_a_deliverable_declared_twice_is_missed_once() -> None:
    conclusion = evaluate(deliverables=["a.md"], expected_outputs=["./a.md"])

    assert len(conclusion.findings) == 1


@check_rows(
    ("changed", "expected"),
    [
        (["a.md"], []),
        (["./a.md"], []),
        (["/home/agent/project/a.md"], []),
        ([], []),
        (None, []),
        (["b.md"], [("advisory", "changed_file_missing")]),
        (["empty.md"], [("advisory", "changed_file_missing")]),
        (["../a.md"], [("hard", "path_outside_workspace")]),
        (["sub/../../a.md"], [("hard", "path_outside_workspace")]),
        (["/etc/passwd"], [("hard", "path_outside_workspace")]),
        (["C:\\work\\a.md"], []),
        (["C:\\Windows\\b.dll"], [("hard", "path_outside_workspace")]),
        (["~/.ssh/id"], [("hard", "path_outside_workspace")]),
        ("a.md", [("advisory", "odd_payload")]),
        ({"path": "a.md"}, [("advisory", "odd_payload")]),
        (["a.md", 3], [("advisory", "odd_payload")]),
        (["a.md", " "], [("advisory", "odd_payload")]),
        (["x" * 5_000], [("advisory", "odd_payload")]),
        (7, [("advisory", "odd_payload")]),
    ],
)
def test_files_that_tools_say_they_changed(changed: Any, expected: list[tuple[str, str]]) -> None:
    files = {"a.md": "text", "empty.md": ""}
    calls = (ToolCall("edit", True, files_changed=changed),)

    conclusion = evaluate(files=files, tool_calls=calls)

    assert [(enforcement, code) for _, enforcement, code in told(conclusion)] == expected


@pytest.mark.parametrize(
    ("tool", "excused"),
    [("delete_file", True), ("rm", True), ("git_mv", True), ("move", True), ("format", False)],
)
def test_a_tool_that_takes_files_away_may_name_them(tool: str, excused: bool) -> None:
    calls = (ToolCall(tool, True, files_changed=["gone.md"]),)

    assert (evaluate(tool_calls=calls).findings == ()) is excused


@check_rows(
    ("path", "content", "declared", "expected", "place"),
    [
        ("a.py", "x = 1\n", True, None, (None, None)),
        ("a.py", "x = 1\ndef f(:\n", True, "hard", (2, 7)),
        ("a.py", "def f(:\n", False, "advisory", (1, 7)),
        ("a.json", '{"a": 1}', True, None, (None, None)),
        ("a.json", '{"a": 1,\n "b" 2}', True, "hard", (2, 6)),
        ("a.json", '{"a": {"b": 1},\n "b": "a", "a": 2}', True, "advisory", (2, 12)),
        ("a.json", '{"NaN": "}",\n "a": [NaN]}', True, "advisory", (2, 8)),
        ("a.json", "\ufeff{}", True, "observe", (1, 1)),
        ("tsconfig.json", '{\n// why\n"a": [1,],\n}', True, None, (None, None)),
        ("a.yaml", "a: 1\n---\nb: !tag {c: 2}\n", True, None, (None, None)),
        ("a.yml", "a: [1\nb: 2\n", True, "hard", (2, 2)),
        ("a.unknown", "def f(:", True, None, (None, None)),
    ],
)
def test_files_parse_by_their_suffix(
    path: str,
    content: str,
    declared: bool,
    expected: str | None,
    place: tuple[int | None, int | None],
) -> None:
    conclusion = evaluate(files={path: content}, deliverables=[path] if declared else [])

    found = conclusion.findings[0] if conclusion.findings else None
    assert (str(found.enforcement) if found else None) == expected
    assert ((found.line, found.column) if found else (None, None)) == place


def test_a_file_above_the_cap_is_unknown_and_never_blamed() -> None:
    files = {"a.py": b"(" * 5_000_001}

    conclusion = evaluate(files=files, deliverables=["a.py"])

    assert (conclusion.outcome, conclusion.findings[0].verdict) == ("pass", "unknown")


@pytest.mark.parametrize(
    ("path", "content", "found"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n", ""),
        ("a.png", b"<html>", "file_type_mismatch"),
        ("a.md", b"a\0b", "file_type_mismatch"),
        ("a.csv", b"\xff\xfea\0", ""),
        ("a.bin", b"a\0b", ""),
    ],
)
def test_a_file_holds_what_its_name_promises(path: str, content: bytes, found: str) -> None:
    conclusion = evaluate(files={path: content}, deliverables=[path])

    assert conclusion.reason_code == found
    assert conclusion.verdict == "accept"


def test_no_finding_holds_what_a_database_cannot() -> None:
    calls = (ToolCall("edit", True, files_changed=["../" + "a\0b" * 500]),)

    [found] = evaluate(tool_calls=calls).findings

    assert "\0" not in found.path
    assert len(found.path) == 500


@pytest.mark.parametrize(
    ("about", "code"),
    [
        ({"gates": ["test"]}, "sandbox_unavailable"),
        ({"custom_verifier": "totals"}, "verifier_unavailable"),
    ],
)
def test_what_a_phase_asks_for_and_nobody_runs_is_never_taken_for_passed(
    about: dict[str, Any], code: str
) -> None:
    conclusion = evaluate(output="fine", **about)

    assert (conclusion.outcome, conclusion.verdict) == ("partial_verified", "undecided")
    assert conclusion.review_reasons == (code,)


def test_a_phase_may_be_decided_without_its_gates_and_says_so() -> None:
    conclusion = evaluate(output="fine", gates=["test"], of_phase=MEDIUM_WITHOUT)

    [finding] = conclusion.findings
    assert (conclusion.outcome, conclusion.verdict, conclusion.reason_code) == (
        "pass",
        "accept",
        "",
    )
    assert (finding.rule, finding.reason_code) == ("not-run", "sandbox_unavailable")
    assert (finding.enforcement, finding.verdict) == ("advisory", "unknown")
    assert conclusion.review_reasons == ()
    assert conclusion.confidence_level == "MEDIUM"


def test_a_phase_that_asks_no_gate_says_nothing_of_a_sandbox() -> None:
    assert evaluate(output="fine", of_phase=MEDIUM_WITHOUT).findings == ()


def test_a_sandbox_that_was_lost_is_doubt_in_every_phase() -> None:
    asked = case(output="fine", gates=["test"], of_phase=MEDIUM_WITHOUT)
    lost = RecordedGates([GateReport("test", Status.ERROR, is_lost=True)])

    conclusion = conclude(asked, list(climb(asked, replace(ports(), gates=lost))))

    assert (conclusion.verdict, conclusion.reason_code) == ("undecided", "sandbox_unavailable")
    assert conclusion.may_pass
