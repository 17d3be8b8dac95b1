from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from processes.models import Draft, Process
from tests.builders import (
    SOURCE_TEXT,
    add_version,
    make_process,
    make_project,
    make_user,
    signed_in,
)
from tests.processes.editing import Desk, new_desk, said
from tests.tables import check_rows

pytestmark = pytest.mark.django_db

CHANGED = SOURCE_TEXT.replace("TODO|TBD", "TODO|TBD|FIXME")
BROKEN = SOURCE_TEXT.replace("verification_tier: 2", "verification_tier: nine")
PAGES = [
    ("draft_yaml", ()),
    ("draft_matrix", ()),
    ("draft_rules", ()),
    ("draft_rule", (0,)),
    ("draft_rule_new", ()),
    ("draft_phases", ()),
    ("draft_phase", (0,)),
    ("draft_process", ()),
    ("draft_review", ()),
    ("draft_publish", ()),
]
PAGE_NAMES = [name for name, _ in PAGES]
READ_ONLY = {"draft_matrix", "draft_rules", "draft_phases"}
POSTS = [
    *(page for page in PAGES if page[0] not in READ_ONLY),
    ("draft_open", ()),
    ("draft_check", ()),
    ("draft_undo", ()),
    ("draft_discard", ()),
    ("draft_restore", ()),
    ("draft_rebase", ()),
    ("draft_toggle", ()),
    ("draft_rule_try", ()),
    ("draft_rule_copy", (0,)),
    ("draft_rule_delete", (0,)),
    ("draft_rule_set", (0,)),
    ("draft_rule_move", (0,)),
    ("draft_phase_move", (0,)),
    ("backtest_live", ()),
    ("sample_start", ()),
    ("rule_observe", ()),
    ("version_publish", (1,)),
]


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def desk(project: Project) -> Desk:
    desk = new_desk(project)
    desk.begin()
    return desk


def test_below_editor_every_post_is_refused_and_changes_nothing(project: Project) -> None:
    desk = new_desk(project, Role.REVIEWER)

    statuses = {name: desk.post(name, *args).status_code for name, args in POSTS}

    assert statuses == dict.fromkeys(statuses, 403)
    assert not Draft.objects.exists()


def test_below_editor_no_page_of_a_draft_is_shown(project: Project) -> None:
    desk = new_desk(project, Role.REVIEWER)

    statuses = {name: desk.get(name, *args).status_code for name, args in PAGES}

    assert statuses == dict.fromkeys(statuses, 403)


def test_another_projects_process_does_not_exist(desk: Desk) -> None:
    outsider = signed_in(make_user(make_project(), Role.ADMIN))

    statuses = {name: outsider.post(desk.url(name, *args)).status_code for name, args in POSTS}

    assert statuses == dict.fromkeys(statuses, 404)


def test_every_page_of_a_missing_draft_redirects_to_the_process(project: Project) -> None:
    desk = new_desk(project)

    answers = {name: desk.get(name, *args) for name, args in PAGES}

    assert {answer.status_code for answer in answers.values()} == {302}
    locations = {name: answer.headers["Location"] for name, answer in answers.items()}
    assert locations == dict.fromkeys(PAGE_NAMES, desk.url("process_detail"))


def test_a_viewer_sees_no_way_to_edit(project: Project) -> None:
    page = new_desk(project, Role.VIEWER).get("process_detail").content.decode()

    assert "/edit/" not in page
    assert "/publish/" not in page


def test_only_an_admin_sees_a_way_to_publish_another_version(project: Project) -> None:
    add_version(project.processes.get(), CHANGED)

    assert "/publish/" not in new_desk(project).get("process_detail").content.decode()
    assert "/publish/" in new_desk(project, Role.ADMIN).get("process_detail").content.decode()


def test_two_editors_never_see_each_others_drafts(desk: Desk) -> None:
    desk.save(CHANGED)
    other = Desk(desk.process)

    other.begin()

    assert "FIXME" not in other.get("draft_yaml").content.decode()


def test_what_comes_through_a_text_area_is_saved_byte_for_byte(desk: Desk) -> None:
    answer = desk.save(CHANGED)

    assert answer.status_code == 302
    assert desk.draft.source_text == CHANGED


