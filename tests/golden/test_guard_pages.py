from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from loomverify.accounts.models import Project, Role, User
from tests.builders import make_project, make_user, signed_in
from tests.golden.builders import make_case
from tests.golden.guarding import (
    BREAKING,
    HARMLESS,
    HOLDS,
    audited,
    case_that_held,
    draft_of,
    other_verifier,
    process_of,
    version_of,
)
from tests.golden.replayed import replayed
from tests.processes.callers import Api
from verification.golden.models import Replay, ReplayPurpose
from verification.golden.replays.services import run_now

pytestmark = pytest.mark.django_db

PART = {"HX-Request": "true"}
WHY = {"reason": "It is better."}


@pytest.fixture
def project() -> Project:
    return make_project("loom")


@pytest.fixture
def ann(project: Project) -> User:
    return make_user(project, Role.ADMIN, "ann")


@pytest.fixture
def desk(ann: User) -> Client:
    return signed_in(ann)


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


PROCESS = "/p/loom/processes/small-work/"
DRAFT = f"{PROCESS}draft/publish/"
DRAFT_PART = "/p/loom/golden/guards/drafts/small-work/"


def version_page(number: int) -> str:
    return f"{PROCESS}versions/{number}/publish/"


def version_part(number: int) -> str:
    return f"/p/loom/golden/guards/processes/small-work/{number}/"


def test_a_process_without_cases_is_published_as_ever(project: Project, desk: Client) -> None:
    version_of(project, BREAKING)

    page = text(desk.get(version_page(2)))
    answer = desk.post(version_page(2), {**WHY, "published": "1"})

    assert 'id="corpus"' not in page
    assert "corpus_reason" not in page
    assert (answer.status_code, process_of(project).published_id) == (
        302,
        process_of(project).versions.get(number=2).pk,
    )


def test_the_page_starts_the_replay_by_itself_and_without_script_by_a_button(
    project: Project, desk: Client
) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)

    page = text(desk.get(version_page(2)))

    assert f'hx-post="{version_part(2)}" hx-trigger="load"' in page
    assert f'<button formaction="{version_part(2)}" formmethod="post" formnovalidate>' in page
    assert 'name="corpus_reason"' in page


def test_a_started_replay_is_followed_to_its_end(project: Project, desk: Client) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)

    started = text(desk.post(version_part(2), headers=PART))
    replay = Replay.objects.get(purpose=ReplayPurpose.PUBLISH)
    run_now(replay)
    ended = text(desk.get(version_part(2), headers=PART))

    assert f'hx-get="{version_part(2)}" hx-trigger="every 1s"' in started
    assert "0 of 1 golden cases" in started
    assert "No golden case got worse." in ended
    assert "hx-trigger" not in ended
    assert '<div id="corpus-reason" hx-swap-oob="delete"></div>' in ended


def test_without_script_the_button_leads_back_to_the_page(project: Project, desk: Client) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)

    answer = desk.post(version_part(2), WHY)
    page = text(desk.get(version_page(2)))

    assert answer.headers["Location"] == version_page(2)
    assert "0 of 1 golden cases" in page
    assert '<noscript><p class="small"><a href="">Look again</a></p></noscript>' in page


def test_what_got_worse_is_listed_with_expected_beside_observed(
    project: Project, desk: Client
) -> None:
    case = case_that_held(project, "speaks-of-revenue")
    replay = replayed(project, process_version=version_of(project, BREAKING))

    page = text(desk.get(version_page(2)))

    assert "1 golden case that held before does not hold with it." in page
    place = f"/p/loom/golden/replays/{replay.uuid}/cases/{case.uuid}/"
    assert f'<a href="{place}">speaks-of-revenue</a>' in page
    assert '<span class="faint">expected</span> <bdi>pass</bdi>' in page
    assert '<span class="faint">observed</span> <bdi>fail</bdi>' in page


def test_what_did_not_hold_before_either_is_told_apart(project: Project, desk: Client) -> None:
    make_case(project, "never", **{**HOLDS, "expected": {"outcome": "fail"}})
    case_that_held(project)
    replayed(project, process_version=version_of(project, HARMLESS))

    page = text(desk.get(version_page(2)))

    assert "No golden case got worse." in page
    assert ": 1 did not hold before either" in page


