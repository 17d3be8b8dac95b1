"""From an HTTP request to a stored run."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any

from django.http import HttpRequest

from loomverify.accounts.access import Access
from loomverify.errors import InputError, Issue, Loc
from processes.definition.model import Phase
from verification.engine.floors import BELOW_PHASE, values_below_phase
from verification.runs import services
from verification.runs.evidence_store import Digest, digest_of, store_contents
from verification.runs.intake import changes
from verification.runs.intake.archive import (
    archive_sha256,
    check_archive,
    clean_path,
    read_archive,
)
from verification.runs.intake.multipart import ARCHIVES, RUN_LOC, read_parts
from verification.runs.intake.reading import MAX_JSON_BYTES, inline_files, parse_body
from verification.runs.intake.redaction import Redaction, apart
from verification.runs.intake.renaming import names_of
from verification.runs.intake.schemas import RunIn
from verification.runs.intake.tool_calls import read_run
from verification.runs.remediations.rows import check_named

NOTHING: Mapping[str, IO[bytes]] = MappingProxyType({})
Contents = Callable[[], Iterator[tuple[str, bytes]]]

MAX_TASK_ID = 200
LARGE_BYTES = 1_000_000
_large = threading.RLock()
"""One large submission at a time: each may hold a hundred megabytes while it is read.

A change is one: however short it is, the repository behind it may be large.
"""


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
    body, loc, archives = _parts(request)
    run = read_run(body, loc=loc)
    key = _idempotency_key(request)
    sha256 = services.body_sha256(body, _archives_sha256(archives))
    return submit(access, run, sha256=sha256, idempotency_key=key, archives=archives, loc=loc)


def submit(
    access: Access,
    run: RunIn,
    *,
    sha256: str,
    idempotency_key: str | None,
    archives: Mapping[str, IO[bytes]] = NOTHING,
    loc: Loc = ("body",),
) -> services.Submitted:
    """Check a submission that is of the right shape, keep its files, store the run.

    `sha256` is what makes two submissions the same under one idempotency key.

    Raises:
        InputError: 4xx, with the place named; nothing is half-stored.
    """
    known = services.known_run(access=access, idempotency_key=idempotency_key, body_sha256=sha256)
    if known is not None:
        return services.Submitted(known, is_new=False)
    with nullcontext() if run.change is None else _large:
        return _submit(access, run, sha256, idempotency_key, archives, loc)


def _submit(
    access: Access,
    run: RunIn,
    sha256: str,
    idempotency_key: str | None,
    archives: Mapping[str, IO[bytes]],
    loc: Loc,
) -> services.Submitted:
    redaction = Redaction(access.project.redaction_patterns)
    run = _named(run, redaction)
    target = services.find_target(access=access, body=run)
    _refuse_below_phase(run, target.phase, loc)
    if run.remediation is not None:
        check_named(
            access,
            run.remediation,
            process_id=target.process.pk,
            phase_id=target.phase.id,
            task=run.task.id,
            loc=(*loc, "remediation"),
        )
    change = changes.applied(access, run, archives=archives, loc=loc)
    kept = _redacted(_told(run, change), redaction)
    files, base = _named_apart(
        [
            _store_files(access, contents, redaction)
            for contents in (
                _changed(change, redaction, loc) if change else _given(run, archives, loc)
            )
        ],
        redaction,
    )
    if change is None:
        base = _spell_alike(base, files)
    intake = services.Intake(
        body=run,
        kept=kept,
        target=target,
        files=files,
        base=base,
        body_sha256=sha256,
        idempotency_key=idempotency_key,
        keep_change=change.keep if change else None,
    )
    return services.submit_run(access=access, intake=intake)


def _refuse_below_phase(run: RunIn, phase: Phase, loc: Loc) -> None:
    below = values_below_phase(phase, tier=run.tier, is_critical_path=run.task.is_critical_path)
    issues = [Issue(BELOW_PHASE, value.message, (*loc, *value.field)) for value in below]
    if issues:
        raise InputError.of(issues)


def _named(run: RunIn, redaction: Redaction) -> RunIn:
    """With the task's id as it is stored: what is of different tasks stays apart."""
    task = run.task.id
    kept = redaction.json(task)
    if kept == task:
        return run
    named = apart(kept, task, most=MAX_TASK_ID)
    return run.model_copy(update={"task": run.task.model_copy(update={"id": named})})


