"""How the OpenAPI document describes a submission."""

from __future__ import annotations

from typing import Any

from verification.runs.intake.schemas import RunRequest

REFERENCE = "#/components/schemas/{model}"
RUN = {"$ref": REFERENCE.format(model="RunRequest")}

SMALLEST: dict[str, Any] = {
    "process": "general",
    "task": {"id": "q3-summary", "description": "Sum up the third quarter."},
    "output": "Revenue rose by 4 % to 1.3 million.",
}
WHOLE: dict[str, Any] = {
    **SMALLEST,
    "task": {
        **SMALLEST["task"],
        "acceptance_criteria": "The report names the revenue of every month.",
        "expected_outputs": ["report.md"],
        "max_attempts": 3,
    },
    "tier": 1,
    "tool_calls": [
        {"tool": "read_file", "success": True, "args": {"path": "q3.csv"}, "result": "1300000"}
    ],
    "files": {"report.md": "# Third quarter\n", "q3.bin": {"base64": "AAEC"}},
    "claims": [
        {
            "text": "Revenue was 1.3 million.",
            "label": "confirmed",
            "section": "supporting",
            "evidence": ["e1"],
        }
    ],
    "evidence": [{"id": "e1", "tool": "read_file", "text": "1300000"}],
    "executor": {"model": "an-agent", "context_id": "session-7"},
    "return_code": 0,
}


CHANGE: dict[str, Any] = {
    **SMALLEST,
    "change": {
        "repository": "app",
        "base": "main",
        "patch": "diff --git a/q3.md b/q3.md\n--- a/q3.md\n+++ b/q3.md\n@@ -1 +1 @@\n-1.2\n+1.3\n",
    },
}
MESSAGES: dict[str, Any] = {
    **SMALLEST,
    "messages": [
        {"role": "user", "content": "Sum up the third quarter."},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "q3.csv"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "1300000"},
    ],
}
BLOCKS: dict[str, Any] = {
    **SMALLEST,
    "tool_calls": [
        {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "q3.csv"}},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": [{"type": "text", "text": "1300000"}],
            "is_error": False,
        },
    ],
}


def _definitions() -> dict[str, Any]:
    run = RunRequest.model_json_schema(ref_template=REFERENCE)
    return {**run.pop("$defs"), "RunRequest": run}


PARTS: dict[str, Any] = {
    "type": "object",
    "required": ["run"],
    "additionalProperties": False,
    "properties": {
        "run": RUN,
        "workspace": {
            "type": "string",
            "format": "binary",
            "description": "A .tar.gz or .zip of the workspace.",
        },
        "base": {
            "type": "string",
            "format": "binary",
            "description": "A .tar.gz or .zip of the workspace as it was before the work: "
            "what its gates failed by then, and what did not parse then, does not count.",
        },
    },
}
REQUEST_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "application/json": {
            "schema": RUN | {"$defs": _definitions()},
            "examples": {
                "smallest": {"summary": "The least that can be submitted", "value": SMALLEST},
                "whole": {"summary": "What else can be said", "value": WHOLE},
                "change": {"summary": "A change to a registered repository", "value": CHANGE},
                "messages": {"summary": "Messages of OpenAI", "value": MESSAGES},
                "blocks": {"summary": "Tool calls as blocks of Anthropic", "value": BLOCKS},
            },
        },
        "multipart/form-data": {
            "schema": PARTS,
            "encoding": {
                "run": {"contentType": "application/json"},
                "workspace": {"contentType": "application/gzip, application/zip"},
                "base": {"contentType": "application/gzip, application/zip"},
            },
            "examples": {
                "smallest": {"summary": "Without a workspace", "value": {"run": SMALLEST}}
            },
        },
    },
}
