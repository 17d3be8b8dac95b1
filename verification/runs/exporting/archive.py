"""All the evidence of one run as one archive: what was submitted, asked, run and concluded."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from django.db.models import QuerySet

from verification.runs import rendering
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exporting.gathered import report_of
from verification.runs.exporting.markdown import markdown
from verification.runs.models import Blob, Evaluation, Run

Content = bytes | Blob
Entry = tuple[str, Content]
Part = Callable[[Run], Iterator[Entry]]

FORMAT = 1
MANIFEST = "manifest.json"
MAX_NAME = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")

_parts: list[Part] = []


def register(part: Part) -> None:
    """Rooms above add what they know of a run, in their `AppConfig.ready()`."""
    _parts.append(part)


def evidence_archive(run: Run) -> IO[bytes]:
    """Return a zip file, open at its start; the same evidence gives the same bytes.

    `manifest.json` names each entry with its SHA-256 and size, and beside them what the store
    holds no more.
    """
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    listed: list[dict[str, Any]] = []
    with zipfile.ZipFile(spool, "w") as archive:
        for name, content in _entries(run):
            try:
                found = read_blob(content) if isinstance(content, Blob) else content
            except EvidenceLost:
                listed.append({"name": name, "lost": True})
                continue
            _write(archive, run, name, found)
            digest = hashlib.sha256(found).hexdigest()
            listed.append({"name": name, "sha256": digest, "size": len(found)})
        told = {"format": FORMAT, "run": str(run.uuid), "entries": listed}
        _write(archive, run, MANIFEST, as_json(told))
    spool.seek(0)
    return spool


def as_json(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True, default=str)
    return text.encode(errors="replace") + b"\n"


def _write(archive: zipfile.ZipFile, run: Run, name: str, content: bytes) -> None:
    at = run.created_at
    info = zipfile.ZipInfo(name, (at.year, at.month, at.day, at.hour, at.minute, at.second))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    archive.writestr(info, content)


def _entries(run: Run) -> Iterator[Entry]:
    whole = rendering.whole(Run.objects.filter(pk=run.pk)).get()
    yield "run.json", as_json(rendering.full(whole).dict())
    yield "submission.json", as_json(run.submission.body)
    events = [rendering.event(row).dict() for row in run.events.order_by("seq")]
    yield "events.json", as_json(events)
    yield "report.md", markdown(report_of(run)).encode()
    yield from _files(run)
    for number, evaluation in enumerate(run.evaluations.order_by("id"), start=1):
        yield from _of_evaluation(run, evaluation, f"evaluations/{number:02d}-{evaluation.purpose}")
    for part in _parts:
        yield from part(run)


def _files(run: Run) -> Iterator[Entry]:
    """Submitted paths were made safe as they came in."""
    for folder, rows in (("files", run.files), ("base", run.base_files)):
        for row in rows.select_related("blob__project").order_by("path"):
            yield f"{folder}/{row.path}", row.blob


def _of_evaluation(run: Run, row: Evaluation, folder: str) -> Iterator[Entry]:
    yield f"{folder}/evaluation.json", as_json(rendering.whole_evaluation(row, run).dict())
    yield from _gates(row.gates.all(), f"{folder}/gates")
    yield from _gates(row.base_gates.all(), f"{folder}/gates-before")
    calls = row.model_calls.select_related("request__project", "reply__project")
    for call in calls.order_by("tier", "seq"):
        name = f"{folder}/calls/{call.tier}-{call.seq:02d}-{_safe(call.judge)}"
        told = {
            "judge": call.judge, "model": call.model, "ask": call.ask, "cached": call.cached,
            "lost": call.lost, "recovery": call.recovery, "cost_usd": str(call.cost_usd),
            "prompt_tokens": call.prompt_tokens, "completion_tokens": call.completion_tokens,
            "duration_ms": call.duration_ms, "error": call.error,
        }  # fmt: skip
        yield f"{name}.json", as_json(told)
        yield from _kept(f"{name}.request.txt", call.request)
        yield from _kept(f"{name}.reply.txt", call.reply)
    for number, made in enumerate(row.artefacts.select_related("blob__project").order_by("id")):
        yield f"{folder}/artefacts/{number + 1:02d}-{_safe(made.file_name)}", made.blob


def _gates(rows: QuerySet[Any], folder: str) -> Iterator[Entry]:
    """No model is asked, so that none of them costs anything."""
    gates = rows.select_related("log__project", "record__project").order_by("position", "id")
    for number, gate in enumerate(gates, start=1):
        name = f"{folder}/{number:02d}-{_safe(gate.gate)}-{_safe(gate.component)}"
        told = {
            "gate": gate.gate, "component": gate.component, "status": gate.status,
            "command": gate.command, "exit_code": gate.exit_code, "detail": gate.detail,
            "started_ms": gate.started_ms, "duration_ms": gate.duration_ms, "cost_usd": "0",
            "tests": gate.tests, "report": gate.report,
        }  # fmt: skip
        yield f"{name}.json", as_json(told)
        yield from _kept(f"{name}.log", gate.log)
        yield from _kept(f"{name}.reports", gate.record)


def _kept(name: str, blob: Blob | None) -> Iterator[Entry]:
    if blob is not None:
        yield name, blob


def _safe(text: str) -> str:
    """A part of a file's name, whatever was submitted as its component's."""
    return _UNSAFE.sub("-", text).strip("-.")[:MAX_NAME] or "root"
