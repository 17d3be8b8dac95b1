from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from loomverify.accounts.models import AuditEntry, Project, Role
from tests.actions.builders import make_action, make_change, make_repository
from tests.actions.conftest import signed_in
from tests.actions.landing.scene import Origin
from tests.builders import make_project, make_run
from tests.tables import check_rows
from verification.actions.landing.braking import WHY
from verification.actions.landing.page import Row, commit_url
from verification.actions.landing.wording import IN_SHORT, REASONS
from verification.actions.models import Action, ActionKind, ActionState, Repository

pytestmark = pytest.mark.django_db

DIFF = """\
diff --git a/app.py b/app.py
index 1111111..2222222 100644
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 kept
--- old
+new <b>
"""


@pytest.fixture
def project(db: None) -> Project:
    return make_project("loom")


@pytest.fixture
def admin(project: Project) -> Client:
    return signed_in(project, Role.ADMIN)


def acted(project: Project, **columns: Any) -> Action:
    return make_action(make_change(make_run(project)), **columns)


LANDING, SETTINGS = "/p/loom/landing/", "/p/loom/settings/repositories/"


def test_an_empty_page_says_what_is_missing(admin: Client, project: Project) -> None:
    first = admin.get(LANDING).content.decode()
    assert "/api/v1/repositories" in admin.get(SETTINGS).content.decode()
    make_name = make_repository(project).name
    second = admin.get(LANDING).content.decode()

    assert "Register a repository" in first
    assert "Submit a run with a change" in second
    assert f'repository: "{make_name}", base: "main"' in second
    assert "/api/v1/runs" in second


def test_a_page_asks_as_often_for_fifty_actions_as_for_one(admin: Client, project: Project) -> None:
    acted(project)
    admin.get(LANDING)  # what is kept from one page to the next is there
    with CaptureQueriesContext(
        connection,
    ) as one:
        admin.get(LANDING)
    for kind in ActionKind.values:
        for state in ActionState.values:
            acted(project, kind=kind, state=state, reason_code="conflict", ref="refs/heads/main")
    with CaptureQueriesContext(connection) as many:
        page = admin.get(LANDING).content.decode()

    assert len(many) == len(one)
    assert page.count("</li>") > len(ActionKind) * len(ActionState)


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", {"proposed", "held"}),
        ("?state=held", {"held"}),
        ("?repository=app", {"held"}),
        ("?kind=revert", {"held"}),
        ("?run=nonsense%00", {"proposed", "held"}),
        ("?kind=close", set()),
    ],
)
def test_filters_stand_in_the_address(
    admin: Client, project: Project, query: str, shown: set[str]
) -> None:
    acted(project)
    change = make_change(make_run(project), make_repository(project, name="app"))
    make_action(change, kind="revert", state="held")

    rows = admin.get(LANDING + query).context["rows"]

    assert {one.row.state for one in rows} == shown


def test_a_reviewer_lets_it_be_done_from_the_runs_page_and_a_viewer_does_not(
    project: Project,
) -> None:
    action = acted(project)
    run = action.change.run
    reviewer, viewer = signed_in(project, Role.REVIEWER), signed_in(project, Role.VIEWER)
    page = f"/p/loom/runs/{run.uuid}/"

    assert "Land it" in reviewer.get(page).content.decode()
    assert "Land it" not in viewer.get(page).content.decode()
    refused = viewer.post(f"{LANDING}{action.uuid}/approve/")
    done = reviewer.post(f"{LANDING}{action.uuid}/approve/", {"next": page})
    again = reviewer.post(f"{LANDING}{action.uuid}/decline/", {"next": page}, follow=True)

    assert (refused.status_code, done.status_code, done["Location"]) == (403, 302, page)
    action.refresh_from_db()
    assert (action.state, action.decided_by) == ("pending", "reviewer-of-loom")
    assert "It is pending already." in again.content.decode()
    assert AuditEntry.objects.filter(verb="action.approved").count() == 1


def test_another_projects_action_is_not_there(project: Project, admin: Client) -> None:
    theirs = acted(make_project("theirs"))

    assert admin.post(f"{LANDING}{theirs.uuid}/approve/").status_code == 404
    assert admin.get(f"{SETTINGS}{theirs.change.repository.uuid}/").status_code == 404


def test_a_repository_is_registered_tested_changed_and_removed(
    admin: Client, project: Project, origin: Origin
) -> None:
    fields = {
        "name": "app", "location": str(origin.path), "target_branch": "main",
        "author_name": "LoomVerify", "author_email": "loom@example.com",
        "commit_mode": "propose", "branch_mode": "do", "revert_mode": "propose",
    }  # fmt: skip
    assert admin.post(SETTINGS, fields).status_code == 302
    row = Repository.objects.get()
    tested = admin.post(f"{SETTINGS}{row.uuid}/test/", follow=True).content.decode()
    assert f"main is at {origin.tip()[:12]}" in tested

    changed = admin.post(f"{SETTINGS}{row.uuid}/", {**fields, "target_branch": "trunk"})
    assert changed.status_code == 302
    missing = admin.post(f"{SETTINGS}{row.uuid}/test/", follow=True).content.decode()
    assert "has no branch trunk" in missing

    admin.post(f"{SETTINGS}{row.uuid}/remove/")
    assert list(AuditEntry.objects.order_by("id").values_list("verb", flat=True)) == [
        "repository.registered", "repository.changed", "repository.removed",
    ]  # fmt: skip
    assert admin.post(SETTINGS, fields).status_code == 302, "its name is free again"


