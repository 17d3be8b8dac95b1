from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from processes.models import Process
from tests.builders import SOURCE_TEXT, evaluate, make_project, make_run, make_user, signed_in
from tests.golden.guarding import case_that_held, draft_of, process_of, version_of
from tests.golden.replayed import replayed
from tests.rules.test_examples import CAUGHT, LAXER, NAME, PASSED, pin
from verification.rules.examples.sources import Source
from verification.rules.models import Pin
from verification.runs.models import Run, Submission

pytestmark = pytest.mark.django_db
HOSTILE = "<b>TBD</b> \u202e"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def process(project: Project) -> Process:
    return process_of(project)


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_user(project, Role.EDITOR))


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project))


def text(answer: Any) -> str:
    return str(answer.content.decode())


def page_of(project: Project, name: str = NAME) -> str:
    query = urlencode({"process": "small-work", "rule": name})
    return f"{reverse('rule_examples', args=[project.slug])}?{query}"


def pin_page(run: Run, **place: str) -> str:
    url = reverse("rule_example_of_run", args=[run.project.slug, run.uuid])
    return f"{url}?{urlencode(place)}"


def run_of(project: Project) -> Run:
    run = make_run(project, output="Revenue: TBD", files={"a b&c.md": b"File TBD"})
    evaluate(run, findings=[{"message": "TBD"}])
    body = Submission.objects.get(run=run).body
    evidence = [{"id": "e&1", "text": "Evidence TBD"}]
    Submission.objects.filter(run=run).update(body={**body, "evidence": evidence})
    return run


def test_a_run_page_leads_editors_to_pin_what_it_shows(
    project: Project, editor: Client, viewer: Client
) -> None:
    run = run_of(project)
    url = reverse("run_detail", args=[project.slug, run.uuid])

    whole = text(editor.get(url))
    file = text(editor.get(url, {"file": "a b&c.md"}))
    evidence = text(editor.get(url, {"evidence": "e&1"}))

    pin_url = pin_page(run)[:-1]
    assert f'href="{pin_url}"' in whole
    assert f'href="{pin_url}?rule=no-placeholders"' in whole
    assert f'href="{pin_url}?file=a%20b%26c.md"' in file
    assert f'href="{pin_url}?evidence=e%261"' in evidence
    assert "Pin to" not in text(viewer.get(url))
    assert viewer.get(pin_url).status_code == 403


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ({}, "Revenue: TBD"),
        ({"file": "a b&c.md"}, "File TBD"),
        ({"evidence": "e&1"}, "Evidence TBD"),
    ],
)
def test_what_is_looked_at_is_pinned(
    project: Project, editor: Client, place: dict[str, str], expected: str
) -> None:
    run = run_of(project)
    url = pin_page(run, rule=NAME, **place)
    shown = text(editor.get(url))

    answer = editor.post(url, {"rule": NAME, "expected": "caught", "note": "Monday"})

    made = Pin.objects.get()
    assert expected in shown
    assert f'<option value="{NAME}" selected>' in shown
    assert (made.text, made.run, made.note) == (expected, run, "Monday")
    assert answer["Location"] == f"{page_of(project)}#pin-{made.uuid}"


@pytest.mark.parametrize(
    ("place", "status"), [({"file": "no\0ne"}, 422), ({"evidence": "none"}, 422)]
)
def test_what_a_run_does_not_have_is_said_before_and_after(
    project: Project, editor: Client, place: dict[str, str], status: int
) -> None:
    url = pin_page(run_of(project), **place)

    assert "was submitted with this run." in text(editor.get(url))
    assert editor.post(url, {"rule": NAME, "expected": "caught"}).status_code == status
    assert not Pin.objects.exists()


def test_texts_are_pasted_taken_away_and_taken_back(project: Project, editor: Client) -> None:
    pasted = {"text": "a\r\nTBD", "expected": "caught"}
    made = editor.post(page_of(project), pasted)
    row = Pin.objects.get()
    away = editor.post(reverse("rule_example_remove", args=[project.slug, row.uuid]))
    told = text(editor.get(away["Location"]))
    back = editor.post(reverse("rule_example_restore", args=[project.slug, row.uuid]))

    assert row.text == "a\nTBD"
    assert made.status_code == 302
    assert "Take it back" in told
    assert "0 pinned" in told
    assert "1 pinned" in text(editor.get(back["Location"]))


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"text": "", "expected": "caught"}, "text"),
        ({"text": "x" * 200_001, "expected": "caught"}, "text"),
        ({"text": "x", "expected": "perhaps"}, "expected"),
        ({"text": "x", "expected": "caught", "note": "n" * 301}, "note"),
    ],
)
def test_a_bad_paste_is_answered_in_its_place(
    project: Project, editor: Client, sent: dict[str, str], field: str
) -> None:
    answer = editor.post(page_of(project), sent)

    assert answer.status_code == 422
    assert field in answer.context["form"].errors


def test_viewers_look_and_change_nothing(
    project: Project, process: Process, viewer: Client
) -> None:
    made = pin(process, HOSTILE, note=HOSTILE)

    page = text(viewer.get(page_of(project)))
    answers = [
        viewer.post(page_of(project), {"text": "x", "expected": "caught"}),
        viewer.post(reverse("rule_example_remove", args=[project.slug, made.uuid])),
        viewer.post(reverse("rule_example_restore", args=[project.slug, made.uuid])),
    ]

    assert "&lt;b&gt;TBD&lt;/b&gt;" in page
    assert "\u202e" not in page
    assert "Take away" not in page
    assert [answer.status_code for answer in answers] == [403, 403, 403]


