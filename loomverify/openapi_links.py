"""Links of the OpenAPI document: which answers name what other addresses ask for."""

from __future__ import annotations

from typing import Any

MADE_BY: dict[str, dict[str, str]] = {
    "submit_run": {"run_id": "id"},
    "add_version": {"slug": "slug", "number": "version", "old": "version", "new": "version"},
    "create_webhook": {"webhook_id": "id"},
}
"""By the end of an operation's id: parameters of paths, and where their values stand in its answer."""


def add_links(paths: dict[str, Any]) -> None:
    """Lead from each answer that made something to every address of that thing."""
    operations = [one for path in paths.values() for one in path.values()]
    for operation in operations:
        named = _named_by(operation["operationId"])
        links = {
            one["operationId"]: _link(one, named)
            for one in operations
            if named and (asked := _path_parameters(one)) and asked <= set(named)
        }
        for status, answer in operation["responses"].items():
            if links and int(status) < 300:
                answer["links"] = links


def _named_by(operation_id: str) -> dict[str, str]:
    return next((found for end, found in MADE_BY.items() if operation_id.endswith(end)), {})


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