@pytest.mark.parametrize("start", ["\n\nname: x\n", "\ufeffname: x\n", "name: x", "a\r\nb\nc\r\n"])
def test_a_text_area_gives_back_what_it_got(project: Project, start: str) -> None:
    add_version(project.processes.get(), SOURCE_TEXT)
    desk = new_desk(project)
    desk.begin()
    Draft.objects.update(source_text=start)
    page = desk.get("draft_yaml").content.decode()
    shown = page.split('data-label="Process file small-work">\n', 1)[1].split("</textarea>")[0]

    desk.save(shown.replace("\r\n", "\n"))

    assert desk.draft.source_text == start


def test_a_text_with_errors_is_saved_and_each_error_stands_with_its_place(desk: Desk) -> None:
    desk.save(BROKEN)

    page = desk.get("draft_yaml")
    assert desk.draft.source_text == BROKEN
    assert "1 error" in said(page)
    assert 'href="#L14"' in page.content.decode()
    assert "phases[1].verification_tier" in said(page)


def test_a_part_is_answered_to_a_save_in_place(desk: Desk) -> None:
    answer = desk.save(CHANGED, htmx=True)

    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert 'id="lock-version" value="2"' in page


def test_checking_says_what_is_wrong_and_stores_nothing(desk: Desk) -> None:
    answer = desk.post("draft_check", htmx=True, source_text=BROKEN)

    page = answer.content.decode()
    assert 'data-line="14"' in page
    assert 'data-level="error"' in page
    assert desk.draft.source_text == SOURCE_TEXT


@pytest.mark.parametrize(
    "text", ["", "a: [", "\0", "&a [*a]", "- " * 5000, "<script>alert(1)</script>: x"]
)
def test_checking_answers_to_any_text(desk: Desk, text: str) -> None:
    answer = desk.post("draft_check", source_text=text)

    assert answer.status_code == 200
    assert b"<script>alert" not in answer.content


@pytest.mark.parametrize("htmx", [False, True])
def test_a_late_save_keeps_both_texts_and_offers_a_choice(desk: Desk, htmx: bool) -> None:
    desk.save(CHANGED)

    answer = desk.save(f"{SOURCE_TEXT}# mine\n", lock_version=1, htmx=htmx)

    assert answer.status_code == 409
    assert "# mine" in said(answer)
    assert "FIXME" in said(answer)
    assert "Keep mine" in said(answer)
    assert "Take the saved one" in said(answer)
    assert desk.draft.source_text == CHANGED


def test_keeping_mine_saves_it_and_undo_brings_theirs_back(desk: Desk) -> None:
    desk.save(CHANGED)
    conflict = desk.save(f"{SOURCE_TEXT}# mine\n", lock_version=1)

    desk.save(f"{SOURCE_TEXT}# mine\n", lock_version=conflict.context["draft"].lock_version)
    kept = desk.draft.source_text
    desk.post("draft_undo", lock_version=desk.draft.lock_version)

    assert kept == f"{SOURCE_TEXT}# mine\n"
    assert desk.draft.source_text == CHANGED


@pytest.mark.parametrize("htmx", [False, True])
def test_a_save_after_the_draft_was_put_away_keeps_the_text_too(desk: Desk, htmx: bool) -> None:
    desk.post("draft_discard", lock_version=1)

    answer = desk.save(CHANGED, lock_version=1, htmx=htmx)

    assert answer.status_code == 409
    assert "FIXME" in said(answer)
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_part_of_a_page_without_its_draft_leads_back_to_the_process(project: Project) -> None:
    desk = new_desk(project)

    answer = desk.post("draft_toggle", htmx=True, switch="{}")

    assert answer.headers["HX-Redirect"] == desk.url("process_detail")


def test_a_published_draft_is_not_offered_back(project: Project) -> None:
    desk = new_desk(project, Role.ADMIN)
    desk.begin()
    desk.save(CHANGED)
    desk.post("draft_publish", reason="FIXME too", lock_version=2)

    assert "Take it back" not in said(desk.get("process_detail"))


