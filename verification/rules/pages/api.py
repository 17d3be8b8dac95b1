"""`/api/v1/rules`, and how hard a rule counts."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Path, Query, Router

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from processes.selectors import process_by_slug
from verification.rules.pages import schemas, searching
from verification.rules.pages.searching import Found, RuleFilters
from verification.rules.steps.services import set_enforcement
from verification.runs.api import refuse_unknown_parameters

router = Router(tags=["Rules"])
FIGURES = (
    "applied", "violated", "found_right", "found_wrong", "decided", "overturned", "cost_usd",
    "last_at",
)  # fmt: skip
SAID = ("name", "type", "check", "description", "suggestion", "severity", "target")


@router.get(
    "/rules",
    response={200: schemas.FoundRules} | errors(400, 422),
    summary="Rules as they are published, by process and name, with what they did",
)
def list_rules(request: HttpRequest, query: Query[schemas.RuleQuery]) -> dict[str, Any]:
    refuse_unknown_parameters(request, schemas.RuleQuery)
    project = access_of(request).project
    filters = RuleFilters(
        q=query.q,
        type=query.type or "",
        enforcement=query.enforcement or "",
        process=query.process,
        phase=query.phase,
    )
    matching = searching.published_rules(project, filters)
    rows, cursor = searching.page_of(matching, cursor=query.cursor, limit=query.limit)
    return {"items": [_found(one) for one in searching.with_figures(project, rows)], "next": cursor}


@router.post(
    "/processes/{slug}/rules/{path:name}/enforcement",
    response={200: schemas.StepOut} | errors(400, 403, 404, 409, 422),
    summary="Make a rule observed, advisory or hard, and publish that alone",
)
def step_rule(
    request: HttpRequest, slug: str, name: Path[str], body: schemas.StepIn
) -> dict[str, Any]:
    """409: a newer version is not published, or something objects; then give `corpus_reason`."""
    access = access_of(request)
    process = process_by_slug(access.project, slug)
    access.need(Role.ADMIN)
    version = set_enforcement(
        process=process,
        name=name,
        to=body.enforcement,
        actor=access.actor,
        reason=body.reason,
        corpus_reason=body.corpus_reason,
    )
    return {"slug": process.slug, "published_version": version.number}


def _found(found: Found) -> dict[str, Any]:
    rule, row = found.rule, found.version
    return {
        "process": row.rule.process.slug,
        **{name: getattr(rule, name) for name in SAID},
        "enforcement": rule.usual_enforcement,
        "applies_to_phases": list(rule.applies_to_phases),
        "content_sha256": row.content_sha256,
        **{name: getattr(found.use, name) for name in FIGURES},
        "last_run": found.last_run.uuid if found.last_run else None,
    }
