from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import ApiKey, Project, Role
from loomverify.accounts.services import create_api_key
from tests.builders import make_project
from tests.trials.builders import make_comparison, make_judgement, make_trial
from verification.trials.models import Comparison, ComparisonNote, Judgement, Reveal, Trial

pytestmark = pytest.mark.django_db
name_keys = import_module("verification.trials.migrations.0006_key_reviewers").name_keys


@pytest.fixture
def trial(project: Project) -> Trial:
    return make_trial(project)


def key_of(project: Project, name: str) -> ApiKey:
    return create_api_key(project=project, name=name, role=Role.REVIEWER, actor=SYSTEM)[0]


def remembered(trial: Trial, reviewer: str) -> Comparison:
    """Judged, seen and noted by them."""
    row = make_comparison(trial, "fail", "pass")
    make_judgement(row, reviewer=reviewer)
    Reveal.objects.create(comparison=row, reviewer=reviewer)
    ComparisonNote.objects.create(comparison=row, text="So.", created_by=reviewer)
    return row


def names_of(row: Comparison) -> set[str]:
    return {
        *row.judgements.values_list("reviewer", flat=True),
        *row.reveals.values_list("reviewer", flat=True),
        *row.notes.values_list("created_by", flat=True),
    }


def test_what_a_key_said_by_its_name_alone_is_its_own(project: Project, trial: Trial) -> None:
    key = key_of(project, "mine")
    elsewhere = make_project()
    other, row = make_trial(elsewhere), remembered(trial, "key mine")
    key_of(elsewhere, "ours")
    not_its_own = remembered(other, "key mine")

    name_keys(apps, None)

    assert names_of(row) == {f"key mine #{key.pk}"}
    assert names_of(not_its_own) == {"key mine"}


def test_a_name_of_several_keys_and_a_person_stay_as_they_are(
    project: Project, trial: Trial
) -> None:
    key_of(project, "twice"), key_of(project, "twice")
    first = key_of(project, "mine")
    key_of(project, f"mine #{first.pk}")
    names = ["key twice", "mine", f"key mine #{first.pk}"]
    rows = [remembered(trial, name) for name in names]

    name_keys(apps, None)

    assert [names_of(row) for row in rows] == [{name} for name in names]


def test_what_a_key_said_again_since_stays_beside_it(project: Project, trial: Trial) -> None:
    key = key_of(project, "mine")
    row = remembered(trial, "key mine")
    make_judgement(row, reviewer=f"key mine #{key.pk}")
    Reveal.objects.create(comparison=row, reviewer=f"key mine #{key.pk}")

    name_keys(apps, None)

    both = {"key mine", f"key mine #{key.pk}"}
    assert set(Judgement.objects.values_list("reviewer", flat=True)) == both
    assert set(Reveal.objects.values_list("reviewer", flat=True)) == both
    assert [one.created_by for one in row.notes.all()] == [f"key mine #{key.pk}"]
