from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_user, signed_in
from tests.golden.builders import editor_of, make_case, make_replay, make_result
from tests.golden.paging import current, get, main_of, page, post, text, words
from tests.tables import check_rows
from verification.engine.golden.standing import Standing
from verification.engine.protocol.reply import Stage
from verification.golden.cases.listing import PER_PAGE
from verification.golden.cases.making import case_of_run
from verification.golden.cases.selectors import case_of, document_of
from verification.golden.cases.services import change_case, create_case, retire
from verification.golden.documents.parsing import parse_cases
from verification.golden.documents.reading import read_case
from verification.golden.models import GoldenCase
from verification.runs.evidence_store import delete_content
from verification.runs.models import Blob, RunState

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_evidence")]

HOSTILE = "<script>alert(1)</script>\u202egnp"


# ---------------------------------------------------------------- the list


def test_the_list_tells_of_each_case_what_it_guards_and_whether_it_holds(project: Project) -> None:
    held = make_case(project, "figures-hold", guards="Good figures pass.", tags=["figures"])
    failing = make_case(project, "placeholders-fall", owner="Mira")
    make_case(project, "never-replayed")
    replay = make_replay(project)
    make_result(replay, held)
    make_result(replay, failing, standing=Standing.FAILING)

    listed = main_of(page(project, "golden_cases"))

    assert "3 cases" in listed
    assert "holds figures-hold Good figures pass. small-work build figures ed" in listed
    assert "not replayed yet never-replayed" in listed
    assert "does not hold placeholders-fall Plain work passes. small-work build Mira" in listed


def test_a_replay_of_a_candidate_says_nothing_in_the_list(project: Project) -> None:
    case = make_case(project, "figures-hold")
    make_result(make_replay(project), case)
    make_result(make_replay(project, is_live_line=False), case, standing=Standing.FAILING)

    assert "holds figures-hold" in main_of(page(project, "golden_cases"))


@check_rows(
    ("query", "found"),
    [
        ("", ["first", "second", "third"]),
        ("?phase=write", []),
        ("?tag=figures", ["second"]),
        ("?retired=only", ["fourth"]),
        ("?retired=too", ["first", "fourth", "second", "third"]),
    ],
    rollback=True,
)
def test_filters_stand_in_the_address(project: Project, query: str, found: list[str]) -> None:
    first = make_case(project, "first")
    make_case(project, "second", tags=["figures"])
    make_case(project, "third", guards="An umlaut is no placeholder.")
    retire(access=editor_of(project), case=make_case(project, "fourth").uuid)
    make_result(make_replay(project), first, standing=Standing.FAILING)

    html = page(project, "golden_cases", query=query)

    assert re.findall(r'data-walk href="[^"]+">([^<]+)</a>', html) == found


def test_a_filter_that_no_case_can_have_is_told(project: Project) -> None:
    answer = get(project, "golden_cases", query="?standing=perhaps")

    assert answer.status_code == 400
    assert "Show all cases" in text(answer)


def test_a_long_list_comes_in_pages_by_name(project: Project) -> None:
    for number in range(PER_PAGE + 1):
        make_case(project, f"case-number-{number:03}")

    first = page(project, "golden_cases")
    following = re.search(r'rel="next"[^>]*href="(\?cursor=[^"]+)"', first)

    assert following is not None
    rest = page(project, "golden_cases", query=unescape(following[1]))
    assert (first.count("data-walk"), rest.count("data-walk")) == (PER_PAGE, 1)
    assert f"case-number-{PER_PAGE:03}" in rest
    assert get(project, "golden_cases", query="?cursor=No+Name").status_code == 400


def test_the_list_costs_the_same_however_long(project: Project) -> None:
    client = signed_in(make_user(project))
    url = reverse("golden_cases", args=[project.slug])
    counts = []
    for _ in range(2):
        replay = make_replay(project)
        for _ in range(4):
            make_result(replay, make_case(project, tags=["figures"]))
        client.get(url)
        with CaptureQueriesContext(connection) as queries:
            client.get(url)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_an_empty_corpus_teaches_how_the_first_case_is_made(project: Project) -> None:
    html = page(project, "golden_cases")
    body = re.search(r"-d &#x27;(\{.*\})&#x27;|-d '(\{.*\})'", html, re.DOTALL)
    assert body is not None
    taught = json.loads(unescape(body[1] or body[2]))

    assert "On the page of any finished run press g" in words(html)
    assert read_case(taught).document.id == "figures-that-do-not-parse"


