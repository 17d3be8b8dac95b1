"""A rule's own page, the search over all rules, and the steps from observed to hard."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, person
from loomverify.accounts.models import Project, Role, User
from processes import publications
from processes.models import Process
from processes.models import Rule as RuleName
from processes.services import add_version, open_draft, publish, save_draft
from tests.builders import SOURCE_TEXT, make_project, make_user, signed_in
from tests.golden.builders import make_case
from tests.processes.editing import said
from tests.rules.test_figures import spoken, told
from tests.tables import check_rows
from verification.rules.pages import drafted
from verification.rules.pages.page import rule_page
from verification.runs.figures import refresh_dirty_hours
from verification.runs.spans import Window

pytestmark = pytest.mark.django_db

NAME = "no open cells / 100 % <b>"
SOURCE = f"""{SOURCE_TEXT}    # kept as it stands
    - name: "{NAME}"
      check: "\\\\bN/A\\\\b"
      type: regex
      enforcement: observe   # for now
      applies_to_phases: [build]
      suggestion: Fill the cell
"""


@pytest.fixture
def project() -> Project:
    project = make_project()
    add(project, SOURCE, publishing=True)
    return project


def add(project: Project, source: str, *, publishing: bool = False) -> None:
    version, _ = add_version(
        project=project, source_text=source, actor=SYSTEM, role=Role.ADMIN, note="Why not?"
    )
    if publishing:
        publish(process=version.process, number=version.number, actor=SYSTEM, reason="It is time.")


def process_of(project: Project) -> Process:
    return project.processes.select_related("published").get(slug="small-work")


def client_of(project: Project, role: Role = Role.VIEWER) -> Client:
    return signed_in(make_user(project, role))


def url_of(project: Project, name: str = NAME) -> str:
    row = RuleName.objects.get(process__project=project, name=name)
    return reverse("rule_page", args=[project.slug, "small-work", row.pk])


def page_of(project: Project, role: Role = Role.VIEWER, query: str = "") -> str:
    answer = client_of(project, role).get(url_of(project) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def step(project: Project, to: str, role: Role = Role.ADMIN, **columns: Any) -> Any:
    published = process_of(project).published
    sent = {"to": to, "reason": "It proved itself.", "published": published and published.number}
    return client_of(project, role).post(f"{url_of(project)}enforcement/", {**sent, **columns})


def test_a_rule_is_found_by_its_name_whatever_that_holds(project: Project) -> None:
    named = reverse("rule_named", args=[project.slug, "small-work"])

    answer = client_of(project).get(named, {"rule": NAME})

    assert answer.status_code == 302
    assert answer["Location"] == url_of(project)
    assert "no open cells / 100 % &lt;b&gt;" in page_of(project)
    assert client_of(project).get(named, {"rule": "\x00"}).status_code == 404


def test_a_rule_of_another_project_does_not_exist(project: Project) -> None:
    other = make_project()
    row = RuleName.objects.get(process__project=project, name=NAME)
    foreign = signed_in(make_user(other, Role.ADMIN))

    answers = [
        foreign.get(url_of(project)),
        foreign.get(reverse("rule_page", args=[other.slug, "small-work", row.pk])),
        foreign.post(f"{url_of(project)}enforcement/", {"to": "hard", "reason": "Mine."}),
    ]

    assert [answer.status_code for answer in answers] == [404, 404, 404]


def test_its_page_shows_figures_with_the_runs_behind_them(project: Project) -> None:
    run = spoken(
        project, timezone.now() - timedelta(days=2), findings=[{"rule": NAME}],
        evaluation={"rule_trace": [told(NAME)]},
    )  # fmt: skip
    refresh_dirty_hours()

    html = page_of(project)

    assert "1 of 1 run in 30 days" in html
    assert reverse("run_detail", args=[project.slug, run.uuid]) in html
    listed = client_of(project).get(
        reverse("run_list", args=[project.slug]),
        {"process": "small-work", "rule": NAME, "since": "30d"},
    )
    assert listed.context["count"] == 1
    assert "It was applied to no run of this time" in page_of(project, query="?since=24h")


def test_its_history_says_who_changed_what_and_why(project: Project) -> None:
    add(project, SOURCE.replace("Fill the cell", "Fill the open cell"))

    html = page_of(project)

    assert "<del>Fill the cell</del>" in html
    assert "<ins>Fill the open cell</ins>" in html
    assert "Why not?" in html


def test_one_step_is_one_version_that_differs_by_nothing_else(project: Project) -> None:
    answer = step(project, "advisory")

    assert answer.status_code == 302
    published = process_of(project).published
    assert published is not None
    assert published.source_text == SOURCE.replace(
        "enforcement: observe ", "enforcement: advisory "
    )
    assert published.note == f"{NAME}: observe → advisory. It proved itself."
    assert step(project, "observe").status_code == 302
    back = process_of(project).published
    assert back is not None
    assert back.source_text == SOURCE


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_only_admins_take_a_step(project: Project, role: Role) -> None:
    assert "Make advisory" not in page_of(project, role)
    assert "Make advisory" in page_of(project, Role.ADMIN)
    assert step(project, "advisory", role).status_code == 403


def test_a_step_is_refused_where_another_version_was_published_meanwhile(project: Project) -> None:
    answer = step(project, "advisory", published=1)

    assert answer.status_code == 409
    assert "Another version was published in the meantime." in answer.content.decode()
    assert "It proved itself." in answer.content.decode()


def test_a_step_waits_for_the_newest_version_to_be_published(project: Project) -> None:
    before = process_of(project).published_id
    add(project, SOURCE + "# more\n")

    answer = step(project, "advisory")

    assert answer.status_code == 409
    assert "Publish v3 first" in answer.content.decode()
    assert "Make advisory" not in page_of(project, Role.ADMIN)
    assert process_of(project).published_id == before


def test_a_step_needs_a_reason(project: Project) -> None:
    assert step(project, "advisory", reason=" ").status_code == 422
    assert step(project, "harder").status_code == 422
    assert step(project, "observe").status_code == 409


def test_a_step_drives_no_replay_of_somebodys_draft(project: Project) -> None:
    """The text that a step would publish stands nowhere yet: a reason answers the golden cases."""
    make_case(project, process="small-work", phase="build")

    refused = step(project, "hard")

    said = refused.content.decode()
    assert refused.status_code == 409
    assert "not replayed with it yet" in said
    assert reverse("golden_guard_draft", args=[project.slug, "small-work"]) not in said
    assert step(project, "hard", corpus_reason="It was tried on history.").status_code == 302


def test_a_rule_without_a_phase_is_not_made_hard(project: Project) -> None:
    add(project, SOURCE.replace("      applies_to_phases: [build]\n", ""), publishing=True)

    answer = step(project, "hard")

    assert answer.status_code == 422
    assert "names no phase" in answer.content.decode()


@check_rows(
    ("query", "names"),
    [
        ({"q": "fill CELL"}, [NAME]),
        ({"q": "source figure"}, ["figures-have-sources"]),
        ({"q": "nothing-like-it"}, []),
        ({"type": "llm"}, ["figures-have-sources"]),
        ({"enforcement": "observe"}, [NAME]),
        ({"enforcement": "hard"}, ["figures-have-sources"]),
        ({"enforcement": "advisory"}, ["no-placeholders"]),
        ({"phase": "build"}, [NAME, "no-placeholders"]),
        ({"process": "small-work", "phase": "write", "type": "regex"}, ["no-placeholders"]),
    ],
    rollback=True,
)
def test_rules_are_searched_by_words_and_filters(
    project: Project, query: dict[str, str], names: list[str]
) -> None:
    answer = client_of(project).get(reverse("rule_search", args=[project.slug]), query)

    assert answer.status_code == 200
    assert sorted(row.rule.name for row in answer.context["rows"]) == sorted(names)


@pytest.mark.parametrize(
    "query", [{"q": "\x00"}, {"type": "poem"}, {"cursor": "-1"}, {"q": "x" * 500}]
)
def test_a_filter_that_cannot_be_is_told(project: Project, query: dict[str, str]) -> None:
    answer = client_of(project).get(reverse("rule_search", args=[project.slug]), query)

    assert answer.status_code == 400


def test_the_search_asks_as_often_for_many_rules_as_for_few(
    project: Project, django_assert_num_queries: Any
) -> None:
    client, url = client_of(project), reverse("rule_search", args=[project.slug])
    client.get(url)
    with CaptureQueriesContext(connection) as few:
        client.get(url)
    many = "".join(f"    - {{name: rule-{n}, check: x{n}, type: regex}}\n" for n in range(60))
    add(project, SOURCE + many, publishing=True)
    spoken(project, findings=[{"rule": "rule-1"}], evaluation={"rule_trace": [told("rule-1")]})

    with CaptureQueriesContext(connection) as after:
        answer = client.get(url)

    assert answer.context["count"] == 63
    assert len(answer.context["rows"]) == 50
    assert len(after) <= len(few) + 1  # runs are looked up where one spoke
    assert len(client.get(url, {"cursor": answer.context["next"]}).context["rows"]) == 13


def test_its_page_asks_as_often_for_many_versions_and_runs_as_for_few(project: Project) -> None:
    client, url = client_of(project), url_of(project)
    client.get(url)
    spoken(project, findings=[{"rule": NAME}], evaluation={"rule_trace": [told(NAME)]})
    with CaptureQueriesContext(connection) as few:
        client.get(url)
    for number in range(6):
        add(project, SOURCE.replace("Fill the cell", f"Fill cell {number}"), publishing=True)
        spoken(project, findings=[{"rule": NAME}], evaluation={"rule_trace": [told(NAME)]})
    client.get(url)

    with CaptureQueriesContext(connection) as many:
        answer = client.get(url)

    assert len(answer.context["page"].history) == 7
    assert len(many) == len(few)


def test_an_editors_draft_sees_that_a_step_added_a_version(project: Project) -> None:
    editor = make_user(project, Role.EDITOR)
    process = process_of(project)
    open_draft(process=process, editor=editor, actor=person(editor))

    step(project, "advisory")

    html = signed_in(editor).get(reverse("draft_yaml", args=[project.slug, process.slug]))
    assert "v3 was added" in html.content.decode()
    shown = signed_in(editor).get(url_of(project)).content.decode()
    assert "enforcement" in shown.split("Your draft")[1][:400]


def test_one_of_two_admins_who_take_the_same_step_hears_of_the_other(project: Project) -> None:
    first, second = (step(project, "advisory", published=2) for _ in range(2))

    assert (first.status_code, second.status_code) == (302, 409)
    assert process_of(project).versions.count() == 3


def test_the_form_and_the_page_of_a_rule_lead_to_each_other(project: Project) -> None:
    user = make_user(project, Role.ADMIN)
    draft = open_draft(process=process_of(project), editor=user, actor=person(user))
    renamed = SOURCE.replace(NAME, "no gaps")
    save_draft(draft=draft, lock_version=draft.lock_version, source_text=renamed)
    client = signed_in(user)
    form_url = reverse("draft_rule", args=[project.slug, "small-work", 2])
    named = reverse("rule_named", args=[project.slug, "small-work"])

    form = str(client.get(form_url).content.decode())
    page = str(client.get(url_of(project)).content.decode())

    link = f"{named}?rule=no%20open%20cells%20%2F%20100%20%25%20%3Cb%3E"
    assert f'href="{link}">its own page</a>' in form
    assert f'href="{link}#step">Make advisory…</a>' in form
    assert client.get(link)["Location"] == url_of(project)
    assert f'href="{form_url}">changes</a> name' in page
    assert f'href="{form_url}">Edit in your draft</a>' in page


def test_only_a_step_that_may_be_taken_is_offered_in_the_form(project: Project) -> None:
    client = signed_in(make_user(project, Role.ADMIN))
    client.post(reverse("draft_open", args=[project.slug, "small-work"]))

    def form(index: int) -> str:
        path = reverse("draft_rule", args=[project.slug, "small-work", index])
        return str(client.get(path).content.decode())

    assert "Make hard…" in form(0)  # advisory, in every phase
    assert "Make " not in form(1)  # hard


def test_a_step_begins_when_the_rule_came_back_to_it(project: Project) -> None:
    step(project, "advisory")
    step(project, "observe")
    process = process_of(project)
    row = RuleName.objects.get(process=process, name=NAME)
    window = Window.of("30d", timezone.now())
    assert window

    row.process = process
    standing = rule_page(row, window=window).standing

    newest, *_ = publications.numbers(process)
    assert standing
    assert standing.at == "observe"
    assert standing.since == newest[0]


def test_a_step_is_as_old_as_ever_when_a_version_of_it_is_published_again(
    project: Project,
) -> None:
    add(project, SOURCE.replace("Fill the cell", "Fill it"), publishing=True)
    row = RuleName.objects.get(process=process_of(project), name=NAME)
    row.process = process_of(project)
    window = Window.of("30d", timezone.now())
    assert window
    began = rule_page(row, window=window).standing
    publish(process=row.process, number=2, actor=SYSTEM, reason="Back")

    row.process = process_of(project)
    standing = rule_page(row, window=window).standing

    assert began
    assert standing
    assert row.process.published
    assert row.process.published.number == 2
    assert began.since is not None
    assert standing.since == began.since


def test_a_renamed_rule_leads_to_what_it_was_called(project: Project) -> None:
    before = url_of(project)
    add(project, SOURCE.replace(NAME, "no-blanks"), publishing=True)

    page = client_of(project).get(url_of(project, "no-blanks"))

    formerly = page.context["page"].formerly
    assert (formerly.name, formerly.number) == (NAME, 2)
    assert f'href="{before}"' in page.content.decode()
    assert "until v2" in said(page)
    assert client_of(project).get(before).context["page"].formerly is None


def test_a_rule_of_a_draft_alone_has_a_page_that_keeps_the_draft_to_its_editor(
    project: Project,
) -> None:
    user, process = make_user(project, Role.EDITOR), process_of(project)
    draft = open_draft(process=process, editor=user, actor=person(user))
    text = f"{SOURCE}    - {{name: 'only <mine>', check: N/A, type: regex, scope: global}}\n"
    save_draft(draft=draft, lock_version=draft.lock_version, source_text=text)
    named = reverse("rule_named", args=[project.slug, "small-work"])
    mine, other = signed_in(user), client_of(project)
    form = str(mine.get(reverse("draft_rule", args=[project.slug, "small-work", 3])).content)

    page = mine.get(named, {"rule": "only <mine>"})
    unknown = other.get(named, {"rule": "only <mine>"})
    RuleName.objects.create(process=process, name="only <mine>").pins.create(
        expected="caught", text="a N/A b", created_by="Ann"
    )
    pinned = other.get(named, {"rule": "only <mine>"})

    assert f"{named}?rule=only%20%3Cmine%3E" in form
    assert "only &lt;mine&gt;" in str(page.content)
    assert '<pre class="pattern">N/A</pre>' in str(page.content)
    assert reverse("draft_rule", args=[project.slug, "small-work", 3]) in str(page.content)
    assert unknown.status_code == 404
    assert "a N/A b" in str(pinned.content)
    assert "seen by its editor alone" in str(pinned.content)
    assert '<pre class="pattern">' not in str(pinned.content)
    assert other.get(named, {"rule": "nobody"}).status_code == 404


DRAFTED = f"""{SOURCE}    - {{name: 'only <mine>', check: N/A, type: regex, applies_to_phases: [write]}}
"""


def begun(project: Project, user: User, text: str) -> None:
    draft = open_draft(process=process_of(project), editor=user, actor=person(user))
    save_draft(draft=draft, lock_version=draft.lock_version, source_text=text)


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    ("query", "names", "published"),
    [
        ({}, ["only <mine>"], 3),
        ({"q": "n/a ONLY"}, ["only <mine>"], 0),
        ({"phase": "build"}, [], 2),
        ({"type": "llm"}, [], 1),
        ({"stands": "draft", "enforcement": "advisory"}, ["only <mine>"], 0),
        ({"stands": "published"}, None, 3),
    ],
)
def test_the_search_finds_what_stands_in_ones_own_drafts_alone(
    project: Project, query: dict[str, str], names: list[str] | None, published: int
) -> None:
    user, url = make_user(project, Role.EDITOR), reverse("rule_search", args=[project.slug])
    begun(project, user, DRAFTED)

    answer = signed_in(user).get(url, query)
    others = [client_of(project, role).get(url, query) for role in (Role.VIEWER, Role.ADMIN)]

    found = answer.context["drafted"]
    assert (found and [one.rule.name for one in found.rows]) == names
    assert answer.context["count"] == published
    assert not any("only &lt;mine&gt;" in other.content.decode() for other in others)


def test_a_renamed_rule_of_a_draft_is_found_with_its_published_name(project: Project) -> None:
    user, url = make_user(project, Role.EDITOR), reverse("rule_search", args=[project.slug])
    begun(project, user, SOURCE.replace(NAME, "no-blanks"))

    [found] = signed_in(user).get(url).context["drafted"].rows

    assert (found.rule.name, found.formerly) == ("no-blanks", NAME)


def test_many_drafts_are_searched_with_as_many_queries_and_within_bounds(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, url = make_user(project, Role.EDITOR), reverse("rule_search", args=[project.slug])
    begun(project, user, DRAFTED)
    client = signed_in(user)
    client.get(url)
    with CaptureQueriesContext(connection) as few:
        client.get(url)
    for number in range(4):
        text = DRAFTED.replace("small-work", f"work-{number}")
        version, _ = add_version(
            project=project,
            source_text=text.replace("only <mine>", "published"),
            actor=SYSTEM,
            role=Role.ADMIN,
        )
        draft = open_draft(process=version.process, editor=user, actor=person(user))
        save_draft(draft=draft, lock_version=draft.lock_version, source_text=text)
    client.get(url)

    with CaptureQueriesContext(connection) as many:
        answer = client.get(url)
    monkeypatch.setattr(drafted, "MAX_READ_CHARS", len(DRAFTED) * 2)
    less = client.get(url)

    assert answer.context["drafted"].count == 5
    assert len(many) == len(few)
    assert less.context["drafted"].unread > 0
    assert "Not all drafts were searched" in said(less)
