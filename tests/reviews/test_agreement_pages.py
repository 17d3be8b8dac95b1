from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.models import Project, Role
from tests.builders import (
    SOURCE_TEXT,
    add_version,
    make_process,
    make_project,
    make_run,
    make_user,
    signed_in,
)
from tests.reviewing import make_review
from tests.reviews.agreement_rows import UNDECIDED, make_decided, make_matrix
from tests.reviews.deciding_rows import make_decision, over
from tests.tables import check_rows
from verification.engine.outcome import Outcome
from verification.reviews.agreement.filters import AgreementFilters
from verification.runs.models import ReviewState

pytestmark = pytest.mark.django_db

DRAWN: dict[str, Any] = {"sample_rate": 0.1, "is_flagged": False}


@pytest.fixture
def viewer(project: Project) -> Client:
    return signed_in(make_user(project, Role.VIEWER))


def address(project: Project, name: str = "review_agreement", **query: str) -> str:
    return f"{reverse(name, args=[project.slug])}?{urlencode(query)}"


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def page(client: Client, project: Project, name: str = "review_agreement", **query: str) -> str:
    answer = client.get(address(project, name, **query))
    assert answer.status_code == 200
    return answer.content.decode()


def everything(project: Project) -> None:
    """Something behind every number."""
    people = [make_user(project, name=f"person-{number}") for number in range(2)]
    cells = {("fail", "fail"): 20, ("fail", "pass"): 4, ("pass", "pass"): 9, ("pass", "fail"): 3}
    make_matrix(project, cells, rule="sober-tone", model="acme/large", confidence=0.82, **DRAWN)
    make_matrix(project, {(UNDECIDED, "pass"): 2, ("pass_with_warnings", "partial_verified"): 1})
    for number in range(5):
        review = make_review(project, reviewers=2, is_blind=True, state=ReviewState.DECIDED)
        for person, said in zip(people, ("fail", "pass" if number < 2 else "fail"), strict=True):
            make_decision(review, person, Outcome.FAIL, first_outcome=said)
        over(review, Outcome.FAIL)


def test_without_decisions_the_page_says_how_to_get_figures(
    viewer: Client, project: Project
) -> None:
    html = page(viewer, project)

    assert "Nobody has decided anything yet." in html
    assert "sample_rate: 0.05" in html
    assert "/api/v1/reviews/agreement" in html


def test_few_decisions_say_how_many_more_it_takes(viewer: Client, project: Project) -> None:
    make_matrix(project, {("fail", "fail"): 7, ("fail", "pass"): 5}, rule="sober-tone")

    text = text_of(page(viewer, project))

    assert "Agree with people too few 12 decisions: 8 more needed" in text
    assert "12 reviews, 8 more needed" in text
    assert "Accepted, and people reject too few 0 decisions: 10 more needed" in text


def test_a_bad_rule_is_told_in_a_sentence(viewer: Client, project: Project) -> None:
    make_matrix(project, {("fail", "pass"): 15, ("fail", "fail"): 22}, rule="sober-tone")

    text = text_of(page(viewer, project))

    assert "sober-tone small-work overturned in 40.5 % of 37 reviews" in text
    assert "26 to 57 %" in text


def test_the_page_says_that_flagged_runs_are_no_sample(viewer: Client, project: Project) -> None:
    make_matrix(project, {("pass", "pass"): 12, ("pass", "fail"): 3}, **DRAWN)
    make_review(project, make_run(project), **DRAWN)

    text = text_of(page(viewer, project))

    assert "Flagged runs are among these, and they are the hard ones" in text
    assert "by the random sample alone: 15 decided of 16 drawn" in text
    assert "Accepted, and people reject 20.0 % 4 to 48 % · 15 decisions" in text


def test_agreement_on_one_word_alone_has_no_kappa(viewer: Client, project: Project) -> None:
    make_matrix(project, {("pass", "pass"): 20})

    text = text_of(page(viewer, project))

    assert "Agree with people 100 %" in text
    assert "all were alike: chance would do as well" in text


def numbers(context: Any) -> Iterator[tuple[str, int]]:
    """Each number of the page and the query that should open as many."""
    for table in (context["matrix"], context["verdict_matrix"]):
        for row in table:
            for cell in (*row.cells, row.total):
                yield cell.query, cell.n
    for group in (*context["phases"], *context["models"]):
        yield group.query, group.n
    yield from ((tile.query, tile.shown.n) for tile in context["tiles"][:3])
    false_fail, escaped, precision, recall = context["tiles"][4:]
    yield from ((tile.query, tile.shown.n) for tile in (precision, recall))
    sample = context["figures"].sample
    yield false_fail.query, round(sample.false_fail.value * sample.false_fail.n)
    yield escaped.query, round(sample.escaped_defect.value * sample.escaped_defect.n)
    yield "which=changed", context["figures"].blind.changed
    yield "which=differed", context["figures"].among.differing
    yield "sample=only", context["figures"].sample.decided


