from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller, new_process

CRITICAL = """
name: advice
phases:
  - id: advise
    description: Give advice.
    is_critical_path: true
"""
INFERRED = {"text": "Buy it.", "label": "inferred", "section": "recommendation"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (
            {
                "files": {"src/b.py": "x = 1\n"},
                "tool_calls": [
                    {"tool": "edit", "success": True, "files_changed": ["/work/src/b.py", "t.py"]},
                    {"tool": "bash", "success": True, "args": {"command": "rm -f t.py"}},
                ],
                "task": {"expected_outputs": ["./src//b.py", "/work/src/b.py"]},
            },
            ("pass", "accept", "", []),
        ),
        (
            {"tool_calls": [{"tool": "edit", "success": True, "files_changed": {"a": [None, 3]}}]},
            ("pass_with_warnings", "accept", "odd_payload", []),
        ),
        (
            {"tool_calls": [{"tool": "web_fetch", "success": False, "error": "HTTP 404"}]},
            ("pass_with_warnings", "accept", "tool_failed", []),
        ),
        (
            {"tool_calls": [{"tool": "edit", "success": True, "files_changed": ["~/.ssh/id"]}]},
            ("fail", "reject", "path_outside_workspace", ["~/.ssh/id"]),
        ),
        (
            {"files": {"readme.md": "x"}, "task": {"expected_outputs": ["README.md", "gone.md"]}},
            ("fail", "reject", "deliverable_missing", ["gone.md", "README.md"]),
        ),
        (
            {"files": {"a.json": '{"a": 1,\n"b"}'}, "task": {"expected_outputs": ["a.json"]}},
            ("fail", "reject", "syntax_invalid", ["a.json"]),
        ),
        (
            {"files": {"a.json": "{", "b.json": "{}"}, "base": {"a.json": "{}", "b.json": "[1"}},
            ("fail", "reject", "syntax_invalid", ["a.json"]),
        ),
        (
            {
                "files": {"a.json": "[ 1", "moved.json": "{"},
                "base": {"a.json": "[1", "b.json": "{"},
            },
            ("pass_with_warnings", "accept", "syntax_invalid", ["a.json", "moved.json"]),
        ),
        (
            {"claims": [INFERRED]},
            ("partial_verified", "accept", "unconfirmed_above_threshold", []),
        ),
        (
            {"claims": [INFERRED], "process": "advice"},
            ("fail", "reject", "recommendation_unconfirmed", []),
        ),
        (
            {"claims": [{**INFERRED, "label": "sure", "section": "other"}], "process": "advice"},
            ("fail", "reject", "unconfirmed_critical_path", []),
        ),
    ],
)
def test_what_tier_one_says_of_a_submission(
    project: Project,
    agent: Caller,
    fields: dict[str, Any],
    expected: tuple[str, str, str, list[str]],
) -> None:
    new_process(project, CRITICAL)

    run = agent.submit(**fields)

    paths = [found["path"] for found in run["findings"] if found["path"]]
    assert (run["outcome"], run["verdict"], run["reason_code"] or "", paths) == expected
    assert run["retry"]["rerun_execution"] is (run["verdict"] == "reject")
