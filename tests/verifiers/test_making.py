from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.models import AuditEntry, Project
from loomverify.errors import InputError
from tests.builders import make_project
from tests.verifiers.racing import at_once
from verification.engine.verifier import (
    ENGINE_BUILD,
    LEGACY_FLAGS,
    PROMPT_VERSION,
    Flags,
    JudgeModels,
    Limits,
    VerifierSpec,
)
from verification.verifiers import connections
from verification.verifiers.connections import Terms
from verification.verifiers.making import Wish, create_version
from verification.verifiers.models import JudgeConnection, VerifierVersion
from verification.verifiers.services import activate, add_version

ADA = Actor("Ada (ada)")


def make(project: Project, **wished: Any) -> tuple[VerifierVersion, bool]:
    return create_version(project=project, actor=ADA, wish=Wish(**wished))


def spec_of(version: VerifierVersion) -> VerifierSpec:
    version.refresh_from_db()
    return VerifierSpec.from_json(version.spec)


def connect(project: Project, name: str) -> None:
    connections.add_connection(
        project=project, actor=SYSTEM, name=name, model="openai/m", terms=Terms()
    )


def refused(project: Project, **wished: Any) -> list[tuple[str, tuple[str | int, ...]]]:
    with pytest.raises(InputError) as told:
        make(project, **wished)
    return [(issue.code, issue.loc) for issue in told.value.issues]


def test_a_version_is_made_from_the_active_one_and_judges_nothing(project: Project) -> None:
    version, is_new = make(
        project, flags={"tier3_vote_count": 5}, limits={"judge_calls": 6}, note=" Five\nvotes. "
    )

    spec = spec_of(version)
    assert (is_new, version.number, version.is_active) == (True, 2, False)
    assert spec == VerifierSpec(replace(Flags(), tier3_vote_count=5), limits=Limits(judge_calls=6))
    assert (version.note, version.created_by) == ("Five votes.", "Ada (ada)")
    assert version.spec_sha256 == spec.sha256
    entry = AuditEntry.objects.get(verb="verifier.added")
    assert (entry.actor, entry.reason) == ("Ada (ada)", "Five votes.")


def test_a_version_is_made_from_another_one_by_its_number(project: Project) -> None:
    first, _ = make(project, flags={"tier3_vote_count": 5})

    second, _ = make(project, base=first.number, limits={"judge_calls": 6})

    assert spec_of(second).flags.tier3_vote_count == 5
    assert spec_of(second).limits.judge_calls == 6


def test_an_engine_brings_its_flags_as_they_came_and_keeps_judges_and_limits(
    project: Project,
) -> None:
    connect(project, "own")
    base, _ = make(
        project,
        flags={"tier3_vote_count": 5},
        models={"primary": "own"},
        limits={"judge_calls": 6},
    )

    version, _ = make(project, base=base.number, engine="legacy", flags={"tier2_enabled": False})

    assert version.engine == "legacy"
    assert spec_of(version) == VerifierSpec(
        replace(LEGACY_FLAGS, tier2_enabled=False),
        JudgeModels("own"),
        limits=Limits(judge_calls=6),
    )


def test_what_an_older_build_made_is_made_anew_for_this_one(project: Project) -> None:
    older = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS, engine_build="0"))

    version, is_new = make(project, base=older.number)

    assert is_new
    assert (version.engine_build, spec_of(version).prompt_version) == (ENGINE_BUILD, PROMPT_VERSION)


@pytest.mark.parametrize("wished", [{}, {"flags": {"tier3_vote_count": 3}}, {"engine": "policy"}])
def test_what_says_the_same_leads_to_the_version_there_is(
    project: Project, wished: dict[str, Any]
) -> None:
    version, is_new = make(project, note="Another?", **wished)

    assert (version.number, is_new, version.note) == (1, False, "")
    assert not AuditEntry.objects.exists()


def test_a_number_that_is_written_otherwise_is_the_same(project: Project) -> None:
    first, _ = make(project, flags={"unconfirmed_supporting_threshold": 1})
    second, is_new = make(project, flags={"unconfirmed_supporting_threshold": 1.0})
    third, _ = make(project, flags={"unconfirmed_supporting_threshold": -0.0})
    fourth, is_newer = make(project, flags={"unconfirmed_supporting_threshold": 0})

    assert (first.pk, is_new) == (second.pk, False)
    assert (third.pk, is_newer) == (fourth.pk, False)


