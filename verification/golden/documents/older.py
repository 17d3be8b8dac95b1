"""Cases in the shape of before: what was submitted is taken, and recorded verdicts are not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from loomverify.errors import InputError, Issue, Loc
from verification.engine.outcome import RetryStrategy
from verification.engine.shadow import DiffClass

KEYS = ("id", "context", "legacy", "policy", "expected")
NAMES = {
    "process": ("process", "process_name"),
    "phase": ("phase", "phase_id", "subtask_id"),
    "tier": ("tier", "verification_tier"),
    "output": ("output", "result", "result_summary", "summary", "text"),
    "description": ("description", "subtask", "task", "goal"),
    "acceptance_criteria": ("acceptance_criteria", "criteria"),
    "is_critical_path": ("is_critical_path", "critical_path"),
    "files": ("files", "deliverables", "workspace"),
    "evidence": ("evidence", "evidence_records"),
    "tool_calls": ("tool_calls",),
    "claims": ("claims",),
    "return_code": ("return_code", "exit_code"),
    "diff": ("diff",),
    "replies": ("replies",),
}
"""What today's field was called in a context, the first that is there."""
IN_RUN = ("output", "tool_calls", "claims", "evidence", "return_code", "diff")
IN_TASK = ("description", "acceptance_criteria", "is_critical_path")
USUAL_PROCESS, USUAL_PHASE = "general", "work"
EXPECTED = ("shadow_classification", "retry_strategy")
MAX_KEPT_CHARS = 2000


def is_older(document: Mapping[str, Any]) -> bool:
    return "run" not in document and ("context" in document or "policy" in document)


def from_older(older: Mapping[str, Any], *, loc: Loc = ()) -> dict[str, Any]:
    """Return today's document of it.

    Recorded verdicts are kept as provenance, never replayed. So is what is no submission.

    Raises:
        InputError: 422, there is nothing that could be submitted, or nothing to expect.

    Source: docs/golden.md, "The older shape".
    """
    if issues := _issues(older, loc):
        raise InputError.of(issues)
    context: Mapping[str, Any] = older["context"]
    taken = {name: _first(context, names) for name, names in NAMES.items()}
    fields = {name: context[key] for name, key in taken.items() if key}
    name = name_of(str(older["id"]))
    document = {
        "id": name,
        "guards": str(context.get("guards") or _guarded(older))[:500],
        "process": fields.get("process", USUAL_PROCESS),
        "phase": fields.get("phase", USUAL_PHASE),
        "tier": fields.get("tier"),
        "tags": ["older-shape"],
        "provenance": _provenance(older, set(taken.values())),
        "run": _run(name, fields),
        "files": fields.get("files"),
        "replies": fields.get("replies"),
        "expected": _expected(older["expected"]),
    }
    return {key: value for key, value in document.items() if value not in (None, [], {})}


def name_of(text: str) -> str:
    """A case's name of today: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:120].strip("-")


def _issues(older: Mapping[str, Any], loc: Loc) -> list[Issue]:
    issues = [
        Issue("case.field", "The older shape has no such field.", (*loc, str(key)))
        for key in older
        if key not in KEYS
    ]
    if not name_of(str(older.get("id") or "")):
        issues.append(Issue("case.id", "A case needs a name.", (*loc, "id")))
    context = older.get("context")
    if not isinstance(context, dict):
        msg = "The context must be a mapping: what was submitted is read from it."
        return [*issues, Issue("case.context", msg, (*loc, "context"))]
    if not any(_first(context, NAMES[name]) for name in (*IN_RUN, "files")):
        known = ", ".join(NAMES["output"] + NAMES["files"])
        msg = f"Nothing in the context can be submitted again, such as {known}."
        issues.append(Issue("case.nothing_submitted", msg, (*loc, "context")))
    return issues + _issues_expected(older.get("expected"), (*loc, "expected"))


def _issues_expected(expected: Any, loc: Loc) -> list[Issue]:
    if not isinstance(expected, dict) or not any(name in expected for name in EXPECTED):
        return [Issue("case.expects_nothing", f"Name {' or '.join(EXPECTED)}.", loc)]
    return [
        Issue("case.field", "The older shape expects no such thing.", (*loc, str(key)))
        for key in expected
        if key not in EXPECTED
    ]


def _first(context: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for name in names if context.get(name) not in (None, "", [], {})), "")


def _run(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    task = {one: fields[one] for one in IN_TASK if one in fields}
    usual = {"id": name, "description": "As it was in the older case."}
    return {"task": {**usual, **task}, **{one: fields[one] for one in IN_RUN if one in fields}}


def _expected(expected: Mapping[str, Any]) -> dict[str, Any]:
    """Classes and strategies that are none are told as such when the document is checked."""
    found: dict[str, Any] = {}
    if "shadow_classification" in expected:
        said = str(expected["shadow_classification"]).replace("-", "_").replace("/", "_")
        known = {"none": DiffClass.NO_DIFF, "both_fail_reason_mismatch": "both_fail_reason_diff"}
        found["shadow"] = str(known.get(said, said))
    if "retry_strategy" in expected:
        said = str(expected["retry_strategy"] or RetryStrategy.NONE)
        found["retry_strategy"] = said.replace("-", "_")
    return found


def _provenance(older: Mapping[str, Any], taken: set[str]) -> dict[str, str]:
    kept = {
        "shape": "id, context, legacy, policy, expected",
        **{f"recorded {name}": older[name] for name in ("legacy", "policy") if older.get(name)},
        **{
            f"context {key}"[:200]: value
            for key, value in older["context"].items()
            if key not in taken and key != "guards"
        },
    }
    return {name: _told(value) for name, value in kept.items()}


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:MAX_KEPT_CHARS]


def _guarded(older: Mapping[str, Any]) -> str:
    expected = ", ".join(
        f"{older['expected'][name]}" for name in EXPECTED if name in older["expected"]
    )
    return f"{older['id']} comes to {expected}, as an older case says."
