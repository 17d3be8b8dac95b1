"""The replays that guards wait for: one for each change, whoever asks."""

from __future__ import annotations

from django.db import connection, transaction

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from processes.guards import Publication
from verification.golden.guards.asking import Heard, State, heard_of_process, heard_of_verifier
from verification.golden.models import OPEN_STATES, Replay, ReplayPurpose
from verification.golden.replays import services
from verification.verifiers.models import VerifierVersion

WAITING = (State.MISSING, State.STOPPED)


def start_for_process(*, access: Access, wish: Publication) -> bool:
    """Replay the process's cases by what is to be published. False: that was done, or goes on.

    Raises:
        InputError: the text does not load.
        Conflict: too many replays are not over yet.
    """
    with transaction.atomic():
        _one_at_a_time(access.project)
        if not _is_wanted(heard_of_process(wish)):
            return False
        _give_up_older(access, wish)
        services.start(
            project=access.project,
            actor=access.actor,
            purpose=ReplayPurpose.PUBLISH,
            process=wish.process,
            process_version=wish.version,
            candidate_text="" if wish.version else wish.source_text,
        )
    return True


def start_for_verifier(*, access: Access, version: VerifierVersion) -> bool:
    """Replay all cases by a verifier version. False: that was done, or goes on.

    Raises:
        Conflict: too many replays are not over yet.
    """
    with transaction.atomic():
        _one_at_a_time(access.project)
        if not _is_wanted(heard_of_verifier(version)):
            return False
        services.start(
            project=access.project,
            actor=access.actor,
            purpose=ReplayPurpose.ACTIVATE,
            verifier=version,
        )
    return True


def _is_wanted(heard: Heard | None) -> bool:
    return heard is not None and heard.state in WAITING


def _give_up_older(access: Access, wish: Publication) -> None:
    """A draft's earlier texts are of no interest to who changed them."""
    older = Replay.objects.filter(
        project=access.project,
        process=wish.process,
        purpose=ReplayPurpose.PUBLISH,
        process_version=None,
        state__in=OPEN_STATES,
        created_by=access.actor.name[:200],
    )
    for uuid in older.values_list("uuid", flat=True):
        services.cancel(access=access, replay=uuid)


def _one_at_a_time(project: Project) -> None:
    """Of two who open the page at once, the second finds the first one's replay."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('replays'), %s)", [project.pk])
