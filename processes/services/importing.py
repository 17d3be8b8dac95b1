from __future__ import annotations

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict
from processes.definition.load import load
from processes.models import ProcessVersion
from processes.services.versions import add_version, lock_versions


def import_version(
    *,
    project: Project,
    source_text: bytes,
    seen_newest: int | None,
    actor: Actor,
    role: Role,
    note: str = "",
) -> tuple[ProcessVersion, bool]:
    """Store a file as a new process or as the next version; return it, and whether it is new.

    `seen_newest` is the newest version that the importer was shown; None: no such process.

    Raises:
        InputError: the file holds errors; nothing is stored.
        Conflict: `import.stale`, another version was added meanwhile.
    """
    definition = load(source_text).definition
    with transaction.atomic():
        lock_versions(project)
        newest = newest_number(project, definition.name) if definition else None
        if definition is not None and newest != seen_newest:
            raise Conflict("import.stale", f"{definition.name} got another version meanwhile.")
        version, _ = add_version(
            project=project, source_text=source_text, actor=actor, role=role, note=note
        )
    return version, version.number != newest


def newest_number(project: Project, slug: str) -> int | None:
    versions = ProcessVersion.objects.filter(process__project=project, process__slug=slug)
    return versions.order_by("-number").values_list("number", flat=True).first()