@pytest.mark.parametrize("lock_version", ["", "x", "-1", "9" * 30, "²"])
def test_a_strange_lock_version_is_a_stale_one(desk: Desk, lock_version: str) -> None:
    answer = desk.post("draft_yaml", source_text=CHANGED, lock_version=lock_version)

    assert answer.status_code == 409
    assert desk.draft.source_text == SOURCE_TEXT


def test_a_text_beyond_the_bound_is_refused_and_stays_on_the_page(desk: Desk) -> None:
    text = f"{SOURCE_TEXT}# {'x' * 1024 * 1024}\n"

    answer = desk.save(text)

    assert answer.status_code == 413
    assert "at most 1,048,576 bytes" in said(answer)
    assert answer.content.decode().count("x" * 1000) > 0


def test_a_discarded_draft_is_offered_back(desk: Desk) -> None:
    desk.save(CHANGED)
    desk.post("draft_discard", lock_version=2)
    assert "Take it back" in said(desk.get("process_detail"))

    desk.post("draft_restore")

    assert desk.draft.source_text == CHANGED
    assert desk.draft.discarded_at is None


def test_the_draft_page_says_that_a_newer_version_came(desk: Desk) -> None:
    add_version(desk.process, CHANGED)

    page = desk.get("draft_yaml")

    assert "v2 was added since you began with v1" in said(page)
    assert "?a=1&amp;b=2" in page.content.decode()


@pytest.mark.parametrize(("choice", "text"), [("theirs", CHANGED), ("mine", f"{SOURCE_TEXT}# m\n")])
def test_going_on_from_a_newer_version_takes_the_chosen_text(
    desk: Desk, choice: str, text: str
) -> None:
    desk.save(f"{SOURCE_TEXT}# m\n")
    add_version(desk.process, CHANGED)

    desk.post("draft_rebase", text=choice, number=2, lock_version=2)

    assert desk.draft.source_text == text
    assert desk.draft.base.number == 2


@pytest.mark.parametrize("number", ["1", "", "x", "9" * 5_000])
def test_going_on_from_anything_but_the_newest_version_changes_nothing(
    desk: Desk, number: str
) -> None:
    desk.save(f"{SOURCE_TEXT}# m\n")
    add_version(desk.process, CHANGED)

    answer = desk.post("draft_rebase", text="theirs", number=number, lock_version=2)

    assert answer.status_code == 302
    assert desk.draft.source_text == f"{SOURCE_TEXT}# m\n"
    assert desk.draft.base.number == 1


def test_changes_that_lie_apart_are_put_into_the_newer_version(desk: Desk) -> None:
    desk.save(f"{SOURCE_TEXT}# m\n")
    add_version(desk.process, SOURCE_TEXT.replace("# the work itself", "# theirs"))
    assert "Put my changes into v2" in said(desk.get("draft_yaml"))

    desk.post("draft_rebase", text="both", number=2, lock_version=2)

    assert desk.draft.source_text == f"{SOURCE_TEXT}# m\n".replace("# the work itself", "# theirs")
    assert desk.draft.base.number == 2


def test_changes_that_meet_are_not_put_together(desk: Desk) -> None:
    desk.save(f"{SOURCE_TEXT}# m\n")
    add_version(desk.process, f"{SOURCE_TEXT}# theirs\n")
    assert "Put my changes" not in said(desk.get("draft_yaml"))

    desk.post("draft_rebase", text="both", number=2, lock_version=2)

    assert desk.draft.source_text == f"{SOURCE_TEXT}# m\n"
    assert desk.draft.base.number == 1


def test_after_going_back_a_draft_says_what_it_brings_along(project: Project) -> None:
    process = project.processes.get()
    first = process.published
    add_version(process, CHANGED)
    Process.objects.filter(pk=process.pk).update(published=first)
    desk = Desk(process)
    draft = desk.begin()

    text = said(desk.get("draft_matrix"))

    assert "v1 is published; this draft began with v2, which is not." in text
    assert draft.source_text == CHANGED
    taken: dict[str, Any] = {"text": "published", "number": 2}
    assert desk.post("draft_rebase", **taken, lock_version=draft.lock_version).status_code == 302
    assert desk.draft.source_text == SOURCE_TEXT
    assert "Go on with the text of v1" not in said(desk.get("draft_publish"))


