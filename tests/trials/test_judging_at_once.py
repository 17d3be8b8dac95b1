"""What happens when two say something of the same comparison at the same moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from tests.builders import make_project
from tests.trials.at_once import at_once
from tests.trials.builders import make_compared_run, make_comparison, make_trial
from tests.trials.judged import reviewer
from verification.trials.judging import acknowledging, services
from verification.trials.models import Acknowledgement, Comparison, Judgement, Reveal, Trial

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 4


@pytest.fixture
def trial() -> Trial:
    return make_trial(make_project())


@pytest.fixture
def project(trial: Trial) -> Project:
    return trial.project


@pytest.fixture
def people(project: Project) -> list[Access]:
    return [reviewer(project, name) for name in ("anna", "bert", "cleo")]


def says(access: Access, row: Comparison, said: str) -> Callable[[], Any]:
    def act() -> str:
        made = services.judge(access=access, comparison=row, said=said, is_old_first=True)
        return made.said

    return act


@pytest.mark.extended
@pytest.mark.parametrize("words", [("new", "new", "new"), ("new", "old", "both")])
def test_nobodys_word_is_lost_when_all_speak_at_once(
    trial: Trial, people: list[Access], words: tuple[str, ...]
) -> None:
    for _ in range(ROUNDS):
        row = make_compared_run(trial)

        told = at_once(*(says(*given) for given in zip(people, [row] * 3, words, strict=True)))

        assert told == list(words)
        row.refresh_from_db()
        assert row.judged == ("new" if len(set(words)) == 1 else "disputed")


def test_one_person_in_two_windows_says_one_thing(trial: Trial, people: list[Access]) -> None:
    for _ in range(ROUNDS):
        row = make_compared_run(trial)

        told = at_once(*(says(people[0], row, said) for said in ("old", "new")))

        assert "comparison.judged_by_you" in told
        standing = Judgement.objects.get(comparison=row, withdrawn_at__isnull=True)
        row.refresh_from_db()
        assert row.judged == standing.said
        assert standing.said in told


def test_a_key_pressed_twice_says_it_once(trial: Trial, people: list[Access]) -> None:
    row = make_compared_run(trial)

    told = at_once(*[says(people[0], row, "both")] * 3)

    assert told == ["both"] * 3
    assert Judgement.objects.count() == 1


def test_taking_back_twice_at_once_takes_back_once(trial: Trial, people: list[Access]) -> None:
    row = make_compared_run(trial)
    says(people[0], row, "new")()

    told = at_once(*[lambda: services.withdraw(access=people[0], comparison=row)] * 2)

    assert Counter(told) == Counter([True, None])
    row.refresh_from_db()
    assert row.judged == ""


def test_judging_and_having_the_sides_shown_at_once_leaves_one_truth(
    trial: Trial, people: list[Access]
) -> None:
    """Either it was judged before the sides were shown, or it was not judged."""
    for _ in range(ROUNDS):
        row = make_compared_run(trial)

        told, _ = at_once(
            says(people[0], row, "new"),
            partial(services.reveal, access=people[0], comparison=row),
        )

        assert Reveal.objects.filter(comparison=row).count() == 1
        judged = Judgement.objects.filter(comparison=row).first()
        assert (judged is None) == (told == "comparison.revealed")
        if judged:
            assert judged.created_at <= row.reveals.get().created_at


def test_of_two_that_acknowledge_at_once_one_is_told(trial: Trial) -> None:
    row = make_comparison(trial, "fail", "pass")
    editors = [reviewer(trial.project, name, Role.EDITOR) for name in ("ed", "eva")]

    told = at_once(
        *(
            lambda editor=editor: (
                acknowledging.acknowledge(
                    access=editor, trial=trial, kind=row.kind, reason="Known.", days=7
                ).created_by
            )
            for editor in editors
        )
    )

    assert "acknowledgement.exists" in told
    assert Acknowledgement.objects.get().created_by in told