@pytest.mark.parametrize("name", ["golden_cases", "golden_drafts"])
def test_outsiders_find_no_corpus(project: Project, name: str) -> None:
    stranger = signed_in(make_user(make_project(), Role.ADMIN))

    assert stranger.get(reverse(name, args=[project.slug])).status_code == 404


# ---------------------------------------------------------------- one case


def detail(project: Project, case: GoldenCase, query: str = "", role: Role = Role.VIEWER) -> str:
    return page(project, "golden_case", case.uuid, query=query, role=role)


def test_a_case_says_first_what_it_guards_and_what_must_come_of_it(project: Project) -> None:
    case = make_case(
        project,
        "placeholders-fall",
        guards="A placeholder is never accepted.",
        run={"output": "TODO: write it."},
        expected={
            "outcome": "fail",
            "verdict": "reject",
            "reason_code": "rule_violated",
            "findings": {"must": [{"rule": "no-placeholders"}]},
        },
    )
    seen = {"place": "reason_code", "expected": "rule_violated", "observed": "syntax_invalid"}
    make_result(make_replay(project), case, standing=Standing.FAILING, differences=[seen])

    told = main_of(detail(project, case))

    assert told.index("A placeholder is never accepted.") < told.index("What must come of it")
    assert "Outcome fail in the last replay the same" in told
    assert (
        "Why differs a rule of the process is violated in the last replay a file does not parse"
        in told
    )
    assert "Must be found rule no-placeholders in the last replay the same" in told
    assert "TODO: write it." in told


def test_what_a_replay_of_a_candidate_saw_does_not_stand_above_the_live_line(
    project: Project,
) -> None:
    case = make_case(project)
    make_result(make_replay(project), case)
    make_result(make_replay(project, is_live_line=False), case, standing=Standing.FAILING)

    told = main_of(detail(project, case))

    assert "holds version 1" in told
    assert told.count("does not hold") == 1


def test_a_case_that_could_not_be_judged_is_said_to_be_neither(project: Project) -> None:
    case = make_case(project, tier=2)
    missing = {
        "tier": 2, "ask": "assess", "number": 1, "judge": "primary", "prompt": "",
        "is_missing": True, "is_stale": False, "recovery": "",
    }  # fmt: skip
    make_result(
        make_replay(project), case, standing=Standing.NOT_JUDGED, missing=1, played=[missing]
    )

    told = main_of(detail(project, case))

    assert "could not be judged version 1" in told
    assert "1 answer that the replay asked for was never recorded, so it says nothing" in told
    assert "Missing tier 2, assessment: nobody ever answered it." in told
    assert "the same" not in told


def test_recorded_answers_tell_how_they_were_read_and_whether_they_are_stale(
    project: Project,
) -> None:
    replies = [{"text": '{"passed": true}', "prompt": "0" * 16}, {"lost": "rate_limited"}]
    case = make_case(project, tier=2, replies=replies)
    asked = {
        "tier": 2, "ask": "assess", "number": 1, "judge": "primary", "prompt": "f" * 16,
        "is_missing": False, "is_stale": True, "recovery": Stage.STRICT,
    }  # fmt: skip
    make_result(make_replay(project), case, played=[asked], questions=1, stale=1)

    told = main_of(detail(project, case))

    assert "2 1 stale Tier 2 assessment stale read as strict JSON" in told
    assert "Tier 2 assessment 2 lost" in told
    assert "No answer came: the judge was too busy." in told


def test_files_tool_calls_and_claims_are_looked_at_one_at_a_time(project: Project) -> None:
    case = make_case(
        project,
        run={"tool_calls": [{"tool": "web_fetch", "success": False, "error": "404"}]},
        files={"notes.md": "# Notes\n", "data.bin": {"base64": "AAEC"}},
    )

    assert "# Notes" in main_of(detail(project, case, "?file=notes.md"))
    assert "This is not UTF-8 text" in main_of(detail(project, case, "?file=data.bin"))
    assert "web_fetch failed" in main_of(detail(project, case, "?show=tools"))
    assert "No such file was submitted." in main_of(detail(project, case, "?file=none"))


def test_a_file_is_downloaded_as_it_is_and_never_shown_by_the_browser(project: Project) -> None:
    case = make_case(project, files={"a/b.bin": {"base64": "AAEC"}})

    answer = get(project, "golden_case_file", case.uuid, "a/b.bin")

    assert answer.content == b"\x00\x01\x02"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert get(project, "golden_case_file", case.uuid, "a/none").status_code == 404


