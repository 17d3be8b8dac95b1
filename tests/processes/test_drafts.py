from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from loomverify.accounts.access import person
from loomverify.accounts.models import AuditEntry, Project, Role, User
from loomverify.errors import Conflict, InputError
from processes import services
from processes.models import Draft, Process
from processes.selectors import draft_of, process_by_slug
from tests.builders import make_user
from tests.processes.files import SMALL

pytestmark = pytest.mark.django_db

CHANGED = SMALL.replace("check: TODO", "check: TBD")


@pytest.fixture
def editor(project: Project) -> User:
    return make_user(project, Role.EDITOR, "eva")


@pytest.fixture
def process(project: Project, editor: User) -> Process:
    version, _ = services.add_version(
        project=project, source_text=SMALL, actor=person(editor), role=Role.ADMIN
    )
    return version.process


def open_for(process: Process, editor: User) -> Draft:
    return services.open_draft(process=process, editor=editor, actor=person(editor))


def publish(draft: Draft, editor: User, role: Role = Role.ADMIN) -> services.Stored:
    return services.publish_draft(
        draft=draft,
        lock_version=draft.lock_version,
        actor=person(editor),
        role=role,
        reason="TBD is what people write",
    )


def add_newer(process: Process, editor: User) -> str:
    newer = f"{SMALL}tags: [newer]\n"
    services.add_version(
        project=process.project, source_text=newer, actor=person(editor), role=Role.EDITOR
    )
    return newer


def test_an_editor_has_one_draft_of_a_process_that_begins_as_the_newest_version(
    process: Process, editor: User
) -> None:
    newer = add_newer(process, editor)

    draft = open_for(process, editor)

    assert draft.source_text == newer
    assert draft.base.number == 2
    assert open_for(process, editor).pk == draft.pk


def test_two_editors_write_in_drafts_of_their_own(process: Process, editor: User) -> None:
    mine = open_for(process, editor)
    theirs = open_for(process, make_user(process.project, Role.EDITOR))

    services.save_draft(draft=mine, lock_version=1, source_text=CHANGED)

    theirs.refresh_from_db()
    assert theirs.source_text == SMALL


def test_a_text_with_errors_can_be_saved(process: Process, editor: User) -> None:
    draft = open_for(process, editor)

    saved = services.save_draft(draft=draft, lock_version=1, source_text="name: [")

    assert (saved.source_text, saved.lock_version) == ("name: [", 2)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\0b", "yaml.character"),
        ("a\ud800b", "file.encoding"),
        ("a" * (1024 * 1024 + 1), "file.too_large"),
    ],
)
def test_a_text_that_cannot_be_stored_is_refused(
    process: Process, editor: User, text: str, code: str
) -> None:
    draft = open_for(process, editor)

    with pytest.raises(InputError) as refused:
        services.save_draft(draft=draft, lock_version=1, source_text=text)

    assert refused.value.code == code
    draft.refresh_from_db()
    assert draft.source_text == SMALL


def test_what_was_changed_elsewhere_is_never_written_over(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)

    with pytest.raises(Conflict):
        services.save_draft(draft=draft, lock_version=1, source_text="late")

    draft.refresh_from_db()
    assert draft.source_text == CHANGED


@pytest.mark.django_db(transaction=True)
def test_of_saves_at_the_same_moment_one_wins(process: Process, editor: User) -> None:
    draft = open_for(process, editor)

    def save(number: int) -> bool:
        try:
            services.save_draft(draft=draft, lock_version=1, source_text=f"{SMALL}# {number}\n")
        except Conflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(save, range(4)))

    draft.refresh_from_db()
    assert won.count(True) == 1
    assert draft.source_text == f"{SMALL}# {won.index(True)}\n"


def test_edits_of_single_places_work_on_the_text_as_it_is_now(
    process: Process, editor: User
) -> None:
    draft = open_for(process, editor)
    services.edit_draft(draft=draft, change=lambda text: text.replace("TODO", "TBD"))

    changed = services.edit_draft(draft=draft, change=lambda text: f"{text}# end\n")

    assert changed.source_text == f"{CHANGED}# end\n"


def test_the_last_change_is_undone_and_brought_back(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)

    undone = services.undo_edit(draft=draft, lock_version=2)
    again = services.undo_edit(draft=undone, lock_version=3)

    assert undone.source_text == SMALL
    assert again.source_text == CHANGED


def test_a_discarded_draft_can_be_taken_back(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)
    services.discard_draft(draft=draft, lock_version=2, actor=person(editor))
    assert draft_of(process, editor) is None

    restored = services.restore_draft(process=process, editor=editor, actor=person(editor))

    found = draft_of(process, editor)
    assert restored
    assert found is not None
    assert found.source_text == CHANGED


def test_a_draft_begun_anew_still_remembers_the_discarded_text(
    process: Process, editor: User
) -> None:
    draft = open_for(process, editor)
    services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)
    services.discard_draft(draft=draft, lock_version=2, actor=person(editor))

    anew = open_for(process, editor)

    assert anew.source_text == SMALL
    assert services.undo_edit(draft=anew, lock_version=3).source_text == CHANGED


