"""`/api/v1/golden/cases`: cases of the golden corpus, and files of them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.responses import Status
from pydantic import ValidationError

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import Conflict, InputError, Issue, NotFound
from loomverify.paging import newest_first
from verification.golden.cases import (
    examples,
    importing,
    making,
    rendering,
    schemas,
    selectors,
    services,
)
from verification.golden.documents.parsing import MAX_CASES, MAX_FILE_BYTES, parse_cases
from verification.golden.documents.schemas import CaseIn
from verification.golden.documents.writing import to_json_line, to_yaml
from verification.golden.models import GoldenCase, GoldenFile
from verification.runs.api import refuse_unknown_parameters
from verification.runs.intake.reading import MAX_JSON_BYTES, parse_body
from verification.runs.models import Run

router = Router(tags=["Golden corpus"])
ALL = "/golden/cases"
ONE = f"{ALL}/{{uuid:case_id}}"
MAX_EXPORT_BYTES = 64 * 1024 * 1024
TYPES = {"yaml": "application/yaml", "jsonl": "application/x-ndjson"}
_REFERENCE = "#/components/schemas/{model}"


def _body(*models: Any) -> dict[str, Any]:
    """The description of a body that is read by ourselves, strictly."""
    described = [one.model_json_schema(ref_template=_REFERENCE) for one in models]
    known: dict[str, Any] = {}
    for one in described:
        known |= one.pop("$defs", {})
    schema = described[0] if len(described) == 1 else {"anyOf": described}
    content: dict[str, Any] = {"schema": {**schema, "$defs": known}}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


CREATE = _body(schemas.CaseOfRun, CaseIn)
CREATE["requestBody"]["content"]["application/json"]["examples"] = {
    "of_run": {"summary": "Of a run", "value": examples.OF_RUN},
    "whole": {"summary": "A whole case", "value": examples.DOCUMENT},
}
CREATE["requestBody"]["content"]["application/json"]["example"] = examples.DOCUMENT
CHANGE = _body(schemas.CaseChange)
FILE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/yaml": {"schema": {"type": "string"}, "example": examples.YAML_FILE},
            "application/json": {
                "schema": {"type": "array", "items": {"type": "object"}},
                "example": [examples.DOCUMENT],
            },
        },
    }
}
EXPORTED: dict[str, Any] = {
    "responses": {
        200: {
            "description": "A file that can be imported again",
            "content": {kind: {} for kind in TYPES.values()},
        }
    }
}


@router.get(ALL, response={200: schemas.GoldenCasePage} | errors(400, 422), summary="List cases")
def list_golden_cases(request: HttpRequest, query: Query[schemas.CaseQuery]) -> dict[str, Any]:
    """Newest first. A parameter that is none of these is refused."""
    refuse_unknown_parameters(request, schemas.CaseQuery)
    rows = rendering.with_entries(_found(request, query)).order_by()
    page, following = newest_first(rows, cursor=query.cursor, limit=query.limit)
    return {"items": [rendering.entry(case) for case in page], "next": following}


@router.post(
    ALL,
    response={201: schemas.GoldenCaseWhole} | errors(400, 403, 404, 409, 413, 422),
    openapi_extra=CREATE,
    summary="Make a case: of a run, or of a whole document",
)
def create_golden_case(request: HttpRequest) -> Status[dict[str, Any]]:
    """Cases that are much like it are named in the answer, never refused."""
    access = access_of(request)
    access.need(Role.EDITOR)
    body = _json(request)
    if isinstance(body.get("run"), str):
        case = _made_of_run(access, body)
    else:
        case = services.create_case(access=access, document=body)
    return Status(201, _whole(case))


@router.post(
    f"{ALL}/import",
    response={200: schemas.GoldenImported} | errors(400, 403, 409, 413, 422),
    openapi_extra=FILE,
    summary="Make and change cases of a file, all or none",
)
def import_golden_cases(request: HttpRequest, query: Query[schemas.ImportQuery]) -> dict[str, Any]:
    """YAML or JSON: a case, a list of cases, or a JSON object a line; older shapes too."""
    refuse_unknown_parameters(request, schemas.ImportQuery)
    access = access_of(request)
    access.need(Role.EDITOR)
    file = parse_cases(request.read(MAX_FILE_BYTES + 1))
    try:
        found = importing.import_cases(
            access=access, documents=file.documents, dry_run=query.dry_run
        )
    except InputError as error:
        raise file.placed(error) from error
    names = ("created", "changed", "same", "near")
    return {**{name: getattr(found, name) for name in names}, "is_stored": not query.dry_run}


@router.get(
    f"{ALL}/export",
    response={200: None} | errors(400, 422),
    openapi_extra=EXPORTED,
    summary="Cases as a file, by filter",
)
def export_golden_cases(request: HttpRequest, query: Query[schemas.ExportQuery]) -> HttpResponse:
    """By name; at most 1,000 cases and 64 MB of their files."""
    refuse_unknown_parameters(request, schemas.ExportQuery)
    current = list(_found(request, query).values_list("current_id", flat=True)[: MAX_CASES + 1])
    size = GoldenFile.objects.filter(version__in=current).aggregate(n=Sum("size"))["n"] or 0
    if len(current) > MAX_CASES or size > MAX_EXPORT_BYTES:
        raise InputError(
            "export.too_large",
            f"At most {MAX_CASES} cases and {MAX_EXPORT_BYTES} bytes of files: narrow the filters.",
            loc=("query",),
        )
    rows = selectors.versions_to_read().filter(pk__in=current).order_by("case__name")
    documents = [selectors.document_of(row) for row in rows]
    is_yaml = query.format == "yaml"
    text = to_yaml(documents) if is_yaml else "".join(map(to_json_line, documents))
    answer = HttpResponse(text, content_type=TYPES[query.format])
    answer["Content-Disposition"] = f'attachment; filename="golden-cases.{query.format}"'
    return answer


@router.get(ONE, response={200: schemas.GoldenCaseWhole} | errors(404), summary="One case whole")
def get_golden_case(request: HttpRequest, case_id: UUID) -> dict[str, Any]:
    return _whole(selectors.case_of(access_of(request).project, case_id))


@router.get(
    f"{ONE}/versions",
    response={200: schemas.GoldenCaseVersions} | errors(404),
    summary="The versions of a case, newest first",
)
def list_golden_case_versions(request: HttpRequest, case_id: UUID) -> dict[str, Any]:
    """At most the newest 200."""
    case = selectors.case_of(access_of(request).project, case_id)
    rows = case.versions.defer("spec", "likeness").order_by("-number")[: selectors.MAX_VERSIONS]
    return {"items": [rendering.version(row, current=case.current_id) for row in rows]}


@router.get(
    f"{ONE}/versions/{{int:number}}",
    response={200: schemas.GoldenCaseVersionWhole} | errors(404),
    summary="One version of a case whole",
)
def get_golden_case_version(request: HttpRequest, case_id: UUID, number: int) -> dict[str, Any]:
    case = selectors.case_of(access_of(request).project, case_id)
    row = selectors.version_of(case, number)
    told = rendering.version(row, current=case.current_id)
    return {**told, "case": selectors.document_of(row)}


@router.put(
    ONE,
    response={200: schemas.GoldenCaseWhole} | errors(400, 403, 404, 409, 413, 422),
    openapi_extra=CHANGE,
    summary="Change a case: a new version with a reason",
)
def change_golden_case(request: HttpRequest, case_id: UUID) -> dict[str, Any]:
    """The document that is there already changes nothing."""
    access = access_of(request)
    access.need(Role.EDITOR)
    body = _json(request)
    change = _checked(schemas.CaseChange, {**body, "case": examples.DOCUMENT})
    document = body.get("case")
    if not isinstance(document, dict):
        raise InputError("case.kind", "A case is an object.", loc=("body", "case"))
    try:
        services.change_case(
            access=access,
            case=case_id,
            document=document,
            reason=change.reason,
            instead_of=change.instead_of,
        )
    except InputError as error:
        raise _below(error) from error
    return _whole(selectors.case_of(access.project, case_id))


@router.delete(
    ONE,
    response={204: None} | errors(403, 404, 422),
    summary="Retire a case: kept, and replayed no more",
)
def retire_golden_case(
    request: HttpRequest, case_id: UUID, query: Query[schemas.RetireQuery]
) -> Status[None]:
    """A case that is retired already stays so."""
    services.retire(access=access_of(request), case=case_id, reason=query.reason)
    return Status(204, None)


@router.post(
    f"{ONE}/restore",
    response={200: schemas.GoldenCaseWhole} | errors(403, 404),
    summary="Replay a retired case again",
)
def restore_golden_case(request: HttpRequest, case_id: UUID) -> dict[str, Any]:
    access = access_of(request)
    services.restore(access=access, case=case_id)
    return _whole(selectors.case_of(access.project, case_id))


def _json(request: HttpRequest) -> dict[str, Any]:
    return parse_body(request.read(MAX_JSON_BYTES + 1))


def _checked(model: Any, body: dict[str, Any]) -> Any:
    try:
        return model.model_validate(body)
    except ValidationError as error:
        issues = [
            Issue(entry["type"], entry["msg"], ("body", *entry["loc"]))
            for entry in error.errors(include_url=False, include_input=False)
        ]
        raise InputError.of(issues) from error


def _made_of_run(access: Access, body: dict[str, Any]) -> GoldenCase:
    wish = _checked(schemas.CaseOfRun, body)
    runs = Run.objects.select_related("project", "process", "task")
    run = runs.filter(project=access.project, uuid=wish.run).first()
    if run is None:
        raise NotFound("run.unknown", "This project has no such run.")
    if before := making.made_of(run):
        raise Conflict(
            "golden.made_already",
            f"This run is a case already: {before.name}, {before.uuid}.",
            loc=("body", "run"),
        )
    document = making.document_of_run(run)
    if wish.expected is not None:
        document["expected"] = body["expected"]
    return making.store_case_of(access=access, run=run, document=document, tags=wish.tags)


def _found(request: HttpRequest, query: schemas.CaseFilterQuery) -> Any:
    wanted = query.dict(include=set(selectors.CaseFilters.__dataclass_fields__))
    filters = selectors.CaseFilters(**{name: value or "" for name, value in wanted.items()})
    return selectors.cases(access_of(request).project, filters)


def _whole(case: GoldenCase) -> dict[str, Any]:
    near = selectors.near_duplicates(case.current) if case.current else []
    return rendering.whole(case, near)


def _below(error: InputError) -> InputError:
    """The places of a document that stands below `case`."""
    issues = [
        one
        if one.loc[1:2] == ("reason",) or not one.loc
        else Issue(one.code, one.msg, ("body", "case", *one.loc[1:]))
        for one in error.issues
    ]
    return InputError.of(issues, status=error.status)