def test_a_part_of_the_page_is_sent_where_a_part_is_asked_for(project: Project) -> None:
    case = make_case(project, files={"notes.md": "# Notes\n"})
    client = signed_in(make_user(project))
    url = reverse("golden_case", args=[project.slug, case.uuid]) + "?file=notes.md"

    part = client.get(url, headers={"HX-Target": "material"}).content.decode()
    whole = client.get(
        url, headers={"HX-Target": "material", "HX-History-Restore-Request": "true"}
    ).content.decode()

    assert part.strip().startswith('<section class="sheet" id="material"')
    assert "<h1>" in whole


def test_much_the_same_work_in_another_case_is_pointed_out(project: Project) -> None:
    case = make_case(project, "first")
    create_case(
        access=editor_of(project), document={**document_of(current(case)), "id": "its-twin"}
    )

    assert "Another case is much like this one: its-twin" in main_of(detail(project, case))


def test_versions_tell_who_changed_what_and_why(project: Project) -> None:
    case = make_case(project, access=editor_of(project, "ed"))
    changed = {**document_of(current(case)), "expected": {"outcome": "fail"}}
    change_case(
        access=editor_of(project, "mira"), case=case.uuid, document=changed, reason="It was wrong."
    )

    told = main_of(detail(project, case))
    compared = main_of(detail(project, case, "?compare=2"))
    old = main_of(detail(project, case, "?version=1"))

    assert "v2 mira expectation changed now It was wrong." in told
    assert "What version 2 changed" in compared
    assert "before this version" in compared
    assert "outcome: pass outcome: fail" in compared
    assert "This is version 1, which counts no more." in old


@pytest.mark.parametrize(
    "query", ["?version=0", "?version=9", "?version=x", "?version=" + "9" * 30]
)
def test_there_is_no_version_of_a_number_nobody_gave(project: Project, query: str) -> None:
    assert get(project, "golden_case", make_case(project).uuid, query=query).status_code == 404


def test_where_a_case_comes_from_is_linked_while_it_is_kept(project: Project) -> None:
    run = make_run(project, output="Done.", evaluation={"retry_strategy": "none"})
    case = case_of_run(access=editor_of(project), run=run)

    linked = detail(project, case)
    run.delete()
    alone = detail(project, case)

    assert reverse("run_detail", args=[project.slug, run.uuid]) in linked
    assert reverse("run_detail", args=[project.slug, run.uuid]) not in alone
    assert str(run.uuid) in alone


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_a_download_reads_back_as_the_same_case(project: Project, form: str) -> None:
    case = make_case(project, files={"a.txt": "a\n", "b.bin": {"base64": "AAEC"}})

    answer = get(project, "golden_case_download", case.uuid, query=f"?format={form}")

    assert list(parse_cases(answer.content).documents) == [document_of(current(case))]


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_an_export_holds_what_the_filters_find(project: Project, form: str) -> None:
    for name in ("first", "second"):
        make_case(project, name, tags=["wanted"])
    make_case(project, "third")

    answer = get(project, "golden_export", query=f"?tag=wanted&format={form}")

    assert [one["id"] for one in parse_cases(answer.content).documents] == ["first", "second"]


def test_an_export_by_a_filter_that_no_case_can_have_leads_to_the_list(project: Project) -> None:
    answer = get(project, "golden_export", query="?standing=perhaps&format=json")

    assert answer["Location"] == reverse("golden_cases", args=[project.slug]) + "?standing=perhaps"


def test_a_file_that_is_lost_is_told_and_the_rest_is_shown(project: Project) -> None:
    case = make_case(project, "figures-hold", files={"notes.md": "# Notes"})
    changed = {**document_of(current(case)), "guards": "Said otherwise."}
    change_case(access=editor_of(project), case=case.uuid, document=changed, reason="Clearer.")
    for blob in Blob.objects.filter(project=project):
        delete_content(project, f"{blob.sha256[:2]}/{blob.sha256}")

    client = signed_in(make_user(project))
    exported = client.get(reverse("golden_export", args=[project.slug]), follow=True)

    assert "A file of these cases is not in our store any more." in text(exported)
    assert "guards: Said otherwise ." in main_of(detail(project, case, "?compare=2"))
    assert "The content is no longer stored." in main_of(detail(project, case, "?file=notes.md"))
    assert get(project, "golden_case_download", case.uuid).status_code == 404
    assert get(project, "golden_case_file", case.uuid, "notes.md").status_code == 404