def test_every_number_leads_to_exactly_the_runs_behind_it(viewer: Client, project: Project) -> None:
    everything(project)
    context = viewer.get(address(project)).context

    found = [
        (
            query,
            n,
            viewer.get(f"{address(project, 'review_agreement_runs')}{query}").context["count"],
        )
        for query, n in numbers(context)
    ]

    assert [(query, n) for query, n, _ in found] == [(query, count) for query, _, count in found]
    assert sum(n > 0 for _, n, _ in found) > 25


def test_the_overturned_reviews_of_a_rule_are_listed_and_no_others(
    viewer: Client, project: Project
) -> None:
    wrong = make_decided(project, "fail", "pass", rule="sober-tone")
    right = make_decided(project, "fail", "fail", rule="sober-tone")
    labelled = make_decided(project, "fail", "fail", rule="sober-tone", labels=[False])
    make_decided(project, "fail", "pass", rule="another")

    def listed(only: str) -> set[Any]:
        answer = viewer.get(
            address(project, "review_agreement_runs", rule="sober-tone", which=only)
        )
        return {row["run"].pk for row in answer.context["rows"]}

    assert listed("overturned") == {wrong.run_id, labelled.run_id}
    assert listed("upheld") == {right.run_id}


def test_a_long_list_goes_on_over_pages_without_losing_a_row(
    viewer: Client, project: Project
) -> None:
    make_matrix(project, {("fail", "pass"): 60})

    first = viewer.get(address(project, "review_agreement_runs", said="fail"))
    second = viewer.get(
        address(project, "review_agreement_runs", said="fail", cursor=first.context["next"])
    )

    rows = [row["run"].pk for answer in (first, second) for row in answer.context["rows"]]
    assert len(rows) == len(set(rows)) == 60


@check_rows("name", ["review_agreement", "review_agreement_runs", "review_calibration"])
@check_rows(
    ("query", "status"),
    [
        ({"since": "yesterday"}, 400),
        ({"rule": "a\x00b"}, 400),
        ({"process": "nowhere"}, 404),
        ({"process": "a\x00b"}, 404),
        ({"sample": "without"}, 400),
    ],
    ids=str,
    rollback=True,
)
def test_a_filter_that_is_none_is_answered_in_words(
    viewer: Client, project: Project, name: str, query: dict[str, str], status: int
) -> None:
    assert viewer.get(address(project, name, **query)).status_code == status


@pytest.mark.parametrize(
    "query",
    [
        {"said": "reject"},
        {"decided": "undecided"},
        {"which": "x"},
        {"tenth": "10"},
        {"cursor": "x"},
    ],
    ids=str,
)
def test_a_cell_that_is_none_is_refused(
    viewer: Client, project: Project, query: dict[str, str]
) -> None:
    answer = viewer.get(address(project, "review_agreement_runs", **query))

    assert answer.status_code == 400
    assert b"notice-error" in answer.content


@pytest.mark.parametrize(
    "name", ["review_agreement", "review_agreement_runs", "review_calibration"]
)
def test_members_alone_may_read(project: Project, name: str) -> None:
    outsider = signed_in(make_user(make_project()))

    assert outsider.get(address(project, name)).status_code == 404
    assert Client().get(address(project, name)).status_code == 302


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", ["review_agreement", "review_agreement_runs", "review_calibration"]
)
def test_the_pages_take_as_many_queries_however_much_there_is(
    viewer: Client, project: Project, name: str
) -> None:
    everything(project)
    viewer.get(address(project, name))  # the session is written once
    with CaptureQueriesContext(connection) as few:
        viewer.get(address(project, name))
    for number in range(3):
        process = make_process(project, slug=f"process-{number}")
        make_decided(
            project, process=process, rule=f"r{number}", model=f"m{number}", confidence=0.5
        )
    make_matrix(project, {("fail", "pass"): 30}, rule="other", model="acme/small", confidence=0.3)
    viewer.get(address(project, name))  # and new versions of processes are read once

    with CaptureQueriesContext(connection) as many:
        viewer.get(address(project, name))

    assert len(many) == len(few)


def test_hostile_names_are_shown_and_never_run(viewer: Client, project: Project) -> None:
    rule, model = "<script>alert(1)</script>", "m<img src=x onerror=alert(1)>\u202e"
    make_decided(project, "fail", "pass", rule=rule, model=model, confidence=0.9)

    for name in ("review_agreement", "review_agreement_runs"):
        html = page(viewer, project, name, rule=rule)
        assert "<script>alert" not in html
        assert "<img src" not in html
    assert "U+202E" in page(viewer, project)


