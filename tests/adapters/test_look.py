"""The driver that looks at work of every language, with tools that only play at it."""

from __future__ import annotations

import base64
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.tables import check_rows
from verification.adapters.sandbox.tools.look_languages import is_passed_over, is_run, language_of
from verification.adapters.sandbox.tools.look_levels import (
    ERROR,
    NOTE,
    WARNING,
    checksum,
    danger_level,
    secret_level,
)
from verification.engine.reports.model import ProblemSeverity
from verification.engine.reports.problems import ProblemFormat, read_problems

TOOLS = Path("verification/adapters/sandbox/tools")
MODULES = ("look_languages.py", "look_levels.py", "look_report.py", "look_tool.py")
RUFF = "bin/ruff"
KINGFISHER = "look/kingfisher/bin/kingfisher"
SEMGREP = "look/semgrep/bin/semgrep-core"
NOTHING: dict[str, Any] = {
    RUFF: [],
    KINGFISHER: {
        "audit": {"summary": {"scan_failed": 0, "scan_partial": 0, "scan_succeeded": 1}},
        "findings": [],
    },
    SEMGREP: {"results": [], "errors": [], "skipped_rules": [], "paths": {"scanned": ["a.js"]}},
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Tools that find nothing, beside work of one file."""
    for name in ("look.py", *MODULES):
        shutil.copy(TOOLS / name, tmp_path / name)
    (tmp_path / "look/cache").mkdir(parents=True)
    (tmp_path / "rules").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.js").write_text("let a = 1;\n")
    for tool, report in NOTHING.items():
        says(tmp_path, tool, json.dumps(report))
    return tmp_path


def says(place: Path, tool: str, text: str, *, then: str = "exit 0") -> None:
    path = place / tool
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n{then}\n")
    path.chmod(0o755)


def looked(place: Path, *left_out: str, gate_seconds: float = 120) -> tuple[int, bytes | None, str]:
    """The exit code, the report, and what was written beside it."""
    report = place / "report"
    ended = subprocess.run(
        [sys.executable, "-Es", place / "look.py", place / "work", *left_out],
        env={**os.environ, "LV_REPORT": str(report), "LV_SECONDS": str(gate_seconds)},
        capture_output=True,
        text=True,
        check=False,
    )
    content = report.read_bytes() if report.exists() else None
    return ended.returncode, content, ended.stdout + ended.stderr


def test_tools_that_find_nothing_leave_a_report_of_nothing(place: Path) -> None:
    code, report, said = looked(place)

    assert (code, said) == (0, "")
    assert read_problems(ProblemFormat.SARIF, report or b"").total == 0


@pytest.mark.quick_rows(3)
@pytest.mark.parametrize("tool", NOTHING)
@pytest.mark.parametrize(
    ("text", "then"),
    [
        pytest.param(None, "", id="missing"),
        pytest.param("", "exit 0", id="silent"),
        pytest.param("{}", "exit 0", id="odd"),
        pytest.param("[[", "exit 0", id="not JSON"),
        pytest.param("[" * 100_000, "exit 0", id="deep"),
        pytest.param(NOTHING, "exit 2", id="failing"),
        pytest.param(NOTHING, "kill -9 $$", id="killed"),
    ],
)
def test_a_tool_that_is_broken_leaves_no_report(
    place: Path, tool: str, text: object, then: str
) -> None:
    if text is None:
        (place / tool).unlink()
    else:
        said = json.dumps(NOTHING[tool]) if text is NOTHING else str(text)
        says(place, tool, said, then=then)

    code, report, _ = looked(place)

    assert (code, report) == (3, None)


def semgrep(**said: object) -> dict[str, object]:
    return {**NOTHING[SEMGREP], **said}


def kingfisher(**said: int) -> dict[str, object]:
    summary = {**NOTHING[KINGFISHER]["audit"]["summary"], **said}
    return {"audit": {"summary": summary}, "findings": []}


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("tool", "report"),
    [
        (SEMGREP, semgrep(paths={"scanned": []})),
        (SEMGREP, semgrep(results={})),
        (SEMGREP, semgrep(errors={})),
        (KINGFISHER, {**NOTHING[KINGFISHER], "findings": {}}),
        (SEMGREP, semgrep(skipped_rules=[{"rule_id": "a"}])),
        (SEMGREP, semgrep(errors=[{"error_type": "Timeout", "location": {"path": "a.js"}}])),
        (SEMGREP, semgrep(errors=[{"error_type": "Out of memory", "location": {"path": "a.js"}}])),
        (KINGFISHER, kingfisher(scan_failed=1)),
        (KINGFISHER, kingfisher(scan_partial=1)),
        (KINGFISHER, kingfisher(scan_succeeded=0)),
    ],
)
def test_a_tool_that_did_not_look_at_everything_leaves_no_report(
    place: Path, tool: str, report: object
) -> None:
    says(place, tool, json.dumps(report))

    assert looked(place)[:2] == (3, None)


def test_a_tool_that_takes_too_long_leaves_no_report(place: Path) -> None:
    says(place, KINGFISHER, "", then="sleep 100")

    code, report, said = looked(place, gate_seconds=0.01)

    assert (code, report) == (3, None)
    assert "took too long" in said


@pytest.mark.parametrize(("gate", "own"), [(1, 0.8), (50, 40), (120, 110), (1_800, 1_790)])
def test_the_tools_have_less_time_than_their_gate(
    gate: int, own: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(TOOLS)
    monkeypatch.setenv("LV_SECONDS", str(gate))

    assert importlib.import_module("look").seconds() == own


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param(b"x = 'caf\xc3\xa9'\n", 0, id="UTF-8"),
        pytest.param(b"\xef\xbb\xbfx = 1\n", 0, id="UTF-8 with its mark"),
        pytest.param(b"# coding: latin-1\nx = 'caf\xc3\xa9'\n", 0, id="the same code"),
        pytest.param(b"# coding: latin-1\nx = 'caf\xe9'\neval(x)\n", 3, id="Latin-1"),
        pytest.param(b"# coding: utf-7\n+AGUAdgBhAGw-(x)\n", 3, id="UTF-7"),
        pytest.param(b"# coding: unicode_escape\n\\x65val(x)\n", 3, id="escapes"),
        pytest.param(b"# coding: nothing\nx = 1\n", 3, id="unknown"),
    ],
)
def test_python_that_ruff_would_read_otherwise_than_python_is_not_passed_over(
    place: Path, content: bytes, code: int
) -> None:
    (place / "work/b.py").write_bytes(content)
    says(place, SEMGREP, json.dumps(semgrep(paths={"scanned": ["a.js", "b.py"]})))

    assert looked(place)[0] == code


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("name", "content", "is_told"),
    [
        pytest.param("a.py", b"import {{ cookiecutter.name }}\n", False, id="a template"),
        pytest.param("a.py", b"print 'x'\n", False, id="Python 2"),
        pytest.param("a.py", b"def f():\n    return 1\n", True, id="what ruff alone cannot read"),
        pytest.param("a.py", b"eval(x)\0\n", True, id="what some Pythons read"),
        pytest.param("a.ipynb", b"", False, id="an empty notebook"),
        pytest.param("a.ipynb", b'{"worksheets": []}', False, id="a notebook of old"),
        pytest.param("a.ipynb", b'{"cells": [{"source": "def f(:"}]}', True, id="a cell"),
    ],
)
def test_what_ruff_cannot_read_is_severe_where_somebody_could_run_it(
    place: Path, name: str, content: bytes, is_told: bool
) -> None:
    path = place / "work" / name
    path.write_bytes(content)
    broken = {"code": None, "message": "Expected an expression", "filename": str(path)}
    says(place, RUFF, json.dumps([{**broken, "location": {"row": 1, "column": 1}}]), then="exit 1")
    scanned = ["a.js", "a.py"] if name == "a.py" else ["a.js"]
    says(place, SEMGREP, json.dumps(semgrep(paths={"scanned": scanned})))

    code, report, said = looked(place)

    (problem,) = read_problems(ProblemFormat.SARIF, report or b"").problems
    severity = ProblemSeverity.HIGH if is_told else ProblemSeverity.LOW
    assert (code, problem.severity, problem.rule) == (int(is_told), severity, "look:not-read")
    assert said == ""
    assert is_run(str(path)) is is_told


def test_what_the_tools_find_becomes_one_report_without_the_secret(place: Path) -> None:
    path, secret = str(place / "work/a.js"), "glpat-" + "0123456789abcdefghij"
    at = {"row": 3, "column": 5}
    danger = {"code": "S602", "message": "shell", "filename": path, "location": at}
    says(place, RUFF, json.dumps([danger]), then="exit 1")
    pattern = {
        "check_id": "javascript.x", "path": path, "start": {"line": 7, "col": 2},
        "extra": {"severity": "WARNING", "message": "bad", "is_ignored": True},
    }  # fmt: skip
    says(place, SEMGREP, json.dumps(semgrep(results=[pattern])))
    finding = {"finding": {"path": "/tmp/x/0.txt", "line": 4, "snippet": secret},  # noqa: S108
               "rule": {"id": "betterleaks.gitlab-pat", "description": "A token."}}  # fmt: skip
    found = {**NOTHING[KINGFISHER], "findings": [finding, finding]}
    says(place, KINGFISHER, json.dumps(found), then="exit 200")

    code, report, said = looked(place)

    assert code == 1
    assert secret not in said + (report or b"").decode()
    problems = read_problems(
        ProblemFormat.SARIF, (report or b"").replace(bytes(place), b"")
    ).problems
    assert {(one.rule, one.line, one.severity, one.message) for one in problems} == {
        ("S602", 3, ProblemSeverity.HIGH, "shell"),
        ("secret:gitlab-pat", 4, ProblemSeverity.HIGH, "A token. It begins with glpa…"),
        ("javascript.x", 7, ProblemSeverity.MEDIUM, "bad"),
    }


def test_folders_that_others_look_at_are_left_out(place: Path) -> None:
    inner = place / "work/inner"
    inner.mkdir()
    (inner / "b.js").write_text("let b = 1;\n")
    danger = {"code": "S602", "message": "shell", "filename": str(inner / "b.py"),
              "location": {"row": 1, "column": 1}}  # fmt: skip
    says(place, RUFF, json.dumps([danger]), then="exit 1")

    assert looked(place, str(inner))[0] == 0
    assert looked(place)[0] == 3, "semgrep says that it saw one file of two"


@pytest.mark.parametrize(
    ("code", "message", "level"),
    [
        ("S602", "`subprocess` call with `shell=True` identified, security issue", ERROR),
        ("S602", "`subprocess` call with `shell=True` seems safe, but may be changed", NOTE),
        ("S307", "Use of possibly insecure function", ERROR),
        ("S105", 'Possible hardcoded password assigned to: "x"', WARNING),
        ("S701", "By default, jinja2 sets `autoescape` to `False`", WARNING),
        ("S608", "Possible SQL injection vector", WARNING),
        ("invalid-syntax", "Expected an expression", ERROR),
        ("", "Expected an expression", ERROR),
    ],
)
def test_only_what_is_certain_is_severe(code: str, message: str, level: str) -> None:
    assert danger_level(code, message) == level


BODY = "0123456789abcdefghijABCDEFGHIJ"
DER = base64.b64encode(b"0\x82\x04\xa4" + bytes(range(200))).decode()


def pem(body: str, kind: str = "") -> str:
    return f"-----BEGIN {kind}PRIVATE" + f" KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


@check_rows(
    ("name", "value", "level"),
    [
        ("github-pat", "ghp" + f"_{BODY}{checksum(BODY)}", ERROR),
        ("github-pat", "ghp" + f"_{BODY}000000", NOTE),
        ("npm-access-token", "npm" + f"_{BODY}{checksum(BODY)}", ERROR),
        ("aws-access-token", "AKIA" + "Q" * 16, ERROR),
        ("aws-access-token", "AKIA" + "IOSFODNN7EXAMPLE", NOTE),
        ("stripe-access-token", "sk_" + "live_" + "a1" * 12, ERROR),
        ("stripe-access-token", "sk_" + "test_" + "a1" * 12, NOTE),
        ("private-key", pem(DER), ERROR),
        ("private-key", pem(DER.replace("A", "A\\n")), ERROR),
        ("private-key", pem(base64.b64encode(b"openssh-key-v1\0" + bytes(90)).decode()), ERROR),
        ("private-key", pem("..."), NOTE),
        ("private-key", pem("") + " is refused.", NOTE),
        ("private-key", "no key", NOTE),
        ("private-key", pem(DER[:20]), NOTE),
        ("generic-credential-uri", "postgres://a:b@c/d", NOTE),
        ("jwt", "eyJ", NOTE),
        ("gcp-api-key", "AIza", WARNING),
    ],
)  # fmt: skip
def test_a_secret_is_severe_where_its_form_proves_it(name: str, value: str, level: str) -> None:
    assert secret_level(name, value) == level


@pytest.mark.parametrize(
    ("name", "content", "language"),
    [
        ("a.PY", b"", "python"),
        ("tool", b"#!/usr/bin/env python3\n", "python"),
        ("tool", b"#! /usr/local/bin/python3.12 -u\n", "python"),
        ("tool", b"#!/usr/bin/env -S A=1 node --test\r\n", "javascript"),
        ("tool.cgi", b"#!/usr/bin/ruby", "ruby"),
        ("tool", b"#!/usr/bin/env deno", "typescript"),
        ("tool", b"#!/bin/sh\n", ""),
        ("tool", b"#!/usr/bin/env\n", ""),
        ("tool", b"#!\n", ""),
        ("tool", b"\xff\x00python\n", ""),
        ("a.js", b"#!/usr/bin/env python3\n", "javascript"),
    ],
)
def test_what_a_script_is_in_is_told_by_its_name_or_its_first_line(
    tmp_path: Path, name: str, content: bytes, language: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    assert language_of(str(path)) == language


@pytest.mark.parametrize(
    ("name", "content", "is_told"),
    [
        ("a.vue", b"", True),
        ("tool", b"#!/bin/sh\n", True),
        ("a.sh", b"#!/bin/sh\n", False),
        ("LICENSE", b"MIT\n", False),
    ],
)
def test_code_that_no_rule_is_read_in_is_told(
    tmp_path: Path, name: str, content: bytes, is_told: bool
) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    assert is_passed_over(str(path)) is is_told
