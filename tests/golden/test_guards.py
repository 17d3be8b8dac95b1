from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import Project, Role
from loomverify.guarding import Objected
from processes.guards import Publication
from processes.services import add_version
from tests.builders import SOURCE_TEXT, make_user
from tests.golden.builders import document, editor_of, make_case
from tests.golden.guarding import (
    ASKING,
    BREAKING,
    HARMLESS,
    HOLDS,
    JUDGED,
    admin_of,
    audited,
    case_that_held,
    draft_of,
    other_verifier,
    process_of,
    put_draft_live,
    put_live,
    put_verifier_live,
    version_of,
)
from tests.golden.replayed import queued, replayed
from verification.golden.cases.services import change_case, retire
from verification.golden.guards.starting import start_for_process, start_for_verifier
from verification.golden.models import Replay, ReplayPurpose, ReplayState
from verification.golden.replays.services import cancel, run_now
from verification.verifiers.services import replace_active

pytestmark = pytest.mark.django_db


def refused(change: Callable[[], object]) -> Objected:
    with pytest.raises(Objected) as caught:
        change()
    return caught.value


def published(project: Project) -> int:
    version = process_of(project).published
    assert version is not None
    return version.number


def active(project: Project) -> int:
    return project.verifiers.get(is_active=True).number


# ------------------------------------------------------------------ publishing a process version


def test_without_cases_nothing_stands_in_the_way(project: Project) -> None:
    put_live(version_of(project, BREAKING))

    assert published(project) == 2
    assert audited(project, "process.published") == {"published": [1, 2]}


def test_a_version_that_was_not_replayed_needs_a_reason_of_its_own(project: Project) -> None:
    case_that_held(project)
    version = version_of(project, HARMLESS)

    error = refused(lambda: put_live(version))

    assert (error.code, error.status, published(project)) == ("golden.not_replayed", 409, 1)
    assert str(error).startswith("1 golden case was not replayed with it yet.")
    assert error.issues[0].loc == ("body", "corpus_reason")
    put_live(version, "The server is on fire.")
    assert audited(project, "process.published") == {
        "published": [1, 2],
        "corpus": [None, "1 golden case was not replayed with it yet."],
        "corpus_reason": [None, "The server is on fire."],
    }


def test_a_version_with_which_every_case_holds_is_published(project: Project) -> None:
    case_that_held(project)
    version = version_of(project, HARMLESS)
    replay = replayed(project, process_version=version)

    put_live(version)

    assert published(project) == 2
    assert audited(project, "process.published") == {
        "published": [1, 2],
        "corpus": [None, f"Of 1 golden case none regressed. Replay {replay.uuid}."],
    }


def test_a_version_with_which_a_case_regressed_needs_a_reason_of_its_own(project: Project) -> None:
    case_that_held(project, "revenue-may-be-spoken-of")
    version = version_of(project, BREAKING)
    replay = replayed(project, process_version=version)

    error = refused(lambda: put_live(version, "  "))

    assert (error.code, published(project)) == ("golden.regressed", 1)
    assert "1 of 1 golden case that held before does not hold now: revenue-may-be" in str(error)
    assert f"/golden/replays/{replay.uuid}/" in str(error)
    put_live(version, "We speak of revenue no more.")
    kept = audited(project, "process.published")
    assert kept["corpus_reason"] == [None, "We speak of revenue no more."]
    assert kept["corpus"][1].startswith("1 of 1 golden case that held before does not hold now")


def test_a_case_that_held_and_could_not_be_judged_is_worse(project: Project) -> None:
    case_that_held(project)
    version = version_of(project, ASKING)
    replay = replayed(project, process_version=version)

    assert (replay.counts["not_judged"], replay.counts["regressed"]) == (1, 0)
    assert refused(lambda: put_live(version)).code == "golden.regressed"


def test_a_case_that_never_held_speaks_against_nothing(project: Project) -> None:
    make_case(project, "never", **{**HOLDS, "expected": {"outcome": "fail"}})
    version = version_of(project, HARMLESS)
    replay = replayed(project, process_version=version)

    put_live(version)

    assert (replay.counts["new"], published(project)) == (1, 2)


def test_the_first_publication_of_a_process_is_not_guarded(project: Project) -> None:
    process = process_of(project)
    process.published = None
    process.save(update_fields=["published"])
    make_case(project, **HOLDS)

    put_live(version_of(project, HARMLESS))

    assert published(project) == 2


