"""Everything that a project owns, as one zip file, written while it is read."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project, User
from verification.actions.models import Webhook
from verification.owned.tables import paths, rows_of
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.exporting.answers import streamed_bytes
from verification.runs.models import Blob

FORMAT = 1
PAGE_ROWS = 500
NOT_TOLD: Mapping[str, frozenset[str]] = {
    "accounts.apikey": frozenset({"sha256"}),
    "accounts.invitation": frozenset({"sha256"}),
    "actions.webhook": frozenset({"secret"}),
    "runs.run": frozenset({"search"}),
}
"""What opens doors, and what is only an index of the rest."""


def _without_room(row: dict[str, Any]) -> dict[str, Any]:
    """Whoever knows the address of a chat room writes into it."""
    return row | {"url": Webhook(url=row["url"], format=row["format"]).shown_url}


SHOWN: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "actions.webhook": _without_room,
}


class Sink:
    """Takes what a zip file writes, until somebody takes it away. It cannot be gone back in."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None: ...

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def exported(request: HttpRequest, access: Access) -> HttpResponseBase:
    """The answer to whoever asks for it; the audit log says who did."""
    project = access.project
    record(access.actor, "project.exported", project, project=project)
    return streamed_bytes(
        request, export_of(project), kind="application/zip", name=f"{project.slug}.zip"
    )


def export_of(project: Project) -> Iterator[bytes]:
    """`project.json`, `people.json`, `tables/…jsonl`, `contents/<sha256>`, at last `manifest.json`.

    Rows that are written while it is read may be missing or be told in their newer state.
    """
    sink = Sink()
    begun_at, counts, lost = timezone.now(), {}, 0
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        archive.writestr("project.json", _json(_told(Project.objects.filter(pk=project.pk))[0]))
        archive.writestr("people.json", _json(_people(project)))
        for model in sorted(paths(), key=lambda model: model._meta.label_lower):
            label = model._meta.label_lower
            counts[label] = 0
            with archive.open(f"tables/{label}.jsonl", "w", force_zip64=True) as entry:
                for page in _pages(rows_of(model, project)):
                    counts[label] += len(page)
                    entry.write(b"".join(_json(row) + b"\n" for row in page))
                    yield sink.taken()
        for blob in _blobs(project):
            try:
                archive.writestr(f"contents/{blob.sha256}", read_blob(blob))
            except EvidenceLost:
                lost += 1
            yield sink.taken()
        told = {"format": FORMAT, "project": project.slug, "begun_at": begun_at}
        told |= {"ended_at": timezone.now(), "rows": counts, "contents_lost": lost}
        archive.writestr("manifest.json", _json(told))
    yield sink.taken()


def _pages(rows: QuerySet[Model]) -> Iterator[list[dict[str, Any]]]:
    after: Any = None
    while True:
        further = rows.filter(pk__gt=after) if after is not None else rows
        page = _told(further.order_by("pk")[:PAGE_ROWS])
        if page:
            yield page
        if len(page) < PAGE_ROWS:
            return
        after = page[-1][rows.model._meta.pk.attname]


def _told(rows: QuerySet[Any]) -> list[dict[str, Any]]:
    hidden = NOT_TOLD.get(rows.model._meta.label_lower, frozenset())
    names = (field.attname for field in rows.model._meta.concrete_fields)
    found = rows.values(*(name for name in names if name not in hidden))
    shown = SHOWN.get(rows.model._meta.label_lower)
    return [shown(row) for row in found] if shown else list(found)


def _people(project: Project) -> list[dict[str, Any]]:
    """Whom the project's rows name: by `id`; addresses are those of its members alone."""
    named: set[int] = set()
    for model in paths():
        for field in model._meta.concrete_fields:
            if field.related_model is User:
                rows = rows_of(model, project).exclude(**{field.name: None}).order_by()
                named.update(rows.values_list(field.attname, flat=True).distinct())
    members = set(Member.objects.filter(project=project).values_list("user_id", flat=True))
    people = User.objects.filter(pk__in=named).order_by("pk")
    return [
        {
            "id": one.pk,
            "username": one.username,
            "name": one.get_full_name(),
            "email": one.email if one.pk in members else "",
        }
        for one in people
    ]


def _blobs(project: Project) -> Iterator[Blob]:
    after = 0
    while page := list(
        Blob.objects.select_related("project")
        .filter(project=project, pk__gt=after)
        .order_by("pk")[:PAGE_ROWS]
    ):
        yield from page
        after = page[-1].pk


def _json(value: Any) -> bytes:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False).encode(
        errors="surrogatepass"
    )
