"""Cases from files, many at once: what is new, what changed, what is much like another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import IntegrityError, transaction

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, Issue, Loc
from verification.golden.cases.likeness import Alike, Sketched
from verification.golden.cases.redacting import redacted
from verification.golden.cases.versions import Content, add_all, store_files
from verification.golden.documents.parsing import collected
from verification.golden.documents.reading import read_case
from verification.golden.models import GoldenCase

IMPORTED = "Imported."


@dataclass(frozen=True, slots=True)
class Imported:
    """Names of cases. `near` gives, for each that was made, others that are much like it."""

    created: Sequence[str] = ()
    changed: Sequence[str] = ()
    same: Sequence[str] = ()
    near: Mapping[str, Sequence[str]] = field(default_factory=dict)


def import_cases(
    *, access: Access, documents: Sequence[Mapping[str, Any]], dry_run: bool = False
) -> Imported:
    """Make and change cases of documents, by their names: all of them or none.

    With `dry_run` nothing is stored. A name that was retired is refused: somebody decided that.

    Raises:
        Forbidden: below editor.
        InputError: 422, all that is wrong with all of them; places begin with `body` and the
            document's number.
        Conflict: `golden.retired`; `golden.name_taken`, by somebody at this very moment.
    """
    access.need(Role.EDITOR)
    contents = _read(access, documents)
    if not dry_run:
        store_files(access.project, *contents)
    with transaction.atomic():
        known = _known(access, contents)
        planned = _planned(contents, known)
        near = _near(access, contents, planned.created)
        if not dry_run:
            _write(access, contents, known, planned)
    return replace(planned, near=near)


def _read(access: Access, documents: Sequence[Mapping[str, Any]]) -> list[Content]:
    seen: dict[str, int] = {}

    def read(document: Mapping[str, Any], loc: Loc) -> Content:
        content = Content.of(read_case(redacted(access.project, document, loc=loc), loc=loc))
        name = content.name
        if name in seen:
            msg = f"The case {name!r} is here twice: it is number {seen[name] + 1} too."
            raise InputError("case.twice", msg, loc=(*loc, "id"))
        seen[name] = int(loc[1])
        return content

    return collected(documents, read)


def _known(access: Access, contents: Sequence[Content]) -> dict[str, GoldenCase]:
    """Locked first: their versions are those that count once we hold them."""
    names = [one.name for one in contents]
    rows = GoldenCase.objects.filter(project=access.project, name__in=names)
    locked = list(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    found = GoldenCase.objects.filter(pk__in=locked).select_related("current", "project")
    return {row.name: row for row in found.defer("current__spec", "current__likeness")}


def _planned(contents: Sequence[Content], known: Mapping[str, GoldenCase]) -> Imported:
    created, changed, same, retired = [], [], [], []
    for number, one in enumerate(contents):
        name = one.name
        row = known.get(name)
        if row is None:
            created.append(name)
        elif row.current and row.current.spec_sha256 == one.spec_sha256:
            same.append(name)
        elif row.retired_at:
            msg = f"The case {name!r} is retired: restore it, or rename this one."
            retired.append(Issue("golden.retired", msg, ("body", number, "id")))
        else:
            changed.append(name)
    if retired:
        raise Conflict.of(retired, status=Conflict.status)
    return Imported(created, changed, same)


def _write(
    access: Access,
    contents: Sequence[Content],
    known: Mapping[str, GoldenCase],
    planned: Imported,
) -> None:
    wanted = {*planned.created, *planned.changed}
    due = [one for one in contents if one.name in wanted]
    if not due:
        return
    by = access.actor.name[:200]
    try:
        add_all(access.project, due, known, by=by, reason=IMPORTED)
    except IntegrityError as error:
        raise Conflict(
            "golden.name_taken", "Somebody has just made a case of one of these names: try again."
        ) from error
    diff = {"created": [None, len(planned.created)], "changed": [None, len(planned.changed)]}
    record(access.actor, "golden_case.imported", access.project, project=access.project, diff=diff)


def _near(
    access: Access, contents: Sequence[Content], created: Sequence[str]
) -> dict[str, list[str]]:
    """Among those that are stored, and those that come along."""
    if not created:
        return {}
    rows = GoldenCase.objects.filter(project=access.project, retired_at__isnull=True)
    stored = rows.values_list("name", "current__input_sha256", "current__likeness")
    coming = {one.name: Sketched(one.name, one.input_sha256, one.likeness) for one in contents}
    known = Alike([*coming.values(), *(Sketched(*row) for row in stored if row[0] not in coming)])
    found = {name: known.near(coming[name]) for name in created}
    return {name: others for name, others in found.items() if others}