def test_publishing_what_breaks_a_case_asks_why_and_keeps_the_answer(
    project: Project, desk: Client
) -> None:
    case_that_held(project)
    replayed(project, process_version=version_of(project, BREAKING))
    form = {**WHY, "published": "1"}

    asked = desk.post(version_page(2), form)
    kept = desk.post(version_page(2), {**form, "corpus_reason": "The law changed."})

    assert asked.status_code == 409
    assert "Say why it is to judge runs all the same. Nothing was published." in text(asked)
    assert 'value="It is better."' in text(asked)
    assert kept.status_code == 302
    assert audited(project, "process.published")["corpus_reason"] == [None, "The law changed."]


def test_publishing_a_draft_that_breaks_a_case_asks_why(
    project: Project, ann: User, desk: Client
) -> None:
    case_that_held(project)
    draft = draft_of(project, ann, BREAKING)
    desk.post(DRAFT_PART, headers=PART)
    run_now(Replay.objects.get(purpose=ReplayPurpose.PUBLISH))
    form = {**WHY, "lock_version": str(draft.lock_version)}

    asked = desk.post(DRAFT, form)
    kept = desk.post(DRAFT, {**form, "corpus_reason": "The law changed."})

    assert asked.status_code == 409
    assert "Say why it is to judge runs all the same." in text(asked)
    assert "Nothing was stored." not in text(asked)
    assert (kept.status_code, process_of(project).versions.count()) == (302, 2)


def test_a_draft_changed_meanwhile_is_replayed_anew(
    project: Project, ann: User, desk: Client
) -> None:
    case_that_held(project)
    draft_of(project, ann, HARMLESS)
    desk.post(DRAFT_PART, headers=PART)
    run_now(Replay.objects.get(purpose=ReplayPurpose.PUBLISH))
    draft_of(project, ann, BREAKING)

    assert f'hx-post="{DRAFT_PART}" hx-trigger="load"' in text(desk.get(DRAFT))
    assert "0 of 1 golden cases" in text(desk.post(DRAFT_PART, headers=PART))


def test_a_cancelled_replay_is_not_begun_again_by_itself(project: Project, desk: Client) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)
    desk.post(version_part(2), headers=PART)
    replay = Replay.objects.get(purpose=ReplayPurpose.PUBLISH)
    desk.post(f"/p/loom/golden/replays/{replay.uuid}/cancel/")

    page = text(desk.get(version_page(2)))

    assert "did not come to its end" in page
    assert 'hx-trigger="load"' not in page
    assert "Replay it now</button>" in page


def test_a_draft_that_does_not_load_is_not_replayed(
    project: Project, ann: User, desk: Client
) -> None:
    case_that_held(project)
    draft_of(project, ann, "name: [\n")

    page = desk.get(DRAFT)
    started = desk.post(DRAFT_PART, headers=PART)

    assert 'id="corpus"' not in text(page)
    assert not Replay.objects.filter(purpose=ReplayPurpose.PUBLISH).exists()
    assert started.status_code == 200
    assert "Line 2: Not YAML" in text(started)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_only_who_may_publish_starts_a_versions_replay(project: Project, role: Role) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)
    desk = signed_in(make_user(project, role))

    assert desk.post(version_part(2), headers=PART).status_code == 403
    assert desk.post("/p/loom/golden/guards/verifiers/1/", headers=PART).status_code == 403


def test_another_projects_people_find_nothing(project: Project) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)
    stranger = signed_in(make_user(make_project("theirs"), Role.ADMIN))

    for place in (version_part(2), DRAFT_PART, "/p/loom/golden/guards/verifiers/1/"):
        assert stranger.post(place, headers=PART).status_code == 404


def test_the_publish_page_asks_the_database_the_same_for_many_worse_cases(
    project: Project, desk: Client, django_assert_max_num_queries: Any
) -> None:
    case_that_held(project)
    replayed(project, process_version=version_of(project, BREAKING))
    desk.get(version_page(2))
    with django_assert_max_num_queries(60) as few:
        desk.get(version_page(2))
    for number in range(15):
        make_case(project, f"more-{number}", **HOLDS)
    replayed(project)
    replayed(project, process_version=process_of(project).versions.get(number=2))

    with django_assert_max_num_queries(len(few.captured_queries)) as many:
        page = text(desk.get(version_page(2)))

    assert len(many.captured_queries) == len(few.captured_queries)
    assert "16 golden cases that held before do not hold with it." in page
    assert ">And 6 more</a>" in page


