"""Two reviewers before two browsers at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from loomverify.accounts.models import Project, Role, User
from tests.browser.conftest import Visit, Visitor
from tests.browser.scenes import Scene
from tests.builders import make_project, make_user
from tests.reviewing import make_review
from verification.engine.outcome import Outcome
from verification.reviews import settling
from verification.reviews.models import Decision
from verification.runs.models import Review, ReviewState, Run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

IS_FREE = "async (url) => (await (await fetch(url)).text()).includes('Take it')"
NOTHING_LEFT = "Nothing is left that you can take."


@pytest.fixture
def project(scene: Scene) -> Project:
    return make_project("reviewed")


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


@pytest.fixture
def jonas(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "jonas")


def begin(visitor: Visitor, project: Project) -> Page:
    """From the queue's button to the first review."""
    page = visitor.go(reverse("review_queue", args=[project.slug]))
    page.get_by_role("button", name=re.compile("Review next")).first.click()
    expect(page.locator("#item[data-standing=mine]")).to_be_visible()
    page.wait_for_load_state()  # keys are heard once the page is whole
    return page


def url_of(review: Review) -> str:
    return reverse("review_item", args=[review.project.slug, review.uuid])


def shown(page: Page) -> str:
    return page.locator("#item").get_attribute("data-review") or ""


def decided(page: Page, key: str) -> Iterator[str]:
    """Decide one after the other until nothing is left; give what was on the page."""
    while review := shown(page):
        yield review
        with page.expect_response(re.compile("/decide/")):
            page.keyboard.press(key)
        expect(page.locator("#item")).not_to_have_attribute("data-review", review)


def test_two_reviewers_never_see_the_same_one_and_together_decide_all(
    visit: Visit, project: Project, mira: User, jonas: User
) -> None:
    reviews = [make_review(project, urgency=90 - number) for number in range(9)]
    here, there = visit(mira), visit(jonas)
    turns = [decided(begin(here, project), "4"), decided(begin(there, project), "1")]
    seen: list[str] = []

    while turns:
        for turn in list(turns):
            if (review := next(turn, None)) is None:
                turns.remove(turn)
            else:
                seen.append(review)

    assert sorted(seen) == sorted(str(review.uuid) for review in reviews)
    decisions = Decision.objects.values_list("review__uuid", "reviewer")
    assert len(decisions) == len({review for review, _ in decisions}) == len(reviews)
    assert {reviewer for _, reviewer in decisions} == {mira.pk, jonas.pk}
    expect(here.page.get_by_role("heading", name=NOTHING_LEFT)).to_be_visible()
    assert here.complaints == there.complaints == []


def test_a_page_that_is_left_returns_what_it_held_to_the_other(
    visit: Visit, project: Project, mira: User, jonas: User
) -> None:
    first, second = make_review(project, urgency=90), make_review(project, urgency=80)
    mine = begin(visit(mira), project)
    expect(mine.locator("#review")).to_have_attribute("data-next", str(second.uuid))
    other = visit(jonas)
    page = other.go(url_of(first))
    expect(page.get_by_text("mira looks at this one until")).to_be_visible()

    mine.goto("about:blank")

    page.wait_for_function(IS_FREE, arg=url_of(first))
    page.wait_for_function(IS_FREE, arg=url_of(second))
    theirs = begin(other, project)
    assert shown(theirs) == str(first.uuid)
    expect(theirs.locator("#review")).to_have_attribute("data-next", str(second.uuid))
    assert set(Review.objects.values_list("claimed_by", flat=True)) == {jonas.pk}


def test_two_decide_unseen_of_each_other_and_a_third_has_the_last_word(
    visit: Visit, project: Project, mira: User, jonas: User
) -> None:
    review = make_review(project, reviewers=2)
    one, other = visit(mira), visit(jonas)

    says(one, project, "1", "It is cited.")
    expect(one.page.get_by_role("heading", name=NOTHING_LEFT)).to_be_visible()
    page = begin(other, project)
    assert "It is cited." not in page.content()
    says(other, project, "4", "It is not.", page=page)
    for visitor in (one, other):
        page = visitor.go(url_of(review))
        said = {"It is cited.", "It is not."}
        assert len({words for words in said if words in page.content()}) == 1
    settling.settle_due(now=timezone.now() + settling.UNDO)

    for visitor in (one, other):
        page = visitor.go(url_of(review))
        expect(page.get_by_text("Somebody else decides.")).to_be_visible()
    third = visit(make_user(project, Role.REVIEWER, "sam"))
    page = begin(third, project)
    expect(page.locator(".decided")).to_contain_text("It is cited.")
    expect(page.locator(".decided")).to_contain_text("It is not.")
    says(third, project, "4", "The table has none.", page=page)
    settling.settle_due(now=timezone.now() + settling.UNDO)

    run = Run.objects.get(pk=review.run_id)
    assert (run.final_outcome, run.review_state) == (Outcome.FAIL, "decided")


def says(
    visitor: Visitor, project: Project, key: str, comment: str, *, page: Page | None = None
) -> None:
    page = page or begin(visitor, project)
    page.keyboard.press("c")
    page.keyboard.type(comment)
    page.keyboard.press("Escape")
    with page.expect_response(re.compile("/decide/")):
        page.keyboard.press(key)


def test_who_loses_a_claim_is_told_and_gets_the_next(
    visit: Visit, project: Project, mira: User, jonas: User
) -> None:
    reviews = [make_review(project, urgency=90 - number) for number in range(3)]
    page = begin(visit(mira), project)
    expect(page.locator("#review")).to_have_attribute("data-next", str(reviews[1].uuid))
    Review.objects.update(lease_until=timezone.now())

    theirs = begin(visit(jonas), project)
    assert shown(theirs) == str(reviews[0].uuid)
    with page.expect_response(re.compile("/decide/")) as answered:
        page.keyboard.press("4")

    assert answered.value.status == 409
    expect(page.locator("#refused")).to_contain_text("Not stored: Somebody else took it meanwhile.")
    assert not Decision.objects.exists()
    assert Review.objects.filter(state=ReviewState.PENDING).count() == len(reviews)
