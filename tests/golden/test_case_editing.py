from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import make_user, signed_in
from tests.golden.builders import document, editor_of, make_case
from tests.golden.paging import current, get, page, post, text, words, yaml_of
from verification.golden.cases.forms import initial_of
from verification.golden.cases.selectors import document_of
from verification.golden.cases.services import change_case
from verification.golden.documents.writing import to_yaml
from verification.golden.models import GoldenCase

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_evidence")]

HOSTILE = "<script>alert(1)</script>\u202egnp"


# ---------------------------------------------------------------- written and changed


def test_a_case_is_changed_as_yaml_with_a_reason(project: Project) -> None:
    case = make_case(project, "figures-hold")
    shown = page(project, "golden_case_edit", case.uuid, role=Role.EDITOR)
    changed = yaml_of(case).replace("outcome: pass", "outcome: pass_with_warnings")

    answer = post(
        project, "golden_case_edit", case.uuid,
        source_text=changed.replace("\n", "\r\n"), reason="A rule warns by now.", instead_of="1",
    )  # fmt: skip

    assert "id: figures-hold\nguards: Plain work passes.\n" in unescape(shown)
    assert answer.status_code == 302
    assert (current(case).number, current(case).reason) == (2, "A rule warns by now.")
    assert current(case).spec["expected"]["outcome"] == "pass_with_warnings"


def test_the_same_text_again_stores_nothing(project: Project) -> None:
    case = make_case(project)
    client = signed_in(make_user(project, Role.EDITOR))

    answer = client.post(
        reverse("golden_case_edit", args=[project.slug, case.uuid]),
        {"source_text": yaml_of(case), "reason": "None.", "instead_of": "1"},
        follow=True,
    )

    assert "It says the same as before: nothing was stored." in text(answer)
    assert current(case).number == 1


@pytest.mark.parametrize(
    ("old", "new", "place", "told"),
    [
        ("phase: build", "phase: [", "", "yaml"),
        ("outcome: pass", "outcome: perhaps", "expected.outcome", "Input should be"),
        ("guards: Plain work passes.", "guards: ''", "guards", "at least 1 character"),
        ("phase: build", "phase: build\nphaze: 1", "phaze", "Extra inputs"),
        ("id: figures-hold", "id: other-name", "id", "A case keeps its name."),
    ],
    ids=["no YAML", "no outcome", "no guard", "no such field", "another name"],
)
def test_what_is_wrong_is_told_with_its_line_and_nothing_is_lost(
    project: Project, old: str, new: str, place: str, told: str
) -> None:
    case = make_case(project, "figures-hold")
    typed = yaml_of(case).replace(old, new)

    answer = post(
        project, "golden_case_edit", case.uuid, source_text=typed, reason="Why.", instead_of="1"
    )

    html = answer.content.decode()
    problem = re.search(r'data-problem data-line="(\d+)" data-column="(\d+)"', html)
    assert answer.status_code == 422
    assert problem is not None
    if place:
        line = typed.split("\n")[int(problem[1]) - 1]
        assert line.strip().startswith(f"{place.rsplit('.', 1)[-1]}:")
    assert told.lower() in words(html).lower()
    assert place in words(html)
    assert typed in unescape(html)
    assert current(case).number == 1


def test_without_a_reason_nothing_is_changed(project: Project) -> None:
    case = make_case(project)
    typed = yaml_of(case).replace("outcome: pass", "outcome: fail")

    answer = post(project, "golden_case_edit", case.uuid, source_text=typed, instead_of="1")

    assert answer.status_code == 422
    assert "Say why, in a sentence." in text(answer)
    assert current(case).number == 1


def test_who_comes_late_sees_both_texts_and_may_store_his_own(project: Project) -> None:
    case = make_case(project)
    mine = yaml_of(case).replace("outcome: pass", "outcome: fail")
    theirs = {**document_of(current(case)), "guards": "Said otherwise."}
    change_case(
        access=editor_of(project, "mira"), case=case.uuid, document=theirs, reason="Clearer."
    )
    fields: dict[str, Any] = {"source_text": mine, "reason": "It fails by now."}

    late = post(project, "golden_case_edit", case.uuid, **fields, instead_of="1")
    stored = post(project, "golden_case_edit", case.uuid, **fields, instead_of="2")

    html = late.content.decode()
    assert late.status_code == 409
    assert "version 2 by mira (“Clearer.”)" in text(late)
    assert "guards: Said otherwise ." in text(late)
    assert mine in unescape(html)
    assert 'name="instead_of" value="2"' in html
    assert 'value="It fails by now."' in html
    assert stored.status_code == 302
    assert current(case).spec["expected"]["outcome"] == "fail"


