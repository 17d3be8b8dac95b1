from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Query, Router, Schema, Status

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.paging import DEFAULT_LIMIT, MAX_LIMIT, newest_first
from verification.actions.models import Mode, Repository
from verification.actions.repositories import services
from verification.actions.repositories.reaching import Reached, reached
from verification.actions.repositories.terms import Terms

router = Router(tags=["Repositories"])


class TermsIn(Schema):
    """What is left out is as for a new repository: everything is proposed only."""

    location: str = Field(
        min_length=1, max_length=500, description="An absolute path, or a URL of https or ssh."
    )
    target_branch: str = Field("main", max_length=200)
    author_name: str = Field("LoomVerify", max_length=120)
    author_email: str = Field("loomverify@localhost", max_length=200)
    credential_reference: str = Field(
        "",
        max_length=120,
        description="The variable that holds the token; of an address of ssh, that names the file "
        "of a private key.",
    )
    signing_reference: str = Field(
        "", max_length=120, description="The variable that names the file of an SSH key."
    )
    commit_mode: Mode = Mode.PROPOSE
    branch_mode: Mode = Mode.PROPOSE
    revert_mode: Mode = Mode.PROPOSE
    takes_binary: bool = False
    lands_checked_out: bool = False

    def terms(self) -> Terms:
        fields = {name: getattr(self, name) for name in TermsIn.model_fields}
        return Terms(**fields)


class RepositoryIn(TermsIn):
    name: str = Field(min_length=1, max_length=60)


class RepositoryOut(RepositoryIn):
    id: UUID
    reached_by: Reached = Field(description="By which secret it is reached, and whose.")
    created_by: str
    created_at: datetime

    @classmethod
    def of(cls, row: Repository, *, role: Role = Role.ADMIN) -> RepositoryOut:
        """Where secrets are is told to those who may say so."""
        terms = asdict(Terms.of(row))
        if not role.holds(Role.ADMIN):
            terms |= {"credential_reference": "", "signing_reference": ""}
        return cls(
            id=row.uuid,
            name=row.name,
            reached_by=reached(row),
            created_by=row.created_by,
            created_at=row.created_at,
            **terms,
        )


class RepositoryList(Schema):
    items: list[RepositoryOut]
    next: str | None


@router.get(
    "/repositories",
    response={200: RepositoryList} | errors(400, 422),
    summary="Repositories that changes land in; variables of secrets are named to admins alone",
)
def list_repositories(
    request: HttpRequest,
    cursor: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT,
) -> RepositoryList:
    access = access_of(request)
    rows = Repository.objects.filter(project=access.project, is_removed=False)
    rows = rows.select_related("project")
    page, following = newest_first(rows, cursor=cursor, limit=limit)
    return RepositoryList(
        items=[RepositoryOut.of(row, role=access.role) for row in page], next=following
    )


@router.post(
    "/repositories",
    response={201: RepositoryOut} | errors(400, 403, 409, 422),
    summary="Register a repository",
)
def register_repository(request: HttpRequest, body: RepositoryIn) -> Status[RepositoryOut]:
    access = access_of(request)
    access.need(Role.ADMIN)
    row = services.register(
        project=access.project, actor=access.actor, name=body.name, terms=body.terms()
    )
    return Status(201, RepositoryOut.of(row))


@router.put(
    "/repositories/{uuid:repository_id}",
    response={200: RepositoryOut} | errors(400, 403, 404, 422),
    summary="Change a repository's terms; its name stays",
)
def change_repository(request: HttpRequest, repository_id: UUID, body: TermsIn) -> RepositoryOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    row = services.change(
        project=access.project,
        actor=access.actor,
        repository_id=repository_id,
        terms=body.terms(),
    )
    return RepositoryOut.of(row)


@router.delete(
    "/repositories/{uuid:repository_id}",
    response={204: None} | errors(403, 404),
    summary="Take a repository out of use; what landed stays on record",
)
def remove_repository(request: HttpRequest, repository_id: UUID) -> Status[None]:
    access = access_of(request)
    access.need(Role.ADMIN)
    services.remove(project=access.project, actor=access.actor, repository_id=repository_id)
    return Status(204, None)
