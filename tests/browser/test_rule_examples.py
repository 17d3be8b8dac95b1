from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from loomverify.accounts.models import Role, User
from tests.browser.conftest import LOOKS, Visit
from tests.browser.scenes import MARKUP, Scene
from tests.browser.test_pages import FAULTS, OVERFLOW
from tests.golden.guarding import audited, draft_of, process_of
from verification.rules.models import Expected, Pin

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def admin(scene: Scene) -> User:
    return scene.member(Role.ADMIN)


def run_page(scene: Scene) -> str:
    return reverse("run_detail", args=[scene.project.slug, scene.rejected.uuid])


def draft_url(scene: Scene, name: str, *more: object) -> str:
    return reverse(name, args=[scene.project.slug, "small-work", *more])


def with_draft(scene: Scene, admin: User) -> None:
    published = process_of(scene.project).published
    assert published
    draft_of(scene.project, admin, f"{published.source_text}# mine\n")


def pin_the_output(page: Page) -> None:
    page.get_by_role("link", name="Pin to a rule…").first.click()
    page.get_by_label("Pin to").select_option("no-placeholders")
    page.get_by_label("Must be caught").check()
    page.get_by_label("Note").fill("Let through on Monday")
    page.get_by_role("button", name="Pin it").click()
    expect(page.get_by_text("It is pinned: must be caught.")).to_be_visible()


def test_what_was_pinned_holds_the_rule_until_somebody_says_why(
    visit: Visit, scene: Scene, admin: User
) -> None:
    with_draft(scene, admin)
    visitor = visit(admin)
    page = visitor.go(run_page(scene))
    pin_the_output(page)

    visitor.go(draft_url(scene, "draft_rule", 0))
    expect(page.get_by_text("1 holds")).to_be_visible()
    page.locator("textarea[name=check]").fill("FIXME")
    expect(page.get_by_text("passes, must be caught")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("is saved in your draft.")).to_be_visible()

    visitor.go(draft_url(scene, "draft_publish"))
    expect(page.get_by_text("1 of 1 example broken.")).to_be_visible()
    page.get_by_label("Why", exact=True).fill("Placeholders are fine")
    page.get_by_role("button", name="Publish v").click()
    expect(page.get_by_text("Say why it is to judge runs all the same.")).to_be_visible()
    page.get_by_label("Why all the same").fill("The customer asked for it")
    page.get_by_role("button", name="Publish v").click()
    expect(page.get_by_text("is published. Runs submitted from now on")).to_be_visible()

    kept = audited(scene.project, "process.published")
    assert kept["corpus_reason"] == [None, "The customer asked for it"]
    assert [said for said in visitor.complaints if "409" not in said] == []


def test_without_script_a_pin_is_made_taken_away_and_taken_back(
    visit: Visit, scene: Scene, admin: User
) -> None:
    page = visit(admin, script=False).go(run_page(scene))

    pin_the_output(page)
    page.get_by_role("button", name="Take away").click()
    expect(page.get_by_text("0 pinned")).to_be_visible()
    page.get_by_role("button", name="Take it back").click()

    expect(page.get_by_text("1 pinned")).to_be_visible()


@pytest.mark.parametrize(("width", "theme"), LOOKS)
def test_no_page_of_examples_complains_or_runs_over_its_edge(
    visit: Visit, scene: Scene, admin: User, width: int, theme: str
) -> None:
    with_draft(scene, admin)
    rule, _ = process_of(scene.project).rules.get_or_create(name="no-placeholders")
    texts = {f"{MARKUP} {'Incomprehensibilities' * 50}": Expected.CAUGHT, "TODO": Expected.CAUGHT}
    for text, expected in texts.items():
        Pin.objects.create(
            rule=rule, expected=expected, text=text, run=scene.rejected, note=MARKUP[:300]
        )
    examples = reverse("rule_examples", args=[scene.project.slug])
    pin_page = reverse("rule_example_of_run", args=[scene.project.slug, scene.rejected.uuid])
    paths = [
        f"{examples}?process=small-work&rule=no-placeholders",
        f"{examples}?process=small-work&rule=figures-have-sources",
        pin_page,
        f"{pin_page}?file=none",
        run_page(scene),
        draft_url(scene, "draft_rule", 0),
        draft_url(scene, "draft_publish"),
    ]
    visitor = visit(admin, width=width, theme=theme)

    overflowing = [path for path in paths if visitor.go(path).evaluate(OVERFLOW) > 0]
    faults = {path: found for path in paths if (found := visitor.go(path).evaluate(FAULTS))}

    assert overflowing == []
    assert faults == {}
    assert visitor.complaints == []
