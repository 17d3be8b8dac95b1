"""The review policy as a form of the draft, and in words on the page of the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from processes.definition.load import load
from processes.definition.model import ReviewPolicy
from processes.review_words import sentences
from tests.builders import SOURCE_TEXT, add_version, make_project
from tests.processes.editing import Desk, form_of, new_desk, said
from tests.processes.patching import BUILT_IN, STYLES, text_of
from tests.tables import check_rows

pytestmark = pytest.mark.django_db

FILES = (*STYLES, *BUILT_IN)
WITH_POLICY = (
    SOURCE_TEXT
    + """\
  policy:
    review:   # who is asked
      reasons:
        - undecided   # always
        - rejected
      cap_per_day: 20
      expires_after_hours: 72
"""
)


def new(source_text: str) -> Desk:
    desk = new_desk(make_project(source_text=source_text))
    desk.begin()
    return desk


@pytest.fixture
def desk() -> Desk:
    return new(WITH_POLICY)


def save(desk: Desk, **fields: Any) -> Any:
    sent = {**form_of(desk.get("draft_review")), **fields}
    return desk.post("draft_review", **{key: one for key, one in sent.items() if one is not None})


def policy_of(desk: Desk) -> dict[str, Any]:
    definition = load(desk.draft.source_text).definition
    assert definition is not None
    return definition.policy.review.spec


def test_the_form_shows_what_the_file_says(desk: Desk) -> None:
    sent = form_of(desk.get("draft_review"))

    del sent["lock_version"]
    assert sent == {
        "ask_undecided": "on",
        "ask_rejected": "on",
        "cap_per_day": 20,
        "expires_after_hours": 72,
        "reviewers": 1,
    }


@pytest.mark.parametrize(
    ("fields", "old", "new"),
    [
        ({"cap_per_day": 5}, "cap_per_day: 20", "cap_per_day: 5"),
        ({"cap_per_day": ""}, "      cap_per_day: 20\n", ""),
        ({"expires_after_hours": ""}, "expires_after_hours: 72", "expires_after_hours: never"),
        (
            {"sample_percent": "2.5"},
            "expires_after_hours: 72\n",
            "expires_after_hours: 72\n      sample_rate: 0.025\n",
        ),
        (
            {"blind": "on", "reviewers": "2"},
            "expires_after_hours: 72\n",
            "expires_after_hours: 72\n      blind: true\n      reviewers: 2\n",
        ),
        ({"ask_rejected": None}, "        - rejected\n", ""),
        (
            {"ask_divergence": "on"},
            "        - rejected\n",
            "        - rejected\n        - divergence\n",
        ),
    ],
)
def test_a_field_changes_its_own_span_alone(
    desk: Desk, fields: dict[str, Any], old: str, new: str
) -> None:
    answer = save(desk, **fields)

    assert answer.status_code == 302
    assert desk.draft.source_text == WITH_POLICY.replace(old, new)


def test_urgencies_turn_the_list_into_a_mapping_and_stay_one(desk: Desk) -> None:
    save(desk, urgency_undecided=80)
    first = policy_of(desk)
    save(desk, urgency_undecided="", urgency_rejected=10, ask_partial="on")
    second = policy_of(desk)
    save(desk, ask_partial=None)

    assert first["reasons"] == {"undecided": 80, "rejected": None}
    assert second["reasons"] == {"undecided": None, "rejected": 10, "partial": None}
    assert policy_of(desk)["reasons"] == {"undecided": None, "rejected": 10}
    assert "undecided: usual" in desk.draft.source_text


def test_without_a_reason_nobody_is_asked_and_the_usual_ones_do_not_come_back(desk: Desk) -> None:
    save(desk, ask_undecided=None, ask_rejected=None)

    assert policy_of(desk)["reasons"] == {}
    assert "reasons: []" in desk.draft.source_text


def test_a_file_without_a_policy_gets_the_keys_that_differ() -> None:
    desk = new(SOURCE_TEXT)

    save(desk, cap_per_day=10)

    assert policy_of(desk) == ReviewPolicy(cap_per_day=10).spec
    assert desk.draft.source_text.startswith(SOURCE_TEXT.rstrip("\n"))
    assert "reasons" not in desk.draft.source_text


@check_rows("path", FILES, ids=lambda path: path.stem, rollback=True)
def test_what_nobody_changed_is_saved_byte_for_byte(path: Path) -> None:
    desk = new(text_of(path))

    answer = save(desk)

    assert answer.status_code == 302
    assert desk.draft.source_text == text_of(path)


@check_rows("path", FILES, ids=lambda path: path.stem, rollback=True)
def test_a_policy_is_written_into_files_of_every_style_and_says_what_was_meant(path: Path) -> None:
    desk = new(text_of(path))
    before = load(text_of(path)).definition
    assert before is not None

    answer = save(
        desk,
        cap_per_day=7,
        sample_percent="0.5",
        expires_after_hours="",
        ask_partial="on",
        urgency_partial=5,
    )

    assert answer.status_code == 302
    after = load(desk.draft.source_text).definition
    assert after is not None
    assert (after.rules, after.phases) == (before.rules, before.phases)
    said = after.policy.review.spec
    assert (said["cap_per_day"], said["sample_rate"]) == (7, 0.005)
    assert (said["expires_after_hours"], said["reasons"]["partial"]) == (None, 5)


@check_rows(
    ("fields", "field"),
    [
        ({"cap_per_day": "-1"}, "cap_per_day"),
        ({"cap_per_day": "many"}, "cap_per_day"),
        ({"sample_percent": "101"}, "sample_percent"),
        ({"sample_percent": "NaN"}, "sample_percent"),
        ({"sample_percent": "1e9"}, "sample_percent"),
        ({"expires_after_hours": "0"}, "expires_after_hours"),
        ({"urgency_undecided": "101"}, "urgency_undecided"),
        ({"reviewers": "3"}, "reviewers"),
        ({"reviewers": None}, "reviewers"),
    ],
    rollback=True,
)
def test_a_value_that_makes_no_sense_is_told_beside_its_field(
    desk: Desk, fields: dict[str, Any], field: str
) -> None:
    answer = save(desk, **fields)

    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == [field]
    assert desk.draft.source_text == WITH_POLICY


def test_what_is_shared_in_the_file_is_left_to_its_editor() -> None:
    shared = WITH_POLICY.replace(
        "cap_per_day: 20", "cap_per_day: &n 20\n      reviewers: 2"
    ).replace("expires_after_hours: 72", "expires_after_hours: *n")
    desk = new(shared)

    answer = save(desk, cap_per_day=5)

    assert answer.status_code == 422
    assert "Change it as YAML." in said(answer)
    assert desk.draft.source_text == shared


def test_a_form_from_before_another_change_keeps_what_was_typed(desk: Desk) -> None:
    sent = form_of(desk.get("draft_review"))
    save(desk, cap_per_day=1)

    answer = desk.post("draft_review", **{**sent, "cap_per_day": 9})

    assert answer.status_code == 409
    assert answer.context["form"]["cap_per_day"].value() == "9"
    assert policy_of(desk)["cap_per_day"] == 1


def test_a_draft_with_errors_shows_them_instead_of_the_form(desk: Desk) -> None:
    desk.save(WITH_POLICY.replace("cap_per_day: 20", "cap_per_day: lots"))

    page = desk.get("draft_review")

    assert page.context["form"] is None
    assert "verification.policy.review.cap_per_day must be a whole number" in said(page)


def test_the_page_of_a_process_says_the_policy_in_words(desk: Desk) -> None:
    page = said(desk.get("process_detail"))

    assert "People are asked when a run stays undecided or work is rejected." in page
    assert "At most 20 such runs a day; others are held back." in page
    assert "What nobody decides is closed after 3 days." in page


def test_a_changed_policy_is_told_between_versions(desk: Desk) -> None:
    add_version(desk.process, WITH_POLICY.replace("cap_per_day: 20", "blind: true"))

    page = said(desk.get("process_compare", query="?a=1&b=2"))

    assert "review: cap per day 20 none" in page
    assert "review: blind no yes" in page


@pytest.mark.parametrize(
    ("review", "usual", "words"),
    [
        ("{reasons: []}", 0.0, ["Nobody is asked about any run."]),
        (
            "{reasons: [], expires_after_hours: 25}",
            0.02,
            [
                "2 % of decided runs are drawn by chance, as this installation says.",
                "What nobody decides is closed after 25 hours.",
            ],
        ),
        (
            "{reasons: {partial: 90}, sample_rate: 0.125, cap_per_day: 1500, blind: true, "
            "reviewers: 2, expires_after_hours: never}",
            0.02,
            [
                "People are asked when work is accepted in part (urgency 90).",
                "At most 1,500 such runs a day; others are held back.",
                "12.5 % of decided runs are drawn by chance.",
                "Reviewers decide before they see the verdict.",
                "Two decide without knowing of each other; where they differ, a third does.",
                "A review stays open until somebody decides it.",
            ],
        ),
        (
            "{reasons: [undecided, divergence, terminal], sample_rate: 0, expires_after_hours: 24}",
            0.02,
            [
                "People are asked when a run stays undecided, judges disagree or a run is the "
                "last that its task may have.",
                "What nobody decides is closed after 1 day.",
            ],
        ),
    ],
    ids=["nobody", "chance", "everything", "some"],
)
def test_a_policy_reads_as_sentences(review: str, usual: float, words: list[str]) -> None:
    definition = load(f"{SOURCE_TEXT}  policy: {{review: {review}}}\n").definition

    assert definition is not None
    assert list(sentences(definition.policy.review, usual_sample_rate=usual)) == words


def test_the_form_names_the_installations_share(desk: Desk, settings: LazySettings) -> None:
    settings.REVIEW_SAMPLE_RATE = 0.07

    assert "This installation draws 7 %" in said(desk.get("draft_review"))
