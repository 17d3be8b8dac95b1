from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from loomverify.accounts.models import Role
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import LONG_WORD, MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.builders import make_run, make_task
from tests.reviewing import DOUBTED, make_review
from tests.reviews.test_claims import reviewer_of
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision
from verification.reviews.queue import claims
from verification.runs.models import Review, ReviewState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FINGERPRINT = "a" * 64


@pytest.fixture
def listed(scene: Scene) -> list[Review]:
    """One of each kind, some of them hostile; two are alike."""
    project = scene.project
    finding = {"fingerprint": FINGERPRINT, "quote": LONG_WORD, "message": MARKUP, "path": "x" * 300}
    runs = [
        make_run(
            project,
            outcome=Outcome.FAIL,
            reason_code="rule_violated",
            findings=[{**finding, "rule": f"{MARKUP}{'r' * 90}"[:200]}],
            title=title,
            task=make_task(project.processes.get(), f"{title[:150]} {number}"),
        )
        for number, title in enumerate((MARKUP, LONG_WORD[:200]))
    ]
    alike = [make_review(project, run, urgency=90) for run in runs]
    others = [
        make_review(project, urgency=urgency, **columns)
        for urgency, columns in (
            (60, {"is_blind": True}),
            (50, {"reviewers": 2, "sample_rate": 0.1}),
            (20, {"is_adjudication": True, "round": 2}),
            (20, {"state": ReviewState.HELD}),
            (20, {"state": ReviewState.DECIDED, "outcome": "pass", "told_at": timezone.now(),
                  "decided_at": timezone.now()}),
        )
    ]  # fmt: skip
    return alike + others


def path_of(scene: Scene, name: str = "review_queue", *args: str, query: str = "") -> str:
    return reverse(name, args=[scene.project.slug, *args]) + query


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_the_pages_of_the_queue_stay_within_the_screen(
    visit: Visit, scene: Scene, listed: list[Review], width: int, theme: str
) -> None:
    visitor = visit(scene.member(Role.REVIEWER), width=width, theme=theme)
    for path in (
        path_of(scene),
        *(path_of(scene, query=f"?state={state}") for state in ("held", "decided", "expired")),
        path_of(scene, "review_groups"),
        path_of(scene, "review_group", FINGERPRINT),
    ):
        page = visitor.go(path)

        assert (path, page.evaluate(OVERFLOW), page.evaluate(FAULTS)) == (path, 0, [])
        assert page.title() != "owned"
    assert visitor.complaints == []


def test_the_next_one_is_taken_and_a_row_is_opened_by_keys(
    visit: Visit, scene: Scene, listed: list[Review]
) -> None:
    page = visit(scene.member(Role.REVIEWER)).go(path_of(scene))

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/review/{listed[1].uuid}/")

    page.goto(page.url.replace(f"{listed[1].uuid}/", ""))
    page.keyboard.press("r")
    page.wait_for_url(f"**/review/{listed[0].uuid}/")


def test_the_list_renews_itself_in_place_and_not_under_open_hands(
    visit: Visit, scene: Scene, listed: list[Review]
) -> None:
    page = visit(scene.member(Role.REVIEWER)).go(path_of(scene))
    row, top = page.locator(f"#review-{listed[2].uuid}"), page.locator("table.queue tbody tr")
    before = [top.nth(number).bounding_box() for number in range(5)]
    page.locator(f"#open-{listed[3].uuid}").focus()
    claims.claim(access=reviewer_of(scene.project, "jonas"), review=listed[2].uuid)
    make_review(scene.project, make_run(scene.project, **DOUBTED))
    menu = row.locator("details")
    menu.locator("summary").click()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.evaluate("htmx.trigger('#queue-live', 'renew')")
    expect(menu).to_have_attribute("open", "")
    assert asked == []
    page.keyboard.press("Escape")
    page.locator(f"#open-{listed[3].uuid}").focus()
    page.evaluate("htmx.trigger('#queue-live', 'renew')")

    expect(row).to_contain_text("jonas")
    expect(page.locator("#tab-newer")).to_have_text("1 new")
    expect(page.locator(f"#open-{listed[3].uuid}")).to_be_focused()
    after = [top.nth(number).bounding_box() for number in range(5)]
    assert after == before


def test_a_group_is_decided_without_script(
    visit: Visit, scene: Scene, listed: list[Review]
) -> None:
    visitor = visit(scene.member(Role.REVIEWER), script=False)
    page = visitor.go(path_of(scene, "review_group", FINGERPRINT))

    page.get_by_role("checkbox").first.uncheck()
    page.get_by_label("wrong").check()
    page.get_by_label("pass", exact=True).check()
    page.get_by_label("Why").fill("The quote is fine.")
    page.get_by_role("button", name="Decide together").click()

    expect(page.get_by_text("1 decided together.")).to_be_visible()
    decided = Decision.objects.get()
    assert (decided.outcome, decided.comment) == ("pass", "The quote is fine.")
    assert Review.objects.filter(state=ReviewState.PENDING, fingerprint=FINGERPRINT).count() == 1
