from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import ValidationError

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import InputError, Issue
from loomverify.paging import newest_first
from processes import publications, selectors, services
from processes.checking import check
from processes.definition.compare import Difference
from processes.definition.model import Definition
from processes.definition.model import Problem as Complaint
from processes.definition.stream import MAX_SOURCE_BYTES
from processes.models import Process, ProcessVersion
from processes.schemas import (
    AddedVersion,
    ComplaintOut,
    EditsIn,
    FieldChange,
    LintOut,
    Paging,
    PhaseChange,
    PhaseOut,
    ProcessOut,
    ProcessPage,
    ProcessSummary,
    Publication,
    PublicationPage,
    RuleChange,
    RuleOut,
    VersionComparisonOut,
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
EDITS_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": EditsIn.model_json_schema(ref_template="#/components/schemas/{model}")
            }
        },
    }
}
MAX_EDITS_BYTES = 2 * MAX_SOURCE_BYTES
MAX_COMPLAINTS = 1_000
MAX_ISSUES = 20
TOO_LARGE = f"A process file may hold at most {MAX_SOURCE_BYTES} bytes."
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


@router.post(
    "/processes/lint",
    response={200: LintOut} | errors(413),
    openapi_extra=YAML_BODY,
    summary="Say what is wrong with a process file; nothing is stored",
)
def lint(request: HttpRequest) -> LintOut:
    source = request.read(MAX_SOURCE_BYTES + 1)
    if len(source) > MAX_SOURCE_BYTES:
        raise InputError("file.too_large", TOO_LARGE, loc=("body",), status=413)
    checked = check(source)
    return LintOut(
        errors=_complaints(checked.errors),
        warnings=_complaints(checked.warnings),
        notes=_complaints(checked.notes),
        left_off=sum(
            max(len(found) - MAX_COMPLAINTS, 0)
            for found in (checked.errors, checked.warnings, checked.notes)
        ),
    )


@router.get("/processes/lint", response={200: ProcessOut}, include_in_schema=False)
def get_process_named_lint(request: HttpRequest) -> ProcessOut:
    """The address above would hide a process of that name."""
    return get_process(request, slug="lint")


@router.patch(
    "/processes/lint", response={200: AddedVersion, 201: AddedVersion}, include_in_schema=False
)
def edit_process_named_lint(request: HttpRequest) -> Status[AddedVersion]:
    return edit_process(request, slug="lint")


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
    return Status(201 if version.pk > before else 200, _added(version, warnings))


@router.patch(
    "/processes/{slug}",
    response={200: AddedVersion, 201: AddedVersion} | errors(400, 403, 404, 409, 413, 422),
    openapi_extra=EDITS_BODY,
    summary="Change single values; every other byte of the file stays",
)
def edit_process(request: HttpRequest, slug: str) -> Status[AddedVersion]:
    """Add a version that differs from the newest by these edits alone, all of them or none.

    409 `version.conflict`: `base_version` is not the newest any more. 200: nothing changed.
    """
    access = access_of(request)
    process = selectors.process_by_slug(access.project, slug)
    access.need(Role.EDITOR)
    body = _edits_in(request)
    edited = services.edit_newest(
        process=process,
        base_version=body.base_version,
        edits=[edit.edit for edit in body.edits],
        actor=access.actor,
        role=access.role,
        note=body.note,
    )
    return Status(201 if edited.is_new else 200, _added(edited.version, edited.warnings))


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
    "/processes/{slug}/publications",
    response={200: PublicationPage} | errors(400, 404, 422),
    summary="What judged runs when: who published it, and why, newest first",
)
def list_publications(request: HttpRequest, slug: str, paging: Query[Paging]) -> dict[str, Any]:
    process = selectors.process_by_slug(access_of(request).project, slug)
    found, cursor = publications.page(process, cursor=paging.cursor, limit=paging.limit)
    return {"items": found, "next": cursor}


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
    response={200: VersionComparisonOut} | errors(404),
    summary="What one version changes against another",
)
def compare_versions(request: HttpRequest, slug: str, old: int, new: int) -> VersionComparisonOut:
    process = selectors.process_by_slug(access_of(request).project, slug)
    comparison = selectors.compare_versions(
        selectors.version_by_number(process, old), selectors.version_by_number(process, new)
    )
    return VersionComparisonOut(
        rules=[
            RuleChange(
                rule=rule.name,
                change=rule.change,
                formerly=rule.formerly,
                fields=_fields(rule),
            )
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
    response={200: ProcessSummary} | errors(400, 403, 404, 409, 422),
    summary="Publish a version (also the way back)",
)
def publish(request: HttpRequest, slug: str, number: int, body: Publication) -> Process:
    """409 `golden.regressed` or `golden.not_replayed`: give `corpus_reason`, or replay first."""
    access = access_of(request)
    process = selectors.process_by_slug(access.project, slug)
    access.need(Role.ADMIN)
    services.publish(
        process=process,
        number=number,
        actor=access.actor,
        reason=body.reason,
        corpus_reason=body.corpus_reason,
    )
    return process


def _edits_in(request: HttpRequest) -> EditsIn:
    """Read the body before the framework does: it would build any JSON of any size."""
    raw = request.read(MAX_EDITS_BYTES + 1)
    if len(raw) > MAX_EDITS_BYTES:
        message = f"At most {MAX_EDITS_BYTES} bytes of edits."
        raise InputError("body.too_large", message, loc=("body",), status=413)
    try:
        return EditsIn.model_validate_json(raw)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        issues = [Issue(entry["type"], entry["msg"], ("body", *entry["loc"])) for entry in found]
        is_json = issues[0].code != "json_invalid"
        raise InputError.of(issues[:MAX_ISSUES], status=422 if is_json else 400) from error


def _added(version: ProcessVersion, warnings: Sequence[Complaint]) -> AddedVersion:
    process = version.process
    return AddedVersion(
        slug=process.slug,
        version=version.number,
        published_version=process.published.number if process.published else None,
        warnings=_complaints(warnings),
    )


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


def _complaints(found: Sequence[Complaint]) -> list[ComplaintOut]:
    return [ComplaintOut.from_orm(problem) for problem in found[:MAX_COMPLAINTS]]


def _fields(difference: Difference) -> dict[str, FieldChange]:
    return {
        key: FieldChange(before=before, after=after)
        for key, (before, after) in difference.fields.items()
    }