@pytest.mark.extended
@pytest.mark.parametrize(
    ("count", "stopped", "let_go"),
    [
        (0, "Saved.<", "Saved.<"),
        (1, "1 action that had not begun waits for a person now.",
         "1 action that had been stopped goes on."),
        (2, "2 actions that had not begun wait for a person now.",
         "2 actions that had been stopped go on."),
    ],
)  # fmt: skip
def test_who_switches_the_mode_reads_what_that_stopped_or_let_go(
    admin: Client, project: Project, origin: Origin, count: int, stopped: str, let_go: str
) -> None:
    repository = make_repository(project, location=str(origin.path), commit_mode="do")
    for _ in range(count):
        make_action(make_change(make_run(project), repository), state="pending")
    fields = {
        "location": str(origin.path), "target_branch": "main", "author_name": "LoomVerify",
        "author_email": "loom@example.com", "branch_mode": "propose", "revert_mode": "propose",
    }  # fmt: skip

    said = [
        admin.post(f"{SETTINGS}{repository.uuid}/", {**fields, "commit_mode": mode}, follow=True)
        for mode in ("propose", "do")
    ]

    assert stopped in said[0].content.decode()
    assert let_go in said[1].content.decode()


@check_rows(
    ("field", "value"),
    [
        ("name", "../x"),
        ("name", "Upper"),
        ("location", "ext::sh -c touch% /tmp/x"),
        ("location", "--upload-pack=x"),
        ("location", "https://user:secret@git.example.com/x"),
        ("location", "http://169.254.169.254/x.git"),
        ("location", "https://10.0.0.1/x.git"),
        ("target_branch", "a..b"),
        ("target_branch", "-x"),
        ("target_branch", "0123456789abcdef" * 2 + "01234567"),
        ("target_branch", "loomverify/review/x"),
        ("author_name", "A <b>"),
        ("author_email", "nobody"),
        ("credential_reference", "DATABASE_URL"),
        ("signing_reference", "HOME"),
        ("commit_mode", "always"),
    ],
    rollback=True,
)
def test_what_no_repository_can_be_is_refused_at_its_field(
    admin: Client, field: str, value: str
) -> None:
    fields = {
        "name": "app", "location": "/srv/app.git", "target_branch": "main",
        "author_name": "LoomVerify", "author_email": "loom@example.com",
        "commit_mode": "do", "branch_mode": "do", "revert_mode": "do", field: value,
    }  # fmt: skip

    page = admin.post(SETTINGS, fields)

    assert page.status_code == 422
    assert list(page.context["form"].errors) == [field]
    assert not Repository.objects.exists()


def test_an_action_shows_what_it_changes_what_it_rests_on_and_where_it_landed(
    project: Project,
) -> None:
    run = make_run(project, body={"diff": DIFF})
    repository = make_repository(project, location="https://me@git.example.com/team/app.git")
    action = make_action(
        make_change(run, repository), state="done", new_sha="b" * 40, expected_sha="a" * 40,
        ref="refs/heads/main", decided_by="Ada",
        evidence={"outcome": "fail", "final_outcome": "pass", "confidence_level": "FAILED"},
    )  # fmt: skip
    viewer = signed_in(project, Role.VIEWER)

    page = viewer.get(f"{LANDING}{action.uuid}/").content.decode()

    assert f'href="https://git.example.com/team/app/commit/{"b" * 40}"' in page
    assert '<span class="l add">+new &lt;b&gt;</span>' in page
    assert '<span class="l del">--- old</span>' in page, "a line that was taken, not a name"
    assert '<span class="l hunk">--- a/app.py</span>' in page
    assert "index 111" not in page
    assert "a person said" in page
    assert "Approved by <bdi>Ada</bdi>" in page
    assert viewer.get(f"/p/{make_project('theirs').slug}/landing/{action.uuid}/").status_code == 404
    assert f'href="{LANDING}{action.uuid}/"' in viewer.get(LANDING).content.decode()


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"reason_code": "push_refused", "detail": "! [rejected]"},
         "The repository refused it. ! [rejected]"),
        ({"reason_code": "base_moved"}, "The target branch moved."),
        ({"reason_code": "base_moved", "detail": "The target branch moved, and it conflicts in a."},
         "The target branch moved, and it conflicts in a."),
        ({"reason_code": "braked", "detail": WHY}, WHY),
        ({"state": "declined", "reason_code": "declined", "detail": "Not now.", "decided_by": "Ada"},
         "Not now."),
        ({"state": "declined", "reason_code": "declined"}, "A person declined it."),
    ],
)  # fmt: skip
def test_an_action_says_once_why_it_stands_so(
    project: Project, columns: dict[str, Any], told: str
) -> None:
    row = Row(acted(project, **{"state": "held", **columns}))

    assert f"{row.why} {row.detail}".strip() == told


def test_every_reason_has_a_sentence_and_a_few_words() -> None:
    assert REASONS.keys() == IN_SHORT.keys()


def test_what_was_only_prepared_is_not_told_as_moved(project: Project, admin: Client) -> None:
    shas = {"expected_sha": "a" * 40, "new_sha": "b" * 40}
    pages = {
        state: admin.get(f"{LANDING}{acted(project, state=state, **shas).uuid}/").content.decode()
        for state in ("done", "held", "pending", "proposed")
    }

    assert [state for state, html in pages.items() if "<dt>Moved" in html] == ["done"]


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("https://git.example.com/team/app.git", "https://git.example.com/team/app/commit/abc"),
        ("https://t@git.example.com:8443/app/", "https://git.example.com:8443/app/commit/abc"),
        ("http://localhost/app.git", ""),
        ("ssh://git@git.example.com/app.git", ""),
        ("git@git.example.com:app.git", ""),
        ("/srv/app.git", ""),
    ],
)
def test_a_commit_is_linked_where_its_address_is_one_of_pages(location: str, url: str) -> None:
    assert commit_url(location, "abc") == url
    assert commit_url(location, "") == ""
