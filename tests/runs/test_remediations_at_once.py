from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import close_old_connections, connection
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access, Actor
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services import create_api_key
from loomverify.errors import InputError
from tests.builders import make_project, make_run
from tests.judged import make_remediation
from verification.engine.outcome import Outcome, Verdict
from verification.runs.models import Event, Remediation, Run
from verification.runs.models.followup import RemediationState
from verification.runs.remediations import claims, services

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 5


def agents(project: Project, count: int) -> list[Access]:
    found = []
    for number in range(count):
        key, _ = create_api_key(
            project=project, name=f"agent-{number}", role=Role.AGENT, actor=SYSTEM
        )
        found.append(Access(project, Role.AGENT, Actor(key.name, api_key=key)))
    return found


def at_once(*actions: Callable[[], Any]) -> list[str]:
    """Do all of them at the same moment; 'done' or the refusal's code for each."""
    gate = threading.Barrier(len(actions))

    def act(action: Callable[[], Any]) -> str:
        close_old_connections()
        gate.wait()
        try:
            action()
        except InputError as refusal:
            return refusal.code
        finally:
            connection.close()
        return "done"

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(act, actions))


def ends(run: Run) -> int:
    return Event.objects.filter(run=run, kind="remediation_resolved").count()


@pytest.fixture
def project() -> Project:
    return make_project()


def answer_of(asked: Remediation, outcome: Outcome, verdict: Verdict) -> Run:
    return make_run(asked.project, task=asked.run.task, outcome=outcome, verdict=verdict)


def test_of_agents_that_claim_at_once_one_gets_it(project: Project) -> None:
    callers = agents(project, 4)
    for _ in range(ROUNDS):
        asked = make_remediation(make_run(project))

        said = at_once(
            *(partial(claims.claim, access=who, remediation=asked.uuid) for who in callers)
        )

        asked.refresh_from_db()
        assert Counter(said) == {"done": 1, "remediation.held": 3}
        assert asked.owner == callers[said.index("done")].actor.api_key


def test_what_is_given_up_and_answered_at_once_ends_once(project: Project) -> None:
    [caller] = agents(project, 1)
    for _ in range(ROUNDS):
        asked = make_remediation(make_run(project), state="claimed", owner=caller.actor.api_key)
        run = answer_of(asked, Outcome.PASS, Verdict.ACCEPT)

        said = at_once(
            partial(claims.give_up, access=caller, remediation=asked.uuid, reason="Gone."),
            partial(claims.resolve, access=caller, remediation=asked.uuid, run=run.uuid),
        )

        assert Counter(said) == {"done": 1, "remediation.over": 1}
        assert ends(asked.run) == 1


def test_a_claim_at_the_moment_of_expiry_leaves_it_expired(project: Project) -> None:
    [caller] = agents(project, 1)
    for _ in range(ROUNDS):
        asked = make_remediation(make_run(project), expires_at=timezone.now())

        at_once(
            partial(claims.claim, access=caller, remediation=asked.uuid),
            services.sweep,
            services.sweep,
        )
        services.sweep()

        asked.refresh_from_db()
        assert (asked.state, ends(asked.run)) == (RemediationState.EXPIRED, 1)


@pytest.mark.extended
@pytest.mark.parametrize(
    ("verdict", "outcome", "state", "attempts"),
    [
        (Verdict.ACCEPT, Outcome.PASS, "resolved", 0),
        (Verdict.REJECT, Outcome.FAIL, "queued", 1),
    ],
)
def test_the_same_answer_from_many_at_once_counts_once(
    project: Project, verdict: Verdict, outcome: Outcome, state: str, attempts: int
) -> None:
    callers = agents(project, 3)
    for _ in range(ROUNDS):
        asked = make_remediation(make_run(project))
        run = answer_of(asked, outcome, verdict)

        at_once(
            *(
                partial(claims.resolve, access=who, remediation=asked.uuid, run=run.uuid)
                for who in callers
            )
        )

        asked.refresh_from_db()
        assert (asked.state, asked.attempts) == (state, attempts)
        assert ends(asked.run) == (state == "resolved")


def test_a_lapsed_claim_is_swept_or_taken_never_both(project: Project) -> None:
    [caller] = agents(project, 1)
    for _ in range(ROUNDS):
        past = timezone.now() - timedelta(seconds=1)
        asked = make_remediation(make_run(project), state="claimed", lease_until=past)

        [said, _] = at_once(
            partial(claims.claim, access=caller, remediation=asked.uuid), services.sweep
        )

        asked.refresh_from_db()
        assert said == "done"
        assert (asked.state, asked.owner) == (RemediationState.CLAIMED, caller.actor.api_key)