def test_what_was_submitted_is_shown_as_text_everywhere(project: Project) -> None:
    case = make_case(
        project,
        guards=HOSTILE,
        owner=HOSTILE,
        run={"output": HOSTILE, "task": {"id": "x", "description": HOSTILE}},
        files={"<b>.txt": HOSTILE},
        provenance={"source": HOSTILE},
        expected={"feedback": [HOSTILE], "findings": {"must": [{"message": HOSTILE}]}},
    )
    seen = {"place": "feedback[0]", "expected": HOSTILE, "observed": HOSTILE}
    make_result(make_replay(project), case, standing=Standing.FAILING, differences=[seen])

    for name, args in (
        ("golden_cases", ()),
        ("golden_case", (case.uuid,)),
        ("golden_case_edit", (case.uuid,)),
        ("golden_case_fields", (case.uuid,)),
    ):
        html = page(project, name, *args, role=Role.EDITOR)
        assert "<script>alert" not in html
    assert "\u202e" not in detail(project, case)


def test_a_case_costs_the_same_however_often_it_was_replayed(project: Project) -> None:
    case = make_case(project)
    client = signed_in(make_user(project))
    url = reverse("golden_case", args=[project.slug, case.uuid])
    counts = []
    for _ in range(2):
        for _ in range(3):
            make_result(make_replay(project), case)
        client.get(url)
        with CaptureQueriesContext(connection) as queries:
            client.get(url)
        counts.append(len(queries))

    assert counts[0] == counts[1]


# ---------------------------------------------------------------- retired, and taken back


def test_an_editor_retires_a_case_and_takes_it_back(project: Project) -> None:
    case = make_case(project)
    client = signed_in(make_user(project, Role.EDITOR))

    def press(name: str) -> str:
        url = reverse(f"golden_case_{name}", args=[project.slug, case.uuid])
        return main_of(client.post(url, follow=True).content.decode())

    retired, restored = press("retire"), press("restore")

    assert "It is retired: it is kept, and replayed no more. Undo: take it back" in retired
    assert "It is back: replays take it again." in restored
    assert case_of(project, case.uuid).retired_at is None


@pytest.mark.parametrize(
    "name", ["golden_case_retire", "golden_case_restore", "golden_case_edit", "golden_case_fields"]
)
def test_a_reviewer_changes_no_case(project: Project, name: str) -> None:
    case = make_case(project)

    assert post(project, name, case.uuid, role=Role.REVIEWER).status_code == 403
    assert current(case).number == 1


# ---------------------------------------------------------------- of a run


def test_one_post_makes_a_case_of_a_run_and_offers_to_take_it_back(project: Project) -> None:
    run = make_run(project, output="Done.", evaluation={"retry_strategy": "none"})
    client = signed_in(make_user(project, Role.EDITOR))
    url = reverse("golden_case_of_run", args=[project.slug, run.uuid])

    first = main_of(client.post(url, follow=True).content.decode())
    again = main_of(client.post(url, follow=True).content.decode())

    assert "is in the corpus." in first
    assert "What the run came to is what is expected from now on." in first
    assert "Undo: retire it" in first
    assert "This run is in the corpus already, as this case." in again
    assert GoldenCase.objects.get().run == run


def test_a_run_that_is_not_over_is_no_case(project: Project) -> None:
    run = make_run(project, state=RunState.RUNNING)
    client = signed_in(make_user(project, Role.EDITOR))
    shown = client.get(reverse("run_detail", args=[project.slug, run.uuid])).content.decode()

    answer = client.post(
        reverse("golden_case_of_run", args=[project.slug, run.uuid]), follow=True
    ).content.decode()

    assert 'data-key="g"' not in shown
    assert "Only a run that has finished can be a case. No case was made." in words(answer)
    assert not GoldenCase.objects.exists()


@pytest.mark.parametrize(("role", "is_there"), [(Role.EDITOR, True), (Role.REVIEWER, False)])
def test_only_editors_find_the_key_on_the_page_of_a_run(
    project: Project, role: Role, is_there: bool
) -> None:
    run = make_run(project)

    assert ('data-key="g"' in page(project, "run_detail", run.uuid, role=role)) is is_there
