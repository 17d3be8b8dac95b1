"""Which spans of a process file change when what it says of the whole does. Pure: text in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from processes.definition.model import Definition
from processes.definition.patch import Edit, Path, Remove, SetValue
from processes.rule_edits import Text, list_edits, text_of

POLICY: Path = ("verification", "policy")
REMEDIATION: Path = ("verification", "remediation")
PLACES: Mapping[str, Path] = {
    "title": ("title",),
    "description": ("description",),
    "version": ("version",),
    "author": ("author",),
    "tags": ("tags",),
    "persona": ("persona",),
    "risk_level": ("risk_level",),
    "phase_mode": ("phase_mode",),
    "mode": (*POLICY, "mode"),
    "tool_success_policy": (*POLICY, "static_checks", "tool_success_policy"),
    "lint_commands": (*POLICY, "static_checks", "lint_commands"),
    "gates_without_sandbox": (*POLICY, "static_checks", "gates_without_sandbox"),
    "auto_commit": (*POLICY, "auto_commit"),
    "max_attempts": (*POLICY, "max_attempts"),
    "critical_path_behavior": (*REMEDIATION, "critical_path_behavior"),
    "remediation_attempts": (*REMEDIATION, "retry_budget", "max_attempts"),
}
USUAL: Mapping[str, Any] = {
    "title": "",
    "description": "",
    "version": "1.0",
    "author": "",
    "tags": "",
    "persona": "",
    "risk_level": "medium",
    "phase_mode": "guided",
    "mode": "llm_first",
    "tool_success_policy": "all_tools_hard",
    "lint_commands": "table",
    "gates_without_sandbox": "undecided",
    "auto_commit": "build_or_tests",
    "max_attempts": None,
    "critical_path_behavior": "block",
    "remediation_attempts": 2,
}


def head_values(definition: Definition) -> dict[str, Any]:
    """What the form shows of the whole; tags, one a line."""
    policy, remediation = definition.policy, definition.remediation
    elsewhere = {
        "tags": "\n".join(definition.tags),
        "mode": policy.mode,
        "tool_success_policy": str(policy.tool_success_policy),
        "lint_commands": str(policy.lint_commands),
        "gates_without_sandbox": str(policy.gates_without_sandbox),
        "auto_commit": str(policy.auto_commit),
        "max_attempts": policy.max_attempts,
        "critical_path_behavior": remediation["critical_path_behavior"],
        "remediation_attempts": remediation["max_attempts"],
    }
    return {key: elsewhere[key] if key in elsewhere else getattr(definition, key) for key in USUAL}


def head_changed(source: str, values: Mapping[str, Any]) -> str:
    """Give the whole what a form says; what is usual is not written where it does not stand.

    Raises:
        InputError: the text is broken, or what stands there cannot be changed alone.
    """
    text = text_of(source)
    present = head_values(text.definition)
    edits: list[Edit] = []
    for key, value in values.items():
        if value != present[key]:
            edits += _edits(text, PLACES[key], value, is_usual=value == USUAL[key])
    return text.patched(edits)


def _edits(text: Text, path: Path, value: Any, *, is_usual: bool) -> list[Edit]:
    written = text.written(path)
    if path == PLACES["tags"]:
        return list_edits(path, written, [tag.strip() for tag in value.split("\n") if tag.strip()])
    if is_usual and path[-1] in (text.written(path[:-1]) or ()):
        return [Remove(path)]
    return [SetValue(path, value)]