def test_going_back_is_guarded_like_going_on(project: Project) -> None:
    put_live(version_of(project, BREAKING))
    case = make_case(project, **{**HOLDS, "expected": {"outcome": "fail"}})
    replayed(project)

    first = process_of(project).versions.get(number=1)

    assert refused(lambda: put_live(first)).code == "golden.not_replayed"
    replayed(project, process_version=first)
    assert case.name in str(refused(lambda: put_live(first)))


# ------------------------------------------------------------------ publishing a draft


def test_a_draft_counts_by_the_replay_of_its_very_text(project: Project) -> None:
    case_that_held(project)
    draft = draft_of(project, make_user(project, Role.ADMIN), HARMLESS)
    replayed(project, candidate_text=HARMLESS)

    stored = put_draft_live(draft)

    assert (stored.is_published, published(project)) == (True, 2)


def test_a_draft_that_breaks_a_case_is_neither_stored_nor_published(project: Project) -> None:
    case_that_held(project)
    draft = draft_of(project, make_user(project, Role.ADMIN), BREAKING)
    replayed(project, candidate_text=BREAKING)

    assert refused(lambda: put_draft_live(draft)).code == "golden.regressed"

    assert (process_of(project).versions.count(), published(project)) == (1, 1)
    draft.refresh_from_db()
    assert draft.discarded_at is None
    assert put_draft_live(draft, "On purpose.").version.number == 2


def test_a_draft_changed_after_its_replay_was_not_replayed(project: Project) -> None:
    case_that_held(project)
    user = make_user(project, Role.ADMIN)
    replayed(project, candidate_text=HARMLESS)
    draft = draft_of(project, user, f"{HARMLESS}# and a word more\n")

    assert refused(lambda: put_draft_live(draft)).code == "golden.not_replayed"


def test_an_editors_draft_is_stored_unguarded_since_it_judges_nothing(project: Project) -> None:
    case_that_held(project)
    draft = draft_of(project, make_user(project, Role.EDITOR), BREAKING)

    stored = put_draft_live(draft, role=Role.EDITOR)

    assert (stored.is_published, published(project)) == (False, 1)


def test_the_replay_of_a_draft_counts_for_the_version_that_it_became(project: Project) -> None:
    case_that_held(project)
    replayed(project, candidate_text=HARMLESS)

    put_live(version_of(project, HARMLESS))

    assert published(project) == 2


# ------------------------------------------------------------------ what makes a replay old


def add_case(project: Project) -> None:
    make_case(project, "added", **HOLDS)


def change_a_case(project: Project) -> None:
    case = project.golden_cases.get(name="held")
    changed = document("held", **{**HOLDS, "guards": "Something else."})
    change_case(access=editor_of(project), case=case.uuid, document=changed, reason="Better.")


def retire_one_of_two(project: Project) -> None:
    retire(access=editor_of(project), case=project.golden_cases.get(name="other").uuid)


def activate_another(project: Project) -> None:
    put_verifier_live(other_verifier(project), "Try.")


@pytest.mark.parametrize(
    "meanwhile", [add_case, change_a_case, retire_one_of_two, activate_another]
)
def test_a_replay_of_other_cases_or_another_verifier_says_nothing(
    project: Project, meanwhile: Callable[[Project], None]
) -> None:
    make_case(project, "other", **HOLDS)
    case_that_held(project)
    version = version_of(project, HARMLESS)
    replayed(project, process_version=version)

    meanwhile(project)

    assert refused(lambda: put_live(version)).code == "golden.not_replayed"


@pytest.mark.parametrize(
    "wish",
    [
        {"tags": ["fast"]},
        {"process_version": None},
        {"candidate_text": SOURCE_TEXT},
    ],
    ids=["some cases alone", "what is published", "another text"],
)
def test_only_the_replay_of_exactly_this_counts(project: Project, wish: dict[str, Any]) -> None:
    make_case(project, "fast-one", **HOLDS, tags=["fast"])
    case_that_held(project)
    version = version_of(project, HARMLESS)
    replayed(project, **{"process": process_of(project), "process_version": version, **wish})

    assert refused(lambda: put_live(version)).code == "golden.not_replayed"


def test_a_replay_under_way_says_nothing_yet_and_a_cancelled_one_never(project: Project) -> None:
    case_that_held(project)
    version = version_of(project, HARMLESS)
    replay = queued(project, process_version=version)

    assert "is being replayed" in str(refused(lambda: put_live(version)))
    cancel(access=admin_of(project), replay=replay.uuid)
    assert "not replayed to the end" in str(refused(lambda: put_live(version)))


