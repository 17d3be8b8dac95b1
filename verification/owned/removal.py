"""A project that somebody removes: nobody reaches it from then on, and by and by nothing of it is left."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import ApiKey, AuditEntry, Invitation, Member, Project
from loomverify.celery import BULK, app
from loomverify.errors import InputError
from verification.actions.models import Repository, Webhook
from verification.actions.repositories.reaching import forget_mirror
from verification.owned import tables
from verification.runs import evidence_store, retention
from verification.runs.models import OPEN_STATES, Run
from verification.runs.services import cancel_run
from verification.runs.viewing import kept

logger = logging.getLogger(__name__)

REMOVE_TASK = "verification.owned.remove"
REMOVED = "project.removed"
SECONDS_AT_ONCE = 60.0
MESSAGE_LIFE_SECONDS = 600


def remove_project(*, project: Project, actor: Actor, confirmation: str) -> None:
    """Shut a project at once, for all people and keys; what it owns is deleted by a worker.

    Raises:
        InputError: `project.confirmation`: it is not the project's short name.
    """
    if confirmation.strip() != project.slug:
        raise InputError(
            "project.confirmation", "This is not its short name.", loc=("body", "confirmation")
        )
    with transaction.atomic():
        now = timezone.now()
        standing = Project.objects.filter(pk=project.pk, removed_at=None)
        if not standing.update(removed_at=now):
            return
        # What is left says who removed it; the key goes with the project.
        record(replace(actor, api_key=None), REMOVED, project, project=None)
        Member.objects.filter(project=project).delete()
        Invitation.objects.filter(project=project).delete()
        ApiKey.objects.filter(project=project, revoked_at=None).update(revoked_at=now)
        Webhook.objects.filter(project=project).update(is_enabled=False)
        transaction.on_commit(wake)


def wake() -> None:
    """A worker begins at once; the clock would send one within the minute."""
    try:
        app.send_task(REMOVE_TASK, queue=BULK, expires=MESSAGE_LIFE_SECONDS, retry=False)
    except (OperationalError, OSError):
        logger.warning("removal_not_woken")


def go_on(*, seconds: float = SECONDS_AT_ONCE) -> int:
    """Delete what removed projects own, as far as the time goes; return how many are gone whole."""
    until = time.monotonic() + seconds
    removed = Project.objects.exclude(removed_at=None).order_by("removed_at")
    return sum(_delete(project, until) for project in removed)


def sweep_left() -> None:
    """Delete files that were taken in while their project was removed: no row leads to them."""
    standing = {str(name) for name in Project.objects.values_list("uuid", flat=True)}
    removed = AuditEntry.objects.filter(verb=REMOVED, project=None)
    for name in set(removed.values_list("object_id", flat=True)) - standing:
        evidence_store.delete_all(Project(uuid=UUID(name)))


def _delete(project: Project, until: float) -> bool:
    """Runs batch by batch, then all the rest at once. True: nothing is left."""
    _cancel_open(project, until)
    retention.purge(Run.objects.filter(project=project), until=until)
    if Run.objects.filter(project=project).exists():
        return False
    for repository in Repository.objects.filter(project=project):
        forget_mirror(repository)
    evidence_store.delete_all(project)
    kept.delete_all(project.pk)
    try:
        _delete_rows(project)
    except DatabaseError:  # something was written meanwhile: another time
        logger.warning("removal_waits project=%s", project.slug, exc_info=True)
        return False
    logger.info("project_deleted project=%s", project.slug)
    return True


def _cancel_open(project: Project, until: float) -> None:
    for run in Run.objects.filter(project=project, state__in=OPEN_STATES).iterator():
        if time.monotonic() > until:
            return
        cancel_run(run=run, actor=SYSTEM)


def _delete_rows(project: Project) -> None:
    """Rows before those that lead them to the project; keys are checked at the end.

    The project itself goes first: some rows stay as long as it stands. What PostgreSQL marks by
    itself meanwhile has its turn with the second round.
    """
    keyless = tables.keyless(project)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        Project.objects.filter(pk=project.pk)._raw_delete("default")
        for rows in 2 * tables.deepest_first(project) + keyless:
            rows._raw_delete("default")