def _redacted(told: dict[str, Any], redaction: Redaction) -> dict[str, Any]:
    """Our own keys stay; those of what tools were given and gave are anybody's."""
    kept: dict[str, Any] = redaction.json(told)
    kept["task"]["id"] = told["task"]["id"]
    redaction.name_keys(kept.get("tool_calls"))
    return kept


def _told(run: RunIn, change: changes.Applied | None) -> dict[str, Any]:
    """The body as it is stored, without contents."""
    told = run.model_dump(exclude={"files", "base", "change"}, exclude_none=True)
    if change is not None:
        told |= {"diff": change.diff, "change": dict(change.told)}
    return told


def _given(run: RunIn, archives: Mapping[str, IO[bytes]], loc: Loc) -> list[Contents]:
    """The files of the run and of its base, all of them looked at."""
    given = [
        _Given(inline_files(run, field, loc=loc), part, archives.get(part))
        for field, part in zip(("files", "base"), ARCHIVES, strict=True)
    ]
    for one in given:
        one.check()
    return [one.contents for one in given]


def _changed(change: changes.Applied, redaction: Redaction, loc: Loc) -> list[Contents]:
    """What lands is what was verified: what would be redacted cannot be."""

    def files() -> Iterator[tuple[str, bytes]]:
        for path, content in change.files():
            is_kept = redaction.content(content, path) == content and redaction.json(path) == path
            if path in change.changed and not is_kept:
                change.forget()
                raise InputError(
                    "change.redacted",
                    f"{path} holds what this project redacts, so that it cannot be stored, "
                    "nor land as it was verified.",
                    loc=(*loc, "change"),
                )
            yield path, content

    return [files, change.base]


def _parts(request: HttpRequest) -> tuple[dict[str, Any], Loc, dict[str, IO[bytes]]]:
    """The run's JSON, its place, and the archives by their part's name."""
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in {"", "identity"}:
        raise _unsupported(f"The body must not be encoded ({encoding[:40]!r}).", "Content-Encoding")
    if request.content_type == "application/json":
        return parse_body(request.read(MAX_JSON_BYTES + 1)), ("body",), {}
    if request.content_type == "multipart/form-data":
        run, archives = read_parts(request)
        return parse_body(run, loc=RUN_LOC), RUN_LOC, archives
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


def _archives_sha256(archives: Mapping[str, IO[bytes]]) -> str:
    """A workspace alone is named as it was before there were others."""
    return "\n".join(
        archive_sha256(archive) if name == ARCHIVES[0] else f"{name} {archive_sha256(archive)}"
        for name, archive in archives.items()
    )


@dataclass(frozen=True, slots=True)
class _Given:
    """Files by clean path, and perhaps more of them in an archive, the part `name`."""

    inline: Mapping[str, bytes]
    name: str
    archive: IO[bytes] | None

    @property
    def loc(self) -> Loc:
        return ("body", self.name)

    def check(self) -> None:
        if self.archive is not None:
            check_archive(self.archive, besides=self.inline, loc=self.loc)

    def contents(self) -> Iterator[tuple[str, bytes]]:
        yield from self.inline.items()
        if self.archive is not None:
            for path, content in read_archive(self.archive, loc=self.loc):
                yield clean_path(path, loc=(*self.loc, path)), content


def _store_files(access: Access, contents: Contents, redaction: Redaction) -> dict[str, Digest]:
    """Put the files into the evidence store; return `{path: (sha256, size)}`, paths as they came."""
    files: dict[str, Digest] = {}
    for path, content in contents():
        kept = redaction.content(content, path)
        store_contents(access.project, [kept])
        files[path] = digest_of(kept)
    return files


def _spell_alike(base: Mapping[str, Digest], files: Mapping[str, Digest]) -> dict[str, Digest]:
    """Return the base with each name as the work spells it: one system composes, another does not."""
    spelled = {unicodedata.normalize("NFC", path): path for path in files}
    return {
        spelled.get(unicodedata.normalize("NFC", path), path): digest
        for path, digest in base.items()
    }


def _named_apart(
    stored: Sequence[Mapping[str, Digest]], redaction: Redaction
) -> list[dict[str, Digest]]:
    """The same files under the names that are kept of them."""
    names = names_of({path for files in stored for path in files}, redaction)
    return [{names[path]: digest for path, digest in files.items()} for files in stored]