def test_nothing_is_saved_into_a_discarded_draft(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    services.discard_draft(draft=draft, lock_version=1, actor=person(editor))

    with pytest.raises(Conflict):
        services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)


def test_an_admin_publishes_a_draft_and_it_is_gone(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)

    stored = publish(draft, editor)

    process.refresh_from_db()
    assert stored.is_published
    assert process.published == stored.version
    assert stored.version.source_text == CHANGED
    assert draft_of(process, editor) is None


def test_a_page_of_a_published_draft_never_writes_into_the_next_one(
    process: Process, editor: User
) -> None:
    first = open_for(process, editor)
    changed = services.save_draft(draft=first, lock_version=1, source_text=CHANGED)
    publish(changed, editor)
    second = open_for(process, editor)

    for seen in (first, changed):
        with pytest.raises(Conflict):
            services.save_draft(draft=seen, lock_version=seen.lock_version, source_text="late")

    assert second.source_text == CHANGED
    assert second.previous_text == ""


def test_an_editor_stores_the_version_and_it_waits(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)

    stored = publish(draft, editor, Role.EDITOR)

    process.refresh_from_db()
    assert not stored.is_published
    assert stored.version.number == 2
    assert process.published is not None
    assert process.published.number == 1


def test_a_draft_with_errors_is_not_published(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    broken = SMALL.replace("[build]", "[nowhere]").replace("verification_tier: 2", "advisory: 3")
    draft = services.save_draft(draft=draft, lock_version=1, source_text=broken)

    with pytest.raises(InputError) as refused:
        publish(draft, editor)

    assert {issue.code for issue in refused.value.issues} >= {"phase.unknown", "value.kind"}
    assert process.versions.count() == 1
    assert Draft.objects.get().source_text == broken


def test_a_draft_that_changes_nothing_is_not_published(process: Process, editor: User) -> None:
    with pytest.raises(InputError, match="says the same as v1"):
        publish(open_for(process, editor), editor)


def test_a_draft_with_the_name_of_another_process_is_not_published(
    process: Process, editor: User
) -> None:
    draft = open_for(process, editor)
    renamed = SMALL.replace("name: small", "name: large")
    draft = services.save_draft(draft=draft, lock_version=1, source_text=renamed)

    with pytest.raises(InputError, match="'large'"):
        publish(draft, editor)

    assert Process.objects.count() == 1


def test_a_draft_older_than_the_newest_version_is_not_published_unseen(
    process: Process, editor: User
) -> None:
    draft = open_for(process, editor)
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)
    add_newer(process, editor)

    with pytest.raises(Conflict, match="v2 is newer than v1"):
        publish(draft, editor)

    assert process.versions.count() == 2


def test_a_draft_goes_on_from_the_newer_version_with_either_text(
    process: Process, editor: User
) -> None:
    draft = open_for(process, editor)
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)
    newer = add_newer(process, editor)

    taken = services.rebase_draft(draft=draft, lock_version=2, number=2, source_text=newer)
    mine = services.undo_edit(draft=taken, lock_version=3)

    assert taken.base.number == 2
    assert mine.source_text == CHANGED
    assert publish(mine, editor).version.number == 3


def test_the_same_text_on_a_newer_version_is_another_draft(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    add_newer(process, editor)
    text = draft.source_text

    services.rebase_draft(draft=draft, lock_version=1, number=2, source_text=text)

    with pytest.raises(Conflict, match="another window"):
        services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)


def test_going_on_needs_to_have_seen_the_newest_version(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    newer = add_newer(process, editor)
    add_newer(process, editor)
    services.add_version(
        project=process.project,
        source_text=f"{newer}author: A\n",
        actor=person(editor),
        role=Role.EDITOR,
    )

    with pytest.raises(Conflict, match="v3"):
        services.rebase_draft(draft=draft, lock_version=1, number=2, source_text=newer)


def test_what_happens_to_drafts_is_in_the_audit_log(process: Process, editor: User) -> None:
    draft = open_for(process, editor)
    services.discard_draft(draft=draft, lock_version=1, actor=person(editor))
    services.restore_draft(process=process, editor=editor, actor=person(editor))
    draft = services.save_draft(draft=draft, lock_version=1, source_text=CHANGED)
    publish(draft, editor)

    verbs = AuditEntry.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs)[2:] == [
        "draft.opened",
        "draft.discarded",
        "draft.restored",
        "process_version.added",
        "process.published",
    ]


def test_a_version_is_published_only_instead_of_the_one_that_was_seen(
    process: Process, editor: User
) -> None:
    add_newer(process, editor)

    with pytest.raises(Conflict):
        services.publish(
            process=process, number=2, actor=person(editor), reason="late", instead_of=7
        )

    found = process_by_slug(process.project, "small").published
    assert found is not None
    assert found.number == 1
