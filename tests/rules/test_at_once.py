"""Two people at once: of what excludes each other, one is told."""

from __future__ import annotations

import pytest

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from processes.definition.model import Enforcement
from processes.models import Process
from tests.builders import make_project
from tests.golden.guarding import process_of
from tests.rules.test_examples import CAUGHT, NAME, PASSED, access_of
from tests.verifiers.racing import at_once
from verification.rules.examples import services
from verification.rules.models import Expected, Pin
from verification.rules.steps.services import set_enforcement

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return make_project()


def pinned(access: Access, process: Process, expected: Expected) -> bool:
    made = services.pin(
        access=access, process=process, name=NAME, expected=expected, text="Revenue: TBD"
    )
    return made.is_new


def test_two_who_pin_the_same_text_at_once_make_one_pin(project: Project) -> None:
    access, process = access_of(project, Role.EDITOR), process_of(project)

    answers = at_once(lambda _: pinned(access, process, CAUGHT))

    assert sorted(answers) == [False, True]
    assert Pin.objects.count() == 1


def test_of_two_who_want_the_contrary_at_once_one_is_told_so(project: Project) -> None:
    access, process = access_of(project, Role.EDITOR), process_of(project)

    answers = at_once(lambda number: pinned(access, process, (CAUGHT, PASSED)[number]))

    assert sorted(map(str, answers)) == ["True", "example.contradicts"]
    assert Pin.objects.count() == 1


def test_of_two_who_take_the_same_step_at_once_one_is_told_so(project: Project) -> None:
    admin, process = access_of(project, Role.ADMIN), process_of(project)
    assert process.published is not None

    def step(number: int) -> int:
        version = set_enforcement(
            process=Process.objects.get(pk=process.pk),
            name="no-placeholders",
            to=(Enforcement.HARD, Enforcement.OBSERVE)[number],
            actor=admin.actor,
            reason="It is time.",
            instead_of=1,
        )
        return version.number

    answers = at_once(step)

    assert sorted(map(str, answers)) == ["2", "process.published"]
    assert process.versions.count() == 2