def test_the_form_writes_the_same_document(project: Project) -> None:
    closely = {"rule": "no-placeholders", "line": 3}
    case = make_case(
        project,
        tags=["figures"],
        expected={"outcome": "pass", "calls": {"2": 0}, "findings": {"must": [closely]}},
    )
    shown = page(project, "golden_case_fields", case.uuid, role=Role.EDITOR)

    answer = post(
        project, "golden_case_fields", case.uuid,
        guards="A placeholder falls.", tags="figures north", owner="Mira", outcome="fail",
        verdict="reject", reason_code="rule_violated", must="figures-have-sources",
        must_not="deliverables\r\n", reason="It was looser.", instead_of="1",
    )  # fmt: skip

    spec = current(case).spec
    assert "1 finding is described more closely" in words(shown)
    assert answer.status_code == 302
    assert (spec["guards"], spec["tags"], spec["owner"]) == (
        "A placeholder falls.", ["figures", "north"], "Mira",
    )  # fmt: skip
    assert spec["expected"] == {
        "outcome": "fail",
        "verdict": "reject",
        "reason_code": "rule_violated",
        "calls": {"2": 0},
        "findings": {
            "must": [closely, {"rule": "figures-have-sources"}],
            "must_not": [{"rule": "deliverables"}],
        },
    }


def test_the_form_shows_what_it_stored(project: Project) -> None:
    case = make_case(project, expected={"outcome": "pass", "reason_code": ""})
    html = page(project, "golden_case_fields", case.uuid, role=Role.EDITOR)
    fields: dict[str, Any] = dict(
        initial_of(document_of(current(case))), reason="None.", instead_of="1"
    )

    post(project, "golden_case_fields", case.uuid, **fields)

    assert '<option value="-" selected>' in html
    assert current(case).number == 1


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"tags": "Not A Tag"}, "String should match pattern"),
        ({"outcome": "", "verdict": ""}, "Name at least one thing."),
        ({"reason": ""}, "This field is required."),
        ({"instead_of": "7"}, "Somebody has changed this case"),
    ],
    ids=["tag", "nothing expected", "no reason", "late"],
)
def test_a_refused_form_keeps_what_was_typed(
    project: Project, fields: dict[str, str], told: str
) -> None:
    case = make_case(project)
    typed: dict[str, Any] = {
        "guards": "Typed anew.", "outcome": "fail", "verdict": "", "reason_code": "",
        "reason": "Because.", "instead_of": "1", **fields,
    }  # fmt: skip

    answer = post(project, "golden_case_fields", case.uuid, **typed)

    assert answer.status_code in (409, 422)
    assert told in text(answer)
    assert "Typed anew." in text(answer)
    assert current(case).number == 1


def test_a_new_case_begins_as_a_text_that_can_be_stored(project: Project) -> None:
    html = page(project, "golden_case_new", role=Role.EDITOR)
    area = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", html, re.DOTALL)
    assert area is not None

    answer = post(project, "golden_case_new", source_text=unescape(area[1]))

    made = GoldenCase.objects.get()
    assert "There is nothing to point out." in words(html)
    assert answer["Location"].startswith(reverse("golden_case", args=[project.slug, made.uuid]))


def test_a_copy_has_a_name_of_its_own(project: Project) -> None:
    case = make_case(project, "figures-hold")

    html = page(project, "golden_case_new", query=f"?like={case.uuid}", role=Role.EDITOR)

    assert "id: figures-hold-copy" in html
    assert get(project, "golden_case_new", query="?like=x", role=Role.EDITOR).status_code == 404


def test_a_name_that_is_taken_is_told_at_its_line(project: Project) -> None:
    case = make_case(project, "figures-hold")

    answer = post(project, "golden_case_new", source_text=yaml_of(case))

    assert answer.status_code == 422
    assert "1:1 error A case called 'figures-hold' is in this corpus, or was" in text(answer)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("id: [", "Not YAML"),
        ("- a\n- b\n", "mapping"),
        ("[]", "Write one case here; these are 0."),
        ("a: &a [1]\nb: [*a, *a]\n", "Field required guards"),
        ("id: \x00", "A control character stands in the file."),
        ("", "The file is empty."),
    ],
    ids=["broken", "two", "none", "alias", "no text", "nothing"],
)
def test_any_text_is_checked_while_it_is_typed(project: Project, typed: str, told: str) -> None:
    answer = post(project, "golden_case_check", source_text=typed)

    html = answer.content.decode()
    assert answer.status_code == 200
    assert 'data-level="error"' in html
    assert told in words(html)


