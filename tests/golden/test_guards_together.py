from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from loomverify.accounts.models import Project
from loomverify.guarding import Objected
from processes.guards import Publication
from tests.builders import make_project
from tests.golden.guarding import (
    HARMLESS,
    admin_of,
    case_that_held,
    other_verifier,
    process_of,
    put_live,
    put_verifier_live,
    version_of,
)
from tests.golden.replayed import replayed
from verification.golden.guards.starting import start_for_process
from verification.golden.models import Replay, ReplayPurpose

pytestmark = pytest.mark.django_db(transaction=True)

WAIT_SECONDS = 30


@pytest.fixture
def project() -> Project:
    project = make_project()
    case_that_held(project)
    return project


def together(*changes: Callable[[], object]) -> list[object]:
    """Do all at once, each on a connection of its own; return what each gave or raised."""
    start, found = threading.Barrier(len(changes)), dict[int, object]()

    def do(number: int, change: Callable[[], object]) -> None:
        start.wait(WAIT_SECONDS)
        try:
            found[number] = change()
        except Objected as error:
            found[number] = error.code
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=one) for one in enumerate(changes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    return [found[number] for number in range(len(changes))]


def test_of_four_who_open_the_page_at_once_one_starts_the_replay(project: Project) -> None:
    version = version_of(project, HARMLESS)
    wish = Publication(process_of(project), version.source_text, version)

    started = together(
        *[
            lambda name=name: start_for_process(access=admin_of(project, name), wish=wish)
            for name in ("ann", "bob", "cid", "dan")
        ]
    )

    assert sorted(map(bool, started)) == [False, False, False, True]
    assert Replay.objects.filter(purpose=ReplayPurpose.PUBLISH).count() == 1


@pytest.mark.extended
@pytest.mark.parametrize("turn", range(3))
def test_a_process_and_a_verifier_at_once_never_both_go_live_unseen(
    project: Project, turn: int
) -> None:
    version, verifier = version_of(project, HARMLESS), other_verifier(project)
    replayed(project, process_version=version)
    replayed(project, verifier=verifier)

    outcomes = together(lambda: put_live(version), lambda: put_verifier_live(verifier))

    assert outcomes.count("golden.not_replayed") == 1
