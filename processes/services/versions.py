from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict, FaultError, InputError, Issue
from loomverify.guarding import NOTHING, Objected
from processes import renames
from processes.checking import warnings_of
from processes.definition.load import Loaded, load
from processes.definition.model import Definition, Problem
from processes.guards import PUBLISHING, Publication
from processes.models import PhaseRule, Process, ProcessVersion, Rule, RuleVersion
from processes.selectors import version_by_number

UNSCOPED = ""
ANY_VERSION = -1
MAX_STORED_WARNINGS = 1_000
MAX_STORED_NOTES = 200
MAX_TOLD_ERRORS = 1_000
TOO_LARGE = "file.too_large"


def ensure_builtin_processes(*, project: Project) -> None:
    """Give a project the shipped processes; add and publish what a new program changed.

    A process of which the project published a version of its own gets the new text as a
    version, but is not switched to it.
    """
    for source_text in _shipped_texts():
        with transaction.atomic():
            lock_versions(project)
            _ensure_shipped(project, source_text)


@cache
def _shipped_texts() -> tuple[str, ...]:
    folder = files("processes") / "builtin"
    shipped = sorted(
        (entry for entry in folder.iterdir() if entry.name.endswith(".yaml")),
        key=lambda entry: entry.name,
    )
    return tuple(entry.read_text(encoding="utf-8") for entry in shipped)


@lru_cache(maxsize=32)
def _loaded(shipped_text: str) -> Loaded:
    return load(shipped_text)


def _ensure_shipped(project: Project, source_text: str) -> None:
    loaded = _loaded(source_text)
    if loaded.definition is None:
        raise FaultError(f"a shipped process does not load: {loaded.errors[0]}")
    process = project.processes.filter(slug=loaded.definition.name).first()
    if process is None:
        process = _make_process(project, loaded.definition, is_builtin=True)
    elif not process.is_builtin:
        return
    last = process.versions.filter(is_shipped=True).order_by("-number").first()
    if last is not None and last.sha256 == _sha256(source_text):
        return
    version = _store_version(
        process,
        loaded,
        source_text,
        warnings_of(loaded, process),
        actor=SYSTEM,
        note="Came with LoomVerify.",
        is_shipped=True,
    )
    has_own = process.versions.filter(is_shipped=False, published_at__isnull=False).exists()
    if not has_own and process.published_id == (last.pk if last else None):
        _publish(process, version, loaded, actor=SYSTEM, reason="Came with LoomVerify.")


def add_version(
    *, project: Project, source_text: str | bytes, actor: Actor, role: Role, note: str = ""
) -> tuple[ProcessVersion, Sequence[Problem]]:
    """Store a process file under the name it gives itself; return it and its warnings.

    The first version of a process is published at once when an admin adds it and no guard
    objects. The text of the latest version again is that version.

    Raises:
        InputError: the file holds errors, all of them named; nothing is stored.
    """
    loaded = load(source_text)
    if loaded.definition is None:
        raise _refusal(loaded)
    text = source_text.decode() if isinstance(source_text, bytes) else source_text
    with transaction.atomic():
        lock_versions(project)
        process = project.processes.filter(slug=loaded.definition.name).first()
        if process is None:
            process = _make_process(project, loaded.definition)
        latest = process.versions.order_by("-number").first()
        if latest is not None and latest.source_text == text:
            return latest, warnings_of(loaded, process)
        warnings = warnings_of(loaded, process)
        version = _store_version(process, loaded, text, warnings, actor=actor, note=note)
        record(actor, "process_version.added", version, project=project, reason=note)
        if latest is None and role.holds(Role.ADMIN):
            _publish_first(process, version, loaded, actor=actor)
    return version, warnings


def _publish_first(
    process: Process, version: ProcessVersion, loaded: Loaded, *, actor: Actor
) -> None:
    """Unless a guard objects: then it waits for somebody who says why it is published anyway."""
    try:
        kept = PUBLISHING.need(Publication(process, version.source_text, version), reason="")
    except Objected:
        return
    _publish(process, version, loaded, actor=actor, reason="The first version.", kept=kept)


