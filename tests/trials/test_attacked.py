"""What a hostile or clumsy caller, or two at once, must not be able to do to a trial."""

from __future__ import annotations

import pytest

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import Project, Role
from loomverify.accounts.services.people import change_details
from loomverify.errors import Conflict
from tests.builders import make_project, make_user
from tests.runs.conftest import Caller, problem
from tests.trials.builders import make_compared_run, make_trial
from verification.trials.judging import services as judging

pytestmark = pytest.mark.django_db
ALL = "/shadow/trials"


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def admin(project: Project) -> Caller:
    return Caller(project, Role.ADMIN)


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("since", "0001-01-01T00:00:00+14:00"),
        ("since", "9999-12-31T23:59:59-14:00"),
        ("until", "9999-12-31T23:59:59-14:00"),
        ("until", "0001-01-01T00:00:00Z"),
    ],
)
def test_no_replay_takes_a_time_that_makes_its_trial_unreadable(
    project: Project, admin: Caller, name: str, moment: str
) -> None:
    """In UTC they are before the first year or after the last: stored, and never read again."""
    trial = make_trial(project)

    refused = admin.post(f"{ALL}/{trial.uuid}/replay", {"origin": "past", name: moment})

    assert problem(refused) == (422, "trial_replay.span", ["body", name])
    assert not trial.replays.exists()
    assert admin.get(f"{ALL}/{trial.uuid}").status_code == 200
    assert admin.post(f"{ALL}/{trial.uuid}/stop", {}).json()["stopped"] is True


@pytest.mark.parametrize("has_said", [True, False])
def test_who_takes_another_name_is_still_the_one_who_judged_or_saw_the_sides(
    project: Project, has_said: bool
) -> None:
    user = make_user(project, Role.REVIEWER)
    row = make_compared_run(make_trial(project))
    access = Access(project, Role.REVIEWER, person(user))
    if has_said:
        judging.judge(access=access, comparison=row, said="old", is_old_first=True)
    else:
        judging.reveal(access=access, comparison=row)
    change_details(user=user, full_name="Somebody Else")
    user.refresh_from_db()
    renamed = Access(project, Role.REVIEWER, person(user))

    with pytest.raises(Conflict) as refused:
        judging.judge(access=renamed, comparison=row, said="new", is_old_first=True)

    assert refused.value.code == ("comparison.judged_by_you" if has_said else "comparison.revealed")
    assert row.judgements.count() == int(has_said)
