"""From an HTTP request to a stored run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from typing import IO, Any

from django.http import HttpRequest

from loomverify.accounts.access import Access
from loomverify.errors import InputError, Loc
from verification.runs import services
from verification.runs.evidence_store import Digest, digest_of, store_contents
from verification.runs.intake.archive import (
    archive_sha256,
    check_archive,
    clean_path,
    read_archive,
)
from verification.runs.intake.multipart import RUN_LOC, WORKSPACE_LOC, read_parts
from verification.runs.intake.reading import MAX_JSON_BYTES, inline_files, parse_body, validate_body
from verification.runs.intake.redaction import Redaction
from verification.runs.remediations.rows import check_named

LARGE_BYTES = 1_000_000
_large = threading.Lock()
"""One large submission at a time: each may hold a hundred megabytes while it is read."""


def read_request(access: Access, request: HttpRequest) -> services.Submitted:
    """Check everything, keep the files, store the run.

    Raises:
        InputError: 4xx, with the place named; nothing is half-stored.
    """
    with _large if _is_large(request) else nullcontext():
        return _read_request(access, request)


def _is_large(request: HttpRequest) -> bool:
    """A body that does not tell its size may be of any; all of it has arrived by now."""
    size = request.META.get("CONTENT_LENGTH") or ""
    return not (size.isascii() and size.isdigit()) or int(size) > LARGE_BYTES


def _read_request(access: Access, request: HttpRequest) -> services.Submitted:
    body, loc, archive = _parts(request)
    run = validate_body(body, loc=loc)
    key = _idempotency_key(request)
    sha256 = services.body_sha256(body, archive_sha256(archive) if archive else "")
    known = services.known_run(access=access, idempotency_key=key, body_sha256=sha256)
    if known is not None:
        return services.Submitted(known, is_new=False)
    target = services.find_target(access=access, body=run)
    if run.remediation is not None:
        check_named(
            access,
            run.remediation,
            process_id=target.process.pk,
            phase_id=target.phase.id,
            task=run.task.id,
            loc=(*loc, "remediation"),
        )
    redaction = Redaction(access.project.redaction_patterns)
    kept = redaction.json(run.model_dump(exclude={"files"}, exclude_none=True))
    files = _store_files(access, inline_files(run, loc=loc), archive, redaction=redaction)
    intake = services.Intake(
        body=run, kept=kept, target=target, files=files, body_sha256=sha256, idempotency_key=key
    )
    return services.submit_run(access=access, intake=intake)


def _parts(request: HttpRequest) -> tuple[dict[str, Any], Loc, IO[bytes] | None]:
    """The run's JSON, its place, and the archive."""
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        raise _unsupported(f"The body must not be encoded ({encoding[:40]!r}).", "Content-Encoding")
    if request.content_type == "application/json":
        return parse_body(request.read(MAX_JSON_BYTES + 1)), ("body",), None
    if request.content_type == "multipart/form-data":
        run, archive = read_parts(request)
        return parse_body(run, loc=RUN_LOC), RUN_LOC, archive
    raise _unsupported("Send application/json or multipart/form-data.", "Content-Type")


def _unsupported(msg: str, header: str) -> InputError:
    code = f"{header.lower().replace('-', '_')}.unknown"
    return InputError(code, msg, loc=("header", header), status=415)


def _idempotency_key(request: HttpRequest) -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 0 < len(key) <= services.MAX_IDEMPOTENCY_KEY or not key.isprintable():
        raise InputError(
            "idempotency.key",
            f"1 to {services.MAX_IDEMPOTENCY_KEY} printable characters.",
            loc=("header", "Idempotency-Key"),
        )
    return key


def _store_files(
    access: Access,
    inline: dict[str, bytes],
    archive: IO[bytes] | None,
    *,
    redaction: Redaction,
) -> dict[str, Digest]:
    """Put the files into the evidence store; return `{path: (sha256, size)}`."""
    if archive is not None:
        check_archive(archive, besides=inline, loc=WORKSPACE_LOC)
    files: dict[str, Digest] = {}
    for path, content in _contents(inline, archive):
        kept = redaction.content(content)
        store_contents(access.project, [kept])
        files[path] = digest_of(kept)
    return files


def _contents(inline: dict[str, bytes], archive: IO[bytes] | None) -> Iterator[tuple[str, bytes]]:
    yield from inline.items()
    if archive is not None:
        for path, content in read_archive(archive, loc=WORKSPACE_LOC):
            yield clean_path(path, loc=(*WORKSPACE_LOC, path)), content