def test_a_phase_and_a_judge_narrow_the_page_and_are_taken_off_again(
    viewer: Client, project: Project
) -> None:
    make_decided(project, phase="write", model="acme/large")
    make_decided(project, phase="build")

    narrowed = page(viewer, project, phase="write", model="acme/large")

    assert viewer.get(address(project, phase="write")).context["figures"].people.n == 1
    assert 'href="?model=acme%2Flarge"' in narrowed
    assert 'href="?phase=write"' in narrowed


def test_filters_of_the_address_are_those_of_the_figures() -> None:
    assert set(AgreementFilters.__dataclass_fields__) == {
        "process", "phase", "rule", "model", "since", "until", "sample",
    }  # fmt: skip


# ---------------------------------------------------------------- calibration


def judged(
    project: Project, confidence: float, agreed: int, not_agreed: int, **columns: Any
) -> None:
    cells = {("pass", "pass"): agreed, ("pass", "fail"): not_agreed}
    make_matrix(project, cells, model="acme/large", confidence=confidence, **columns)


def test_without_judged_runs_the_page_says_what_it_will_show(
    viewer: Client, project: Project
) -> None:
    make_decided(project)

    assert "No judged run was decided by people yet." in page(viewer, project, "review_calibration")


def test_confidence_stands_beside_what_people_agreed_with(viewer: Client, project: Project) -> None:
    judged(project, 0.9, agreed=24, not_agreed=6)
    judged(project, 0.5, agreed=15, not_agreed=15)

    answer = viewer.get(address(project, "review_calibration"))

    text = text_of(answer.content.decode())
    assert answer.context["found"].error == pytest.approx(30 * 0.1 / 60)
    assert "On average it is off by 0.05" in text
    assert "0.9 to 1.0 0.90 30 80.0 %" in text
    assert "0.5 to 0.6 0.50 30 50.0 %" in text
    assert answer.content.decode().count("<circle") == 2


def test_a_tenth_leads_to_its_runs(viewer: Client, project: Project) -> None:
    judged(project, 0.29, agreed=1, not_agreed=1)
    judged(project, 0.3, agreed=2, not_agreed=1)
    judged(project, 1.0, agreed=4, not_agreed=0)
    make_decided(project, UNDECIDED, "pass", model="acme/large", confidence=0.29)
    make_decided(project, "pass", "pass")

    tenths = viewer.get(address(project, "review_calibration")).context["tenths"]

    found = [
        viewer.get(f"{address(project, 'review_agreement_runs')}{one.query}").context["count"]
        for one in tenths
    ]
    assert found == [one.agreed.n for one in tenths] == [4, 3, 2]


def test_a_floor_is_proposed_with_what_it_asks_of_people(viewer: Client, project: Project) -> None:
    judged(project, 0.9, agreed=149, not_agreed=1)
    judged(project, 0.65, agreed=5, not_agreed=20)

    text = text_of(page(viewer, project, "review_calibration"))

    assert "small-work 175 verdicts now 0.60 0.90 raise it" in text
    assert "From there on people agree with 99.3 % of 150 verdicts" in text
    assert "With it 14.3 % of 175 judged runs would go to people" in text
    assert "now it is 0 %." in text


def test_no_floor_is_proposed_from_too_few_or_from_a_judge_who_is_wrong_however_sure(
    viewer: Client, project: Project
) -> None:
    judged(project, 0.9, agreed=30, not_agreed=0)
    other = make_process(project, slug="other")
    judged(project, 0.95, agreed=60, not_agreed=20, process=other)

    text = text_of(page(viewer, project, "review_calibration"))

    assert "30 decisions; it takes 73 that all agree to be sure of 95 %." in text
    assert "However sure the judge is, people do not surely agree with 95 %." in text


def test_floors_that_differ_by_phase_are_told_as_they_are(viewer: Client, project: Project) -> None:
    source = SOURCE_TEXT.replace("  - id: write", "    confidence_floor: 0.75\n  - id: write")
    add_version(project.processes.get(), source)
    judged(project, 0.7, agreed=2, not_agreed=1)

    text = text_of(page(viewer, project, "review_calibration"))

    assert "0.60 to 0.75, by phase" in text
    assert "100 % of 3 judged runs lie below the floor now" in text


def test_votes_are_no_confidence_of_a_judge(viewer: Client, project: Project) -> None:
    review = make_decided(project, "pass", "pass", model="acme/large", confidence=0.6)
    review.evaluation.tier_achieved = 3
    review.evaluation.save()

    assert viewer.get(address(project, "review_calibration")).context["found"].n == 0


@pytest.mark.parametrize(("role", "may"), [(Role.VIEWER, False), (Role.EDITOR, True)])
def test_editors_go_on_to_the_draft_from_here(project: Project, role: Role, may: bool) -> None:
    judged(project, 0.9, agreed=1, not_agreed=0)

    html = page(signed_in(make_user(project, role)), project, "review_calibration")

    assert (reverse("draft_open", args=[project.slug, "small-work"]) in html) is may
