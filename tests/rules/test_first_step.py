"""A new rule's first step: its draft is published with the rule observed."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from loomverify.accounts.access import person
from loomverify.accounts.models import AuditEntry, Project, Role, User
from processes.models import Draft, Process
from processes.selectors import definition_of
from processes.services import open_draft, save_draft
from tests.builders import SOURCE_TEXT, add_version, make_project, make_run, make_user, signed_in
from verification.rules.backtest.running import backtest
from verification.rules.backtest.services import remember
from verification.rules.backtest.wish import wish_of

pytestmark = pytest.mark.django_db(transaction=True)

ADDED = """\
    - name: no-cells   # of a table
      check: "N/A"
      type: regex
      enforcement: hard
      applies_to_phases: [build]
"""


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def admin(project: Project) -> User:
    return make_user(project, Role.ADMIN, "ada")


def process_of(project: Project) -> Process:
    return project.processes.select_related("published").get()


def drafted(project: Project, editor: User, text: str = SOURCE_TEXT + ADDED) -> Draft:
    draft = open_draft(process=process_of(project), editor=editor, actor=person(editor))
    return save_draft(draft=draft, lock_version=draft.lock_version, source_text=text)


def page(project: Project, user: User, name: str = "no-cells") -> str:
    url = reverse("rule_named", args=[project.slug, "small-work"])
    return " ".join(signed_in(user).get(url, {"rule": name}).content.decode().split())


def observe(project: Project, user: User, **sent: Any) -> Any:
    draft = Draft.objects.filter(editor=user).first()
    usual = {
        "rule": "no-cells", "reason": "Let us see.",
        "lock_version": draft.lock_version if draft else 1,
    }  # fmt: skip
    url = reverse("rule_observe", args=[project.slug, "small-work"])
    return signed_in(user).post(url, {**usual, **sent})


def test_one_press_publishes_it_observed_and_every_other_byte_as_drafted(
    project: Project, admin: User
) -> None:
    drafted(project, admin)

    answer = observe(project, admin)

    published = process_of(project).published
    assert (answer.status_code, published and published.number) == (302, 2)
    assert published is not None
    assert published.source_text == SOURCE_TEXT + ADDED.replace("hard", "observe")
    assert definition_of(published.pk).rules[-1].usual_enforcement == "observe"
    entry = AuditEntry.objects.filter(verb="process.published").latest("pk")
    assert (entry.actor, entry.reason) == ("ada", "Let us see.")


def test_what_it_did_on_history_stands_beside_the_button(project: Project, admin: User) -> None:
    draft = drafted(project, admin)
    assert "Nobody tried it on all past runs yet" in page(project, admin)
    make_run(project, output="fax: N/A", review_state="decided", final_outcome="fail")
    make_run(project, output="fine")
    wish = wish_of(draft.process, draft.source_text, 2)
    remember(wish, backtest(wish), actor=person(admin))

    shown = page(project, admin)

    assert "matched 1 of 2 past runs; as hard 1 good catch, 0 false alarms" in shown
    assert "published as v2 with this rule observed" in shown
    assert "other change" not in shown
    text = SOURCE_TEXT.replace("TODO|TBD", "TODO") + ADDED
    save_draft(draft=draft, lock_version=draft.lock_version, source_text=text)
    assert "1 other change of" in page(project, admin)


def test_nobody_but_an_admin_takes_it(project: Project) -> None:
    editor = make_user(project, Role.EDITOR)
    drafted(project, editor)

    assert observe(project, editor).status_code == 403
    assert "Observe it" not in page(project, editor)
    published = process_of(project).published
    assert published is not None
    assert published.number == 1


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        ({"reason": ""}, 422, "required"),
        ({"lock_version": 99}, 409, "changed in another window"),
    ],
)
def test_what_is_refused_leaves_the_draft_as_it_was(
    project: Project, admin: User, sent: dict[str, Any], status: int, told: str
) -> None:
    drafted(project, admin)

    answer = observe(project, admin, **sent)

    assert answer.status_code == status
    assert told in answer.content.decode()
    assert Draft.objects.get().source_text == SOURCE_TEXT + ADDED
    published = process_of(project).published
    assert published is not None
    assert published.number == 1


def test_a_draft_that_is_behind_goes_on_from_the_newest_first(
    project: Project, admin: User
) -> None:
    drafted(project, admin)
    add_version(process_of(project), SOURCE_TEXT + "# newer\n")

    answer = observe(project, admin)

    assert answer.status_code == 409
    assert "was added since your draft began" in answer.content.decode()
    assert Draft.objects.get().source_text == SOURCE_TEXT + ADDED


def test_a_rule_that_no_draft_has_is_none(project: Project, admin: User) -> None:
    drafted(project, admin)

    assert observe(project, admin, rule="other").status_code == 404
