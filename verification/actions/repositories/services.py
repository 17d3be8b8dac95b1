"""Repositories, as admins register, change and remove them."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from uuid import UUID

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError, NotFound
from verification.actions.landing.braking import follow_modes
from verification.actions.models import Repository
from verification.actions.repositories.reaching import (
    NEEDS_KEY,
    Reached,
    forget_mirror,
    mirror_of,
    reached_by,
)
from verification.actions.repositories.terms import MODE_FIELDS, Terms, check_name, stops_alone
from verification.adapters.git import GitLost
from verification.verifiers.selectors import may_be_named

MAX_REPOSITORIES = 100


def register(*, project: Project, actor: Actor, name: str, terms: Terms) -> Repository:
    """Register a repository. What is done in it is proposed only, unless `terms` say otherwise.

    Raises:
        InputError: `repository.<field>`.
        Conflict: `repository.name_taken`, `repository.too_many`.
    """
    check_name(name)
    _check(terms, project)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        known = Repository.objects.filter(project=project, is_removed=False)
        if known.filter(name=name).exists():
            raise Conflict(
                "repository.name_taken", f"There is a repository {name}.", loc=("body", "name")
            )
        if known.count() >= MAX_REPOSITORIES:
            raise Conflict(
                "repository.too_many", f"A project has at most {MAX_REPOSITORIES} repositories."
            )
        repository = Repository.objects.create(
            project=project, name=name, created_by=actor.name[:200], **asdict(terms)
        )
        diff = {field: [None, value] for field, value in asdict(terms).items()}
        record(actor, "repository.registered", repository, project=project, diff=diff)
    return repository


def change(*, project: Project, actor: Actor, repository_id: UUID, terms: Terms) -> Repository:
    """Change a repository's terms; what is under way goes by the new ones.

    What was about to be done by itself and may not any more becomes a proposal.

    Raises:
        NotFound: this project has no such repository.
        InputError: `repository.<field>`.
    """
    stops = stops_alone(Terms.of(find(project=project, repository_id=repository_id)), terms)
    if not stops:
        _check(terms, project)
    with transaction.atomic():
        repository = _locked(project, repository_id)
        was = asdict(Terms.of(repository))
        now = was | stops if stops else asdict(terms)
        diff = {field: [was[field], now[field]] for field in now if was[field] != now[field]}
        if diff:
            Repository.objects.filter(pk=repository.pk).update(**now)
            record(actor, "repository.changed", repository, project=project, diff=diff)
            repository.refresh_from_db()
            follow_modes(repository, actor, MODE_FIELDS & diff.keys())
    repository.refresh_from_db()
    return repository


def remove(*, project: Project, actor: Actor, repository_id: UUID) -> None:
    """Take a repository out of use: nothing more lands in it. What landed stays on record.

    Our copy of it goes, with all that was submitted to it.

    Raises:
        NotFound: this project has no such repository.
    """
    with transaction.atomic():
        repository = _locked(project, repository_id)
        Repository.objects.filter(pk=repository.pk).update(is_removed=True)
        record(actor, "repository.removed", repository, project=project)
        transaction.on_commit(partial(forget_mirror, repository))


def find(*, project: Project, repository_id: UUID) -> Repository:
    """Raises NotFound: this project has no such repository."""
    rows = Repository.objects.filter(project=project, is_removed=False)
    repository = rows.select_related("project").filter(uuid=repository_id).first()
    if repository is None:
        raise NotFound("repository.unknown", "This project has no such repository.")
    return repository


def looked_at(repository: Repository) -> str:
    """Reach the repository now and return the commit its target branch is at; empty: no branch.

    Raises:
        InputError: `repository.unreachable`, with what git said.
    """
    try:
        return mirror_of(repository).tip(repository.target_branch) or ""
    except GitLost as error:
        raise InputError("repository.unreachable", str(error)) from error


def _check(terms: Terms, project: Project) -> None:
    terms.check()
    for field in ("credential_reference", "signing_reference"):
        named = getattr(terms, field)
        if named and not may_be_named(named):
            raise InputError(
                f"repository.{field}",
                "A variable that projects may name: LOOMVERIFY_KEY_ and a name.",
                loc=("body", field),
            )
    by = reached_by(terms.location, terms.credential_reference, project=project.slug)
    if by is Reached.NO_KEY:
        raise InputError(
            "repository.credential_reference", NEEDS_KEY, loc=("body", "credential_reference")
        )


def _locked(project: Project, repository_id: UUID) -> Repository:
    rows = Repository.objects.select_for_update(of=("self",)).select_related("project")
    repository = rows.filter(project=project, uuid=repository_id, is_removed=False).first()
    if repository is None:
        raise NotFound("repository.unknown", "This project has no such repository.")
    return repository