def test_a_draft_behind_is_not_published(desk: Desk) -> None:
    desk.save(f"{SOURCE_TEXT}# m\n")
    add_version(desk.process, CHANGED)

    answer = desk.post("draft_publish", reason="mine", lock_version=2)

    assert answer.status_code == 409
    assert desk.process.versions.count() == 2


def test_every_error_stands_in_the_way_of_publishing(desk: Desk) -> None:
    broken = BROKEN.replace("depends_on: [build]", "depends_on: [nowhere]")
    desk.save(broken)

    page = desk.get("draft_publish")
    answer = desk.post("draft_publish", reason="now", lock_version=2)

    assert "2 errors to mend first" in said(page)
    assert answer.status_code == 422
    assert "nowhere" in said(answer)
    assert "verification_tier" in said(answer)
    assert desk.process.versions.count() == 1


def test_publishing_needs_a_reason(desk: Desk) -> None:
    desk.save(CHANGED)

    answer = desk.post("draft_publish", reason=" ", lock_version=2)

    assert answer.status_code == 422
    assert desk.process.versions.count() == 1


def test_what_a_draft_changes_is_shown_before_it_is_published(desk: Desk) -> None:
    desk.save(CHANGED)

    page = desk.get("draft_publish").content.decode()

    assert "<del>TODO|TBD</del>" in page
    assert "<ins>TODO|TBD|FIXME</ins>" in page


def test_an_editor_stores_a_version_and_is_told_that_an_admin_publishes(desk: Desk) -> None:
    desk.save(CHANGED)

    answer = desk.client.post(
        desk.url("draft_publish"), {"reason": "FIXME too", "lock_version": 2}, follow=True
    )

    assert "v2 is stored. An admin of the project publishes it" in said(answer)
    process = Process.objects.get(pk=desk.process.pk)
    assert process.published is not None
    assert process.published.number == 1


def test_an_admin_publishes_a_draft_and_goes_back_with_a_reason(project: Project) -> None:
    desk = new_desk(project, Role.ADMIN)
    desk.begin()
    desk.save(CHANGED)
    desk.post("draft_publish", reason="FIXME too", lock_version=2)
    page = desk.get("version_publish", 1)

    answer = desk.client.post(
        desk.url("version_publish", 1),
        {"reason": "it was too much", "published": "2"},
        follow=True,
    )

    assert "Go back to v1" in said(page)
    assert "v1 is published" in said(answer)
    process = Process.objects.get(pk=desk.process.pk)
    assert process.published is not None
    assert process.published.number == 1


@pytest.mark.parametrize("seen", ["2", "", "x", "9" * 5_000])
def test_going_back_is_refused_when_somebody_published_meanwhile(
    project: Project, seen: str
) -> None:
    desk = new_desk(project, Role.ADMIN)
    add_version(desk.process, CHANGED)
    add_version(desk.process, f"{CHANGED}# 3\n")

    answer = desk.post("version_publish", 1, reason="back", published=seen)

    assert answer.status_code == 409
    assert "Somebody published v3" in said(answer)


def test_the_list_asks_the_database_as_often_for_one_process_as_for_many(project: Project) -> None:
    desk = new_desk(project)
    url = reverse("process_list", args=[project.slug])
    desk.client.get(url)

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as asked:
            desk.client.get(url)
        return len(asked)

    few = queries()
    for number in range(12):
        make_process(project, slug=f"more-{number}")

    assert queries() <= few + 1  # the texts that nobody read yet come in one query


@check_rows(("name", "args"), [*PAGES, ("process_detail", ())], rollback=True)
def test_a_page_asks_the_database_as_often_for_one_version_as_for_many(
    desk: Desk, name: str, args: tuple[Any, ...]
) -> None:
    def queries() -> int:
        desk.get(name, *args)
        with CaptureQueriesContext(connection) as asked:
            desk.get(name, *args)
        return len(asked)

    few = queries()
    for number in range(8):
        add_version(desk.process, f"{SOURCE_TEXT}# {number}\n")

    assert queries() <= few
