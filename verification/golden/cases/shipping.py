"""The cases that come with the program, as rows of each project."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from django.db import transaction
from django.utils import timezone

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import InputError
from verification.golden.cases.versions import Content, add_all, store_files
from verification.golden.documents.reading import read_case
from verification.golden.models import GoldenCase
from verification.golden.shipped import PROGRAM, shipped_documents

logger = logging.getLogger(__name__)

BY_PROGRAM = Actor(PROGRAM)


def ensure_shipped(*, project: Project) -> int:
    """Bring the shipped cases into a project's corpus; return how many were new or changed.

    A changed document is a new version, and one that is gone is retired. What people changed,
    retired or made themselves under the same name stays theirs.
    """
    shipped = {one.name: one for one in _shipped()}
    store_files(project, *_due(shipped, _known(project)))
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        known = _known(project)
        gone = _retire_gone(project, known, shipped)
        due = _due(shipped, known)
        back = _take_back(known, shipped)
        if due:
            add_all(project, due, known, by=PROGRAM, is_shipped=True)
        if due or gone or back:
            diff = {"cases": [None, len(due)], "retired": [None, gone], "restored": [None, back]}
            record(BY_PROGRAM, "golden_case.shipped", project, project=project, diff=diff)
    return len(due)


def ship_to_new(*, project: Project) -> None:
    """Once a new project is there; where that fails, the next start makes up for it."""
    transaction.on_commit(partial(ensure_shipped, project=project), robust=True)


def _known(project: Project) -> dict[str, GoldenCase]:
    rows = GoldenCase.objects.filter(project=project).select_related("current")
    return {row.name: row for row in rows.defer("current__spec", "current__likeness")}


def _due(shipped: Mapping[str, Content], known: Mapping[str, GoldenCase]) -> list[Content]:
    return [one for name, one in shipped.items() if _is_due(one, known.get(name))]


def _is_due(content: Content, row: GoldenCase | None) -> bool:
    if row is None or row.current is None:
        return True
    if row.current.created_by != PROGRAM:
        return False
    return row.current.spec_sha256 != content.spec_sha256


def _take_back(known: Mapping[str, GoldenCase], shipped: Mapping[str, Content]) -> int:
    """Restore what came with the program once, was gone for a while, and comes again."""
    back = [
        row
        for name, row in known.items()
        if name in shipped and not row.is_shipped and row.current
        and row.current.created_by == PROGRAM
    ]  # fmt: skip
    for row in back:
        row.is_shipped, row.retired_at = True, None
    GoldenCase.objects.bulk_update(back, ["is_shipped", "retired_at"])
    return len(back)


def _retire_gone(
    project: Project, known: Mapping[str, GoldenCase], shipped: Mapping[str, Content]
) -> int:
    """What came with the program and comes no more is people's own, if they changed it."""
    gone = [row for name, row in known.items() if row.is_shipped and name not in shipped]
    mine = [row.pk for row in gone if row.current and row.current.created_by == PROGRAM]
    rows = GoldenCase.objects.filter(project=project)
    rows.filter(pk__in=mine, retired_at__isnull=True).update(retired_at=timezone.now())
    rows.filter(pk__in=[row.pk for row in gone]).update(is_shipped=False)
    return len(gone)


@cache
def _shipped() -> Sequence[Content]:
    return tuple(_read())


def _read() -> Iterator[Content]:
    """One that cannot be read is no reason not to start; a test finds it before it is shipped."""
    seen: set[str] = set()
    for path, document in shipped_documents():
        name = str(document.get("id"))
        try:
            read = read_case(document, loc=(path, name))
        except InputError as error:
            logger.error("shipped_case_unreadable file=%s case=%s why=%s", path, name, error)
            continue
        if read.document.id not in seen:
            seen.add(read.document.id)
            yield Content.of(read)
