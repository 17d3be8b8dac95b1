"""From the stored body of a run to the engine's frozen values."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings

from verification.engine.checks.changed_files import changed_paths
from verification.engine.evidence import (
    Claim,
    EvidenceItem,
    Submission,
    SubmittedFile,
    TaskSpec,
    ToolCall,
)


def submission_of(body: Mapping[str, Any], files: Mapping[str, tuple[str, int]]) -> Submission:
    """`body` is the HTTP contract's, without `files`, which are `{path: (sha256, size)}`."""
    executor = body.get("executor") or {}
    return Submission(
        task=_task(body["task"]),
        output=body.get("output") or "",
        tool_calls=tuple(
            ToolCall(**{**call, "oddities": tuple(call.get("oddities") or ())})
            for call in body.get("tool_calls") or ()
        ),
        files=_files(files),
        claims=tuple(
            Claim(**{**claim, "evidence": tuple(claim.get("evidence") or ())})
            for claim in body.get("claims") or ()
        ),
        evidence=tuple(EvidenceItem(**one) for one in body.get("evidence") or ()),
        alternatives=tuple(body.get("alternatives") or ()),
        diff=body.get("diff") or "",
        executor_model=executor.get("model") or "",
        executor_context=executor.get("context_id") or "",
        return_code=body.get("return_code"),
        changed=_changed(body.get("change")),
    )


def _changed(change: Mapping[str, Any] | None) -> frozenset[str] | None:
    """Earlier programs kept whatever was sent as a change, and made nothing of it."""
    return frozenset(change["paths"]) if change and "paths" in change else None


def _task(task: Mapping[str, Any]) -> TaskSpec:
    return TaskSpec(**{**task, "expected_outputs": tuple(task.get("expected_outputs") or ())})


def named_paths(body: Mapping[str, Any]) -> dict[str, list[str]]:
    """The paths that a stored body names: beside it, they are read without reading the texts."""
    calls = body.get("tool_calls") or ()
    said = (path for call in calls for path in changed_paths(call.get("files_changed")))
    named = {
        "expected_outputs": list(body["task"].get("expected_outputs") or ()),
        "files_changed": list(dict.fromkeys(said)),
    }
    changed = _changed(body.get("change"))
    if changed is not None:
        named["change"] = sorted(changed)
    return named


def submission_of_paths(
    named: Mapping[str, Sequence[str]], files: Mapping[str, tuple[str, int]]
) -> Submission:
    """As much of a submission as says which of its files are the work's; `named_paths` of its body."""
    return Submission(
        task=TaskSpec("", "", expected_outputs=tuple(named["expected_outputs"])),
        output="",
        tool_calls=(ToolCall("", True, files_changed=list(named["files_changed"])),),
        files=_files(files),
        changed=frozenset(named["change"]) if "change" in named else None,
    )


def _files(files: Mapping[str, tuple[str, int]]) -> tuple[SubmittedFile, ...]:
    return tuple(
        SubmittedFile(path, sha256, size) for path, (sha256, size) in sorted(files.items())
    )


def fence_of(project: UUID, body: Mapping[str, Any], files: Mapping[str, tuple[str, int]]) -> str:
    """The mark around what is quoted to a judge: a name that nothing submitted can hold.

    It is made of all that was submitted, so that knowing an earlier one helps nobody: whoever
    writes it into a submission has made another one. The same work, sent again, is asked about
    in the same words, and an earlier reply answers it.
    """
    said = json.dumps([str(project), body, dict(files)], sort_keys=True)
    key = f"fence:{settings.SECRET_KEY}".encode()
    return hmac.new(key, said.encode(errors="replace"), hashlib.sha256).hexdigest()[:32]