def test_unknown_names_lead_nowhere(project: Project, editor: Client) -> None:
    urls = [
        page_of(project, "unknown"),
        page_of(project, "un\0known"),
        reverse("rule_examples", args=[project.slug]),
        reverse("rule_example_of_run", args=[project.slug, make_run(make_project()).uuid]),
    ]

    assert {editor.get(url).status_code for url in urls} == {404}


def test_pins_are_tried_while_the_rule_is_typed(project: Project, process: Process) -> None:
    user = make_user(project, Role.EDITOR)
    draft_of(project, user, SOURCE_TEXT.replace("Small", "All small"))
    pin(process, "Revenue: TBD")
    pin(process, "Revenue: 3", expected=PASSED)
    client = signed_in(user)
    sent = {"name": NAME, "type": "regex", "expect": "no_match"}

    def typed(check: str, **more: str) -> str:
        url = reverse("draft_rule_try", args=[project.slug, "small-work"])
        return text(client.post(url, {**sent, "check": check, **more}))

    form = text(client.get(reverse("draft_rule", args=[project.slug, "small-work", 0])))
    assert "2 hold" in form
    assert "passes, must be caught" in typed("TODO")
    assert "is caught, must pass" in typed("Revenue")
    assert "2 could not be tried" in typed("TBD", type="llm")
    assert "Nothing is pinned to it" in typed("TBD", name="another")


def test_pins_of_a_renamed_rule_stand_beside_its_form_and_on_its_page(
    project: Project, process: Process
) -> None:
    user = make_user(project, Role.ADMIN)
    pin(process, "Revenue: TBD")
    draft_of(project, user, SOURCE_TEXT.replace(NAME, "no-gaps"))
    client = signed_in(user)
    rule = reverse("draft_rule", args=[project.slug, "small-work", 0])
    typed = {"name": "typed-now", "seen_name": "no-gaps", "type": "regex", "check": "x"}

    form = text(client.get(rule))
    tried = text(client.post(reverse("draft_rule_try", args=[project.slug, "small-work"]), typed))
    listed = text(client.get(page_of(project, "no-gaps")))
    publish = text(client.get(reverse("draft_publish", args=[project.slug, "small-work"])))

    assert f"Renamed from <b>{NAME}</b>" in form
    assert "1 holds" in form
    assert "passes, must be caught" in tried
    assert f"published as <bdi>{NAME}</bdi>" in listed
    assert "Revenue: TBD" in listed
    assert f"<b>{NAME}</b> goes along" in publish


def test_the_publish_page_names_rule_and_pin_and_asks_once_for_a_reason(
    project: Project, process: Process
) -> None:
    admin = make_user(project, Role.ADMIN)
    draft_of(project, admin, LAXER)
    made = pin(process, HOSTILE, note="Monday")
    url = reverse("draft_publish", args=[project.slug, "small-work"])
    client = signed_in(admin)

    page = text(client.get(url))
    draft = process.drafts.get()
    sent = {"lock_version": str(draft.lock_version), "reason": "Better"}
    refused = client.post(url, sent)
    done = client.post(url, {**sent, "corpus_reason": "TBD is allowed"})

    link = f"{page_of(project)}#pin-{made.uuid}".replace("&", "&amp;")
    assert f'href="{link}"' in page
    assert "1 of 1 example broken." in page
    assert page.count('name="corpus_reason"') == 1
    assert refused.status_code == 409
    assert done.status_code == 302


def test_a_page_of_many_pins_reads_as_often_as_one_of_few(
    project: Project, process: Process, viewer: Client
) -> None:
    run = make_run(project, output="TBD of a run")
    rule = pin(process, source=Source(run)).rule
    viewer.get(page_of(project))
    few = _queries(viewer, page_of(project))

    Pin.objects.bulk_create(
        Pin(rule=rule, expected=CAUGHT, text=f"TBD {number}", run=run) for number in range(9)
    )

    assert _queries(viewer, page_of(project)) == few


def _queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(connection) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


def test_pins_of_another_projects_rule_are_not_shown(project: Project, process: Process) -> None:
    made = pin(process)
    stranger = signed_in(make_user(make_project(), Role.ADMIN))

    urls = [page_of(project), reverse("rule_example_remove", args=[project.slug, made.uuid])]

    assert [stranger.post(url).status_code for url in urls] == [404, 404]


def test_the_question_for_a_reason_stays_while_any_guard_objects(
    project: Project, process: Process
) -> None:
    case_that_held(project)
    made = pin(process)
    version = version_of(project, LAXER)
    replayed(project, process_version=version)
    client = signed_in(make_user(project, Role.ADMIN))
    url = reverse("golden_guard_version", args=[project.slug, "small-work", version.number])

    broken = text(client.get(url, headers={"HX-Request": "true"}))
    made.delete()
    clean = text(client.get(url, headers={"HX-Request": "true"}))

    assert "No golden case got worse." in broken
    assert 'hx-swap-oob="delete"' not in broken
    assert 'hx-swap-oob="delete"' in clean