def publish(
    *,
    process: Process,
    number: int,
    actor: Actor,
    reason: str,
    instead_of: int | None = ANY_VERSION,
    corpus_reason: str = "",
    answered: Mapping[str, str] = NOTHING,
) -> ProcessVersion:
    """Judge runs submitted from now on by this version; also the way back.

    With `instead_of` only where that version (None: no version) is the published one.
    `corpus_reason` says why, where a guard objects.
    `answered`: by a guard's name, why its objection alone is answered without one.

    Raises:
        NotFound: the process has no version of this number.
        Conflict: `process.published`, another version is published now.
        Objected: a guard objects, and no `corpus_reason` is given.
    """
    with transaction.atomic():
        lock_versions(process.project)
        process.refresh_from_db()
        present = process.published.number if process.published else None
        if instead_of not in (ANY_VERSION, present):
            raise Conflict("process.published", "Another version was published in the meantime.")
        version = version_by_number(process, number)
        if process.published_id != version.pk:
            wish = Publication(process, version.source_text, version)
            kept = PUBLISHING.need(wish, reason=corpus_reason, answered=answered)
            loaded = load(version.source_text, is_stored=True)
            _publish(process, version, loaded, actor=actor, reason=reason, kept=kept)
    return version


def _refusal(loaded: Loaded) -> InputError:
    issues = [
        Issue(error.code, f"Line {error.line}: {error.message}", ("body", error.path, error.line))
        for error in loaded.errors[:MAX_TOLD_ERRORS]
    ]
    if left_off := len(loaded.errors) - len(issues):
        issues.append(Issue("errors.more", f"There are {left_off:,} more errors.", ("body",)))
    return InputError.of(issues, status=413 if issues[0].code == TOO_LARGE else 422)


def _make_process(project: Project, definition: Definition, *, is_builtin: bool = False) -> Process:
    return Process.objects.create(
        project=project,
        slug=definition.name,
        title=definition.shown_title,
        description=definition.description,
        is_builtin=is_builtin,
    )


def _store_version(
    process: Process,
    loaded: Loaded,
    source_text: str,
    warnings: Sequence[Problem],
    *,
    actor: Actor,
    note: str,
    is_shipped: bool = False,
) -> ProcessVersion:
    assert loaded.definition is not None  # noqa: S101 - the caller refused the others
    last = process.versions.order_by("-number").values_list("number", flat=True).first() or 0
    version = ProcessVersion.objects.create(
        process=process,
        number=last + 1,
        source_text=source_text,
        sha256=_sha256(source_text),
        warnings=[
            asdict(problem)
            for problem in (*warnings[:MAX_STORED_WARNINGS], *loaded.notes[:MAX_STORED_NOTES])
        ],
        note=note[:300],
        is_shipped=is_shipped,
        created_by=actor.name[:200],
    )
    _store_rules(process, version, loaded.definition)
    return version


def _store_rules(process: Process, version: ProcessVersion, definition: Definition) -> None:
    """Write what is not there yet: a rule's content in two versions is one row."""
    names = {rule.name for rule in definition.rules}
    Rule.objects.bulk_create(
        (Rule(process=process, name=name) for name in sorted(names)), ignore_conflicts=True
    )
    rules = {rule.name: rule for rule in process.rules.filter(name__in=names)}
    hashed = [(rule.content_sha256, rule) for rule in definition.rules]
    contents = dict(hashed)
    RuleVersion.objects.bulk_create(
        (
            RuleVersion(rule=rules[rule.name], content_sha256=sha256, spec=rule.spec)
            for sha256, rule in contents.items()
        ),
        ignore_conflicts=True,
    )
    rows = RuleVersion.objects.filter(rule__process=process, content_sha256__in=contents)
    stored = {row.content_sha256: row for row in rows}
    PhaseRule.objects.bulk_create(
        PhaseRule(
            process_version=version,
            phase_id=phase_id,
            rule_version=stored[sha256],
            position=position,
        )
        for position, (sha256, rule) in enumerate(hashed)
        for phase_id in rule.applies_to_phases or (UNSCOPED,)
    )


def _publish(
    process: Process,
    version: ProcessVersion,
    loaded: Loaded,
    *,
    actor: Actor,
    reason: str,
    kept: Mapping[str, list[Any]] = MappingProxyType({}),
) -> None:
    """`kept` stands in the audit log beside the change."""
    before = process.published.number if process.published else None
    definition = loaded.definition
    if definition is None:
        raise FaultError(f"process version {version.pk} was stored but does not load")
    renames.tell(process, definition, actor)
    version.published_at = timezone.now()
    version.save(update_fields=["published_at"])
    process.published = version
    process.title = definition.shown_title
    process.description = definition.description
    process.save(update_fields=["published", "title", "description"])
    record(
        actor,
        "process.published",
        process,
        project=process.project,
        diff={"published": [before, version.number], **kept},
        reason=reason,
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def lock_versions(project: Project) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('processes'), %s)", [project.pk])