# ------------------------------------------------------------------ verifier versions


def test_verifier_versions_are_listed_with_what_they_have_otherwise(
    project: Project, desk: Client
) -> None:
    other_verifier(project)

    page = text(desk.get("/p/loom/settings/verifiers/"))

    assert '<a class="strong" data-walk href="/p/loom/settings/verifiers/2/">v2</a>' in page
    assert 'Votes of tier 3 <b>5</b> <span class="faint">(not 3)</span>' in page
    assert page.count("judges runs</span>") == 1


def test_a_verifier_is_activated_with_a_reason(project: Project, desk: Client) -> None:
    other_verifier(project)

    page = text(desk.get("/p/loom/settings/verifiers/2/"))
    empty = desk.post("/p/loom/settings/verifiers/2/", {"reason": ""})
    answer = desk.post("/p/loom/settings/verifiers/2/", WHY)

    assert "tier3_vote_count" in page
    assert 'id="corpus"' not in page
    assert empty.status_code == 422
    assert answer.status_code == 302
    assert project.verifiers.get(is_active=True).number == 2


def test_activating_what_was_not_replayed_asks_why(project: Project, desk: Client) -> None:
    case_that_held(project)
    other_verifier(project)
    part = "/p/loom/golden/guards/verifiers/2/"

    page = text(desk.get("/p/loom/settings/verifiers/2/"))
    asked = desk.post("/p/loom/settings/verifiers/2/", WHY)
    desk.post(part, headers=PART)
    replay = Replay.objects.get(purpose=ReplayPurpose.ACTIVATE)
    run_now(replay)
    answer = desk.post("/p/loom/settings/verifiers/2/", WHY)

    assert f'hx-post="{part}" hx-trigger="load"' in page
    assert asked.status_code == 409
    assert "Nothing was activated." in text(asked)
    assert answer.status_code == 302
    assert audited(project, "verifier.activated")["corpus"] == [
        None,
        f"Of 1 golden case none regressed. Replay {replay.uuid}.",
    ]


def test_the_active_version_offers_no_activation(project: Project, desk: Client) -> None:
    page = text(desk.get("/p/loom/settings/verifiers/1/"))

    assert "It judges runs" in page
    assert '<button class="main">Activate' not in page
    assert desk.get("/p/loom/settings/verifiers/7/").status_code == 404


# ------------------------------------------------------------------ the API


@pytest.mark.parametrize(
    "place", ["/processes/small-work/versions/2/publish", "/verifiers/2/activate"]
)
def test_the_api_answers_409_until_a_reason_is_given(project: Project, place: str) -> None:
    case_that_held(project)
    version_of(project, HARMLESS)
    other_verifier(project)
    admin = Api(project, Role.ADMIN)

    refused = admin.post(place, WHY)
    accepted = admin.post(place, {**WHY, "corpus_reason": "In a hurry."})

    problem = refused.json()
    assert (refused.status_code, problem["errors"][0]["code"]) == (409, "golden.not_replayed")
    assert problem["errors"][0]["loc"] == ["body", "corpus_reason"]
    assert accepted.status_code == 200


@pytest.mark.parametrize(
    "place", ["/processes/small-work/versions/2/publish", "/verifiers/2/activate"]
)
def test_projects_without_cases_find_the_api_as_it_was(project: Project, place: str) -> None:
    version_of(project, BREAKING)
    other_verifier(project)

    assert Api(project, Role.ADMIN).post(place, WHY).status_code == 200


@pytest.mark.parametrize("reason", ["x" * 1001, 7, None])
def test_a_reason_is_a_short_text(project: Project, reason: object) -> None:
    other_verifier(project)

    answer = Api(project, Role.ADMIN).post(
        "/verifiers/2/activate", {**WHY, "corpus_reason": reason}
    )

    assert answer.status_code == 422