def test_a_case_that_could_not_be_judged_here_is_warned_of(project: Project) -> None:
    case = make_case(project)

    process = post(
        project, "golden_case_check", source_text=yaml_of(case).replace("small-work", "no-such")
    )
    phase = post(
        project, "golden_case_check", source_text=yaml_of(case).replace("phase: build", "phase: no")
    )

    assert "warning No process 'no-such' is published here" in words(process.content.decode())
    assert "warning The process has no phase 'no'" in words(phase.content.decode())


def test_a_case_below_its_phase_is_warned_of_at_its_field(project: Project) -> None:
    case = make_case(project, phase="write", tier=2)

    answer = post(
        project, "golden_case_check", source_text=yaml_of(case).replace("tier: 2", "tier: 1")
    )

    assert "warning The phase write is verified at tier 2." in words(answer.content.decode())


# ---------------------------------------------------------------- import


def test_a_file_is_shown_for_what_it_would_change_and_stored_by_one_button(
    project: Project,
) -> None:
    same = make_case(project, "same-as-ever")
    changed = make_case(project, "to-be-changed")
    file = to_yaml(
        [
            document_of(current(same)),
            {**document_of(current(changed)), "guards": "Said otherwise."},
            {**document_of(current(same)), "id": "brand-new"},
        ]
    )

    preview = post(project, "golden_import", source_text=file)
    untouched = GoldenCase.objects.count()
    hidden: dict[str, Any] = dict(
        re.findall(r'type="hidden" name="(kept|seen)" value="([^"]*)"', preview.content.decode())
    )
    stored = post(project, "golden_import", **hidden)

    told = text(preview)
    assert "3 cases in this file" in told
    assert "New 1 Each begins without a past. brand-new much like same-as-ever" in told
    assert "Changed 1 Each gets its next version. to-be-changed" in told
    assert "As they are 1 Nothing is stored of these. same-as-ever" in told
    assert untouched == 2
    assert stored.status_code == 302
    assert GoldenCase.objects.count() == 3
    assert current(changed).spec["guards"] == "Said otherwise."


def test_an_import_with_errors_stores_nothing_and_tells_all_of_them(project: Project) -> None:
    good = document("good-one")
    file = to_yaml([good, {**good, "id": "bad-one", "phase": 3}, {**good, "id": "Bad Name"}])

    answer = post(project, "golden_import", file=SimpleUploadedFile("cases.yaml", file.encode()))

    html = answer.content.decode()
    lines = [int(line) for line in re.findall(r'data-problem data-line="(\d+)"', html)]
    assert answer.status_code == 422
    assert [file.split("\n")[line - 1].strip("- ") for line in lines] == [
        "phase: 3",
        "id: Bad Name",
    ]
    assert "2 things to mend. Nothing was stored." in text(answer)
    assert "good-one" in unescape(html)
    assert not GoldenCase.objects.exists()


def test_a_corpus_that_changed_since_the_preview_is_shown_anew(project: Project) -> None:
    file = to_yaml([document("brand-new")])
    preview = post(project, "golden_import", source_text=file)
    hidden: dict[str, Any] = dict(
        re.findall(r'type="hidden" name="(kept|seen)" value="([^"]*)"', preview.content.decode())
    )
    make_case(project, "brand-new")

    answer = post(project, "golden_import", **hidden)

    assert answer.status_code == 409
    assert "The corpus has changed meanwhile. Nothing was stored." in text(answer)
    assert "Changed 1" in text(answer)


@pytest.mark.parametrize("kept", ["", "no base64!", "AAAA"])
def test_a_tampered_preview_stores_nothing(project: Project, kept: str) -> None:
    answer = post(project, "golden_import", kept=kept, seen="x")

    assert answer.status_code in (409, 422)
    assert not GoldenCase.objects.exists()


def test_below_editor_nobody_imports(project: Project) -> None:
    assert post(project, "golden_import", source_text="[]", role=Role.REVIEWER).status_code == 403
