from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.paging import newest_first
from processes import selectors, services
from processes.definition.compare import Difference
from processes.definition.model import Definition
from processes.definition.model import Problem as Complaint
from processes.definition.reading import MAX_SOURCE_BYTES
from processes.models import Process, ProcessVersion
from processes.schemas import (
    AddedVersion,
    ComparisonOut,
    ComplaintOut,
    FieldChange,
    Paging,
    PhaseChange,
    PhaseOut,
    ProcessOut,
    ProcessPage,
    ProcessSummary,
    Publication,
    RuleChange,
    RuleOut,
    VersionOut,
    VersionPage,
)

router = Router(tags=["Processes"])

YAML_TYPE = "application/yaml"
YAML_BODY = {
    "requestBody": {
        "required": True,
        "content": {YAML_TYPE: {"schema": {"type": "string"}}},
    }
}
YAML_ANSWER: dict[str, Any] = {
    "responses": {
        200: {
            "description": "The source text, byte for byte",
            "content": {YAML_TYPE: {}},
        }
    }
}


@router.get(
    "/processes", response={200: ProcessPage} | errors(400, 422), summary="Processes, newest first"
)
def list_processes(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    rows = access_of(request).project.processes.select_related("published")
    found, cursor = newest_first(rows, cursor=paging.cursor, limit=paging.limit)
    return {"items": found, "next": cursor}


@router.get(
    "/processes/{slug}",
    response={200: ProcessOut} | errors(404),
    summary="A process as it is published",
)
def get_process(request: HttpRequest, slug: str) -> ProcessOut:
    process = selectors.process_by_slug(access_of(request).project, slug)
    definition = selectors.published_definition(process) if process.published else None
    return ProcessOut(
        slug=process.slug,
        title=process.title,
        description=process.description,
        published_version=process.published.number if process.published else None,
        phases=[PhaseOut.from_orm(phase) for phase in definition.phases] if definition else [],
        rules=_rules(definition) if definition else [],
    )


@router.post(
    "/processes",
    response={200: AddedVersion, 201: AddedVersion} | errors(403, 413, 422),
    openapi_extra=YAML_BODY,
    summary="Add a version: the YAML is the body",
)
def add_version(request: HttpRequest) -> Status[AddedVersion]:
    """The latest version's text again answers 200 with that version."""
    access = access_of(request)
    access.need(Role.EDITOR)
    source = request.read(MAX_SOURCE_BYTES + 1)
    before = _newest_version_id(access)
    version, warnings = services.add_version(
        project=access.project, source_text=source, actor=access.actor, role=access.role
    )
    process = version.process
    added = AddedVersion(
        slug=process.slug,
        version=version.number,
        published_version=process.published.number if process.published else None,
        warnings=[_complaint(warning) for warning in warnings],
    )
    return Status(201 if version.pk > before else 200, added)


@router.get(
    "/processes/{slug}/versions",
    response={200: VersionPage} | errors(400, 404, 422),
    summary="Versions of a process, newest first",
)
def list_versions(request: HttpRequest, slug: str, paging: Query[Paging]) -> VersionPage:
    process = selectors.process_by_slug(access_of(request).project, slug)
    found, cursor = newest_first(
        selectors.versions(process), cursor=paging.cursor, limit=paging.limit
    )
    return VersionPage(items=[_version(process, version) for version in found], next=cursor)


@router.get(
    "/processes/{slug}/versions/{int:number}.yaml",
    response=errors(404),
    openapi_extra=YAML_ANSWER,
    summary="The source text of a version",
)
def get_source(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    process = selectors.process_by_slug(access_of(request).project, slug)
    version = selectors.version_by_number(process, number)
    answer = HttpResponse(version.source_text.encode(), content_type=YAML_TYPE)
    answer["Content-Disposition"] = f'attachment; filename="{slug}-{number}.yaml"'
    return answer


@router.get(
    "/processes/{slug}/versions/{int:old}...{int:new}",
    response={200: ComparisonOut} | errors(404),
    summary="What one version changes against another",
)
def compare_versions(request: HttpRequest, slug: str, old: int, new: int) -> ComparisonOut:
    process = selectors.process_by_slug(access_of(request).project, slug)
    comparison = selectors.compare_versions(
        selectors.version_by_number(process, old), selectors.version_by_number(process, new)
    )
    return ComparisonOut(
        rules=[
            RuleChange(rule=rule.name, change=rule.change, fields=_fields(rule))
            for rule in comparison.rules
        ],
        phases=[
            PhaseChange(phase=phase.name, change=phase.change, fields=_fields(phase))
            for phase in comparison.phases
        ],
        process={
            key: FieldChange(before=before, after=after)
            for key, (before, after) in comparison.process.items()
        },
    )


@router.post(
    "/processes/{slug}/versions/{int:number}/publish",
    response={200: ProcessSummary} | errors(400, 403, 404, 422),
    summary="Publish a version (also the way back)",
)
def publish(request: HttpRequest, slug: str, number: int, body: Publication) -> Process:
    access = access_of(request)
    process = selectors.process_by_slug(access.project, slug)
    access.need(Role.ADMIN)
    services.publish(process=process, number=number, actor=access.actor, reason=body.reason)
    return process


def _newest_version_id(access: Access) -> int:
    versions = ProcessVersion.objects.filter(process__project=access.project)
    return versions.order_by("-pk").values_list("pk", flat=True).first() or 0


def _rules(definition: Definition) -> list[RuleOut]:
    return [
        RuleOut(
            **{
                **rule.spec,
                "enforcement": rule.usual_enforcement,
                "content_sha256": rule.content_sha256,
            }
        )
        for rule in definition.rules
    ]


def _version(process: Process, version: ProcessVersion) -> VersionOut:
    return VersionOut(
        number=version.number,
        sha256=version.sha256,
        note=version.note,
        created_by=version.created_by,
        created_at=version.created_at,
        published_at=version.published_at,
        published=version.pk == process.published_id,
    )


def _complaint(problem: Complaint) -> ComplaintOut:
    return ComplaintOut.from_orm(problem)


def _fields(difference: Difference) -> dict[str, FieldChange]:
    return {
        key: FieldChange(before=before, after=after)
        for key, (before, after) in difference.fields.items()
    }