def test_all_that_is_wrong_is_told_at_once_each_at_its_place(project: Project) -> None:
    found = refused(
        project,
        flags={"tier3_vote_count": 0, "no_such_flag": True},
        limits={"judge_calls": float("nan")},
        models={"primary": "nobody", "panel": ("nobody", "either")},
    )

    assert found == [
        ("verifier.flags.invalid", ("body", "flags", "tier3_vote_count")),
        ("verifier.flags.unknown", ("body", "flags", "no_such_flag")),
        ("verifier.limits.invalid", ("body", "limits", "judge_calls")),
        ("judge.primary", ("body", "models", "primary")),
        ("judge.panel", ("body", "models", "panel")),
        ("judge.panel", ("body", "models", "panel")),
    ]
    assert VerifierVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("wished", "code", "place"),
    [
        ({"base": 99}, "verifier.unknown", ("body", "base")),
        (
            {"engine": "legacy", "flags": {"policy_engine_enabled": True}},
            "verifier.engine.contradicted",
            ("body", "flags", "policy_engine_enabled"),
        ),
        ({"models": {"alternate": "own"}}, "judge.primary", ("body", "models", "primary")),
        (
            {"models": {"primary": "own", "alternate": "own"}},
            "judge.alternate",
            ("body", "models", "alternate"),
        ),
        (
            {"models": {"primary": "own", "panel": tuple(map(str, range(10_000)))}},
            "judge.panel",
            ("body", "models", "panel"),
        ),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(
    project: Project, wished: dict[str, Any], code: str, place: tuple[str, ...]
) -> None:
    connect(project, "own")

    assert refused(project, **wished) == [(code, place)]


def test_no_version_is_made_with_a_judge_that_was_removed(project: Project) -> None:
    connect(project, "own")
    base, _ = make(project, models={"primary": "own"})
    connections.remove_connection(project=project, actor=SYSTEM, name="own")

    assert refused(project, base=base.number) == [("judge.primary", ("body", "models", "primary"))]
    version, _ = make(
        project, base=base.number, models={"primary": ""}, flags={"tier2_enabled": False}
    )
    assert not spec_of(version).models.is_configured


def test_judges_of_another_project_are_none(project: Project) -> None:
    connect(make_project("theirs"), "theirs")

    assert refused(project, models={"primary": "theirs"}) == [
        ("judge.primary", ("body", "models", "primary"))
    ]


def test_a_panel_names_each_judge_once(project: Project) -> None:
    connect(project, "own")

    version, _ = make(project, models={"primary": "own", "panel": ("own", "own")})

    assert spec_of(version).models.panel == ("own",)


def test_a_version_that_is_only_tried_is_not_taken_along_when_judges_change(
    project: Project,
) -> None:
    connect(project, "own")
    legacy = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))
    tried, _ = make(project, base=legacy.number, flags={"tier2_enabled": False})

    connections.choose_judges(project=project, actor=ADA, primary="own", reason="Better.")

    newest = VerifierVersion.objects.filter(project=project, engine="legacy").latest("number")
    assert newest.number > tried.number
    assert spec_of(newest) == VerifierSpec(LEGACY_FLAGS, JudgeModels("own"))


def test_what_judged_last_of_the_other_engine_is_taken_along_when_judges_change(
    project: Project,
) -> None:
    connect(project, "own")
    legacy = add_version(project=project, spec=VerifierSpec(LEGACY_FLAGS))
    strict, _ = make(project, flags={"regex_default_advisory": False})
    for version in (strict, legacy):
        activate(project=project, number=version.number, actor=ADA, reason="So.")

    connections.choose_judges(project=project, actor=ADA, primary="own", reason="Better.")

    newest = VerifierVersion.objects.filter(project=project, engine="policy").latest("number")
    assert spec_of(newest) == VerifierSpec(
        replace(Flags(), regex_default_advisory=False), JudgeModels("own")
    )


# ------------------------------------------------------------------ two at once


@pytest.mark.django_db(transaction=True)
def test_two_who_wish_for_the_same_get_the_same(project: Project) -> None:
    found = at_once(lambda _: make(project, flags={"tier3_vote_count": 5}))

    assert {version.number for version, _ in found} == {2}
    assert sorted(is_new for _, is_new in found) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_two_who_wish_for_different_ones_get_two_numbers(project: Project) -> None:
    found = at_once(lambda number: make(project, flags={"tier3_vote_count": 5 + number}))

    assert sorted(version.number for version, _ in found) == [2, 3]


@pytest.mark.django_db(transaction=True)
def test_of_a_version_and_the_removal_of_its_judge_both_are_told_the_truth(
    project: Project,
) -> None:
    connect(project, "own")

    def act(number: int) -> Any:
        if number:
            return connections.remove_connection(project=project, actor=SYSTEM, name="own")
        return make(project, models={"primary": "own"})

    made, _ = at_once(act)

    assert JudgeConnection.objects.get(name="own").is_removed
    assert made == "judge.primary" or made[1]
