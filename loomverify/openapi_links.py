"""Links of the OpenAPI document: which answers name what other addresses ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")

MADE_BY: dict[str, dict[str, str]] = {
    "submit_run": {"run_id": "id"},
    "add_version": {"slug": "slug", "number": "version", "old": "version", "new": "version"},
    "create_webhook": {"webhook_id": "id"},
    "create_waiver": {"waiver_id": "id"},
    "make_verifier": {"number": "number", "old": "number", "new": "number"},
    "start_replay": {"replay_id": "id"},
    "start_sample": {"sample_id": "id"},
    "start_trial": {"trial_id": "id"},
    "replay_cutover_corpus": {"replay_id": "id"},
    "create_golden_case": {"case_id": "id"},
    "claim_next_review": {"review_id": "id", "run_id": "run"},
}
"""By the end of an operation's id: parameters of paths, and where their values stand in its answer."""

ONLY_WITH = {"add_version": "slug"}
"""A version's number says nothing without its process: verifiers have numbers too."""


def add_links(paths: dict[str, Any]) -> None:
    """Lead from each answer that made or found something to every address of that thing."""
    operations = [one for path in paths.values() for one in path.values()]
    for operation in operations:
        named = _found(MADE_BY, operation["operationId"]) or {}
        needed = {_found(ONLY_WITH, operation["operationId"])} - {None}
        links = {
            one["operationId"]: _link(one, named)
            for one in operations
            if (asked := _path_parameters(one)) and needed <= asked <= set(named)
        }
        for status, answer in operation["responses"].items():
            if links and int(status) < 300 and "content" in answer:
                answer["links"] = links


def _found(by_end: Mapping[str, T], operation_id: str) -> T | None:
    return next((found for end, found in by_end.items() if operation_id.endswith(end)), None)


def _path_parameters(operation: dict[str, Any]) -> set[str]:
    parameters = operation.get("parameters", [])
    return {one["name"] for one in parameters if one["in"] == "path"}


def _link(operation: dict[str, Any], named: dict[str, str]) -> dict[str, Any]:
    return {
        "operationId": operation["operationId"],
        "parameters": {
            name: f"$response.body#/{named[name]}" for name in sorted(_path_parameters(operation))
        },
    }