def test_cases_with_a_process_of_their_own_and_canaries_are_not_asked(project: Project) -> None:
    make_case(project, "own", **HOLDS, process_text=SOURCE_TEXT)
    make_case(project, "bird", **HOLDS, tags=["canary"])

    put_live(version_of(project, BREAKING))

    assert published(project) == 2


# ------------------------------------------------------------------ activating a verifier version


def test_a_verifier_that_was_not_replayed_needs_a_reason_of_its_own(project: Project) -> None:
    case_that_held(project)
    version = other_verifier(project)

    error = refused(lambda: put_verifier_live(version))

    assert (error.code, active(project)) == ("golden.not_replayed", 1)
    put_verifier_live(version, "In a hurry.")
    assert audited(project, "verifier.activated") == {
        "active": [1, 2],
        "corpus": [None, "1 golden case was not replayed with it yet."],
        "corpus_reason": [None, "In a hurry."],
    }


def test_a_verifier_with_which_every_case_holds_is_activated(project: Project) -> None:
    case_that_held(project)
    version = other_verifier(project)
    replayed(project, verifier=version)

    put_verifier_live(version)

    assert active(project) == 2


def test_a_process_published_after_the_replay_makes_it_old(project: Project) -> None:
    case_that_held(project)
    version = other_verifier(project)
    replayed(project, verifier=version)
    put_live(version_of(project, HARMLESS), "Try.")

    assert refused(lambda: put_verifier_live(version)).code == "golden.not_replayed"


def test_a_process_published_for_the_first_time_makes_it_old(project: Project) -> None:
    make_case(project, "elsewhere", **HOLDS, process="other-work")
    case_that_held(project)
    version = other_verifier(project)
    replayed(project, verifier=version)
    other = SOURCE_TEXT.replace("name: small-work", "name: other-work")
    add_version(project=project, source_text=other, actor=SYSTEM, role=Role.ADMIN)

    assert refused(lambda: put_verifier_live(version)).code == "golden.not_replayed"


def test_without_cases_a_verifier_is_activated(project: Project) -> None:
    put_verifier_live(other_verifier(project))

    assert audited(project, "verifier.activated") == {"active": [1, 2]}


def test_other_judges_are_not_guarded_since_recorded_answers_tell_nothing_of_them(
    project: Project,
) -> None:
    case_that_held(project)

    replace_active(project=project, spec=JUDGED, actor=SYSTEM, reason="Another judge.")

    assert active(project) == 2


# ------------------------------------------------------------------ starting the replay


def test_of_two_who_look_at_once_the_second_finds_the_firsts_replay(project: Project) -> None:
    case_that_held(project)
    version = version_of(project, HARMLESS)
    wish = Publication(process_of(project), version.source_text, version)

    started = [
        start_for_process(access=admin_of(project, name), wish=wish) for name in ("ann", "bob")
    ]

    assert started == [True, False]
    replay = Replay.objects.get(purpose=ReplayPurpose.PUBLISH)
    assert (replay.process_version, replay.created_by) == (version, "ann")
    run_now(replay)
    assert not start_for_process(access=admin_of(project), wish=wish)


def test_a_draft_typed_on_gives_up_the_replay_of_its_earlier_text(project: Project) -> None:
    case_that_held(project)
    process, ann = process_of(project), admin_of(project)

    for text in (HARMLESS, BREAKING):
        start_for_process(access=ann, wish=Publication(process, text))
    start_for_process(access=admin_of(project, "bob"), wish=Publication(process, ASKING))

    replays = Replay.objects.filter(purpose=ReplayPurpose.PUBLISH).order_by("pk")
    assert [one.state for one in replays] == [
        ReplayState.CANCELLED,
        ReplayState.QUEUED,
        ReplayState.QUEUED,
    ]


def test_a_verifiers_replay_is_over_all_cases_by_what_is_published(project: Project) -> None:
    case_that_held(project)
    version = other_verifier(project)

    assert start_for_verifier(access=admin_of(project), version=version)
    assert not start_for_verifier(access=admin_of(project, "bob"), version=version)

    replay = Replay.objects.get(purpose=ReplayPurpose.ACTIVATE)
    assert (replay.verifier_version, replay.process, replay.total) == (version, None, 1)


def test_where_no_case_could_tell_nothing_is_started(project: Project) -> None:
    wish = Publication(process_of(project), BREAKING)

    assert not start_for_process(access=admin_of(project), wish=wish)
    assert not start_for_verifier(access=admin_of(project), version=other_verifier(project))
    assert not Replay.objects.exists()
