"""Drafts: changes by compare-and-set, so that no edit is lost unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role, User
from loomverify.errors import Conflict, InputError, Issue, NotFound
from processes.definition.load import load
from processes.definition.model import Problem
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.models import Draft, Process, ProcessVersion
from processes.services.versions import add_version, publish

STALE = "draft.stale"
BEHIND = "draft.behind"


def open_draft(*, process: Process, editor: User, actor: Actor) -> Draft:
    """Return the editor's own draft; where there is none, one of the newest version.

    Raises:
        NotFound: the process has no version yet.
    """
    with transaction.atomic():
        base = newest_version(process)
        draft, is_new = Draft.objects.select_for_update().get_or_create(
            process=process,
            editor=editor,
            defaults={"base": base, "source_text": base.source_text},
        )
        if draft.discarded_at is not None:
            _begin_anew(draft, base)
            is_new = True
        if is_new:
            record(actor, "draft.opened", draft, project=process.project)
    return draft


def _begin_anew(draft: Draft, base: ProcessVersion) -> None:
    """One row for all drafts of a person, so that no old page holds a lock version of a new one."""
    put_away = draft.source_text
    draft.previous_text = put_away if put_away != base.source_text else ""
    draft.source_text, draft.base, draft.discarded_at = base.source_text, base, None
    draft.lock_version += 1
    draft.save()


def newest_version(process: Process) -> ProcessVersion:
    """Return the version with the highest number.

    Raises:
        NotFound: the process has none yet.
    """
    found = process.versions.order_by("-number").first()
    if found is None:
        raise NotFound("process_version.unknown", f"{process} has no version yet.")
    return found


def save_draft(*, draft: Draft, lock_version: int, source_text: str) -> Draft:
    """Store a text, with or without errors in it.

    Raises:
        Conflict: `draft.stale`, the draft was changed since it had this lock version.
        InputError: a text that cannot be stored.
    """
    _need_storable(source_text)
    return _change(draft, lock_version, lambda text: source_text)


def edit_draft(
    *, draft: Draft, change: Callable[[str], str], lock_version: int | None = None
) -> Draft:
    """Store what `change` makes of the draft's text as it is now.

    Without a lock version the change has to be one that is right whatever else was edited.

    Raises:
        Conflict: `draft.stale`
        InputError: a text that cannot be stored, or what `change` raises.
    """
    return _change(draft, lock_version, change)


def undo_edit(*, draft: Draft, lock_version: int) -> Draft:
    """Put back the text before the last change; once more brings that change back.

    Raises:
        Conflict: `draft.stale`
    """
    previous = draft.previous_text
    return _change(draft, lock_version, lambda text: previous or text)


def rebase_draft(*, draft: Draft, lock_version: int, number: int, source_text: str) -> Draft:
    """Go on from the newest version, with this text.

    Raises:
        Conflict: `draft.stale`, or `draft.behind`: `number` is not the newest version.
        InputError: a text that cannot be stored.
    """
    _need_storable(source_text)
    with transaction.atomic():
        newest = newest_version(draft.process)
        if newest.number != number:
            raise _behind(draft, newest)
        changed = _change(draft, lock_version, lambda text: source_text)
        # The same text on another base is another draft: an older window must not publish it.
        is_same_text = changed.lock_version == lock_version
        Draft.objects.filter(pk=draft.pk).update(
            base=newest, lock_version=changed.lock_version + is_same_text
        )
        changed.refresh_from_db()
    return changed


def discard_draft(*, draft: Draft, lock_version: int, actor: Actor) -> None:
    """Put a draft away. Its text stays until its editor begins a new one.

    Raises:
        Conflict: `draft.stale`
    """
    with transaction.atomic():
        won = _as_seen(draft, lock_version).update(discarded_at=timezone.now())
        if not won:
            raise _stale()
        record(actor, "draft.discarded", draft, project=draft.process.project)


def restore_draft(*, process: Process, editor: User, actor: Actor) -> bool:
    """Take back a discarded draft. False: there is none, or it is in use."""
    with transaction.atomic():
        draft = Draft.objects.filter(process=process, editor=editor, discarded_at__isnull=False)
        found = draft.select_for_update().first()
        if found is None:
            return False
        draft.update(discarded_at=None)
        record(actor, "draft.restored", found, project=process.project)
    return True


@dataclass(frozen=True, slots=True)
class Stored:
    version: ProcessVersion
    is_published: bool


def publish_draft(
    *,
    draft: Draft,
    lock_version: int,
    actor: Actor,
    role: Role,
    reason: str,
    corpus_reason: str = "",
) -> Stored:
    """Make a draft the next version. An admin's is published, an editor's waits for an admin.

    Raises:
        Objected: a guard objects to what would be published, and no `corpus_reason` is given.
        Conflict: `draft.stale`; `draft.behind`, a newer version than its base is there.
        InputError: the text holds errors, changes nothing, or has another process's name.
    """
    process = draft.process
    with transaction.atomic():
        _lock(draft, lock_version)
        newest = newest_version(process)
        if newest.pk != draft.base_id:
            raise _behind(draft, newest)
        if newest.source_text == draft.source_text:
            raise InputError("draft.unchanged", f"The draft says the same as v{newest.number}.")
        _need_name(process, draft.source_text)
        version, _ = add_version(
            project=process.project,
            source_text=draft.source_text,
            actor=actor,
            role=role,
            note=reason,
        )
        _need_next(draft, newest, version)
        if role.holds(Role.ADMIN):
            publish(
                process=process,
                number=version.number,
                actor=actor,
                reason=reason,
                corpus_reason=corpus_reason,
            )
        _as_seen(draft, lock_version).update(
            base=version,
            previous_text="",
            lock_version=F("lock_version") + 1,
            discarded_at=timezone.now(),
        )
    return Stored(version, is_published=role.holds(Role.ADMIN))


def _need_next(draft: Draft, newest: ProcessVersion, version: ProcessVersion) -> None:
    """`add_version` locks the versions: only now is it sure that nobody came between."""
    if version.number != newest.number + 1:
        raise _behind(draft, version)


def _need_name(process: Process, source_text: str) -> None:
    definition = load(source_text).definition
    if definition is not None and definition.name != process.slug:
        raise InputError(
            "draft.renamed",
            f"The file names itself {definition.name!r}: that is the address of another process. "
            f"Name it {process.slug!r}, or import the text as a new process.",
        )


def _lock(draft: Draft, lock_version: int) -> None:
    seen = _as_seen(draft, lock_version).select_for_update().first()
    if seen is None:
        raise _stale()
    draft.source_text, draft.base_id = seen.source_text, seen.base_id


def _change(draft: Draft, lock_version: int | None, change: Callable[[str], str]) -> Draft:
    """Return the draft as it is stored now; it is unchanged where the text is."""
    with transaction.atomic():
        living = Draft.objects.select_related("process", "base", "editor")
        found = (
            living.select_for_update(of=("self",))
            .filter(pk=draft.pk, discarded_at__isnull=True)
            .first()
        )
        if found is None or lock_version not in (None, found.lock_version):
            raise _stale()
        text = change(found.source_text)
        if text == found.source_text:
            return found
        _need_storable(text)
        Draft.objects.filter(pk=found.pk).update(
            source_text=text,
            previous_text=F("source_text"),
            lock_version=F("lock_version") + 1,
            updated_at=timezone.now(),
        )
        found.refresh_from_db()
    return found


def _as_seen(draft: Draft, lock_version: int) -> QuerySet[Draft]:
    return Draft.objects.filter(pk=draft.pk, lock_version=lock_version, discarded_at__isnull=True)


def _need_storable(text: str) -> None:
    """A draft may hold errors, but not what the database or the reader's bound refuses.

    Raises:
        InputError
    """
    problem: Problem | None = None
    try:
        if len(text.encode()) > MAX_SOURCE_BYTES:
            problem = Problem(
                "file.too_large", f"A process file may hold at most {MAX_SOURCE_BYTES:,} bytes."
            )
    except UnicodeEncodeError:
        problem = Problem("file.encoding", "The text holds half of a character.")
    if problem is None and "\0" in text:
        problem = Problem("yaml.character", "The text holds a NUL character.")
    if problem is not None:
        status = 413 if problem.code == "file.too_large" else 422
        raise InputError.of([Issue(problem.code, problem.message, ("source_text",))], status=status)


def _stale() -> Conflict:
    return Conflict(STALE, "This draft was changed in another window since you opened it.")


def _behind(draft: Draft, newest: ProcessVersion) -> Conflict:
    return Conflict(
        BEHIND,
        f"v{newest.number} is newer than v{draft.base.number}, which this draft began with.",
    )
