from __future__ import annotations

import re
from html import unescape
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project, Role
from tests.builders import make_project, make_run, make_task, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.reviews.people import reviewer_of, says, settled
from verification.engine.outcome import Outcome, Verdict
from verification.golden.models import GoldenCase
from verification.reviews import cases
from verification.reviews.models import CaseDraft
from verification.runs.models import Review, ReviewState

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def anna(project: Project) -> Access:
    return reviewer_of(project, "anna")


@pytest.fixture
def review(project: Project) -> Review:
    return make_review(project)


def url_of(project: Project, query: str = "") -> str:
    return reverse("golden_drafts", args=[project.slug]) + query


def page(project: Project, query: str = "", *, role: Role = Role.VIEWER) -> str:
    answer = signed_in(make_user(project, role)).get(url_of(project, query))
    assert answer.status_code == 200
    return str(answer.content.decode())


def rows(html: str) -> str:
    """The words of the list."""
    found = re.search(r"<tbody>.*</tbody>", html, re.DOTALL)
    return words(found[0]) if found else ""


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_each_draft_is_listed_with_what_it_should_come_to_who_kept_it_and_its_run(
    project: Project, anna: Access
) -> None:
    run = make_run(project, task=make_task(project.processes.get(), "market-7"), **DOUBTED)
    review = make_review(project, run)
    says(anna, review, Outcome.PASS, wants_case=True)
    open_yet = words(page(project))
    settled(review)

    html = page(project)

    assert "still open" in open_yet
    for part in ("pass", "market-7", "small-work / build", "anna"):
        assert part in rows(html)
    assert reverse("run_detail", args=[project.slug, run.uuid]) in html
    assert reverse("review_item", args=[project.slug, review.uuid]) in html


def test_a_page_without_drafts_says_how_one_is_made(project: Project) -> None:
    assert "While you review a run, press g" in words(page(project))


def test_reviewers_remove_drafts_and_others_do_not(
    project: Project, anna: Access, review: Review
) -> None:
    cases.toggle_draft(access=anna, review=review.uuid)
    draft = CaseDraft.objects.get()
    url = reverse("golden_draft_remove", args=[project.slug, draft.uuid])
    viewer = signed_in(make_user(project, Role.VIEWER))
    mira = signed_in(make_user(project, Role.REVIEWER))

    assert "Remove" not in page(project)
    assert "Remove" in page(project, role=Role.REVIEWER)
    assert (viewer.post(url).status_code, CaseDraft.objects.count()) == (403, 1)
    assert (mira.get(url).status_code, CaseDraft.objects.count()) == (405, 1)
    assert (mira.post(url).status_code, CaseDraft.objects.count()) == (302, 0)
    assert mira.post(url).status_code == 404


def test_outsiders_find_no_drafts(project: Project, anna: Access, review: Review) -> None:
    cases.toggle_draft(access=anna, review=review.uuid)
    other = make_project()
    stranger = signed_in(make_user(other, Role.ADMIN))
    draft = CaseDraft.objects.get()

    assert stranger.get(url_of(project)).status_code == 404
    for slug in (project.slug, other.slug):
        url = reverse("golden_draft_remove", args=[slug, draft.uuid])
        assert stranger.post(url).status_code == 404
    assert (
        stranger.post(reverse("golden_draft_remove", args=[other.slug, uuid4()])).status_code == 404
    )


def test_what_was_submitted_is_shown_as_text(project: Project) -> None:
    run = make_run(project, title=HOSTILE, **DOUBTED)
    user = make_user(project, Role.REVIEWER)
    user.first_name = HOSTILE
    user.save()
    cases.toggle_draft(access=reviewer_of(project, "zoe"), review=make_review(project, run).uuid)
    CaseDraft.objects.update(made_by=HOSTILE)

    html = page(project)

    assert "<script>alert" not in html
    assert "\u202e" not in html


@pytest.mark.extended
def test_a_long_list_comes_in_pages(project: Project, anna: Access) -> None:
    for _ in range(51):
        cases.toggle_draft(access=anna, review=make_review(project).uuid)

    first = page(project)
    following = re.search(r'rel="next"[^>]*href="(\?cursor=[^"]+)"', first)

    assert following is not None
    assert (first.count("its review"), page(project, following[1]).count("its review")) == (50, 1)
    client = signed_in(make_user(project))
    assert client.get(url_of(project, "?cursor=nonsense")).status_code == 400


def test_the_list_costs_the_same_however_long(project: Project, anna: Access) -> None:
    client = signed_in(make_user(project, Role.REVIEWER))
    counts = []
    for _ in range(2):
        for _ in range(5):
            cases.toggle_draft(access=anna, review=make_review(project).uuid)
        client.get(url_of(project))
        with CaptureQueriesContext(connection) as queries:
            client.get(url_of(project))
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_a_draft_outlives_a_review_that_nobody_decided(project: Project, anna: Access) -> None:
    run = make_run(project, outcome=Outcome.PASS, verdict=Verdict.ACCEPT)
    review = make_review(project, run)
    cases.toggle_draft(access=anna, review=review.uuid)
    Review.objects.update(state=ReviewState.EXPIRED)

    assert rows(page(project)).startswith("pass ")


def test_an_editor_makes_the_case_in_one_click_and_the_draft_is_gone(
    project: Project, anna: Access
) -> None:
    run = make_run(project, output="Done.", evaluation={"retry_strategy": "none"})
    cases.toggle_draft(access=anna, review=make_review(project, run).uuid)
    Review.objects.update(state=ReviewState.EXPIRED)
    editor = signed_in(make_user(project, Role.EDITOR))
    url = reverse("golden_draft_take", args=[project.slug, CaseDraft.objects.get().uuid])

    shown = page(project, role=Role.EDITOR)
    answer = editor.post(url)

    case = GoldenCase.objects.get()
    assert "Make the case" in shown
    assert "Drafts 1" in words(shown)
    assert answer["Location"] == f"{reverse('golden_case', args=[project.slug, case.uuid])}?made"
    assert (case.run, CaseDraft.objects.count()) == (run, 0)
    assert "is in the corpus" in words(editor.get(answer["Location"]).content.decode())
    assert editor.post(url).status_code == 404


def test_below_editor_nobody_makes_a_case_of_a_draft(
    project: Project, anna: Access, review: Review
) -> None:
    cases.toggle_draft(access=anna, review=review.uuid)
    url = reverse("golden_draft_take", args=[project.slug, CaseDraft.objects.get().uuid])
    reviewer = signed_in(make_user(project, Role.REVIEWER))

    assert reviewer.post(url).status_code == 403
    assert "Make the case" not in page(project, role=Role.REVIEWER)
    assert CaseDraft.objects.count() == 1


def test_a_draft_whose_review_is_open_waits_for_it(
    project: Project, anna: Access, review: Review
) -> None:
    cases.toggle_draft(access=anna, review=review.uuid)

    shown = words(page(project, role=Role.EDITOR))

    assert "waits for its review" in shown
    assert "Make the case" not in shown
