from __future__ import annotations

from functools import partial

import pytest

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_user
from tests.runs.test_remediations_at_once import at_once
from tests.waivers import REASON, finding_of, in_days, make_waiver, rejected
from verification.runs.models import Event, Waiver
from verification.runs.waivers import services

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 3


def reviewers(project: Project, count: int) -> list[Access]:
    people = [make_user(project, Role.REVIEWER) for _ in range(count)]
    return [Access(project, Role.REVIEWER, person(one)) for one in people]


def test_of_reviewers_that_waive_at_once_one_does() -> None:
    project = make_project()
    people = reviewers(project, 3)
    for _ in range(ROUNDS):
        run = rejected(project)
        waive = partial(
            services.waive,
            run=run.uuid,
            fingerprint=finding_of(run).fingerprint,
            reason=REASON,
            until=in_days(9),
        )

        ends = at_once(*(partial(waive, access=one) for one in people))

        assert sorted(ends) == ["done", "waiver.in_force", "waiver.in_force"]
        assert Waiver.objects.filter(run=run).count() == 1
        assert Event.objects.filter(run=run, kind="finding_waived").count() == 1


def test_of_reviewers_that_end_one_at_once_one_does() -> None:
    project = make_project()
    people = reviewers(project, 3)
    for _ in range(ROUNDS):
        made = make_waiver(rejected(project))

        ends = at_once(*(partial(services.end, access=one, waiver=made.uuid) for one in people))

        assert sorted(ends) == ["done", "waiver.over", "waiver.over"]
        assert Event.objects.filter(run=made.run, kind="waiver_ended").count() == 1
